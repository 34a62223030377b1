//! What is set for a process alone: its CPUs, nice value, scheduling policy,
//! session and autogroup, timers and huge pages. Nothing of it needs to be put
//! back, since it ends with the process.
//!
//! One home for both who get it: commands, between their making and their
//! program ([`crate::command`]), and this process itself ([`apply`]).

use std::io;
use std::path::PathBuf;

use model::noise::applied::Settings;

use crate::forked::Forked;
use crate::platform;

/// What is set for a process. The one place for such controls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Controls {
    /// The only CPUs it may run on, rising; empty for those that it has.
    pub cpus: Vec<u32>,
    /// Its nice value, absolute.
    pub nice: Option<i32>,
    /// Whether it gets a session of its own, and with it (where the kernel
    /// has autogroups) an autogroup of its own, whose share of the CPU does
    /// not depend on how many others its terminal's session runs.
    pub own_session: bool,
    /// Nice value of its autogroup (sched(7)); only with a session of its own,
    /// since other processes of a session share the group.
    pub autogroup: Option<i32>,
    /// How it is scheduled.
    pub policy: Option<Policy>,
    /// Slack of its timers, ns; 0 for that of its parent.
    pub timer_slack_ns: Option<u64>,
    /// Whether it may get transparent huge pages.
    pub transparent_huge_pages: Option<bool>,
    /// Control groups that it joins, by their directories: how it gets into a
    /// cpuset shield.
    pub groups: Vec<PathBuf>,
}

/// The scheduler's policies (sched(7)) that a process may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// SCHED_OTHER, the ordinary one.
    Other,
    /// SCHED_BATCH: ordinary, never preferred when it wakes.
    Batch,
    /// SCHED_IDLE: only when nobody else wants the CPU.
    Idle,
    /// SCHED_FIFO with this priority, 1 to 99: before everybody ordinary.
    Fifo(u8),
}

/// A control that was refused.
#[derive(Debug)]
pub struct NotSet {
    /// What was being done, in words: `set its nice value`.
    pub doing: &'static str,
    /// What the system said.
    pub error: io::Error,
}

impl std::fmt::Display for NotSet {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "can't {}: {}", self.doing, self.error)
    }
}

impl std::error::Error for NotSet {}

/// The controls one by one, in the order in which they are set: a control group
/// sets the CPUs anew, so it comes before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Group,
    Session,
    Autogroup,
    Cpus,
    Nice,
    Policy,
    TimerSlack,
    HugePages,
}

impl Step {
    const ALL: [Step; 8] = [
        Step::Group,
        Step::Session,
        Step::Autogroup,
        Step::Cpus,
        Step::Nice,
        Step::Policy,
        Step::TimerSlack,
        Step::HugePages,
    ];

    /// The step in words, for the end of `can't ...`.
    pub(crate) fn doing(self) -> &'static str {
        match self {
            Step::Group => "join the control group",
            Step::Session => "begin a session of its own",
            Step::Autogroup => "set the nice value of its autogroup",
            Step::Cpus => "pin it to its CPUs",
            Step::Nice => "set its nice value",
            Step::Policy => "set its scheduling policy",
            Step::TimerSlack => "set the slack of its timers",
            Step::HugePages => "set its use of huge pages",
        }
    }

    /// By its place in the order.
    pub(crate) fn of_number(number: u8) -> Step {
        let all = Step::ALL.get(usize::from(number));
        all.copied().unwrap_or(Step::Group)
    }
}

/// Sets the controls for this process: for the calling thread, and for the
/// threads and processes that it starts from now on. A process that has
/// threads already calls this too late for them.
///
/// # Errors
/// The first control that was refused; those before it are set.
pub fn apply(controls: &Controls) -> Result<(), NotSet> {
    let laid = platform::controls::Laid::new(controls)?;
    laid.set(Patience::Waits).map_err(|(step, error)| NotSet {
        doing: step.doing(),
        error: io::Error::from_raw_os_error(error),
    })
}

/// Whether setting may wait for a kernel that takes only so many changes in a
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// It sleeps and tries again.
    Waits,
    /// It says `EAGAIN`.
    #[cfg_attr(
        target_vendor = "apple",
        allow(dead_code, reason = "for commands, which don't run there yet")
    )]
    None,
}

/// What this process really has of all controls, as the kernel tells it; what
/// can't be read is absent.
pub fn granted() -> Settings {
    platform::controls::granted_to(std::process::id())
}

/// Sets the controls for a child that does nothing else, looks what it was
/// granted, and ends it: whether they can be had here, before anything runs.
///
/// # Errors
/// The first control that was refused, or why there is no child.
pub fn try_out(controls: &Controls) -> Result<Settings, NotSet> {
    let no_child = |error: io::Error| NotSet {
        doing: "start a process to try the controls out",
        error,
    };
    let laid = platform::controls::Laid::new(controls)?;
    let (told, tell) = rustix::pipe::pipe().map_err(|e| no_child(e.into()))?;
    let tell_raw = std::os::fd::AsRawFd::as_raw_fd(&tell);
    // SAFETY: the body makes system calls on memory that was laid out before;
    // it neither allocates nor locks.
    let child = unsafe {
        Forked::start(move || {
            let said = match laid.set(Patience::Waits) {
                Ok(()) => [u8::MAX, 0, 0, 0, 0],
                Err((step, error)) => {
                    let [a, b, c, d] = error.to_ne_bytes();
                    [step as u8, a, b, c, d]
                }
            };
            libc::write(tell_raw, said.as_ptr().cast(), said.len());
            loop {
                libc::pause();
            }
        })
    }
    .map_err(no_child)?;
    drop(tell);
    let mut said = [0; 5];
    io::Read::read_exact(&mut std::fs::File::from(told), &mut said).map_err(no_child)?;
    match said {
        [u8::MAX, ..] => Ok(platform::controls::granted_to(child.id())),
        [step, error @ ..] => Err(NotSet {
            doing: Step::of_number(step).doing(),
            error: io::Error::from_raw_os_error(i32::from_ne_bytes(error)),
        }),
    }
}

/// Whether the nice value of an autogroup means anything for this process: why
/// not, in words.
///
/// # Errors
/// The reason, ready to stand behind a colon.
pub fn autogroups() -> Result<(), String> {
    autogroups_of(&crate::files::Tree::new(std::path::Path::new("/")))
}

/// The same for the process of `/proc/self` in a tree.
///
/// # Errors
/// The reason, ready to stand behind a colon.
pub fn autogroups_of(tree: &crate::files::Tree) -> Result<(), String> {
    platform::controls::autogroups(tree)
}

/// Share of each second that tasks of the policies FIFO and RR may take of a
/// CPU in all; `None` where they are not throttled or that is not known.
/// What is left goes to everybody else, and a FIFO task that never sleeps
/// stands still meanwhile (sched(7)).
pub fn real_time_share() -> Option<f64> {
    platform::controls::real_time_share(&crate::files::Tree::new(std::path::Path::new("/")))
}

/// The calling thread is before everybody with SCHED_FIFO of this priority, as
/// long as this lives: whoever has to end such processes must get a CPU too.
#[derive(Debug)]
pub struct Above(#[allow(dead_code, reason = "dropped")] platform::controls::Above);

impl Above {
    /// One above `priority`, 99 at most.
    ///
    /// # Errors
    /// What `sched_setscheduler(2)` says.
    pub fn start(priority: u8) -> io::Result<Above> {
        platform::controls::Above::start(priority).map(Above)
    }
}

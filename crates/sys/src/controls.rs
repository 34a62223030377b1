//! Controls of one process: its CPUs, nice value, scheduling policy, session and
//! autogroup, timer slack and huge pages. They end with the process, so nothing
//! is restored.
//!
//! They are set for commands, between `clone` and `execve` ([`crate::command`]),
//! and for this process ([`apply`]).

use std::io;
use std::path::PathBuf;

use model::noise::applied::Settings;

use crate::child::Forked;
pub use crate::files::NoAutogroups;
use crate::files::{Files, Tree};
use crate::platform;
pub use crate::platform::controls::Above;
pub use crate::scheduling::Policy;

/// What is set for a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Controls {
    /// The only CPUs it may run on, ascending; empty: unchanged.
    pub cpus: Vec<u32>,
    /// Its nice value, absolute.
    pub nice: Option<i32>,
    /// Whether it runs in its own session, and with it (where the kernel has
    /// autogroups) in its own autogroup, whose share of the CPU does not
    /// depend on the other processes of the terminal's session.
    pub own_session: bool,
    /// Nice value of its autogroup (sched(7)); needs its own session, since
    /// all processes of a session share the group.
    pub autogroup: Option<i32>,
    /// How it is scheduled.
    pub policy: Option<Policy>,
    /// Timer slack, ns; 0: that of its parent.
    pub timer_slack_ns: Option<u64>,
    /// Whether it may get transparent huge pages.
    pub transparent_huge_pages: Option<bool>,
    /// Control groups that it joins, by their directories (a cpuset shield).
    pub groups: Vec<PathBuf>,
}

/// A control that was refused.
#[derive(Debug, thiserror::Error)]
#[error("can't {step}: {error}")]
pub struct NotSet {
    /// Which one.
    pub step: Step,
    /// What the system said.
    pub error: io::Error,
}

/// The steps in the order in which controls are set: joining a control group
/// changes the CPUs, so it comes before them. Displayed, they complete "can't".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Step {
    /// Fork a process to test the controls in.
    #[error("start a process to test the controls")]
    Fork,
    /// `cgroup.procs`.
    #[error("join the control group")]
    Group,
    /// `setsid(2)`.
    #[error("start its own session")]
    Session,
    /// `/proc/self/autogroup`.
    #[error("set the nice value of its autogroup")]
    Autogroup,
    /// `sched_setaffinity(2)`.
    #[error("pin it to its CPUs")]
    Cpus,
    /// `setpriority(2)`.
    #[error("set its nice value")]
    Nice,
    /// `sched_setscheduler(2)`.
    #[error("set its scheduling policy")]
    Policy,
    /// PR_SET_TIMERSLACK.
    #[error("set its timer slack")]
    TimerSlack,
    /// PR_SET_THP_DISABLE.
    #[error("set its use of huge pages")]
    HugePages,
}

impl Step {
    const ALL: [Step; 9] = [
        Step::Fork,
        Step::Group,
        Step::Session,
        Step::Autogroup,
        Step::Cpus,
        Step::Nice,
        Step::Policy,
        Step::TimerSlack,
        Step::HugePages,
    ];

    /// By its number, as a child passes it on.
    pub(crate) fn of_number(number: u8) -> Step {
        let all = Step::ALL.get(usize::from(number));
        all.copied().unwrap_or(Step::Fork)
    }

    pub(crate) fn refused(self, error: impl Into<io::Error>) -> NotSet {
        NotSet { step: self, error: error.into() }
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
    laid.set(Patience::Waits)
        .map_err(|(step, error)| step.refused(io::Error::from_raw_os_error(error)))
}

/// What to do where the kernel limits the rate of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Sleep and try again.
    Waits,
    /// Fail with `EAGAIN`.
    #[cfg_attr(
        target_vendor = "apple",
        allow(dead_code, reason = "for commands, which don't run there yet")
    )]
    None,
}

/// The controls that this process has, read from the kernel; what can't be read
/// is absent.
pub fn granted() -> Settings {
    platform::controls::granted_to(std::process::id())
}

/// Tests the controls before anything runs: sets them for a child that does
/// nothing else, reads back what it was granted, and ends it.
///
/// # Errors
/// The first control that was refused, or why there is no child.
pub fn try_out(controls: &Controls) -> Result<Settings, NotSet> {
    let no_child = |error| Step::Fork.refused(error);
    let laid = platform::controls::Laid::new(controls)?;
    let (result, report) = io::pipe().map_err(no_child)?;
    let report_raw = std::os::fd::AsRawFd::as_raw_fd(&report);
    // SAFETY: the body makes system calls on memory that was laid out before;
    // it neither allocates nor locks.
    let child = unsafe {
        Forked::start(move || {
            let message = match laid.set(Patience::Waits) {
                Ok(()) => [u8::MAX, 0, 0, 0, 0],
                Err((step, error)) => {
                    let [a, b, c, d] = error.to_ne_bytes();
                    [step as u8, a, b, c, d]
                }
            };
            libc::write(report_raw, message.as_ptr().cast(), message.len());
            loop {
                libc::pause();
            }
        })
    }
    .map_err(no_child)?;
    drop(report);
    let mut message = [0; 5];
    io::Read::read_exact(&mut &result, &mut message).map_err(no_child)?;
    match message {
        [u8::MAX, ..] => Ok(platform::controls::granted_to(child.id())),
        [step, error @ ..] => {
            let error = io::Error::from_raw_os_error(i32::from_ne_bytes(error));
            Err(Step::of_number(step).refused(error))
        }
    }
}

/// Whether the nice value of an autogroup has an effect for this process.
///
/// # Errors
/// Why not.
pub fn autogroups() -> Result<(), NoAutogroups> {
    Tree::system().autogroups()
}

/// Share of each second that SCHED_FIFO and SCHED_RR tasks together may take of
/// a CPU; `None` where they are not throttled or that is not known. The rest
/// is for other tasks, and a FIFO task that never sleeps stops for it
/// (sched(7)).
pub fn real_time_share() -> Option<f64> {
    platform::controls::real_time_share(&Tree::system())
}

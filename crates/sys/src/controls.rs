//! Controls of one process: settings that it gets before it begins and that end
//! with it, so nothing is restored.
//!
//! They are set for commands, between `clone` and `execve` ([`crate::command`]),
//! and for this process ([`apply`]).

use std::io;

use model::noise::applied::Settings;
use model::setting::{Setting, SettingRow};

use crate::child::Forked;
pub use crate::files::NoAutogroups;
use crate::files::{Files, Tree};
use crate::platform;
pub use crate::platform::controls::Above;
use crate::settings::{Patience, TaskId};

/// A control that was refused.
#[derive(Debug, thiserror::Error)]
#[error("can't {}: {error}", .row.sets)]
pub struct NotSet {
    /// Which one.
    pub row: &'static SettingRow,
    /// What the system said.
    pub error: io::Error,
}

/// What stands for the setting where there is no process to set one for.
const NO_CHILD: &SettingRow = &SettingRow {
    sets: "start a process to test the controls",
    acts_on: "",
    needs: "",
    absent: "",
};

/// Controls that were checked, so that a child may set them that must neither
/// allocate nor lock.
#[derive(Debug)]
pub(crate) struct Laid(Vec<Setting>);

impl Laid {
    /// They are set in this order: a control group changes the CPUs, so it comes before them, and a session before
    /// its autogroup.
    ///
    /// # Errors
    /// One that no process can have.
    pub(crate) fn new(controls: &[Setting]) -> Result<Laid, NotSet> {
        let session = controls.iter().position(|control| *control == Setting::OwnSession(true));
        let autogroup = controls.iter().position(Setting::is_of_session);
        if let Some(at) = autogroup.filter(|at| session.is_none_or(|session| session > *at)) {
            let why =
                "the other processes of its session would get it too: it needs its own session";
            let error = io::Error::new(io::ErrorKind::InvalidInput, why);
            return Err(NotSet { row: controls[at].row(), error });
        }
        Ok(Laid(controls.to_vec()))
    }

    /// Whether the process leaves its session.
    #[cfg_attr(target_vendor = "apple", allow(dead_code, reason = "for commands"))]
    pub(crate) fn own_session(&self) -> bool {
        self.0.contains(&Setting::OwnSession(true))
    }

    /// Whether one of them belongs to the memory of the process.
    #[cfg_attr(target_vendor = "apple", allow(dead_code, reason = "for commands"))]
    pub(crate) fn of_memory(&self) -> bool {
        self.0.iter().any(|control| matches!(control, Setting::TransparentHugePages(_)))
    }

    /// Sets them for the calling process. Makes system calls only.
    ///
    /// # Errors
    /// The place of the first that was refused, with its `errno`.
    pub(crate) fn set(&self, patience: Patience) -> Result<(), (u8, i32)> {
        for (at, control) in self.0.iter().enumerate() {
            platform::settings::apply_setting(0, control, patience)
                .map_err(|error| (at as u8, error))?;
        }
        Ok(())
    }

    /// The row of the one at this place, as a child passes it on.
    pub(crate) fn row(&self, at: u8) -> &'static SettingRow {
        self.0.get(usize::from(at)).map_or(NO_CHILD, Setting::row)
    }

    fn refused(&self, at: u8, error: i32) -> NotSet {
        NotSet { row: self.row(at), error: io::Error::from_raw_os_error(error) }
    }
}

/// Sets the controls for this process: for the calling thread, and for the
/// threads and processes that it starts from now on. A process that has
/// threads already calls this too late for them.
///
/// # Errors
/// The first control that was refused; those before it are set.
pub fn apply(controls: &[Setting]) -> Result<(), NotSet> {
    let laid = Laid::new(controls)?;
    laid.set(Patience::Waits).map_err(|(at, error)| laid.refused(at, error))
}

/// The controls that this process has, read from the kernel; what can't be read
/// is absent.
pub fn granted() -> Settings {
    TaskId(std::process::id()).granted()
}

/// Tests the controls before anything runs: sets them for a child that does
/// nothing else, reads back what it was granted, and ends it.
///
/// # Errors
/// The first control that was refused, or why there is no child.
pub fn try_out(controls: &[Setting]) -> Result<Settings, NotSet> {
    let no_child = |error| NotSet { row: NO_CHILD, error };
    let laid = Laid::new(controls)?;
    let (result, report) = io::pipe().map_err(no_child)?;
    let report_raw = std::os::fd::AsRawFd::as_raw_fd(&report);
    // SAFETY: the body makes system calls on memory that was laid out before;
    // it neither allocates nor locks.
    let child = unsafe {
        Forked::fork(|| {
            let message = match laid.set(Patience::Waits) {
                Ok(()) => [u8::MAX, 0, 0, 0, 0],
                Err((at, error)) => {
                    let [a, b, c, d] = error.to_ne_bytes();
                    [at, a, b, c, d]
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
        [u8::MAX, ..] => Ok(TaskId(child.process_id()).granted()),
        [at, error @ ..] => Err(laid.refused(at, i32::from_ne_bytes(error))),
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

//! The engine for the settings of a thread or process: sets one of [`model::setting`], reads it back, and undoes it.
//! All of it ends with the thread, an autogroup's nice value with its session. [`crate::controls`] sets the same for
//! processes before they begin.

use std::io;

use model::noise::applied::Settings;
use model::setting::{Outcome, Policy, Setting};

use crate::platform;

/// What has settings.
pub trait System {
    /// Sets one.
    ///
    /// # Errors
    /// What the system says.
    fn set(&self, setting: &Setting) -> io::Result<()>;

    /// What it has of the same kind now; `None` where that can't be read.
    fn read(&self, setting: &Setting) -> Option<Setting>;

    /// Sets it and reads it back.
    ///
    /// # Errors
    /// As [`set`](System::set).
    fn put(&self, setting: &Setting) -> io::Result<Outcome> {
        self.set(setting)?;
        Ok(self.outcome(setting))
    }

    /// What came of one that was set.
    fn outcome(&self, setting: &Setting) -> Outcome {
        match self.read(setting) {
            None => Outcome::Applied,
            Some(now) if setting.is_met_by(&now) => Outcome::ReadBack,
            Some(now) => Outcome::Differs(now.label()),
        }
    }

    /// Undoes one that was set, where `before` was read before; `None` where nothing can: it ends with the process.
    fn undo(&self, setting: &Setting, before: Option<Setting>) -> Option<io::Result<Outcome>> {
        setting.undone(before).map(|back| self.put(&back))
    }
}

/// A thread, or a process's first, by its id; 0: the calling thread.
#[derive(Clone, Copy, Debug)]
pub struct TaskId(pub u32);

/// The calling thread, its process and its session.
pub const HERE: TaskId = TaskId(0);

impl System for TaskId {
    /// # Errors
    /// What the kernel says: `PermissionDenied` for lower nice values, real-time policies and classes, and for leaving
    /// SCHED_IDLE, without the right; `InvalidInput` for a value that does not exist; `Unsupported` where this system
    /// has no such setting.
    fn set(&self, setting: &Setting) -> io::Result<()> {
        let task = libc::pid_t::try_from(self.0).map_err(|_| io::ErrorKind::InvalidInput)?;
        match setting {
            Setting::OneCpu => match self.read(setting) {
                Some(Setting::Cpus(cpus)) => {
                    self.set(&Setting::Cpus(cpus.into_iter().take(1).collect()))
                }
                _ => Err(io::ErrorKind::Unsupported.into()),
            },
            other => {
                platform::settings::apply_setting(task, other, Patience::Waits).map_err(|errno| {
                    match errno {
                        libc::ENOTSUP => {
                            let why = "this system has no such setting";
                            io::Error::new(io::ErrorKind::Unsupported, why)
                        }
                        errno => io::Error::from_raw_os_error(errno),
                    }
                })
            }
        }
    }

    fn read(&self, setting: &Setting) -> Option<Setting> {
        platform::settings::read_setting(libc::pid_t::try_from(self.0).ok()?, setting)
    }
}

impl TaskId {
    /// All that a run records, read from the kernel; what can't be read is absent.
    pub fn granted(self) -> Settings {
        let mut granted =
            Settings { cpuset: platform::settings::cpuset(self.0), ..Settings::default() };
        for had in Settings::one_of_each().iter().filter_map(|setting| self.read(setting)) {
            granted.put(had);
        }
        granted
    }
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

/// Called by a thread that does nothing but spin: under SCHED_FIFO, which a
/// command gets from `chrt -f`, it would keep its CPU for ever from threads of
/// the same priority, among them those that it waits for and that end it. It
/// becomes SCHED_RR of the same priority, or SCHED_OTHER where that is refused.
pub fn take_turns() {
    if let Some(Setting::Policy(Policy::Fifo(priority))) =
        HERE.read(&Setting::Policy(Policy::Other))
        && HERE.set(&Setting::Policy(Policy::RoundRobin(priority))).is_err()
    {
        leave_real_time();
    }
}

/// Called by a thread that is a load: it runs at the ordinary priority, whatever
/// the policy of its process.
pub fn leave_real_time() {
    let ordinary = Setting::Policy(Policy::Other);
    if HERE.read(&ordinary).and_then(|now| now.real_time()).is_some() {
        // Every thread may: it only gives up.
        let _ = HERE.set(&ordinary);
    }
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests;

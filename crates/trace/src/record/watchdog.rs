//! The process that removes the kernel's trace buffers when the recorder is killed before it did.

use super::kernel_buffers::instances_of;
use super::usdt::delete_leftovers;
use std::io;
use std::thread::sleep;
use std::time::Duration;
use sys::role::{Lost, Role, RoleTask, Watchdog};
use sys::tracefs::Tracefs;

/// The kernel closes the buffers of a process that was killed soon, but not at once.
const ATTEMPTS: u32 = 100;
const BETWEEN: Duration = Duration::from_millis(20);

/// Watches over the instances of this process, until it is dropped after them.
#[derive(Debug)]
pub(super) struct Guard(Option<Watchdog>);

impl Guard {
    pub(super) fn start() -> Result<Guard, Lost> {
        // The program of a test serves no roles.
        if cfg!(test) {
            return Ok(Guard(None));
        }
        Ok(Guard(Some(Watchdog::start(Role::TraceWatchdog, &std::process::id())?)))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Some(watchdog) = self.0.take() else { return };
        // What is still busy, since a child that begins has its files, it removes when it may.
        let left = Tracefs::open().and_then(|tracefs| instances_of(&tracefs, std::process::id()));
        if left.is_ok_and(|left| left.is_empty()) {
            watchdog.dismiss();
        }
    }
}

/// Watches until it is dismissed, or the process that started it ends: then removes what that left.
///
/// # Errors
/// What the kernel says of an instance that can't be removed.
pub fn serve_watchdog(task: &RoleTask) -> io::Result<()> {
    let Some(process) = task.watch::<u32>()? else {
        return Ok(());
    };
    let tracefs = Tracefs::open()?;
    instances_of(&tracefs, process)?.iter().try_for_each(|name| remove_instance(&tracefs, name))?;
    // Its probes, which no instance records any longer.
    delete_leftovers(&tracefs, process);
    Ok(())
}

fn remove_instance(tracefs: &Tracefs, name: &str) -> io::Result<()> {
    for _ in 1..ATTEMPTS {
        match tracefs.remove_instance(name) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => sleep(BETWEEN),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            removed => return removed,
        }
    }
    tracefs.remove_instance(name)
}

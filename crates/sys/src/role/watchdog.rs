//! A process that does what is left to do when its parent is killed before it could.
//!
//! It is the same program started again, in a session of its own, with one end of a connection whose other end
//! only its parent has. A message on it means that nothing is left to do; its end without one means that the
//! parent is gone.

use super::{Child, ChildSession, Lost, Role, RoleTask, Wait};
use serde::{Serialize, de::DeserializeOwned};
use std::io;
use std::time::Duration;

/// Time within which a new process must be ready; a loaded machine included.
const PATIENCE: Duration = Duration::from_secs(20);

/// A watchdog, seen from its parent. When this is dropped without having been dismissed, it does its work.
#[derive(Debug)]
pub struct Watchdog(Child);

impl Watchdog {
    /// Starts it in a role, with what it needs to know; it is ready when this returns.
    ///
    /// # Errors
    /// How it was lost.
    pub fn start(role: Role, order: &impl Serialize) -> Result<Watchdog, Lost> {
        let mut child = Child::start(role, "the watchdog", order, ChildSession::Left)?;
        // It has left this session and listens.
        child.receive::<()>(Wait::at_most(PATIENCE))?;
        child.let_outlive();
        Ok(Watchdog(child))
    }

    /// Tells it that nothing is left to do, and waits for its end.
    pub fn dismiss(mut self) {
        // If it was killed, no process is left to report to.
        let _ = self.0.send(&());
        self.0.wait();
    }
}

impl RoleTask {
    /// In a watchdog: waits until it is dismissed (`None`), or its parent ends.
    ///
    /// # Errors
    /// An order that is none; what the system says.
    pub fn watch<T: DeserializeOwned>(&self) -> io::Result<Option<T>> {
        let (order, mut parent) = self.with_parent()?;
        // Nothing that ends the terminal's session or the shell's job may end this.
        crate::process::leave_session()?;
        crate::process::ignore_requests_to_end();
        // Not to be chosen when memory runs out (proc_pid_oom_score_adj(5)).
        let _ = std::fs::write("/proc/self/oom_score_adj", "-1000");
        // Nor does it keep a file system from being unmounted.
        let _ = std::env::set_current_dir("/");
        parent.send(&())?;
        // Its other end is closed, or was reset with the process.
        Ok(match parent.receive() {
            Ok(Some(())) => None,
            _ => Some(order),
        })
    }
}

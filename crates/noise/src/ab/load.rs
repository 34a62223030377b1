//! Busy processes during the jobs. They end with this one, however it ends:
//! the kernel promises it on Linux, and each looks for its parent too.

use super::job::NoiseJob;
use std::time::Duration;
use sys::role::{Child, ChildSession, Lost, Role, Wait};

/// How long a process has until it is about to be busy, beyond what it waits for a CPU.
const PATIENCE: Duration = Duration::from_secs(60);

/// A load that runs as long as this lives.
#[derive(Debug)]
pub struct Processes {
    children: Vec<Child>,
}

impl Processes {
    /// Starts so many, and waits until each is about to be busy. They are
    /// started from the calling thread, which must outlive them.
    ///
    /// # Errors
    /// Why one of them is not there; the others are ended then.
    pub fn start_processes(count: u32, own_session: bool, cpus: &[u32]) -> Result<Processes, Lost> {
        // Another session is one for all of them, which its leader starts.
        let (session, ours, more) = match own_session {
            true => (ChildSession::Own, count.min(1), count.saturating_sub(1)),
            false => (ChildSession::Group, count, 0),
        };
        let job = NoiseJob::Busy { cpus: cpus.to_vec(), more };
        let start = || {
            let mut child = Child::start(Role::Job, "a process of the load", &job, session)?;
            child.who = format!("process {} of the load", child.process_id());
            Ok(child)
        };
        let children = (0..ours).map(|_| start()).collect::<Result<_, _>>()?;
        let mut load = Processes { children };
        for child in &mut load.children {
            child.receive::<()>(Wait::at_most(PATIENCE))?;
        }
        Ok(load)
    }

    /// That all are still there.
    ///
    /// # Errors
    /// Which one is not.
    pub fn check_running(&mut self) -> Result<(), Lost> {
        self.children.iter_mut().try_for_each(Child::check_running)
    }
}

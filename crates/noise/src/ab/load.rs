//! Busy processes during the jobs. They end with this one, however it ends:
//! the kernel promises it on Linux, and each looks for its parent too.

use super::job::Job;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ExitStatus, Stdio};

/// What it says once it is about to be busy.
pub const READY: &[u8; 6] = b"ready\n";

/// A load that runs as long as this lives.
#[derive(Debug)]
pub struct Processes {
    children: Vec<Child>,
}

/// A process of a load that is not there any more.
#[derive(thiserror::Error, Debug)]
pub enum LoadError {
    /// It ended.
    #[error("process {0} of the load ended: {1}")]
    Ended(u32, ExitStatus),
    /// The system does not say.
    #[error("process {0} of the load is lost: {1}")]
    Lost(u32, io::Error),
}

impl Processes {
    /// Starts so many, and waits until each is about to be busy. They are
    /// started from the calling thread, which must outlive them.
    ///
    /// # Errors
    /// Why one of them is not there; the others are ended then.
    pub fn start(count: u32, own_session: bool, cpus: &[u32]) -> io::Result<Processes> {
        let mut load = Processes { children: Vec::new() };
        // Another session is one for all of them, which its leader starts.
        let (ours, more) = match own_session {
            true => (count.min(1), count.saturating_sub(1)),
            false => (count, 0),
        };
        let job = Job::Busy { parent: std::process::id(), cpus: cpus.to_vec(), more };
        for _ in 0..ours {
            let mut command = sys::process::this_program()?;
            command
                .args(job.arguments()?)
                .stdin(sys::process::null_device()?)
                .stdout(Stdio::piped())
                .stderr(sys::process::null_device()?);
            match own_session {
                true => sys::process::in_own_session(&mut command),
                // What a terminal sends to this process is not for them: they end
                // when this ends them.
                false => command.process_group(0),
            };
            load.children.push(command.spawn()?);
        }
        load.hear()?;
        Ok(load)
    }

    /// Waits until each is about to be busy.
    fn hear(&mut self) -> io::Result<()> {
        for child in &mut self.children {
            let mut said = [0; READY.len()];
            let heard = child.stdout.take().map(|mut out| out.read_exact(&mut said));
            if !matches!(heard, Some(Ok(()))) || said != *READY {
                return Err(io::Error::other("a process of the load ended at once"));
            }
        }
        Ok(())
    }

    /// Whether all are still there.
    ///
    /// # Errors
    /// Which one is not.
    pub fn check(&mut self) -> Result<(), LoadError> {
        for child in &mut self.children {
            let id = child.id();
            match child.try_wait() {
                Ok(None) => {}
                Ok(Some(how)) => return Err(LoadError::Ended(id, how)),
                Err(why) => return Err(LoadError::Lost(id, why)),
            }
        }
        Ok(())
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
        }
        for child in &mut self.children {
            let _ = child.wait();
        }
    }
}

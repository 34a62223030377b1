//! The measuring lock: on a machine, one latlas measures at a time.
//!
//! Two that measured at once would slow each other down. The lock is that of a file (`flock(2)`)
//! that every user of the machine can open; the kernel releases it however the process ends. In
//! the file stands what its holder measures, for those who wait for it, and who it is, the kernel
//! tells: any user may write into the file. It lies in the first of
//! [`DIRECTORIES`] that every user may write to: a container with its own has a lock of its own.

mod file;
mod holder;

pub use file::DIRECTORIES;
pub use holder::{HeldBy, Holder};

use file::LockFile;
use std::io;

/// Variable that names another file, for tests and for machines without those directories.
pub const VARIABLE: &str = "LATLAS_LOCK";

/// The lock, until it is dropped.
#[derive(Debug)]
pub struct MeasuringLock {
    held: Option<LockFile>,
    waited: bool,
    remark: Option<LockRemark>,
}

/// Why a measurement goes on without holding the lock.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum LockRemark {
    #[error("measuring inside {0}, which holds the measuring lock: not waiting for it")]
    Inside(HeldBy),
    #[error(
        "no measuring lock ({0}): not checking whether another latlas is measuring (LATLAS_LOCK \
         names another file)"
    )]
    Unavailable(io::Error),
}

impl MeasuringLock {
    /// Takes the lock. While another process holds it, calls `waiting` once and waits, or, if it
    /// is not to `wait`, returns by whom it is held.
    ///
    /// # Errors
    /// The holder, without `wait`.
    pub fn take(
        holder: &Holder,
        wait: bool,
        waiting: impl FnOnce(&HeldBy),
    ) -> Result<MeasuringLock, HeldBy> {
        let mut waiting = Some(waiting);
        let mut waited = false;
        let without =
            |waited, remark| Ok(MeasuringLock { held: None, waited, remark: Some(remark) });
        loop {
            let mut file = match LockFile::open() {
                Ok(file) => file,
                Err(why) => return without(waited, LockRemark::Unavailable(why)),
            };
            let locked = match file.try_lock() {
                Ok(None) => Ok(()),
                Ok(Some(held_by)) if held_by.is_ancestor() => {
                    return without(waited, LockRemark::Inside(held_by));
                }
                Ok(Some(held_by)) if !wait => return Err(held_by),
                Ok(Some(held_by)) => {
                    if let Some(waiting) = waiting.take() {
                        waiting(&held_by);
                    }
                    waited = true;
                    file.wait_for_holder()
                }
                Err(why) => Err(why),
            };
            match locked {
                Err(why) => return without(waited, LockRemark::Unavailable(why)),
                // Removed while it waited: others lock the file that has its name now.
                Ok(()) if !file.has_its_name() => {}
                Ok(()) => {
                    file.write_holder(holder);
                    return Ok(MeasuringLock { held: Some(file), waited, remark: None });
                }
            }
        }
    }

    /// Whether another process held it: facts read before it was taken may have changed.
    pub fn waited(&self) -> bool {
        self.waited
    }

    /// Whether the file was removed or replaced since: others may hold another one.
    pub fn is_lost(&self) -> bool {
        self.held.as_ref().is_some_and(|file| !file.has_its_name())
    }

    /// Why it is not held, if it is not.
    pub fn remark(&self) -> Option<&LockRemark> {
        self.remark.as_ref()
    }
}

impl Drop for MeasuringLock {
    fn drop(&mut self) {
        if let Some(file) = &mut self.held {
            file.clear();
        }
    }
}

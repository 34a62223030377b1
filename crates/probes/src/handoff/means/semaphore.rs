//! A semaphore for each direction.

use crate::handoff::pair::{Means, Side};
use std::io;
use sys::semaphore::Semaphore;

pub(crate) struct Semaphores([Semaphore; 2]);

impl Semaphores {
    pub(crate) fn new() -> Result<Semaphores, String> {
        let one = || Semaphore::new(0).map_err(|e| format!("no semaphore could be made: {e}"));
        Ok(Semaphores([one()?, one()?]))
    }
}

impl Means for Semaphores {
    fn give(&self, from: Side) -> io::Result<()> {
        self.0[from.place()].post()
    }
    fn take(&self, at: Side) -> io::Result<()> {
        self.0[at.other().place()].wait()
    }
}

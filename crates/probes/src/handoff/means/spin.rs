//! A word of memory that says whose turn it is, watched without a pause.

use crate::handoff::pair::{Means, Side};
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

/// Neither side's: the pair is over.
const NOBODY: u32 = 2;

/// On a line of its own.
#[repr(align(128))]
pub(crate) struct Spin(AtomicU32);

impl Default for Spin {
    fn default() -> Spin {
        Spin(AtomicU32::new(Side::First as u32))
    }
}

impl Means for Spin {
    fn give(&self, from: Side) -> io::Result<()> {
        self.0.store(from.other() as u32, Ordering::Release);
        Ok(())
    }
    fn take(&self, at: Side) -> io::Result<()> {
        loop {
            match self.0.load(Ordering::Acquire) {
                turn if turn == at as u32 => return Ok(()),
                NOBODY => return Err(io::Error::other("nobody's turn any more")),
                _ => {}
            }
        }
    }
    fn abandon(&self) {
        self.0.store(NOBODY, Ordering::Release);
    }
}

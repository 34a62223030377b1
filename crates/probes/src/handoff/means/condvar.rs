//! The standard library's mutex and condition variable, a pair for each
//! direction.

use crate::handoff::pair::{Means, Side};
use std::io;
use std::sync::{Condvar, Mutex, PoisonError};

#[derive(Default)]
#[repr(align(128))]
struct Lane {
    full: Mutex<bool>,
    filled: Condvar,
}

#[derive(Default)]
pub(crate) struct Condvars([Lane; 2]);

impl Means for Condvars {
    fn give(&self, from: Side) -> io::Result<()> {
        let lane = &self.0[from.place()];
        *lane.full.lock().unwrap_or_else(PoisonError::into_inner) = true;
        // After the unlock: woken under it, the other thread would have to
        // wait once more.
        lane.filled.notify_one();
        Ok(())
    }
    fn take(&self, at: Side) -> io::Result<()> {
        let lane = &self.0[at.other().place()];
        let mut full = lane.full.lock().unwrap_or_else(PoisonError::into_inner);
        while !*full {
            full = lane
                .filled
                .wait(full)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *full = false;
        Ok(())
    }
}

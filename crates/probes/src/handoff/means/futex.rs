//! A word of memory for each direction, slept on by a futex.

use crate::handoff::pair::{Means, Side};
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use sys::futex;

/// A line each, so that neither direction disturbs the other.
#[derive(Default)]
#[repr(align(128))]
struct Word(AtomicU32);

pub(crate) struct Futexes([Word; 2]);

impl Futexes {
    pub(crate) fn new() -> Result<Futexes, String> {
        let words = Futexes(Default::default());
        // A wake with nobody to wake: whether there is such a call at all.
        futex::wake_one(&words.0[0].0).map_err(|e| format!("futexes can't be used: {e}"))?;
        Ok(words)
    }
}

impl Means for Futexes {
    fn give(&self, from: Side) -> io::Result<()> {
        let word = &self.0[from.place()].0;
        word.store(1, Ordering::Release);
        futex::wake_one(word)
    }
    fn take(&self, at: Side) -> io::Result<()> {
        let word = &self.0[at.other().place()].0;
        while word.load(Ordering::Acquire) == 0 {
            futex::wait(word, 0)?;
        }
        word.store(0, Ordering::Relaxed);
        Ok(())
    }
}

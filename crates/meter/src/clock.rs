//! The clock that brackets a sample, as a small trait: real in a run,
//! scripted in tests, so that measuring is proven without asserting times.

use std::cell::RefCell;
use std::collections::VecDeque;

/// Reads a counter before and after a measured stretch.
pub trait Clock {
    /// Reading before: earlier instructions have finished, later ones have
    /// not begun.
    fn start(&self) -> u64;
    /// Reading after.
    fn stop(&self) -> u64;
}

impl Clock for sys::clock::Counter {
    #[inline(always)]
    fn start(&self) -> u64 {
        sys::clock::Counter::start(self)
    }
    #[inline(always)]
    fn stop(&self) -> u64 {
        sys::clock::Counter::stop(self)
    }
}

/// A clock that tells what a test wrote down. When the script is used up it
/// stands still.
#[derive(Debug, Default)]
pub struct ScriptedClock {
    readings: RefCell<VecDeque<u64>>,
    last: RefCell<u64>,
}

impl ScriptedClock {
    /// A clock that gives these readings, one a call.
    pub fn new(readings: impl IntoIterator<Item = u64>) -> Self {
        ScriptedClock {
            readings: RefCell::new(readings.into_iter().collect()),
            last: RefCell::new(0),
        }
    }

    fn next(&self) -> u64 {
        let reading = self.readings.borrow_mut().pop_front().unwrap_or(*self.last.borrow());
        *self.last.borrow_mut() = reading;
        reading
    }
}

impl Clock for ScriptedClock {
    fn start(&self) -> u64 {
        self.next()
    }
    fn stop(&self) -> u64 {
        self.next()
    }
}

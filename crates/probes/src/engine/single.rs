//! Single operations, one after the other, each between two stamps.

use super::threads::event;
use meter::probe::{Event, Work, WorkError};
use std::time::{Duration, Instant};
use sys::clock::Counter;

/// An operation that takes long enough to be stamped alone.
pub(crate) trait Single {
    /// Called before a visit's first operation.
    fn begin_visit(&mut self) {}

    /// Performed before each operation, outside the time.
    fn ready(&mut self) -> Result<(), WorkError> {
        Ok(())
    }

    fn perform(&mut self) -> Result<(), WorkError>;

    /// Performed after each operation, outside the time.
    fn finish(&mut self) -> Result<(), WorkError> {
        Ok(())
    }

    /// Asked after a visit of so many operations, as
    /// [`Work::contradiction`] is.
    fn contradiction(&mut self, _operations: u64) -> Option<String> {
        None
    }

    /// As [`Work::run_delay_ns`], after [`contradiction`](Single::contradiction).
    fn run_delay_ns(&self, own_ns: u64) -> u64 {
        own_ns
    }

    /// As [`Work::verify`].
    fn verify(&self) -> Result<(), WorkError> {
        Ok(())
    }

    /// As [`Work::notes`].
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A visit to what writes to a disk, or reads from it, ends after this time: on
/// a rotating disk a random read takes 10 ms.
pub(crate) const VISIT_AT_MOST: Duration = Duration::from_millis(100);

pub(crate) struct Singles<S> {
    single: S,
    /// Operations of a visit that come first and are not counted.
    warm_up: u32,
    /// After this long a visit ends: a slow disk has fewer operations.
    at_most: Duration,
    contradiction: Option<String>,
}

impl<S: Single> Singles<S> {
    /// Visits of any length, the first operation of each not counted.
    pub(crate) fn new(single: S) -> Singles<S> {
        Singles { single, warm_up: 1, at_most: Duration::MAX, contradiction: None }
    }

    /// Visits that end after this time, warm-up and all, though not before their first
    /// operation that counts.
    pub(crate) fn at_most(self, at_most: Duration) -> Singles<S> {
        Singles { at_most, ..self }
    }

    /// Visits whose first operations, so many, are not counted.
    pub(crate) fn warm_up(self, warm_up: u32) -> Singles<S> {
        Singles { warm_up, ..self }
    }
}

impl<S: Single> Work for Singles<S> {
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, WorkError> {
        let counter = Counter::best();
        let began = Instant::now();
        self.single.begin_visit();
        for _ in 0..self.warm_up {
            self.single.ready()?;
            self.single.perform()?;
            self.single.finish()?;
        }
        let mut events = Vec::with_capacity(operations as usize);
        for _ in 0..operations {
            self.single.ready()?;
            let start = counter.start();
            let done = self.single.perform();
            let stop = counter.stop();
            done?;
            self.single.finish()?;
            events.push(event(start, stop, 1, 0));
            if began.elapsed() > self.at_most {
                break;
            }
        }
        let performed = u64::from(self.warm_up) + events.len() as u64;
        self.contradiction = self.single.contradiction(performed);
        Ok(events)
    }
    fn contradiction(&self) -> Option<String> {
        self.contradiction.clone()
    }
    fn run_delay_ns(&self, _series: usize, own_ns: u64) -> Option<u64> {
        Some(self.single.run_delay_ns(own_ns))
    }
    fn verify(&self) -> Result<(), WorkError> {
        self.single.verify()
    }
    fn notes(&self) -> Vec<String> {
        self.single.notes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::reason::Reason;

    #[derive(Default)]
    struct Counting {
        log: String,
        fails_at: Option<usize>,
        operations: u64,
    }

    impl Single for &mut Counting {
        fn begin_visit(&mut self) {
            self.log.push('b');
        }
        fn ready(&mut self) -> Result<(), WorkError> {
            self.log.push('r');
            Ok(())
        }
        fn perform(&mut self) -> Result<(), WorkError> {
            self.log.push('p');
            match self.fails_at {
                Some(n) if self.log.matches('p').count() == n => Err(Reason::OneCpu.into()),
                _ => Ok(()),
            }
        }
        fn finish(&mut self) -> Result<(), WorkError> {
            self.log.push('f');
            Ok(())
        }
        fn contradiction(&mut self, operations: u64) -> Option<String> {
            self.operations = operations;
            Some("no".into())
        }
    }

    #[test]
    fn each_is_made_ready_and_the_first_do_not_count() {
        let mut counting = Counting::default();
        let mut singles = Singles::new(&mut counting).warm_up(2);
        let events = singles.stamped(3).expect("three");
        assert_eq!(events.len(), 3);
        assert!(events.iter().all(|e| e.ops == 1 && e.to_ticks >= e.from_ticks));
        assert_eq!(Work::contradiction(&singles).as_deref(), Some("no"));
        assert_eq!(counting.log, format!("b{}", "rpf".repeat(5)));
        assert_eq!(counting.operations, 5);
    }

    #[test]
    fn a_visit_ends_with_its_time_or_with_a_failure() {
        let mut counting = Counting::default();
        let mut singles = Singles::new(&mut counting).at_most(Duration::ZERO);
        assert_eq!(singles.stamped(1000).expect("one").len(), 1);
        // The time of what comes first counts too.
        struct SlowFirst(bool);
        impl Single for SlowFirst {
            fn perform(&mut self) -> Result<(), WorkError> {
                if !std::mem::replace(&mut self.0, true) {
                    std::thread::sleep(Duration::from_secs(1));
                }
                Ok(())
            }
        }
        let mut singles = Singles::new(SlowFirst(false)).at_most(Duration::from_secs(1));
        assert_eq!(singles.stamped(1000).expect("one").len(), 1);
        let mut counting = Counting { fails_at: Some(3), ..Counting::default() };
        let failed = Singles::new(&mut counting).stamped(1000);
        assert_eq!(failed, Err(Reason::OneCpu.into()));
    }
}

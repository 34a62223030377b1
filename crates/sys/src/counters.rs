//! What the kernel and the processor count of a command and of everything it
//! starts.
//!
//! The counters belong to the calling thread, are inherited by each process
//! that it makes, and begin to count when that process executes a program
//! (`enable_on_exec`): they hold nothing of this process itself, and they are
//! opened once for any number of commands, one after the other.

pub use crate::platform::counters::Counters;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterEvent {
    /// CPU time of all its threads, ns.
    TaskClock,
    /// Times a thread left its CPU, of its own will or not.
    ContextSwitches,
    /// Times a thread went on on another CPU.
    CpuMigrations,
    /// Page faults of either kind.
    PageFaults,
    /// Page faults served without I/O.
    MinorFaults,
    /// Page faults that waited for I/O.
    MajorFaults,
    /// Clock cycles of the cores while they ran it.
    Cycles,
    /// Instructions retired.
    Instructions,
}

impl CounterEvent {
    /// All of them, in the order in which [`Counts`] holds them.
    pub const ALL: [CounterEvent; 8] = [
        CounterEvent::TaskClock,
        CounterEvent::ContextSwitches,
        CounterEvent::CpuMigrations,
        CounterEvent::PageFaults,
        CounterEvent::MinorFaults,
        CounterEvent::MajorFaults,
        CounterEvent::Cycles,
        CounterEvent::Instructions,
    ];

    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

/// Totals of all events since they were opened: value, time enabled, time
/// running (both ns, over all threads), as the kernel gives them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals(pub(crate) [Option<[u64; 3]>; CounterEvent::ALL.len()]);

impl Totals {
    /// The value of one event; `None` where it is not counted.
    #[cfg_attr(target_vendor = "apple", allow(dead_code, reason = "nothing is counted there"))]
    pub(crate) fn value(&self, event: CounterEvent) -> Option<u64> {
        self.0[event.index()].map(|[value, ..]| value)
    }

    /// What was added since an earlier reading of the same counters. An event
    /// that had to share a hardware counter with others is scaled up to its
    /// whole time; one that never got a counter has no value.
    pub fn since(&self, before: &Totals) -> Counts {
        let mut counts = Counts::default();
        for event in CounterEvent::ALL {
            let place = event.index();
            let (Some(now), Some(then)) = (self.0[place], before.0[place]) else {
                continue;
            };
            let [value, enabled, running] = [0, 1, 2].map(|k| u64::saturating_sub(now[k], then[k]));
            counts.values[place] = if running >= enabled {
                Some(value)
            } else if running == 0 {
                None
            } else {
                counts.scaled = true;
                Some((value as f64 * enabled as f64 / running as f64) as u64)
            };
        }
        counts
    }
}

/// A value for each event that could be counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    values: [Option<u64>; CounterEvent::ALL.len()],
    /// Whether any of them had to share a hardware counter and was scaled up.
    pub scaled: bool,
}

impl Counts {
    /// The value of one event; `None` where it is not counted.
    pub fn get(&self, event: CounterEvent) -> Option<u64> {
        self.values[event.index()]
    }

    /// The same with a value in place of the one that is there.
    pub fn with(mut self, event: CounterEvent, value: u64) -> Counts {
        self.values[event.index()] = Some(value);
        self
    }
}

/// How one event is counted here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counted {
    /// All of it.
    Everything,
    /// Only while in user mode: what the kernel does for the command is left
    /// out, since watching that needs a right.
    UserModeOnly,
    /// Not at all, with the reason and what would help.
    Not(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(event: CounterEvent, total: [u64; 3]) -> Totals {
        let mut totals = Totals::default();
        totals.0[event.index()] = Some(total);
        totals
    }

    #[test]
    fn a_shared_counter_is_scaled_to_the_whole_time() {
        let before = totals(CounterEvent::Cycles, [1000, 50, 50]);
        let half = totals(CounterEvent::Cycles, [1300, 150, 100]).since(&before);
        assert_eq!((half.get(CounterEvent::Cycles), half.scaled), (Some(600), true));
        let whole = totals(CounterEvent::Cycles, [1300, 150, 150]).since(&before);
        assert_eq!((whole.get(CounterEvent::Cycles), whole.scaled), (Some(300), false));
        let never = totals(CounterEvent::Cycles, [1000, 150, 50]).since(&before);
        assert_eq!(never.get(CounterEvent::Cycles), None);
        assert_eq!(whole.get(CounterEvent::Instructions), None);
    }
}

//! How a pair is measured, and what its method assumes of the kernel's count of context switches.

use super::placement::Placement;
use crate::engine::waits::ThreadsWait;

/// Round trips before the first stamp, where they are short: the scheduler
/// finds its places for the two threads, and their memory is touched. After
/// 20 the next ten were still 6 % slower than the rest.
pub(crate) const WARM_UP: u32 = 100;

#[derive(Clone, Copy, Debug)]
pub(crate) struct HandoffPlan {
    /// Where the two threads run.
    pub(crate) placement: Placement,
    /// Round trips before the first stamp.
    pub(crate) warm_up: u32,
    /// Round trips between two stamps: one, unless the stamps themselves
    /// would show.
    pub(crate) trips_per_event: u32,
    /// Operations in a round trip, as the row counts them.
    pub(crate) ops_per_trip: u64,
    /// What is assumed of the kernel's count.
    pub(crate) waiting: Waiting,
}

impl HandoffPlan {
    /// Short round trips, each stamped and each two operations.
    pub(crate) fn round_trips(placement: Placement, waiting: Waiting) -> HandoffPlan {
        HandoffPlan { placement, warm_up: WARM_UP, trips_per_event: 1, ops_per_trip: 2, waiting }
    }
}

/// What a method assumes of the two threads: the kernel's count of their
/// context switches is held against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// Each hand-off is one context switch: two a round trip. Between two
    /// CPUs both are voluntary, each thread sleeps once. On one CPU the
    /// kernel may let the thread that is woken preempt the one that woke it,
    /// which then finds its answer without having slept: that switch counts
    /// as forced.
    Sleeps,
    /// The same on a unix stream socket that is used both ways: taking the
    /// byte frees the giver's buffer, which wakes the giver too, since it
    /// waits on the same socket. If it runs before the answer is there it
    /// sleeps once more, so that a hand-off is one or two switches.
    SleepsStirred,
    /// Neither ever sleeps.
    Spins,
    /// It depends on how fast each is; nothing is assumed.
    Depends,
}

impl Waiting {
    /// The switches a round trip that are assumed: in words, at least and at
    /// most.
    pub(super) fn switches(self) -> Option<(&'static str, f64, f64)> {
        match self {
            Waiting::Sleeps => Some(("2", 1.8, 2.2)),
            Waiting::SleepsStirred => Some(("2 to 4", 1.8, 4.2)),
            Waiting::Spins => Some(("no", 0.0, 0.2)),
            Waiting::Depends => None,
        }
    }

    /// What the two threads waited for a CPU that is no part of a hand-off, ns: threads that spin
    /// wait for no other one.
    pub(super) fn of_others_ns(self, waited: ThreadsWait) -> u64 {
        match self {
            Waiting::Spins => waited.runnable_ns,
            Waiting::Sleeps | Waiting::SleepsStirred | Waiting::Depends => waited.in_turns_ns(),
        }
    }

    /// Whether forced ones are among them. A neighbour forces switches too:
    /// where the method needs none, they prove nothing.
    pub(super) fn counts_forced(self, placement: Placement) -> bool {
        self != Waiting::Spins && placement != Placement::OtherCpu
    }

    /// The assumption as a sentence of a method.
    pub(crate) fn assumption(self, placement: Placement) -> &'static str {
        match (self, placement) {
            (Waiting::Sleeps, Placement::OtherCpu) => {
                "By the kernel's count of context switches each thread must sleep once per round trip (1.8 to 2.2 for both), or the row is invalid."
            }
            (Waiting::Sleeps, _) => {
                "The kernel's count of context switches must be 2 per round trip (1.8 to 2.2), or the row is invalid: one for each hand-off, where the giver goes to sleep or, on one CPU, is preempted by the thread it woke."
            }
            (Waiting::SleepsStirred, _) => {
                "The kernel's count of context switches must be 2 to 4 per round trip (1.8 to 4.2), or the row is invalid: one for each hand-off, and sometimes one more, since taking the byte frees the giver's buffer, which wakes the giver too, since it waits on the same socket."
            }
            (Waiting::Spins, _) => {
                "No thread may sleep: the kernel's count of voluntary context switches must be below 0.2 per round trip, or the row is invalid."
            }
            (Waiting::Depends, _) => {
                "How often the threads sleep depends on which of them is faster: the kernel's count is in the notes, and nothing is assumed of it."
            }
        }
    }
}

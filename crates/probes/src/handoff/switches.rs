//! What the kernel counted of a pair, held against what its method assumes.

use super::modes::{OTHER_CPU, SAME_CPU};
use super::pair::Manner;
use super::placement::Placement;
use sys::evidence::Switches;

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
    /// The same on a unix stream socket that is used both ways: whoever takes
    /// the byte frees the giver's buffer, which wakes the giver too, who
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
    fn switches(self) -> Option<(&'static str, f64, f64)> {
        match self {
            Waiting::Sleeps => Some(("2", 1.8, 2.2)),
            Waiting::SleepsStirred => Some(("2 to 4", 1.8, 4.2)),
            Waiting::Spins => Some(("no", 0.0, 0.2)),
            Waiting::Depends => None,
        }
    }

    /// Whether forced ones are among them. A neighbour forces switches too:
    /// where the method needs none, they prove nothing.
    fn counts_forced(self, placement: Placement) -> bool {
        self != Waiting::Spins && placement != Placement::OtherCpu
    }

    /// The assumption as a sentence of a method.
    pub(crate) fn text(self, placement: Placement) -> &'static str {
        match (self, placement) {
            (Waiting::Sleeps, Placement::OtherCpu) => {
                "By the kernel's count of context switches each thread must have slept once a round trip (1.8 to 2.2 for both), or the row is invalid."
            }
            (Waiting::Sleeps, _) => {
                "The kernel's count of context switches must be 2 a round trip (1.8 to 2.2), or the row is invalid: one for each hand-off, where the giver goes to sleep or, on one CPU, is preempted by the thread that it woke."
            }
            (Waiting::SleepsStirred, _) => {
                "The kernel's count of context switches must be 2 to 4 a round trip (1.8 to 4.2), or the row is invalid: one for each hand-off, and at times one more, since taking the byte frees the giver's buffer, which wakes the giver too, who waits on the same socket."
            }
            (Waiting::Spins, _) => {
                "No thread may sleep: the kernel's count of voluntary context switches must be below 0.2 a round trip, or the row is invalid."
            }
            (Waiting::Depends, _) => {
                "How often the threads sleep depends on which of them is faster: the kernel's count is told, and nothing is assumed of it."
            }
        }
    }
}

/// What the kernel said of a visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    /// Context switches of both threads.
    pub(super) switches: Option<Switches>,
    /// Round trips during which they were counted.
    pub(super) trips: u64,
    /// Whether the CPUs are known.
    pub(super) cpus_known: bool,
    /// Stamped events of each mode.
    pub(super) events: [u64; 3],
}

impl Seen {
    /// Switches per round trip, voluntary and forced.
    fn per_trip(&self) -> Option<(f64, f64)> {
        let per_trip = |n: u64| n as f64 / self.trips.max(1) as f64;
        let switches = self.switches?;
        Some((per_trip(switches.voluntary), per_trip(switches.involuntary)))
    }

    /// What a reader is told in any case.
    pub(super) fn note(&self, waiting: Waiting) -> String {
        let during = match waiting {
            Waiting::Depends => "batch and its answer",
            _ => "round trip",
        };
        format!("context switches per {during}: {}", self.counted())
    }

    fn counted(&self) -> String {
        match self.per_trip() {
            Some((voluntary, forced)) => format!("{voluntary:.2} to sleep, {forced:.2} forced"),
            None => "not told by this system".into(),
        }
    }

    /// What was seen that the method does not allow for. Its words before the
    /// colon differ from the note's, or the two would be told as one.
    pub(super) fn contradiction(&self, manner: &Manner) -> Option<String> {
        let events: u64 = self.events.iter().sum();
        let astray = match manner.placement {
            _ if !self.cpus_known => 0,
            Placement::Free => 0,
            Placement::SameCpu => events - self.events[usize::from(SAME_CPU)],
            Placement::OtherCpu => events - self.events[usize::from(OTHER_CPU)],
        };
        if astray > 0 {
            return Some(format!(
                "round trips that left their CPUs: {astray} of {events} where the threads are pinned"
            ));
        }
        let (assumed, least, most) = manner.waiting.switches()?;
        let (voluntary, forced) = self.per_trip()?;
        let counted = match manner.waiting.counts_forced(manner.placement) {
            true => voluntary + forced,
            false => voluntary,
        };
        (!(least..=most).contains(&counted)).then(|| {
            format!(
                "the method assumes {assumed} context switches per round trip, but the kernel counted: {}",
                self.counted()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::testing::manner;

    fn seen(voluntary: u64, involuntary: u64, events: [u64; 3]) -> Seen {
        Seen {
            switches: Some(Switches {
                voluntary,
                involuntary,
            }),
            trips: 100,
            cpus_known: true,
            events,
        }
    }

    #[test]
    fn what_contradicts_the_method() {
        let says = |seen: Seen, placement, waiting| seen.contradiction(&manner(placement, waiting));
        let same = |v, f| says(seen(v, f, [80, 0, 0]), Placement::SameCpu, Waiting::Sleeps);
        assert_eq!(same(200, 0), None);
        assert_eq!(same(112, 88), None, "a forced switch is a hand-off there");
        assert!(same(112, 20).is_some());
        assert!(same(200, 62).is_some());
        let other = |v, f| says(seen(v, f, [0, 80, 0]), Placement::OtherCpu, Waiting::Sleeps);
        assert_eq!(other(198, 60), None, "a neighbour's doing");
        assert_eq!(
            other(112, 88).as_deref(),
            Some(
                "the method assumes 2 context switches per round trip, but the kernel counted: 1.12 to sleep, 0.88 forced"
            )
        );
        let free = |v, f| says(seen(v, f, [30, 40, 10]), Placement::Free, Waiting::Sleeps);
        assert_eq!(free(112, 88), None);
        assert!(free(31, 0).is_some());
        let stirred = |v, f| {
            says(
                seen(v, f, [80, 0, 0]),
                Placement::SameCpu,
                Waiting::SleepsStirred,
            )
        };
        assert_eq!(stirred(199, 62), None);
        assert!(stirred(30, 0).is_some() && stirred(300, 150).is_some());
        let spins = |v, f| says(seen(v, f, [0, 80, 0]), Placement::OtherCpu, Waiting::Spins);
        assert_eq!(spins(3, 70), None);
        assert!(spins(30, 0).is_some());
        let unknown = Seen {
            switches: None,
            ..seen(0, 0, [80, 0, 0])
        };
        assert_eq!(says(unknown, Placement::SameCpu, Waiting::Sleeps), None);
    }

    #[test]
    fn a_contradiction_is_not_merged_with_the_note() {
        let seen = seen(0, 0, [80, 0, 0]);
        let manner = manner(Placement::SameCpu, Waiting::Sleeps);
        let note = seen.note(manner.waiting);
        assert_eq!(
            note,
            "context switches per round trip: 0.00 to sleep, 0.00 forced"
        );
        let said = seen.contradiction(&manner).expect("nobody slept");
        let subject = |text: &str| text.split(": ").next().map(str::to_string);
        assert_ne!(subject(&note), subject(&said));
    }

    #[test]
    fn a_pinned_pair_must_stay_where_it_is() {
        let astray = |placement, events| {
            seen(200, 0, events).contradiction(&manner(placement, Waiting::Sleeps))
        };
        assert_eq!(
            astray(Placement::OtherCpu, [3, 76, 1]).as_deref(),
            Some("round trips that left their CPUs: 4 of 80 where the threads are pinned")
        );
        assert!(astray(Placement::SameCpu, [79, 1, 0]).is_some());
        assert_eq!(astray(Placement::Free, [3, 76, 1]), None);
    }
}

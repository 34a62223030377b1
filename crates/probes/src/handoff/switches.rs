//! What the kernel counted of a pair, held against what its method assumes.

use super::placement::Placement;
use super::plan::{HandoffPlan, Waiting};
use super::token::{BUSY_CPU, MODES, OTHER_CPU, SAME_CPU};
use crate::engine::switches::Rate;

/// What the kernel said of a visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SwitchEvidence {
    /// Context switches of both threads per round trip.
    pub(super) switches: Option<Rate>,
    /// Stamped events of each mode, where the CPUs are known.
    pub(super) events: Option<[u64; MODES.len()]>,
}

impl SwitchEvidence {
    pub(super) fn note(&self, waiting: Waiting) -> String {
        let per = match waiting {
            Waiting::Depends => "transfer and its answer",
            _ => "round trip",
        };
        match self.switches {
            Some(rate) => rate.note(per),
            None => format!("context switches per {per}: not counted by this system"),
        }
    }

    /// What was counted that the method does not allow for, if anything.
    pub(super) fn contradiction(&self, plan: &HandoffPlan) -> Option<String> {
        self.astray(plan.placement).or_else(|| self.uncounted(plan.waiting, plan.placement))
    }

    /// Round trips that a pinned pair made elsewhere.
    fn astray(&self, placement: Placement) -> Option<String> {
        let events = self.events?;
        let own = match placement {
            Placement::SameCpu => events[usize::from(SAME_CPU)],
            Placement::OtherCpu => events[usize::from(OTHER_CPU)] + events[usize::from(BUSY_CPU)],
            Placement::Free => return None,
        };
        let all: u64 = events.iter().sum();
        let astray = all - own;
        (astray > 0).then(|| {
            format!(
                "round trips that left their CPUs: {astray} of {all} where the threads are pinned"
            )
        })
    }

    fn uncounted(&self, waiting: Waiting, placement: Placement) -> Option<String> {
        let (assumed, least, most) = waiting.switches()?;
        let rate = self.switches?;
        let counted = match waiting.counts_forced(placement) {
            true => rate.both(),
            false => rate.voluntary,
        };
        let allowed = (least..=most).contains(&counted);
        (!allowed)
            .then(|| rate.contradiction(&format!("{assumed} context switches per round trip")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of so many switches in 100 round trips.
    fn says(
        (voluntary, involuntary): (f64, f64),
        events: [u64; 4],
        placement: Placement,
        waiting: Waiting,
    ) -> Option<String> {
        let rate = Rate { voluntary: voluntary / 100.0, involuntary: involuntary / 100.0 };
        let seen = SwitchEvidence { switches: Some(rate), events: Some(events) };
        seen.contradiction(&HandoffPlan::round_trips(placement, waiting))
    }

    #[test]
    fn what_contradicts_the_method() {
        use Placement::{Free, OtherCpu, SameCpu};
        use Waiting::{Depends, Sleeps, SleepsStirred, Spins};
        let (same, other, any) = ([80, 0, 0, 0], [0, 80, 0, 0], [30, 40, 10, 0]);
        for (switches, events, placement, waiting, agrees) in [
            ((200.0, 0.0), same, SameCpu, Sleeps, true),
            // A forced switch is a hand-off there.
            ((112.0, 88.0), same, SameCpu, Sleeps, true),
            ((112.0, 20.0), same, SameCpu, Sleeps, false),
            ((200.0, 62.0), same, SameCpu, Sleeps, false),
            // A neighbour's doing.
            ((198.0, 60.0), other, OtherCpu, Sleeps, true),
            ((112.0, 88.0), other, OtherCpu, Sleeps, false),
            ((112.0, 88.0), any, Free, Sleeps, true),
            ((31.0, 0.0), any, Free, Sleeps, false),
            ((199.0, 62.0), same, SameCpu, SleepsStirred, true),
            ((30.0, 0.0), same, SameCpu, SleepsStirred, false),
            ((300.0, 150.0), same, SameCpu, SleepsStirred, false),
            ((3.0, 70.0), other, OtherCpu, Spins, true),
            ((30.0, 0.0), other, OtherCpu, Spins, false),
            ((30.0, 0.0), any, Free, Depends, true),
            // A pinned pair must stay where it is.
            ((200.0, 0.0), [3, 76, 1, 0], OtherCpu, Sleeps, false),
            ((200.0, 0.0), [0, 40, 0, 40], OtherCpu, Sleeps, true),
            ((200.0, 0.0), [79, 1, 0, 0], SameCpu, Sleeps, false),
            ((200.0, 0.0), [3, 76, 1, 0], Free, Sleeps, true),
        ] {
            let said = says(switches, events, placement, waiting);
            assert_eq!(said.is_none(), agrees, "{switches:?} {placement:?} {waiting:?}: {said:?}");
        }
        assert_eq!(
            says((200.0, 0.0), [3, 76, 1, 0], OtherCpu, Sleeps).as_deref(),
            Some("round trips that left their CPUs: 4 of 80 where the threads are pinned")
        );
        assert_eq!(
            says((112.0, 88.0), other, OtherCpu, Sleeps).as_deref(),
            Some(
                "the method assumes 2 context switches per round trip, but the kernel counted: 1.12 voluntary, 0.88 involuntary"
            )
        );
    }

    #[test]
    fn what_is_not_counted_is_not_judged() {
        let seen = SwitchEvidence { switches: None, events: None };
        let plan = HandoffPlan::round_trips(Placement::SameCpu, Waiting::Sleeps);
        assert_eq!(seen.contradiction(&plan), None);
        assert!(seen.note(Waiting::Sleeps).ends_with("not counted by this system"));
    }
}

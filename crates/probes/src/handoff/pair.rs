//! Two threads that hand a token back and forth: the frame of every row whose
//! time is a wake-up's.

use super::placement::{Placement, Sets};
use super::plan::Plan;
use super::play::play;
use super::switches::Seen;
use super::token::{MODES, Means};
use crate::engine::counters::counters;
use crate::engine::switches::Rate;
use crate::engine::threads::event;
use meter::probe::{Event, MachineShape, Work, WorkError};
use std::time::Duration;

/// How long a whole visit may take before it is given up. A round trip takes
/// less than 0.1 ms.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The work of a row: a pair that is started anew for each visit.
pub(crate) struct Pair<M> {
    means: M,
    plan: Plan,
    pub(super) sets: Sets,
    patience: Duration,
    /// How far stamps of different CPUs can be compared, where it matters.
    counters: Option<String>,
    seen: Option<Seen>,
}

/// How a row makes its pair.
pub(crate) type Made = Result<Box<dyn Work>, WorkError>;

impl<M: Means + 'static> Pair<M> {
    /// [`Pair::new`] as a row's work.
    pub(crate) fn made(means: M, plan: Plan, machine: &MachineShape) -> Made {
        Ok(Box::new(Pair::new(means, plan, machine)?))
    }
}

impl<M: Means> Pair<M> {
    /// A pair that will run as planned.
    pub(crate) fn new(means: M, plan: Plan, machine: &MachineShape) -> Result<Pair<M>, WorkError> {
        let sets = plan.placement.sets(machine)?;
        // A thread that is free may move between its two stamps.
        let counters = match plan.placement {
            Placement::Free => counters(&machine.cpus)?.note.clone(),
            Placement::SameCpu | Placement::OtherCpu => None,
        };
        Ok(Pair { means, plan, sets, patience: PATIENCE, counters, seen: None })
    }

    #[cfg(test)]
    pub(crate) fn with_patience(mut self, patience: Duration) -> Pair<M> {
        self.patience = patience;
        self
    }
}

impl<M: Means> Work for Pair<M> {
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, WorkError> {
        self.seen = None;
        let (means, plan) = (&self.means, &self.plan);
        let visit = play(means, plan, &self.sets, operations, self.patience)?;
        let trips_per_event = u64::from(plan.trips_per_event);
        let trips = u64::from(plan.warm_up) + u64::from(operations) * trips_per_event;
        let mut by_mode = [0; 3];
        let modes = visit.modes.iter().flatten().copied();
        let events = visit
            .stamps
            .iter()
            .zip(modes.chain(std::iter::repeat(0)))
            .map(|(&(from, to), mode)| {
                by_mode[usize::from(mode)] += 1;
                event(from, to, trips_per_event * plan.ops_per_trip, mode)
            })
            .collect();
        self.seen = Some(Seen {
            switches: visit.switches.map(|all| Rate::per(all, trips)),
            events: visit.modes.is_some().then_some(by_mode),
        });
        Ok(events)
    }
    fn modes(&self) -> Vec<String> {
        match &self.seen {
            Some(Seen { events: Some(_), .. }) => MODES.map(String::from).to_vec(),
            _ => Vec::new(),
        }
    }
    fn contradiction(&self) -> Option<String> {
        self.seen?.contradiction(&self.plan)
    }
    fn notes(&self) -> Vec<String> {
        let seen = self.seen.map(|seen| seen.note(self.plan.waiting));
        let cpus = self.plan.placement.note(&self.sets);
        let notes = [seen, cpus, self.counters.clone()];
        notes.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{cpus, machine};
    use crate::handoff::means::{Lanes, Spin};
    use crate::handoff::plan::Waiting;
    use crate::handoff::token::{MOVED, OTHER_CPU, SAME_CPU, mode};
    use sys::semaphore::Semaphore;

    fn semaphores() -> Lanes<Semaphore> {
        Lanes::new("a semaphore", || Semaphore::new(0)).expect("semaphores")
    }

    #[test]
    fn the_mode_is_that_of_both_hand_offs() {
        assert_eq!(mode(1, 1, 1), SAME_CPU);
        assert_eq!(mode(0, 1, 0), OTHER_CPU);
        assert_eq!(mode(0, 1, 1), MOVED, "the first thread came over");
        assert_eq!(mode(1, 1, 0), MOVED);
        assert_eq!(mode(0, 1, 2), OTHER_CPU);
    }

    #[test]
    fn the_kernels_count_distinguishes_spinning_from_sleeping() {
        if cpus().len() < 2 {
            return;
        }
        let spins = |waiting| {
            let plan = Plan::round_trips(Placement::OtherCpu, waiting);
            let mut pair = Pair::new(Spin::default(), plan, &machine()).expect("two CPUs");
            pair.stamped(200).expect("it runs");
            pair.contradiction()
        };
        let said = spins(Waiting::Sleeps).expect("it does not sleep");
        let assumed = "the method assumes 2 context switches per round trip";
        assert!(said.starts_with(assumed), "{said}");
        let sleeps = |placement, waiting| {
            let plan = Plan::round_trips(placement, waiting);
            let mut pair = Pair::new(semaphores(), plan, &machine()).expect("CPUs");
            pair.stamped(200).expect("it runs");
            pair.contradiction()
        };
        for placement in [Placement::SameCpu, Placement::OtherCpu, Placement::Free] {
            assert!(sleeps(placement, Waiting::Spins).is_some(), "{placement:?}");
            assert_eq!(sleeps(placement, Waiting::Depends), None);
            // Others may take a CPU for a while: not in every visit.
            assert!((0..5).any(|_| sleeps(placement, Waiting::Sleeps).is_none()), "{placement:?}");
        }
        assert!((0..5).any(|_| spins(Waiting::Spins).is_none()));
    }

    #[test]
    fn pinned_pairs_run_in_the_mode_of_their_placement() {
        let mut expected = vec![(Placement::SameCpu, SAME_CPU)];
        if cpus().len() > 1 {
            expected.push((Placement::OtherCpu, OTHER_CPU));
        }
        for (placement, mode) in expected {
            let plan = Plan { trips_per_event: 3, ..Plan::round_trips(placement, Waiting::Sleeps) };
            let mut pair = Pair::new(semaphores(), plan, &machine()).expect("CPUs");
            assert!(pair.modes().is_empty(), "nothing is known yet");
            let events = pair.stamped(7).expect("it runs");
            assert_eq!(events.len(), 7);
            assert!(events.iter().all(|e| e.mode == mode && e.ops == 6));
            assert_eq!(pair.modes(), MODES);
        }
    }
}

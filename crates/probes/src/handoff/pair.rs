//! Two threads that hand a token back and forth: the frame of every row whose
//! time is a wake-up's.

use super::placement::{Placement, Sets};
use super::plan::HandoffPlan;
use super::play::play;
use super::switches::SwitchEvidence;
use super::token::{MODES, Means};
use crate::engine::clocks::counters;
use crate::engine::switches::Rate;
use crate::engine::threads::event;
use meter::probe::{Event, MachineShape, Work, WorkError, WorkStep};
use std::time::Duration;

/// How long a whole visit may take before it is given up. A round trip takes
/// less than 0.1 ms.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// For a trace, whose operations are whole.
const ROUND_TRIP: &str =
    "an operation here is a round trip: post and wait on both threads; the row counts one way";

/// The work of a row: a pair that is started anew for each visit.
pub(crate) struct Pair<M> {
    means: M,
    plan: HandoffPlan,
    pub(super) sets: Sets,
    patience: Duration,
    /// How far stamps of different CPUs can be compared, where it matters.
    counters: Option<String>,
    seen: Option<SwitchEvidence>,
    /// How long the two threads waited for CPUs that others had, ns.
    run_delay_ns: Option<u64>,
    /// What lies within operations, where a trace asks for it.
    steps: Option<Vec<WorkStep>>,
}

/// How a row makes its pair.
pub(crate) type PairResult = Result<Box<dyn Work>, WorkError>;

impl<M: Means + 'static> Pair<M> {
    /// [`Pair::new`] as a row's work.
    pub(crate) fn made(means: M, plan: HandoffPlan, machine: &MachineShape) -> PairResult {
        Ok(Box::new(Pair::new(means, plan, machine)?))
    }
}

impl<M: Means> Pair<M> {
    /// A pair that will run as planned.
    pub(crate) fn new(
        means: M,
        plan: HandoffPlan,
        machine: &MachineShape,
    ) -> Result<Pair<M>, WorkError> {
        let sets = plan.placement.sets(machine)?;
        // A thread that is free may move between its two stamps.
        let counters = match plan.placement {
            Placement::Free => counters(&machine.cpus)?.note.clone(),
            Placement::SameCpu | Placement::OtherCpu => None,
        };
        Ok(Pair {
            means,
            plan,
            sets,
            patience: PATIENCE,
            counters,
            seen: None,
            run_delay_ns: None,
            steps: None,
        })
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
        self.run_delay_ns = None;
        let (means, plan) = (&self.means, &self.plan);
        let with_steps = self.steps.is_some();
        let visit = play(means, plan, &self.sets, operations, self.patience, with_steps)?;
        if let Some(steps) = &mut self.steps {
            steps.clone_from(&visit.steps);
        }
        let trips_per_event = u64::from(plan.trips_per_event);
        let trips = u64::from(plan.warm_up) + u64::from(operations) * trips_per_event;
        let mut by_mode = [0; MODES.len()];
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
        self.run_delay_ns = visit.waited.map(|waited| plan.waiting.of_others_ns(waited));
        self.seen = Some(SwitchEvidence {
            switches: visit.switches.map(|all| Rate::per(all, trips)),
            events: visit.modes.is_some().then_some(by_mode),
        });
        Ok(events)
    }
    fn mark_steps(&mut self) {
        self.steps = Some(Vec::new());
    }
    fn marked_steps(&mut self) -> Vec<WorkStep> {
        self.steps.as_mut().map(std::mem::take).unwrap_or_default()
    }
    fn modes(&self) -> Vec<String> {
        match &self.seen {
            Some(SwitchEvidence { events: Some(_), .. }) => MODES.map(String::from).to_vec(),
            _ => Vec::new(),
        }
    }
    fn contradiction(&self) -> Option<String> {
        self.seen?.contradiction(&self.plan)
    }
    fn run_delay_ns(&self, _series: usize, _own_ns: u64) -> Option<u64> {
        self.run_delay_ns
    }
    fn notes(&self) -> Vec<String> {
        let seen = self.seen.map(|seen| seen.note(self.plan.waiting));
        let cpus = self.plan.placement.note(&self.sets);
        let trip = self.steps.as_ref().map(|_| ROUND_TRIP.to_owned());
        let notes = [trip, seen, cpus, self.counters.clone()];
        notes.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{cpus, small_machine};
    use crate::handoff::means::{Lanes, Spin};
    use crate::handoff::plan::Waiting;
    use crate::handoff::token::{BUSY_CPU, MOVED, OTHER_CPU, SAME_CPU, mode, with_busy_cpus};
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
    fn a_cpu_that_never_goes_idle_is_a_busy_one() {
        let seen = vec![SAME_CPU, OTHER_CPU, MOVED, OTHER_CPU, OTHER_CPU, OTHER_CPU];
        let busy = vec![SAME_CPU, BUSY_CPU, MOVED, BUSY_CPU, BUSY_CPU, BUSY_CPU];
        for (trips_per_event, went_idle, expected) in
            [(1, 4, &seen), (1, 2, &seen), (1, 1, &busy), (1, 0, &busy), (10, 4, &busy)]
        {
            let modes = with_busy_cpus(seen.clone(), trips_per_event, went_idle);
            assert_eq!(&modes, expected, "{trips_per_event} {went_idle}");
        }
    }

    #[test]
    fn the_kernels_count_distinguishes_spinning_from_sleeping() {
        if cpus().len() < 2 {
            return;
        }
        let spins = |waiting| {
            let plan = HandoffPlan::round_trips(Placement::OtherCpu, waiting);
            let mut pair = Pair::new(Spin::default(), plan, &small_machine()).expect("two CPUs");
            pair.stamped(200).expect("it runs");
            pair.contradiction()
        };
        let said = spins(Waiting::Sleeps).expect("it does not sleep");
        let assumed = "the method assumes 2 context switches per round trip";
        assert!(said.starts_with(assumed), "{said}");
        let sleeps = |placement, waiting| {
            let plan = HandoffPlan::round_trips(placement, waiting);
            let mut pair = Pair::new(semaphores(), plan, &small_machine()).expect("CPUs");
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
            let plan = HandoffPlan {
                trips_per_event: 3,
                ..HandoffPlan::round_trips(placement, Waiting::Sleeps)
            };
            let mut pair = Pair::new(semaphores(), plan, &small_machine()).expect("CPUs");
            assert!(pair.modes().is_empty(), "nothing is known yet");
            let events = pair.stamped(7).expect("it runs");
            assert_eq!(events.len(), 7);
            // Other programs may have the CPU.
            let is_of_placement = |at: u8| at == mode || (mode == OTHER_CPU && at == BUSY_CPU);
            assert!(events.iter().all(|e| is_of_placement(e.mode) && e.ops == 6));
            assert_eq!(pair.modes(), MODES);
        }
    }
}

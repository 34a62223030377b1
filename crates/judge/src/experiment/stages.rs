//! The two stages, and what the budget has room for.

use super::kept::{layout_seed, slots_of};
use super::{ExperimentProgress, MeasuredSlot, MeasuredSuite, Surroundings};
use crate::slot::{Arm, Slots};
use model::judged::BenchmarkState;
use model::judged::question::{Screened, SlotQuestion, SlotRule};
use std::time::Duration;

/// In every round.
const ARMS: [Arm; 3] = [Arm::Base, Arm::Head, Arm::BaseAgain];
/// The standard error with which 2 % are found, as one of twenty benchmarks.
const WANTED_ERROR: f64 = 0.005;
/// The part of the budget that the rounds of all benchmarks may take.
const SCREENING: f64 = 0.45;
/// And the part that more than the fewest of them may take: all may have changed.
const USUAL: f64 = 0.25;

pub(super) struct Stages<'a> {
    pub(super) slots: &'a mut dyn Slots,
    pub(super) surroundings: &'a mut dyn Surroundings,
    pub(super) random: fastrand::Rng,
    pub(super) measured: MeasuredSuite,
}

impl Stages<'_> {
    pub(super) fn run(mut self) -> MeasuredSuite {
        self.size_slots();
        let all = self.within_budget();
        let [least, most] = self.measured.plan.screening;
        let rounds = self.rounds_in(self.part_of_budget(USUAL), &all).clamp(least, most);
        let planned: Vec<(usize, u32)> = all.iter().map(|&at| (at, rounds)).collect();
        self.measured.screening_rounds = self.rounds(&planned, 0, false);
        if !self.is_over() {
            let open = self.undecided(&all);
            for &(at, _) in &open {
                self.measured.benchmarks[at].again = true;
            }
            let first = self.measured.screening_rounds;
            self.measured.again_rounds = self.rounds(&open, first, true);
        }
        self.measured.interrupted = self.surroundings.is_stopped();
        self.measured
    }

    /// A slot of each build, which are not kept: files are read, and it is known how long an operation takes.
    fn size_slots(&mut self) {
        for at in 0..self.measured.benchmarks.len() {
            let mut of_base = None;
            for arm in [Arm::Base, Arm::Head] {
                if self.is_over() || !self.measured.benchmarks[at].is_measured() {
                    continue;
                }
                self.show(at, [0, 0], 0, false);
                let benchmark = &mut self.measured.benchmarks[at];
                let measured = self.slots.measure(&benchmark.request(arm, None));
                match (measured, of_base.take()) {
                    (Ok(found), None) => {
                        benchmark.size_slots(&found);
                        of_base = Some(found);
                    }
                    (Ok(found), Some(few)) => benchmark.limit_samples(&few, &found),
                    (Err(_), _) if self.surroundings.is_stopped() => {}
                    (Err(error), _) => {
                        let arm = super::kept::arm_id(arm).into();
                        benchmark.state = BenchmarkState::Failed { arm, why: error.to_string() };
                    }
                }
            }
        }
    }

    /// Those whose first rounds the budget has room for, in the suite's order; the others are not measured.
    fn within_budget(&mut self) -> Vec<usize> {
        let ends = self.part_of_budget(SCREENING);
        let [least, _] = self.measured.plan.screening;
        let [_, again, _] = self.measured.plan.again;
        let mut left = ends.saturating_sub(self.surroundings.elapsed());
        let mut all = Vec::new();
        for (at, benchmark) in self.measured.benchmarks.iter_mut().enumerate() {
            if !benchmark.is_measured() {
                continue;
            }
            let round = benchmark.slot * ARMS.len() as u32;
            match left.checked_sub(round * least) {
                Some(less) => {
                    left = less;
                    all.push(at);
                }
                None => {
                    let needed_ms = (round * (least + again)).as_millis() as u64;
                    benchmark.state = BenchmarkState::BeyondBudget { needed_ms };
                }
            }
        }
        all
    }

    fn part_of_budget(&self, share: f64) -> Duration {
        self.measured.plan.budget.mul_f64(share)
    }

    fn is_over(&self) -> bool {
        self.surroundings.is_stopped() || self.surroundings.elapsed() >= self.measured.plan.budget
    }

    /// Rounds of these for which there is time until then.
    fn rounds_in(&self, ends: Duration, these: &[usize]) -> u32 {
        let left = ends.saturating_sub(self.surroundings.elapsed());
        let round = self.round(these);
        if round.is_zero() { u32::MAX } else { (left.as_secs_f64() / round.as_secs_f64()) as u32 }
    }

    fn round(&self, these: &[usize]) -> Duration {
        these.iter().map(|&at| self.measured.benchmarks[at].slot * ARMS.len() as u32).sum()
    }

    /// Measures so many rounds of each, unless the budget or the user ends them; how many are whole.
    fn rounds(&mut self, these: &[(usize, u32)], first: u32, again: bool) -> u32 {
        let rounds = these.iter().map(|(_, rounds)| *rounds).max().unwrap_or(0);
        for round in 0..rounds {
            let own = these.iter().filter(|(_, rounds)| round < *rounds);
            let mut order: Vec<(usize, Arm)> =
                own.flat_map(|&(at, _)| ARMS.map(|arm| (at, arm))).collect();
            self.random.shuffle(&mut order);
            for (at, arm) in order {
                if self.is_over() {
                    return round;
                }
                if self.measured.benchmarks[at].is_measured() {
                    self.show(at, [round, rounds], these.len(), again);
                    self.slot(at, arm, first + round);
                }
            }
        }
        rounds
    }

    fn slot(&mut self, at: usize, arm: Arm, round: u32) {
        let seed = layout_seed(self.measured.plan.seed, arm, round);
        let began = self.surroundings.elapsed();
        let benchmark = &mut self.measured.benchmarks[at];
        let measured = self.slots.measure(&benchmark.request(arm, Some(seed)));
        let took = self.surroundings.elapsed().saturating_sub(began);
        match measured {
            Ok(samples) => {
                let so_far = benchmark.slots.len() as u32;
                // With what it takes to link.
                benchmark.slot = match so_far {
                    0 => took,
                    _ => (benchmark.slot * so_far + took) / (so_far + 1),
                };
                let at_ms = began.as_millis() as u64;
                benchmark.slots.push(MeasuredSlot { arm, round, at_ms, samples });
            }
            // What was interrupted has not failed.
            Err(_) if self.surroundings.is_stopped() => {}
            Err(error) => benchmark.lose(arm, &error),
        }
    }

    /// Those that may have changed, or of which the first rounds say too little, with the rounds of each: as many as
    /// the budget has room for, the most conspicuous first.
    fn undecided(&mut self, all: &[usize]) -> Vec<(usize, u32)> {
        let mut open: Vec<(f64, usize, f64)> = Vec::new();
        for &at in all {
            let benchmark = &self.measured.benchmarks[at];
            if !benchmark.is_measured() {
                continue;
            }
            let [base, head, again] = slots_of(&benchmark.slots);
            let rule = SlotRule::of_host(&base, &again);
            let screened =
                Screened::from_summary(&SlotQuestion::new(rule, &base, &head).summarized());
            if screened.is_open() {
                // How much of them the head has no part in.
                let error = SlotQuestion::new(rule, &base, &again).standard_error();
                let rounds =
                    base.len() as f64 * (error.unwrap_or(f64::INFINITY) / WANTED_ERROR).powi(2);
                open.push((screened.p_value, at, rounds));
            }
        }
        open.sort_by(|a, b| a.0.total_cmp(&b.0));
        let [least, usual, most] = self.measured.plan.again;
        let left = self.measured.plan.budget.saturating_sub(self.surroundings.elapsed());
        let mut fits = Vec::new();
        let mut taken = Duration::ZERO;
        for (_, at, wanted) in open {
            let round = self.round(&[at]);
            match taken + round * least <= left {
                true => {
                    taken += round * least;
                    fits.push((at, least, wanted.clamp(usual.into(), most.into()) as u32));
                }
                false => {
                    let needed_ms = (round * usual).as_millis() as u64;
                    self.measured.benchmarks[at].state =
                        BenchmarkState::NotMeasuredAgain { needed_ms };
                }
            }
        }
        // What is left is for as many rounds as each wants.
        let wanted: Duration =
            fits.iter().map(|&(at, least, wanted)| self.round(&[at]) * (wanted - least)).sum();
        let share = match wanted.is_zero() {
            true => 0.0,
            false => (left.saturating_sub(taken).as_secs_f64() / wanted.as_secs_f64()).min(1.0),
        };
        let rounds = |least: u32, wanted: u32| least + (f64::from(wanted - least) * share) as u32;
        fits.into_iter().map(|(at, least, wanted)| (at, rounds(least, wanted))).collect()
    }

    fn show(&mut self, at: usize, rounds: [u32; 2], benchmarks: usize, again: bool) {
        let benchmark = &self.measured.benchmarks[at].benchmark.name;
        self.surroundings.show(&ExperimentProgress { benchmark, rounds, benchmarks, again });
    }
}

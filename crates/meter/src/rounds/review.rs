//! What is known of the cells so far, and which of them get extra visits.

use super::Conductor;
use crate::extra::{self, Candidate};
use crate::observer::{Latest, Observer, Progress};
use crate::plan::PlannedCell;
use crate::run_context::RunContext;
use crate::schedule::Visit;
use crate::worker_pool::WorkerPool;
use model::estimate::{Estimate, Verdict};
use model::run::{Bound, Regime};
use model::summary::Key;
use std::time::Duration;

/// Relative half width wanted of a quiet figure.
const GATED_TARGET: f64 = 0.007;

/// Relative half width wanted of a distribution's median: a quarter of what
/// would be called noisy.
const DISTRIBUTION_TARGET: f64 = 0.025;

/// Extra visits of a cell, as a multiple of its planned ones: a cell that
/// stays uncertain whatever is done must not take all the time.
const MOST_EXTRA: u32 = 3;

impl<P: WorkerPool> Conductor<'_, P> {
    /// Renews the estimates of the cells that have new samples.
    pub(super) fn review(&mut self) {
        let context = RunContext::from_readings(
            &self.readings,
            self.plan.kept_quiet_ratio,
            self.calibration.ns_per_tick,
            self.resolution_ns,
        )
        .with_clock_movement(Some(self.plan.clock_movement));
        for (number, cell) in self.plan.cells.iter().enumerate() {
            let state = &self.cells[number];
            if self.estimates[number].is_none() && !state.samples.is_empty() {
                self.estimates[number] = Some(context.estimate(cell, state));
            }
        }
        let measured = self.plan.cells.iter().zip(&self.estimates);
        let latest = |(cell, estimate): (&PlannedCell, &Option<Estimate>)| {
            Some(Latest {
                key: Key { id: cell.row.clone(), at: cell.at.clone(), mode: None },
                estimate: estimate.clone()?,
                unit: cell.unit,
            })
        };
        self.latest = measured.filter_map(latest).collect();
        self.context = Some(context);
        self.reviewed = self.pool.elapsed();
    }

    /// Extra visits that a slice of the time is for; where none fits into it,
    /// those that fit into all that is left.
    pub(super) fn extra_visits(&self, slice: Duration, left: Duration) -> Vec<Visit> {
        let cells = self.plan.cells.iter().enumerate();
        let candidates: Vec<Candidate> =
            cells.map(|(number, cell)| self.candidate(number, cell)).collect();
        let laps_in = |time: Duration| extra::laps(&candidates, time.as_nanos() as f64);
        let mut laps = laps_in(slice);
        if laps.iter().all(|&laps| laps == 0) {
            laps = laps_in(left);
        }
        let mut visits = Vec::new();
        for (number, (cell, &laps)) in self.plan.cells.iter().zip(&laps).enumerate() {
            let workers = cell.first_worker..cell.first_worker + cell.workers;
            for worker in workers.filter(|worker| self.pool.has(*worker)) {
                let visit = Visit { worker, cell: number as u32 };
                visits.extend(std::iter::repeat_n(visit, laps as usize));
            }
        }
        visits
    }

    fn candidate(&self, number: usize, cell: &PlannedCell) -> Candidate {
        let workers = cell.workers.max(1);
        let may = cell.extra_visits && cell.visits > 0 && !self.cells[number].given_up;
        // A visit to it narrows all of them.
        let together = self.plan.together(number).into_iter();
        let widest = together
            .filter(|_| may)
            .map(|n| over_target(self.estimates[n].as_ref(), &self.plan.cells[n]))
            .fold(0.0, f64::max);
        let extra_laps = self.extra_made[number].div_ceil(workers);
        Candidate {
            over_target: widest,
            laps: self.visits_made[number] / workers,
            lap_ns: self.visit_ns(number) * f64::from(workers),
            most: (MOST_EXTRA * cell.visits).saturating_sub(extra_laps),
        }
    }

    pub(super) fn report(&self, round: u32, observer: &mut dyn Observer) {
        let planned: u64 = self
            .plan
            .cells
            .iter()
            .map(|cell| u64::from(cell.visits) * u64::from(cell.workers))
            .sum();
        let elapsed = self.pool.elapsed();
        observer.progress(&Progress {
            round: (round + 1).min(self.plan.rounds),
            rounds: self.plan.rounds,
            elapsed,
            remaining: (self.end + self.plan.time.end).saturating_sub(elapsed),
            visits_done: self.visits_done,
            visits_planned: planned.max(self.visits_done),
            latest: &self.latest,
        });
    }
}

/// Width of a cell's interval over the width wanted; infinite where it has
/// none, 0 where more visits would say nothing more.
fn over_target(estimate: Option<&Estimate>, cell: &PlannedCell) -> f64 {
    let Some(estimate) = estimate else {
        return f64::INFINITY;
    };
    if estimate.verdict == Verdict::Invalid || estimate.below_ns.is_some() {
        return 0.0;
    }
    let (width, target) = match (cell.regime, &estimate.quiet, &estimate.typical) {
        (Regime::Gated, Some(quiet), _) => {
            let width = match (cell.bound, quiet.cycles) {
                (Bound::Core, Some(cycles)) => cycles.relative_half_width(),
                _ => quiet.ns.relative_half_width(),
            };
            (width, GATED_TARGET)
        }
        (Regime::Distribution | Regime::Stamped, _, Some(typical)) => {
            (typical.ns.relative_half_width(), DISTRIBUTION_TARGET)
        }
        _ => return f64::INFINITY,
    };
    if width.is_nan() { f64::INFINITY } else { width / target }
}

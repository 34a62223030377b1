//! The rounds of a run: workers started and listened to, planned visits made
//! round by round, extra visits to what is still uncertain.

mod replies;
mod review;
mod start;
mod timing;
mod visits;

pub(crate) use start::{Start, setup};

use crate::cell_state::{CellState, VisitFailure};
use crate::observer::{Latest, Observer};
use crate::pace::Pace;
use crate::plan::{Plan, PlannedCell};
use crate::run_context::RunContext;
use crate::run_remark::RunRemark;
use crate::schedule::{self, Visit};
use crate::worker_pool::WorkerPool;
use fastrand::Rng;
use model::estimate::Estimate;
use model::machine_readings::MachineReadings;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::clock::{Calibration, ClockCost};

pub(crate) struct Conductor<'p, P> {
    plan: &'p Plan,
    calibration: Calibration,
    resolution_ns: f64,
    pool: P,
    cells: Vec<CellState>,
    /// What the samples of all cells say of the machine.
    readings: MachineReadings,
    visits_made: Vec<u32>,
    /// Those of them that were not planned.
    extra_made: Vec<u32>,
    pace: Pace,
    /// What batches took, and the visits in them, ns; without those that failed.
    between: (f64, f64),
    rng: Rng,
    /// When the first visit could begin, after the run did.
    first: Duration,
    /// When the last one has to end, after that.
    end: Duration,
    /// Time that faults of packs took.
    lost: Duration,
    visits_done: u64,
    remarks: Vec<RunRemark>,
    all_lost: bool,
    interrupted: bool,
    batch: usize,
    reviewed: Duration,
    context: Option<RunContext>,
    /// Of each cell, renewed when it has new samples.
    estimates: Vec<Option<Estimate>>,
    latest: Vec<Latest>,
}

#[derive(Clone, Copy)]
enum Until {
    /// Planned ones, until the run has lasted so long.
    Limit(Duration),
    /// Extra ones that are over before the next round.
    Due(Duration),
}

/// What came of the visits of a run.
pub(crate) struct Measured {
    pub(crate) cells: Vec<CellState>,
    /// What the samples of all cells say of the machine.
    pub(crate) readings: MachineReadings,
    pub(crate) remarks: Vec<RunRemark>,
    /// Whether no worker was left.
    pub(crate) all_lost: bool,
    /// Whether it was stopped.
    pub(crate) interrupted: bool,
}

/// What is known of the cells before the first visit: of those that none is
/// made to, why.
fn states(plan: &Plan) -> Vec<CellState> {
    let refused = |cell: &PlannedCell| {
        let why = cell.refused.clone().map(VisitFailure::Refused);
        why.map(CellState::without_visits)
    };
    plan.cells.iter().map(|cell| refused(cell).unwrap_or_default()).collect()
}

impl<'p, P: WorkerPool> Conductor<'p, P> {
    fn new(plan: &'p Plan, calibration: &Calibration, rng: Rng, pool: P) -> Self {
        let cells = plan.cells.len();
        Conductor {
            plan,
            calibration: calibration.clone(),
            resolution_ns: 0.0,
            pool,
            cells: states(plan),
            readings: MachineReadings::default(),
            visits_made: vec![0; cells],
            extra_made: vec![0; cells],
            pace: Pace::new(plan),
            between: (0.0, 0.0),
            rng,
            first: Duration::ZERO,
            end: Duration::ZERO,
            lost: Duration::ZERO,
            visits_done: 0,
            remarks: Vec::new(),
            all_lost: false,
            interrupted: false,
            // On a single CPU every answer interrupts the next visit.
            batch: if plan.machine_shape.cpus.len() > 1 { schedule::BATCH } else { 1 },
            reviewed: Duration::ZERO,
            context: None,
            estimates: vec![None; cells],
            latest: Vec::new(),
        }
    }

    /// Makes all visits, and ends the workers.
    pub(crate) fn measure_all(
        mut self,
        cost: &ClockCost,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Measured {
        self.rounds(cost, observer, stop);
        Measured {
            cells: self.cells,
            readings: self.readings,
            remarks: self.remarks,
            all_lost: self.all_lost,
            interrupted: self.interrupted,
        }
    }

    /// Makes the planned visits round by round, and extra ones to what is still
    /// uncertain in the time between the later rounds and after them.
    fn rounds(&mut self, cost: &ClockCost, observer: &mut dyn Observer, stop: &AtomicBool) {
        self.resolution_ns = cost.resolution_ns;
        self.first = self.pool.elapsed();
        // On a loaded machine workers take long to start.
        let measured = self.first + self.plan.time.measuring();
        let latest = self.plan.limit.saturating_sub(self.plan.time.end);
        self.end = self.plan.time.until_end().max(measured.min(latest));
        let rounds = self.plan.rounds;
        let first_visits = schedule::cheapest_first(&self.first_visits(), self.batch, |visit| {
            self.visit_ns(visit.cell as usize)
        });
        self.make_visits(&first_visits, 0, Until::Limit(self.plan.first_limit), observer, stop);
        for round in 0..rounds {
            self.fill(round, observer, stop);
            let visits = self.visits_of(round);
            let batches = self.batches(&visits);
            let whole =
                self.make_visits(&batches, round, Until::Limit(self.plan.limit), observer, stop);
            if self.is_over() {
                return;
            }
            if !whole {
                self.remarks.push(RunRemark::TimeEnded { round: round + 1, rounds });
                return;
            }
            if self.pool.elapsed() - self.reviewed > self.review_every() {
                self.review();
                self.report(round, observer);
            }
        }
        self.fill(rounds, observer, stop);
    }

    fn is_over(&self) -> bool {
        self.interrupted || self.all_lost || self.cells.iter().all(|cell| cell.given_up)
    }

    /// Extra visits until a round is due, where half of the rounds are over
    /// and a cell is still uncertain; else waiting. After the last round there
    /// is nothing to wait for.
    fn fill(&mut self, round: u32, observer: &mut dyn Observer, stop: &AtomicBool) {
        let due = self.due(round);
        let is_last = round >= self.plan.rounds;
        while !self.is_over() {
            let left = due.saturating_sub(self.pool.elapsed());
            if left.is_zero() || self.is_stopped(stop) {
                return;
            }
            let knows = round * 2 >= self.plan.rounds;
            if knows && self.context.is_none() {
                self.review();
            }
            // Slices: what they bring decides what the next one is for, and
            // each cell's extra visits are spread over the time.
            let slice = left.min(self.review_every() * 2);
            let visits = if knows { self.extra_visits(slice, left) } else { Vec::new() };
            let before = self.visits_done;
            let batches = self.batches(&visits);
            self.make_visits(&batches, round, Until::Due(due), observer, stop);
            match self.visits_done > before {
                true => {
                    self.review();
                    self.report(round, observer);
                }
                // Nothing is uncertain, or nothing fits any more.
                false if is_last => return,
                false => self.pool.sleep(Duration::from_millis(5).min(left)),
            }
        }
    }

    /// Whether the run is to stop; remembers it.
    fn is_stopped(&mut self, stop: &AtomicBool) -> bool {
        self.interrupted |= stop.load(Ordering::Relaxed);
        self.interrupted
    }

    /// Makes visits. Gives whether the time allowed was enough for them.
    fn make_visits(
        &mut self,
        batches: &[Vec<Visit>],
        round: u32,
        until: Until,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> bool {
        for batch in batches {
            if self.is_stopped(stop) {
                return true;
            }
            let elapsed = self.pool.elapsed();
            let costs_ns = batch.iter().map(|v| self.visit_ns(v.cell as usize));
            let takes = Duration::from_nanos(costs_ns.sum::<f64>() as u64);
            match until {
                // Another batch may still fit.
                Until::Due(due) if elapsed + takes > due => continue,
                Until::Limit(limit) if elapsed > limit.saturating_add(self.lost) => return false,
                _ => {}
            }
            let is_extra = matches!(until, Until::Due(_));
            self.carry_out(batch, is_extra, observer, stop);
            if self.pool.is_empty() && !self.interrupted {
                self.all_lost = true;
            }
            if self.is_over() {
                return true;
            }
            self.report(round, observer);
        }
        true
    }
}

#[cfg(test)]
mod tests;

//! What a run takes, and how its visits are fitted into that time.

use super::cell::{FAR_END, PlannedCell};
use model::gate::LEAST_VISITS;
use model::run::{Regime, Scale};
use std::time::Duration;

/// Share of the measuring time that planned visits take. The rest goes to
/// extra visits of the cells whose intervals are widest.
pub const BASE_SHARE: f64 = 0.65;

/// Share of it that one visit of each worker may take, where that is more.
const MOST_BASE_SHARE: f64 = 0.88;

/// Measuring takes at least this long, however few the rows are: quiet
/// stretches and the core's clock come and go within seconds.
const LEAST: Duration = Duration::from_secs(2);

/// More visits than this many times the usual are not planned, however large
/// the budget.
const MOST_FACTOR: f64 = 2.0;

/// Operations behind a p99: ten lie above it.
const TAIL: u32 = 1_000;

/// Samples that a cell's only visit keeps.
const LEAST_SAMPLES: u32 = 3;

/// How long a run takes, in parts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimePlan {
    /// Before the first visit, and the first touch of the workers' memory.
    pub start: Duration,
    /// Planned visits.
    pub base: Duration,
    /// Extra visits, or waiting where a few rows take less than two seconds.
    pub extra: Duration,
    /// After the last visit.
    pub end: Duration,
    /// What the planned visits would take; more than `base` where the budget
    /// is too short even for one of each worker.
    pub needed: Duration,
}

impl TimePlan {
    /// All of it.
    pub fn total(&self) -> Duration {
        self.until_end() + self.end
    }

    /// Everything before the end.
    pub fn until_end(&self) -> Duration {
        self.start + self.base + self.extra
    }

    /// Planned visits and extra ones.
    pub fn measuring(&self) -> Duration {
        self.base + self.extra
    }
}

/// How many times the usual visits are planned at most.
pub(super) fn most_factor(budget: Option<Duration>) -> f64 {
    budget.map_or(1.0, |_| MOST_FACTOR)
}

/// How long a run of this scale takes at most, unless its first visits alone
/// take longer.
fn most(scale: Scale) -> Duration {
    match scale {
        Scale::Quick => Duration::from_secs(14),
        Scale::Default => Duration::from_secs(80),
        Scale::Full => Duration::MAX,
    }
}

/// Scales the visits so that they take their share of the time, and gives the
/// time. `start` and `end` are what the run takes in addition to its visits.
pub(super) fn fit(
    cells: &mut [PlannedCell],
    scale: Scale,
    budget: Option<Duration>,
    start: Duration,
    end: Duration,
) -> TimePlan {
    let usual = sum(cells, 1.0);
    let least = sum(cells, 0.0);
    let measuring = match budget {
        // Rows that need less than the budget don't wait for its end.
        Some(budget) => budget
            .saturating_sub(start + end)
            .max(budget.mul_f64(0.25))
            .min(usual.mul_f64(4.0).max(Duration::from_secs(15))),
        None => usual
            .max(LEAST)
            .min(most(scale).saturating_sub(start + end))
            .max(least.mul_f64(1.0 / MOST_BASE_SHARE)),
    };
    let aim = measuring.mul_f64(BASE_SHARE);
    let (mut low, mut high) = (0.0, most_factor(budget));
    if sum(cells, high) <= aim {
        low = high;
    }
    while high - low > 1e-3 {
        let middle = (low + high) / 2.0;
        if sum(cells, middle) <= aim { low = middle } else { high = middle }
    }
    for cell in cells.iter_mut() {
        (cell.visits, cell.samples) = effort_at(cell, low);
    }
    confirm(cells);
    for cell in cells.iter_mut() {
        cell.allotment = cost(cell, cell.visits, cell.samples);
    }
    let needed: Duration = cells.iter().map(|cell| cell.allotment).sum();
    if needed > measuring {
        // Each cell has the same share of its visits then.
        let share = measuring.as_secs_f64() / needed.as_secs_f64();
        for cell in cells.iter_mut() {
            cell.allotment = cell.allotment.mul_f64(share);
        }
    }
    let base = needed.min(measuring);
    TimePlan { start, base, extra: measuring - base, end, needed }
}

/// Gives the gate of a short run the visits that it needs: each reads
/// multiplications over adds, which confirm what the canaries say.
fn confirm(cells: &mut [PlannedCell]) {
    let is_gated = |cell: &PlannedCell| cell.regime == Regime::Gated;
    let gated = cells.iter().filter(|cell| is_gated(cell));
    let visits: u32 = gated.map(|cell| cell.visits * cell.workers).sum();
    if visits > 0 {
        let times = (LEAST_VISITS as u32).div_ceil(visits);
        let gated = cells.iter_mut().filter(|cell| is_gated(cell));
        gated.for_each(|cell| cell.visits *= times);
    }
}

/// Visits and samples of a cell at this share of the usual effort: never less
/// than one visit of each worker, nor fewer operations than its tail needs.
fn effort_at(cell: &PlannedCell, factor: f64) -> (u32, u32) {
    let (visits, samples) = (cell.visits, cell.samples);
    if visits == 0 || samples == 0 {
        return (visits, samples);
    }
    let exact = f64::from(visits) * factor;
    let a_visit = samples * cell.workers.max(1);
    let for_tail = match cell.regime {
        Regime::Stamped => [FAR_END, TAIL]
            .into_iter()
            .find(|&needed| visits * a_visit >= needed)
            .map_or(0, |needed| needed.div_ceil(a_visit)),
        Regime::Gated | Regime::Distribution => 0,
    };
    let fewer = (exact.round() as u32).max(for_tail);
    if fewer > 0 {
        return (fewer, samples);
    }
    // Half a visit is one with half the samples.
    let fewer = (f64::from(samples) * exact).ceil() as u32;
    (1, fewer.max(LEAST_SAMPLES.min(samples)))
}

fn cost(cell: &PlannedCell, visits: u32, samples: u32) -> Duration {
    if visits == 0 {
        return Duration::ZERO;
    }
    let visits = f64::from(visits) * f64::from(cell.workers);
    let ns = cell.cost.once_ns + visits * cell.cost.visit_of(samples);
    Duration::from_nanos(ns as u64)
}

fn sum(cells: &[PlannedCell], factor: f64) -> Duration {
    let of = |cell: &PlannedCell| {
        let (visits, samples) = effort_at(cell, factor);
        cost(cell, visits, samples)
    };
    cells.iter().map(of).sum()
}

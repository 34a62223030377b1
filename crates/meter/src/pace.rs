//! What visits really cost, and which of the planned ones still fit into the
//! time.

use crate::plan::{Plan, PlannedCell};
use model::run::Regime;

/// A regime is judged by at least this many cells.
const ENOUGH_CELLS: usize = 5;

/// Visits that take more than this many times what was planned are made
/// shorter.
const SLOW: f64 = 4.0;

/// Halvings of the bracket that a multiple is searched in.
const HALVINGS: u32 = 60;

/// Samples that a visit keeps.
const LEAST_SAMPLES: u32 = 3;

/// Planned visits made, by what they took and what they were planned to take, ns.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    visits: u32,
    wall_ns: f64,
    planned_ns: f64,
    /// Of those the longest, which may have been the first to touch memory.
    longest: (f64, f64),
}

impl Spent {
    /// What its visits take, as a multiple of what was planned.
    fn spent_ratio(&self) -> Option<f64> {
        let (wall_ns, planned_ns) = match self.visits {
            0 => return None,
            1 => (self.wall_ns, self.planned_ns),
            _ => (self.wall_ns - self.longest.0, self.planned_ns - self.longest.1),
        };
        (planned_ns > 0.0).then(|| wall_ns / planned_ns)
    }
}

/// What the visits of a run cost so far.
#[derive(Clone, Debug)]
pub struct Pace {
    spent: Vec<Spent>,
}

impl Pace {
    /// Of a run that has not begun.
    pub fn new(plan: &Plan) -> Pace {
        Pace { spent: vec![Spent::default(); plan.cells.len()] }
    }

    /// A planned visit to a cell that had this many samples to take, and its
    /// time. Extra ones may have waited for a quiet machine.
    pub fn note_visit(&mut self, number: usize, cell: &PlannedCell, samples: u32, wall_ns: u64) {
        let (wall_ns, planned_ns) = (wall_ns as f64, cell.cost.visit_of(samples));
        let spent = &mut self.spent[number];
        spent.visits += 1;
        spent.wall_ns += wall_ns;
        spent.planned_ns += planned_ns;
        if wall_ns > spent.longest.0 {
            spent.longest = (wall_ns, planned_ns);
        }
    }

    /// What a visit takes, as a multiple of what was planned: of this cell, or
    /// of the cells like it as long as it has had none.
    fn pace_ratio(&self, plan: &Plan, number: usize) -> f64 {
        let own = self.spent[number].spent_ratio();
        own.unwrap_or_else(|| self.slowness(plan, plan.cells[number].regime))
    }

    fn slowness(&self, plan: &Plan, regime: Regime) -> f64 {
        let alike = self.spent.iter().zip(&plan.cells);
        let ratios: Vec<f64> = alike
            .filter(|(_, cell)| cell.regime == regime)
            .filter_map(|(spent, _)| spent.spent_ratio())
            .collect();
        match ratios.len() {
            0..ENOUGH_CELLS => 1.0,
            _ => model::stats::median(ratios).unwrap_or(1.0),
        }
    }

    /// What a visit to a cell should take with this many samples, ns.
    pub fn visit_ns(&self, plan: &Plan, number: usize, samples: u32) -> f64 {
        plan.cells[number].cost.visit_of(samples) * self.pace_ratio(plan, number)
    }

    /// What the planned visits to a cell took so far, ns.
    pub fn spent_ns(&self, number: usize) -> f64 {
        self.spent[number].wall_ns
    }

    /// Samples that a visit takes: those planned, or fewer where they take
    /// far longer than planned, as operations between threads do under a load
    /// that keeps switching. A few of each row say more than many of some.
    pub fn samples(&self, plan: &Plan, number: usize) -> u32 {
        let cell = &plan.cells[number];
        let ratio = self.pace_ratio(plan, number);
        if cell.regime == Regime::Gated || ratio <= SLOW {
            return cell.samples;
        }
        let fewer = (f64::from(cell.samples) * SLOW / ratio).ceil() as u32;
        fewer.clamp(LEAST_SAMPLES.min(cell.samples), cell.samples)
    }
}

/// Planned visits to a cell that are still to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remaining {
    /// How many, of all workers.
    pub visits: u32,
    /// What each should take, ns.
    pub visit_ns: f64,
    /// What the earlier ones took, ns.
    pub spent_ns: f64,
    /// What all of them were to take, ns.
    pub allotted_ns: f64,
}

/// Which share of each cell's remaining visits fits into the time that is
/// left: all, or those that keep each cell within the same multiple of its
/// allotment, so that a cell which costs more than planned pays for it first.
pub fn fitting_shares(cells: &[Remaining], left_ns: f64) -> Vec<f64> {
    let made = |cell: &Remaining, multiple: f64| {
        let affordable = (multiple * cell.allotted_ns - cell.spent_ns) / cell.visit_ns.max(1.0);
        affordable.clamp(0.0, f64::from(cell.visits))
    };
    let takes = |multiple: f64| -> f64 {
        let each = cells.iter().map(|c| made(c, multiple) * c.visit_ns);
        each.sum()
    };
    let all = |cell: &Remaining| {
        (cell.spent_ns + f64::from(cell.visits) * cell.visit_ns) / cell.allotted_ns.max(1.0)
    };
    let (mut low, mut high) = (0.0, cells.iter().map(all).fold(0.0, f64::max) + 1.0);
    if takes(high) <= left_ns {
        low = high;
    }
    // So often that what is left of the bracket is nothing; and no oftener,
    // since without any time it closes on 0.
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if takes(middle) <= left_ns { low = middle } else { high = middle }
    }
    let share = |cell: &Remaining| match cell.visits {
        0 => 1.0,
        visits => made(cell, low) / f64::from(visits),
    };
    cells.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remaining(visits: u32, visit_ns: f64, spent_ns: f64) -> Remaining {
        Remaining { visits, visit_ns, spent_ns, allotted_ns: 100.0 }
    }

    #[test]
    fn all_visits_are_made_where_there_is_time() {
        let cells = [remaining(5, 10.0, 50.0), remaining(0, 10.0, 100.0)];
        assert_eq!(fitting_shares(&cells, 50.0), [1.0, 1.0]);
        assert!(fitting_shares(&[], 0.0).is_empty());
    }

    #[test]
    fn a_cell_dearer_than_planned_pays_first() {
        // The second has used its allotment ten times over.
        let cells = [remaining(5, 10.0, 50.0), remaining(5, 1_000.0, 1_000.0)];
        let tight = fitting_shares(&cells, 60.0);
        assert!(tight[0] == 1.0 && tight[1] < 0.01, "{tight:?}");
        let half = fitting_shares(&cells, 50.0 + 2_500.0);
        assert_eq!(half[0], 1.0);
        assert!((half[1] - 0.5).abs() < 0.01, "{half:?}");
    }

    #[test]
    fn what_is_made_fits_into_the_time() {
        for left_ns in [0.0, 10.0, 333.0, 5_000.0] {
            let cells: Vec<Remaining> =
                (1..40).map(|n| remaining(n % 7, f64::from(n * n), f64::from(n % 3))).collect();
            let takes: f64 = fitting_shares(&cells, left_ns)
                .iter()
                .zip(&cells)
                .map(|(share, cell)| share * f64::from(cell.visits) * cell.visit_ns)
                .sum();
            assert!(takes <= left_ns * 1.001, "{takes} of {left_ns}");
        }
    }
}

//! Which visits a round has, and in which order.

use super::Conductor;
use crate::plan::PlannedCell;
use crate::schedule::{self, Share, Visit};
use crate::worker_pool::WorkerPool;

/// Visits sent to a worker at once take no longer than this, ns, where they
/// are several: the time of a run ends between them.
const BATCH_NS: f64 = 250e6;

impl<P: WorkerPool> Conductor<'_, P> {
    /// One visit to each cell, so that each has a figure and a known cost
    /// before anything is waited for, however slow the machine.
    pub(super) fn first_visits(&self) -> Vec<Visit> {
        let visits = self.planned_visits(0).into_iter();
        let firsts = visits.filter(|visit| {
            let cell = &self.plan.cells[visit.cell as usize];
            schedule::is_first(cell_share(cell), visit)
        });
        firsts.collect()
    }

    pub(super) fn batches(&mut self, visits: &[Visit]) -> Vec<Vec<Visit>> {
        let costs_ns: Vec<f64> =
            (0..self.plan.cells.len()).map(|number| self.visit_ns(number)).collect();
        let cost_ns = |visit: &Visit| costs_ns[visit.cell as usize];
        schedule::batches(visits, &mut self.rng, self.batch, BATCH_NS, cost_ns)
    }

    /// The planned visits of a round: of each cell that was not seen yet, and
    /// of the others those that fit into the time.
    pub(super) fn visits_of(&mut self, round: u32) -> Vec<Visit> {
        let shares = self.shares(round);
        let mut visits = self.planned_visits(round);
        visits.retain(|visit| {
            let number = visit.cell as usize;
            let is_made =
                round == 0 && schedule::is_first(cell_share(&self.plan.cells[number]), visit);
            let is_seen = self.visits_made[number] > 0;
            !is_made && (!is_seen || self.rng.f64() < shares[number])
        });
        visits
    }

    /// The visits of a round as the plan has them, where they can be made.
    fn planned_visits(&self, round: u32) -> Vec<Visit> {
        let mut visits = Vec::new();
        for (number, cell) in self.plan.cells.iter().enumerate() {
            let of_cell = (cell.first_worker..cell.first_worker + cell.workers)
                .map(|worker| Visit { worker, cell: number as u32 });
            visits.extend(of_cell.filter(|visit| {
                !self.cells[number].given_up
                    && self.pool.has(visit.worker)
                    && schedule::takes_part(cell_share(cell), self.plan.rounds, round, visit)
            }));
        }
        visits
    }
}

pub(super) fn cell_share(cell: &PlannedCell) -> Share {
    Share {
        visits: cell.visits,
        first_worker: cell.first_worker,
        workers: cell.workers,
        rotates: cell.working_set_bytes == 0,
    }
}

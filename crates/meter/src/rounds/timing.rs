//! When rounds begin, and what visits should take.

use super::Conductor;
use crate::pace::{self, Remaining};
use crate::plan::BASE_SHARE;
use crate::worker_pool::WorkerPool;
use std::time::Duration;

/// Where the last round begins, as a share of the time that its visits leave:
/// they may take a little longer than expected.
const LAST_ROUND_AT: f64 = 0.95;

impl<P: WorkerPool> Conductor<'_, P> {
    /// When a round should begin: the first half of them at the pace of the
    /// plan, since nothing is known yet of what needs more; the others spread
    /// over the time that is left, so that the last one ends with it.
    pub(super) fn due(&self, round: u32) -> Duration {
        if round >= self.plan.rounds {
            return self.end;
        }
        let window = self.end.saturating_sub(self.first);
        let visits = self.remaining(round).into_iter();
        let takes_ns: f64 = visits.map(|r| f64::from(r.visits) * r.visit_ns).sum();
        let a_round = Duration::from_nanos(takes_ns as u64) / (self.plan.rounds - round);
        let half = window.mul_f64(BASE_SHARE / 2.0);
        let last = window.saturating_sub(a_round).mul_f64(LAST_ROUND_AT);
        let of_rounds = f64::from(round) / f64::from(self.plan.rounds.max(2) - 1);
        let second = (of_rounds * 2.0 - 1.0).max(0.0);
        let first = (of_rounds * 2.0).min(1.0) - second;
        self.first + half.mul_f64(first) + last.mul_f64(second)
    }

    pub(super) fn review_every(&self) -> Duration {
        let of_all = self.end.saturating_sub(self.first) / 40;
        of_all.max(Duration::from_millis(250))
    }

    /// The planned visits of each cell from this round on.
    pub(super) fn remaining(&self, round: u32) -> Vec<Remaining> {
        let rounds = self.plan.rounds.max(1);
        let cells = self.plan.cells.iter().enumerate();
        let remaining = cells.map(|(number, cell)| Remaining {
            visits: match self.cells[number].given_up {
                true => 0,
                false => (cell.visits * cell.workers * (rounds - round)).div_ceil(rounds),
            },
            visit_ns: self.visit_ns(number),
            spent_ns: self.pace.spent_ns(number),
            allotted_ns: cell.allotment.as_nanos() as f64,
        });
        remaining.collect()
    }

    /// Which share of the visits from this round on each cell gets.
    pub(super) fn shares(&self, round: u32) -> Vec<f64> {
        let left = self.end.saturating_sub(self.pool.elapsed());
        pace::fitting_shares(&self.remaining(round), left.as_nanos() as f64)
    }

    /// What a visit to a cell should take, ns.
    pub(super) fn visit_ns(&self, number: usize) -> f64 {
        let samples = self.pace.samples(self.plan, number);
        let (taken_ns, within_ns) = self.between;
        let between = if within_ns > 0.0 { taken_ns / within_ns } else { 1.0 };
        self.pace.visit_ns(self.plan, number, samples) * between
    }
}

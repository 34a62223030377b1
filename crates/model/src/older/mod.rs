//! Reads documents of older versions: this file completes what a run lacks by today's rules, `recordings.rs`
//! turns the separate recording documents of schema 6 and before into runs. `crates/store` calls both when it
//! reads a document.

mod recordings;

pub use recordings::recorded;

use crate::estimate::Verdict;
use crate::missing_points;
use crate::run::{Row, Run};

impl Run {
    /// Completes a run that was read: older documents have figures of invalid rows, and only notes
    /// of points that are missing. The times of commands that failed were asked for, and stay.
    pub fn complete(&mut self) {
        missing_points::complete(self);
        if self.commands.is_some() {
            return;
        }
        let estimates = self.rows.iter_mut().flat_map(Row::estimates_mut);
        for estimate in estimates.filter(|e| e.verdict == Verdict::Invalid) {
            estimate.invalidate(estimate.reason.clone());
        }
    }
}

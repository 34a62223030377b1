//! What an index answers, by whatever it is kept.

use super::change::Rebuilt;
use super::fill::NotRead;
use super::standing::{Percentile, RowStanding};
use super::verify::Verified;
use crate::StoreError;
use model::run::Run;
use model::summary::{KeptResult, KeptRun, MachineKey};
use std::path::PathBuf;

/// Rows with their points.
pub(crate) type Quantities = Vec<(String, Vec<u64>)>;

/// The questions of [`Index`](super::Index), answered by SQLite or by PostgreSQL. Tags are no part
/// of the answers.
pub(crate) trait Answers: Send + Sync {
    /// All runs, the newest first; behind them those of the future.
    fn runs(&self) -> Result<Vec<KeptRun>, StoreError>;
    /// One run by its whole id.
    fn run(&self, id: &str) -> Result<Option<KeptRun>, StoreError>;
    /// Figures of a row on a machine, the oldest first.
    fn history(
        &self,
        machine: &MachineKey,
        row: &str,
        at: &[u64],
    ) -> Result<Vec<(KeptRun, KeptResult)>, StoreError>;
    /// All figures of a run, in the order of its document.
    fn results_of(&self, id: &str) -> Result<Vec<KeptResult>, StoreError>;
    /// The single figures of runs, each with the place of its run among these ids.
    fn figures_of(&self, ids: &[&str]) -> Result<Vec<(usize, KeptResult)>, StoreError>;
    /// Every row and point that has a history, on a machine or on any.
    fn quantities(&self, machine: Option<&MachineKey>) -> Result<Quantities, StoreError>;
    /// Where a machine stands in every row that it has a reliable figure of.
    fn percentiles(&self, machine: &MachineKey) -> Result<Vec<Percentile>, StoreError>;
    /// The figures of one row over all machines.
    fn standing(&self, row: &str, at: &[u64]) -> Result<RowStanding, StoreError>;

    /// Keeps a run: durable when this returns.
    fn keep(&self, run: &Run) -> Result<PathBuf, StoreError>;
    /// Drops what the index holds of a document that is gone.
    fn forget(&self);
    /// Finds what others have added or removed.
    fn refresh(&self) -> Result<(), StoreError>;
    /// Makes all that it holds anew from the documents.
    fn rebuild(&self) -> Result<Rebuilt, StoreError>;
    /// Reads every document and compares.
    fn verify(&self) -> Result<Verified, StoreError>;
    /// Documents that the system failed to read when they were looked for.
    fn not_read(&self) -> Option<NotRead> {
        None
    }
    /// Where it is.
    fn path(&self) -> PathBuf;
    /// Whether the documents had to be read, since the index can't be used.
    fn in_memory(&self) -> bool;
    /// What it had to repair since the last call, a line each.
    fn messages(&self) -> Vec<String>;
}

//! How to compare, and why there may be no comparison.

use crate::no_reference::NoReference;
/// Rows are the same within this share of 1 by default.
pub const USUAL_MARGIN: f64 = 0.05;

/// What a memory row is set in relation to by default.
pub const MEMORY_REFERENCE: &str = "memory.latency/DRAM";

#[derive(Clone, Debug)]
pub struct Options {
    /// *Same within noise* is what is not different and has its interval within
    /// this share of 1.
    pub margin: f64,
    /// The gate: rows whose time surely grew by more than this share.
    pub fail_above: Option<f64>,
    /// What machine drift is taken out by, if it is.
    pub normalize: Option<Normalize>,
}

/// By which workload, timed in both, the machine's drift is taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Normalize {
    /// Core-bound rows by the core's clock, memory's by [`MEMORY_REFERENCE`].
    Usual,
    /// Every row by this one.
    Row(String),
}

/// Why there is no comparison.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum CompareError {
    /// The reference row of `--normalize` can't be one.
    #[error("can't normalize by {row:?}: {why}")]
    NoReference { row: String, why: NoReference },
    #[error("{a} and {b} have no row in common{of}")]
    NothingShared { a: String, b: String, of: &'static str },
}

//! Points of a curve, and levels.

use serde::{Deserialize, Serialize};

/// One point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Working set.
    pub bytes: u64,
    /// Time of one load.
    pub ns: f64,
    /// Lower end of its interval. An end that is not finite is taken as unknown.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Whether the repeats of this point fell into two states.
    pub two_states: bool,
}

/// One level of the hierarchy, as far as the curve shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plateau {
    /// "L1", "L2", …, "DRAM", or by its end, "to_32MiB" (see [`find_plateaus`](super::find_plateaus)).
    pub name: String,
    /// First working set on the level.
    pub from_bytes: u64,
    /// Last working set on the level.
    pub to_bytes: u64,
    /// Median of its points.
    pub ns: f64,
    /// Lowest of its points; where the level is in doubt for its points'
    /// intervals, their lowest end.
    pub low_ns: f64,
    /// Highest of its points, likewise. Where the level is certain, a single
    /// point that lies apart from all others counts for neither the median
    /// nor the range.
    pub high_ns: f64,
    /// Whether the figure can be taken.
    pub certain: bool,
    /// Why not, in words.
    pub reason: Option<String>,
}

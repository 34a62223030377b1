//! What a row is counted in. Most is measured as nanoseconds per operation;
//! bandwidth and frequency are other views of the same figure. Counts and
//! bytes are no times: where an estimate says ns, it holds the number itself.

use serde::{Deserialize, Serialize};

/// The unit a row is shown in.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Time of one operation.
    Time,
    /// Bytes touched per second. One operation touches `bytes_per_op` bytes.
    Bandwidth {
        /// Bytes that one operation touches.
        bytes_per_op: f64,
    },
    /// Operations per second, where one operation takes one clock cycle.
    Frequency,
    /// A number of one operation that has no dimension: events counted, or a
    /// ratio of two quantities.
    Count,
    /// Bytes that one operation has or moves.
    Bytes,
}

impl Unit {
    /// What [`Unit::of_ns`] counts in: `ns`, `GB/s`; a count is a `number`.
    pub fn name(&self) -> &'static str {
        match self {
            Unit::Time => "ns",
            Unit::Bandwidth { .. } => "GB/s",
            Unit::Frequency => "GHz",
            Unit::Count => "number",
            Unit::Bytes => "bytes",
        }
    }

    /// Turns nanoseconds per operation into this unit: ns, GB/s (1e9 bytes
    /// per second) or GHz. Counts and bytes stay what they are.
    pub fn of_ns(&self, ns: f64) -> f64 {
        match self {
            Unit::Time | Unit::Count | Unit::Bytes => ns,
            Unit::Bandwidth { bytes_per_op } => bytes_per_op / ns,
            Unit::Frequency => 1.0 / ns,
        }
    }

    /// Whether it is a view of a time: then more of it is slower or faster.
    /// More events or bytes are only more.
    pub fn is_time(&self) -> bool {
        match self {
            Unit::Time | Unit::Bandwidth { .. } | Unit::Frequency => true,
            Unit::Count | Unit::Bytes => false,
        }
    }

    /// Whether a larger figure means a shorter time.
    pub fn inverted(&self) -> bool {
        matches!(self, Unit::Bandwidth { .. } | Unit::Frequency)
    }
}

//! The clock of the core that a run measured on.

use crate::stats::Interval;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The core's clock as the canaries saw it, from chains of dependent adds of
/// one cycle each, over the whole run.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct CoreClock {
    /// Length of a cycle in ns: the median over the run, with an interval
    /// from stretches of the run.
    pub cycle_ns: Interval,
    /// 10 % quantile, ns.
    pub p10_ns: f64,
    /// 90 % quantile, ns.
    pub p90_ns: f64,
    /// Shortest cycle (1 % quantile), ns.
    pub shortest_ns: f64,
    /// Longest cycle (99 % quantile), ns.
    pub longest_ns: f64,
    /// Readings behind it.
    pub readings: u32,
}

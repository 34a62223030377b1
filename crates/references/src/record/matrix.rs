//! core-to-core-latency: handing a cache line over, for each pair of CPUs.

use super::{Implausible, PublishedRecord, out_of_range};
use crate::source::Source;
use serde::Deserialize;

/// Quantiles over the pairs of one machine, ns one way.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "quantiles")]
pub struct CoreMatrix {
    /// What its author calls the machine.
    pub machine: String,
    /// CPUs.
    pub cpus: u32,
    /// Pairs that were measured.
    pub pairs: u32,
    pub min: f64,
    pub p5: f64,
    pub p25: f64,
    pub median: f64,
    pub p75: f64,
    pub p95: f64,
    pub max: f64,
    /// Whose collection.
    pub source: String,
    /// Share of the pairs and median of each group, fast ones first: siblings, one cluster, one socket, across.
    #[serde(default)]
    pub groups: Vec<[f64; 2]>,
    /// What is doubtful.
    #[serde(default)]
    pub flags: Vec<String>,
}

impl PublishedRecord for CoreMatrix {
    const SOURCE: Source = Source::CoreToCore;

    /// Some machines were measured twice: no two matrices are the same, though.
    fn unique_name(&self) -> String {
        format!("{} of {}: {} {} {}", self.machine, self.source, self.min, self.median, self.max)
    }

    fn implausible(&self) -> Option<Implausible> {
        let quantiles = [self.min, self.p5, self.p25, self.median, self.p75, self.p95, self.max];
        if !quantiles.is_sorted() {
            return Some(Implausible::NotRising("quantiles"));
        }
        let cpus = u64::from(self.cpus);
        if u64::from(self.pairs) > cpus * cpus.saturating_sub(1) / 2 {
            return Some(Implausible::Contradictory("more pairs than CPUs have"));
        }
        let shares: f64 = self.groups.iter().map(|group| group[0]).sum();
        if !self.groups.is_empty() && (shares - 1.0).abs() > 0.01 {
            return Some(Implausible::Contradictory("shares of groups don't add up to 1"));
        }
        out_of_range("min, max", [self.min, self.max], 1.0, 2e5)
            .or_else(|| out_of_range("cpus", [f64::from(self.cpus)], 2.0, 1024.0))
    }
}

//! Reports of sbc-bench.

use super::{Implausible, PublishedRecord, out_of_range, uneven_curve};
use crate::source::Source;
use serde::Deserialize;

/// A report of one board.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct BoardReport {
    /// Of the report.
    pub id: String,
    /// What the report calls the board.
    pub board: Option<String>,
    /// The chip.
    pub soc: Option<String>,
    /// `compatible` of the device tree: `raspberrypi,5-model-b`.
    #[serde(rename = "dt")]
    pub device_tree: Option<String>,
    /// Of sbc-bench.
    pub version: Option<String>,
    /// Day.
    pub date: Option<String>,
    /// Kernel.
    pub kernel: Option<String>,
    /// Architecture as the kernel names it.
    pub arch: Option<String>,
    /// CPUs.
    pub cpus: Option<u32>,
    /// One entry for each kind of core.
    pub clusters: Vec<CoreCluster>,
    /// What is doubtful: load, throttling.
    #[serde(default)]
    pub flags: Vec<String>,
}

/// Figures of the cores of one kind.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CoreCluster {
    /// The CPU that was measured.
    pub cpu: u32,
    /// The core's design: `Cortex-A76`.
    pub core: Option<String>,
    /// Measured clock, MHz.
    pub mhz: Option<f64>,
    /// Working sets of ramlat, KiB, rising.
    #[serde(default)]
    pub kib: Vec<u64>,
    /// ns of a load in each.
    #[serde(default)]
    pub ns: Vec<f64>,
    /// Working sets of tinymembench, KiB, rising.
    #[serde(default)]
    pub tkib: Vec<u64>,
    /// ns of a load beyond L1 in each.
    #[serde(default)]
    pub tns: Vec<f64>,
    /// Pages of tinymembench: `huge`, `default`.
    pub tpages: Option<String>,
    /// GB/s.
    pub memcpy: Option<f64>,
    /// GB/s.
    pub memset: Option<f64>,
    /// Cores alike.
    pub like: Option<u32>,
    /// 1: ramlat's order was prefetched on this core, so that `ns` beyond L2 is no latency.
    #[serde(default)]
    pub foreseen: u8,
}

impl PublishedRecord for BoardReport {
    const SOURCE: Source = Source::Boards;

    fn unique_name(&self) -> String {
        self.id.clone()
    }

    fn implausible(&self) -> Option<Implausible> {
        self.clusters.iter().find_map(CoreCluster::implausible_figure)
    }
}

impl BoardReport {
    /// The cores that a run is on unless it was asked for others.
    pub fn fastest_cluster(&self) -> Option<&CoreCluster> {
        let clock = |cluster: &&CoreCluster| cluster.mhz.unwrap_or(0.0);
        self.clusters.iter().max_by(|a, b| clock(a).total_cmp(&clock(b)))
    }
}

impl CoreCluster {
    /// Whether ramlat waited for each load beyond L2 before the next one.
    pub fn is_latency(&self) -> bool {
        self.foreseen == 0
    }

    /// ns of a load in a set of this size, by ramlat.
    pub fn ramlat_ns(&self, kib: u64) -> Option<f64> {
        let at = self.kib.iter().position(|&own| own == kib)?;
        self.ns.get(at).copied()
    }

    fn implausible_figure(&self) -> Option<Implausible> {
        uneven_curve(("kib", &self.kib), ("ns", self.ns.len()))
            .or_else(|| uneven_curve(("tkib", &self.tkib), ("tns", self.tns.len())))
            .or_else(|| out_of_range("ns", self.ns.iter().copied(), 0.3, 3000.0))
            .or_else(|| out_of_range("tns", self.tns.iter().copied(), 0.0, 3000.0))
            .or_else(|| out_of_range("mhz", self.mhz, 50.0, 6500.0))
            .or_else(|| {
                out_of_range(
                    "memcpy, memset",
                    self.memcpy.into_iter().chain(self.memset),
                    0.02,
                    250.0,
                )
            })
    }
}

//! Latency over the working set of machines with the cores of this one: where a run's curve may lie.
//!
//! Only figures of the row's own operation, or that a place is taken among: timings of CPUs of the same
//! microarchitecture by level, in cycles; loads beyond every cache of its cloud types, in ns; of ARM the curves of
//! boards with the same core, in cycles within the core's own caches. Cloud types have no figure between L1 and memory:
//! four nodes of their list share a line.

use crate::comparison::PublishedUnit;
use crate::machine::{DesignPeers, MachineIdentity, design_peers};
use crate::packed::DamagedRecords;
use crate::record::{
    ComparisonRule, CoreCluster, HybridCore, InstructionTimings, MemoryLevel, TimedOperation,
    X86Vendor,
};
use crate::source::Source;
use model::machine::Machine;
use model::stats::{quantile_sorted, sorted};

/// Fewer machines have no 10 % and 90 %: the band is from the least to the most of them.
const WITH_QUANTILES: usize = 10;
/// Fewer are no band.
const LEAST_MACHINES: usize = 2;

/// What a band is of.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyBand {
    /// Design of the cores: `Zen 4`.
    pub design: String,
    /// Whose figures.
    pub source: Source,
    /// Never *not*.
    pub rule: ComparisonRule,
    /// Where it is known, by rising working set.
    pub spans: Vec<BandSpan>,
}

/// A band where figures are of one size or level.
#[derive(Clone, Debug, PartialEq)]
pub struct BandSpan {
    /// Which.
    pub extent: BandExtent,
    /// Of the ends.
    pub unit: PublishedUnit,
    /// Lower end, median and upper end of a load's cost.
    pub ends: [f64; 3],
    /// Machines behind it.
    pub machines: usize,
}

impl BandSpan {
    /// Whether its ends are the 10 % and 90 % quantiles, and not the least and the most.
    pub fn has_quantiles(&self) -> bool {
        self.machines >= WITH_QUANTILES
    }
}

/// Which working sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BandExtent {
    /// A level of the hierarchy as a run finds it: `L2`, `DRAM`.
    Level(&'static str),
    /// One size.
    Bytes(u64),
}

/// The bands of a machine; none where nothing is recorded of such cores.
pub fn latency_bands(machine: &Machine) -> Result<Vec<LatencyBand>, DamagedRecords> {
    let identity = MachineIdentity::shown_by(machine);
    let Some(peers) = design_peers(&identity)? else {
        return Ok(Vec::new());
    };
    let bands = [of_timings(&peers), of_boards(&peers), of_types(&peers)];
    Ok(bands.into_iter().filter(|band| !band.spans.is_empty()).collect())
}

fn span(
    extent: BandExtent,
    unit: PublishedUnit,
    costs: impl Iterator<Item = f64>,
) -> Option<BandSpan> {
    let costs = sorted(costs);
    let machines = costs.len();
    let share = if machines >= WITH_QUANTILES { 0.1 } else { 0.0 };
    let [low, half, high] = [share, 0.5, 1.0 - share].map(|at| quantile_sorted(&costs, at));
    let ends = [low?, half?, high?];
    (machines >= LEAST_MACHINES).then_some(BandSpan { extent, unit, ends, machines })
}

/// Caches by level: random within a page, as the row is within the core's caches.
fn of_timings(peers: &DesignPeers) -> LatencyBand {
    type Cost = fn(&InstructionTimings) -> Option<f64>;
    let big = || peers.instructions.iter().filter(|one| one.core != Some(HybridCore::Efficiency));
    let level = |name, cost: Cost| {
        span(BandExtent::Level(name), PublishedUnit::Cycles, big().filter_map(|one| cost(one)))
    };
    let spans = [
        level("L1", |one| one.latency.get(&TimedOperation::LoadL1).copied()),
        // Intel's servers have another L2 than its clients with the same cores; L3 is outside of the core.
        level("L2", |one| {
            let l2 = one.memory_cycles.get(&MemoryLevel::L2).copied();
            l2.filter(|_| one.vendor == X86Vendor::Amd)
        }),
    ];
    LatencyBand {
        design: peers.design.clone(),
        source: Source::Instructions,
        rule: ComparisonRule::Same,
        spans: spans.into_iter().flatten().collect(),
    }
}

fn of_types(peers: &DesignPeers) -> LatencyBand {
    let dram = peers.cloud.iter().filter_map(|one| one.membench.as_ref()?.dram);
    LatencyBand {
        design: peers.design.clone(),
        source: Source::Cloud,
        rule: ComparisonRule::Same,
        spans: span(BandExtent::Level("DRAM"), PublishedUnit::Ns, dram).into_iter().collect(),
    }
}

/// Working sets within L1 and L2 of nearly every core, KiB: their cost follows the core's clock.
const WITHIN_CORE_KIB: u64 = 64;

fn of_boards(peers: &DesignPeers) -> LatencyBand {
    let clusters = || {
        let all = peers.boards.iter().flat_map(|report| &report.clusters);
        all.filter(|one| one.core.as_ref() == Some(&peers.design))
    };
    let mut sizes: Vec<u64> = clusters().flat_map(|cluster| cluster.kib.iter().copied()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let at = |kib: u64| {
        let in_cycles = |one: &CoreCluster| Some(one.ramlat_ns(kib)? * one.mhz? / 1e3);
        let extent = BandExtent::Bytes(kib << 10);
        match kib <= WITHIN_CORE_KIB {
            true => span(extent, PublishedUnit::Cycles, clusters().filter_map(in_cycles)),
            false => {
                let latencies = clusters().filter(|one| one.is_latency());
                span(extent, PublishedUnit::Ns, latencies.filter_map(|one| one.ramlat_ns(kib)))
            }
        }
    };
    LatencyBand {
        design: peers.design.clone(),
        source: Source::Boards,
        rule: ComparisonRule::Near,
        spans: sizes.into_iter().filter_map(at).collect(),
    }
}

//! Machines that a row's place is taken among.

use super::figure::{PublishedUnit, RowName};
use crate::brief::{BriefRecord, CacheCycles, CloudBrief, TimingBrief};
use crate::packed::DamagedRecords;
use crate::record::{
    CloudType, ComparisonRule, HybridCore, InstructionTimings, PopulationUnit, TestPopulation,
    ns_within_l1,
};
use crate::{cloud_briefs, test_populations, timing_briefs};
use model::stats::{quantile_sorted, sorted};

/// Which machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PopulationName {
    /// Cloud types, measured by Spare Cores.
    CloudTypes,
    /// Signatures of x86 CPUs, measured with AIDA64.
    CpuSignatures,
    /// Results of a test at OpenBenchmarking.org: its name.
    TestResults(String),
}

/// A machine whose cost differs by less, as a logarithm, stands for a quartile.
const ALIKE_WITHIN: f64 = 0.1;

/// A machine of a population.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PopulationMember {
    /// What the publication calls it: a cloud type, a CPU.
    pub(super) name: &'static str,
    /// Its cost, in the population's unit.
    pub(super) cost: f64,
    /// Its CPUs, where that is known.
    cpus: Option<u32>,
}

/// Figures of a population.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PopulationCosts {
    /// Each, ascending.
    Each(Vec<PopulationMember>),
    /// The first to the hundredth percentile, ascending, and of how many.
    Percentiles(Vec<f64>, u64),
}

/// The figures of many machines for one row.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedPopulation {
    /// Which machines.
    pub name: PopulationName,
    /// The row.
    pub row: RowName,
    /// Of the costs.
    pub unit: PublishedUnit,
    /// Never *not*.
    pub rule: ComparisonRule,
    pub(super) costs: PopulationCosts,
}

impl PublishedPopulation {
    /// 5 %, half and 95 % of the machines are as fast, in `unit`; none of no machines.
    pub fn cost_quantiles(&self) -> Option<[f64; 3]> {
        self.costs_at([0.05, 0.5, 0.95])
    }

    /// The costs that these shares of the machines keep to.
    pub(super) fn costs_at(&self, shares: [f64; 3]) -> Option<[f64; 3]> {
        let each: Vec<f64>;
        let costs = match &self.costs {
            PopulationCosts::Each(members) => {
                each = members.iter().map(|member| member.cost).collect();
                &each
            }
            PopulationCosts::Percentiles(costs, _) => costs,
        };
        let [a, b, c] = shares.map(|share| quantile_sorted(costs, share));
        Some([a?, b?, c?])
    }

    /// The machine whose cost is nearest, of as many CPUs if one is near; none where machines have no names.
    pub(super) fn member_near(&self, cost: f64, cpus: Option<u32>) -> Option<&PopulationMember> {
        let PopulationCosts::Each(members) = &self.costs else { return None };
        let distance = |member: &PopulationMember| (member.cost / cost).ln().abs();
        let nearer =
            |a: &&PopulationMember, b: &&PopulationMember| distance(a).total_cmp(&distance(b));
        let alike = members.iter().filter(|member| cpus.is_some() && member.cpus == cpus);
        let alike = alike.min_by(nearer).filter(|member| distance(member) < ALIKE_WITHIN);
        alike.or_else(|| members.iter().min_by(nearer))
    }
}

/// All populations of the program.
pub fn published_populations() -> Result<Vec<PublishedPopulation>, DamagedRecords> {
    let mut all = of_cloud(cloud_briefs()?);
    all.extend(of_signatures(timing_briefs()?));
    all.extend(test_populations()?.iter().flat_map(of_test));
    Ok(all)
}

fn each(members: impl Iterator<Item = PopulationMember>) -> PopulationCosts {
    let mut members: Vec<PopulationMember> = members.collect();
    members.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    PopulationCosts::Each(members)
}

fn of_cloud(types: &'static [BriefRecord<CloudBrief, CloudType>]) -> Vec<PublishedPopulation> {
    type Cost = fn(&CloudBrief) -> Option<f64>;
    let population = |row: &str, rule, cost: Cost| PublishedPopulation {
        name: PopulationName::CloudTypes,
        row: RowName::row(row),
        unit: PublishedUnit::Ns,
        rule,
        costs: each(types.iter().filter_map(|BriefRecord { brief, .. }| {
            let cpus = Some(brief.vcpus);
            Some(PopulationMember { name: &brief.type_name, cost: cost(brief)?, cpus })
        })),
    };
    use ComparisonRule::{Near, Same};
    vec![
        population("memory.latency/L1", Near, within_l1),
        population("memory.latency/DRAM", Same, |one| one.membench.as_ref()?.dram),
        population("process.fork_exit", Near, |one| one.stress.as_ref()?.fork),
        population("sync.handoff/pipe", Near, |one| one.stress.as_ref()?.switch),
        population("sync.handoff/eventfd", Near, |one| one.stress.as_ref()?.eventfd),
        population("call.vdso", Near, |one| one.stress.as_ref()?.vdso),
    ]
}

/// Caches, in cycles: those of one core of each processor.
fn of_signatures(
    timings: &'static [BriefRecord<TimingBrief, InstructionTimings>],
) -> Vec<PublishedPopulation> {
    let level = |row: &str, level: fn(&CacheCycles) -> Option<f64>| {
        let all = timings.iter().map(|one| &one.brief);
        let big = all.filter(|one| one.core != Some(HybridCore::Efficiency));
        PublishedPopulation {
            name: PopulationName::CpuSignatures,
            row: RowName::row(row),
            unit: PublishedUnit::Cycles,
            rule: ComparisonRule::Same,
            costs: each(big.filter_map(|one| {
                let cost = level(&one.memory_cycles)?;
                Some(PopulationMember { name: &one.name, cost, cpus: None })
            })),
        }
    };
    vec![
        level("memory.latency/L2", |cycles| cycles.l2),
        level("memory.latency/L3", |cycles| cycles.l3),
    ]
}

/// A load from the smallest set, if L1 holds it.
fn within_l1(one: &CloudBrief) -> Option<f64> {
    let membench = one.membench.as_ref()?;
    ns_within_l1((membench.kib.0?, membench.ns.0?), one.cache_kib)
}

/// A test, for its row and for one that the first screen has instead: memcpy of 1 MiB is timed there by the operation.
/// Files of a few bytes are nearest to our smallest ones that are not empty.
fn of_test(test: &TestPopulation) -> Vec<PublishedPopulation> {
    let row = match (test.row.split_once(" at "), test.row.split_once(' ')) {
        (Some((curve, size)), _) => RowName::Row(format!("{curve}/{}", size.replace(' ', ""))),
        (None, Some((curve, "beyond the last cache"))) => RowName::LargestOf(curve.into()),
        _ if test.row.ends_with("_all_cores") => RowName::LargestOf(test.row.clone()),
        _ if test.row == "file.create" => RowName::row("file.create/1KiB"),
        _ => RowName::row(&*test.row),
    };
    let unit = match test.unit {
        PopulationUnit::Ns => PublishedUnit::Ns,
        PopulationUnit::Cycles => PublishedUnit::Cycles,
        PopulationUnit::GigabytesPerSecond => PublishedUnit::NsPerByte,
    };
    // A round trip is two hand-offs; STREAM counts bytes read and written.
    let factor = match (test.rule, test.unit) {
        (ComparisonRule::Not, _) => return Vec::new(),
        (ComparisonRule::Factor, PopulationUnit::GigabytesPerSecond) => 2.0,
        (ComparisonRule::Factor, _) => 0.5,
        _ => 1.0,
    };
    let cost = |figure: &f64| match test.unit {
        PopulationUnit::GigabytesPerSecond => factor / figure,
        _ => factor * figure,
    };
    let costs =
        PopulationCosts::Percentiles(sorted(test.percentiles.iter().map(cost)), test.samples);
    let name = PopulationName::TestResults(format!("{}, {}", test.test, test.what));
    let population = PublishedPopulation { name, row, unit, rule: test.rule, costs };
    if population.row == RowName::row("memory.copy/1MiB") {
        let row = RowName::row("cpu.memcpy/1MiB");
        let by_operation =
            PublishedPopulation { row, rule: ComparisonRule::Near, ..population.clone() };
        return vec![population, by_operation];
    }
    vec![population]
}

//! The figures of a machine's records that a ratio may be taken of: rules *same* and *factor*.

use super::figure::{PublishedFigure, PublishedUnit, RowName};
use crate::machine::{MachineRecords, MatchedBy, RecordGroup};
use crate::record::{
    BoardReport, CloudType, CoreCluster, Divisors, HybridCore, InstructionTimings, MemoryLevel,
    OperandSet, PublishedRecord, TimedOperation, X86Vendor,
};
use model::stats::{Interval, median, quantile_sorted, sorted};

/// Two measurements of one instruction on one CPU differ by less.
const INSTRUCTIONS_WITHIN: f64 = 0.02;
/// Four of five repeated measurements of a cloud type differ by less.
const HOSTS_WITHIN: f64 = 0.2;
/// As many hosts have quantiles of their own.
const HOSTS_WITH_QUANTILES: usize = 20;

/// The ends that figures, ascending, lead one to expect of another instruction timing.
fn timing_ends(all: &[f64]) -> Option<(f64, f64)> {
    Some((all.first()? * (1.0 - INSTRUCTIONS_WITHIN), all.last()? * (1.0 + INSTRUCTIONS_WITHIN)))
}

/// The same of another host: a type is one host of one day.
fn host_ends(all: &[f64]) -> Option<(f64, f64)> {
    match all.len() {
        HOSTS_WITH_QUANTILES.. => Some((quantile_sorted(all, 0.05)?, quantile_sorted(all, 0.95)?)),
        _ => Some((all.first()? * (1.0 - HOSTS_WITHIN), all.last()? * (1.0 + HOSTS_WITHIN))),
    }
}

/// Every figure of a machine's records that may be set against a row. A run on the little cores of a hybrid processor is
/// set against theirs.
pub fn published_figures(records: &MachineRecords, core: HybridCore) -> Vec<PublishedFigure> {
    let mut figures = Vec::new();
    for group in records.instructions.iter().chain(&records.instructions_of_design) {
        figures.extend(of_instructions(group, core));
    }
    figures.extend(records.cloud.iter().flat_map(of_cloud));
    figures.extend(records.boards.iter().flat_map(of_boards));
    figures
}

/// One figure of all records of a group that have it.
fn figure<R: PublishedRecord>(
    group: &RecordGroup<R>,
    row: RowName,
    unit: PublishedUnit,
    ends: fn(&[f64]) -> Option<(f64, f64)>,
    values: impl Fn(&R) -> Vec<f64>,
) -> Option<PublishedFigure> {
    let all = sorted(group.records.iter().flat_map(|record| values(record)));
    let value = median(all.iter().copied())?;
    let (low, high) = ends(&all)?;
    Some(PublishedFigure {
        row,
        expected: Interval { value, low, high },
        unit,
        records: all.len(),
        source: R::SOURCE,
        matched_by: group.matched_by,
        certainty: group.certainty,
    })
}

use TimedOperation::{
    AddF32, AddF64, AddI32, AddI64, AtomicAdd, BitI32, BitI64, DivF32, DivF64, LoadL1, MulF32,
    MulF64, MulI32, MulI64, PopcntI64, SqrtF64,
};

/// Operations of which latency and throughput are the rows of this name.
const ARITHMETIC: [(TimedOperation, &str); 14] = [
    (AddI32, "cpu.add_i32"),
    (MulI32, "cpu.mul_i32"),
    (BitI32, "cpu.bit_i32"),
    (AddI64, "cpu.add_i64"),
    (MulI64, "cpu.mul_i64"),
    (BitI64, "cpu.bit_i64"),
    (PopcntI64, "cpu.popcnt_i64"),
    (AddF32, "cpu.add_f32"),
    (MulF32, "cpu.mul_f32"),
    (DivF32, "cpu.div_f32"),
    (AddF64, "cpu.add_f64"),
    (MulF64, "cpu.mul_f64"),
    (DivF64, "cpu.div_f64"),
    (SqrtF64, "cpu.sqrt_f64"),
];

fn of_instructions(
    group: &RecordGroup<InstructionTimings>,
    core: HybridCore,
) -> Vec<PublishedFigure> {
    type Timing<'a> = &'a dyn Fn(&InstructionTimings) -> Option<f64>;
    let cycles = |row: String, timing: Timing| {
        let of_core = |record: &InstructionTimings| record.core.is_none_or(|of| of == core);
        figure(group, RowName::Row(row), PublishedUnit::Cycles, timing_ends, |record| {
            timing(record).filter(|_| of_core(record)).into_iter().collect()
        })
    };
    let new = |record: &InstructionTimings| record.operands == OperandSet::New;
    let mut figures = Vec::new();
    for (operation, row) in ARITHMETIC {
        let divides = matches!(operation, DivF32 | DivF64 | SqrtF64);
        figures.push(cycles(row.into(), &|record| record.latency.get(&operation).copied()));
        // Old operands of divisions are easier.
        figures.push(cycles(format!("{row}/throughput"), &|record| {
            record.throughput.get(&operation).copied().filter(|_| !divides || new(record))
        }));
    }
    figures.push(cycles("sync.atomic_add".into(), &|record| {
        record.throughput.get(&AtomicAdd).copied()
    }));
    figures.push(cycles("cpu.div_i64/throughput".into(), &|record| {
        record.div_i64.get(&Divisors::Bits64By32).and_then(|both| both[1]).filter(|_| new(record))
    }));
    figures.push(cycles("cpu.div_i32/throughput".into(), &|record| {
        record.div_i32.get(&Divisors::Bits31By31).and_then(|both| both[1]).filter(|_| new(record))
    }));
    figures
        .push(cycles("memory.latency/L1".into(), &|record| record.latency.get(&LoadL1).copied()));
    let level =
        |level| move |record: &InstructionTimings| record.memory_cycles.get(&level).copied();
    // Intel's servers have another L2 than clients of the same microarchitecture, AMD's the same.
    let of_design = group.matched_by == MatchedBy::Design;
    let has_this_l2 = |record: &InstructionTimings| !of_design || record.vendor == X86Vendor::Amd;
    figures.push(cycles("memory.latency/L2".into(), &|record| {
        level(MemoryLevel::L2)(record).filter(|_| has_this_l2(record))
    }));
    // What is outside of the core differs among processors of one microarchitecture.
    if !of_design {
        figures.push(cycles("memory.latency/L3".into(), &level(MemoryLevel::L3)));
    }
    figures.into_iter().flatten().collect()
}

fn of_cloud(group: &RecordGroup<CloudType>) -> Option<PublishedFigure> {
    // The memory of another CPU is another memory.
    let of_this_cpu = group.matched_by != MatchedBy::Design;
    let own = of_this_cpu.then_some(group)?;
    figure(own, RowName::row("memory.latency/DRAM"), PublishedUnit::Ns, host_ends, |record| {
        record.membench.iter().filter_map(|membench| membench.dram).collect()
    })
}

fn of_boards(group: &RecordGroup<BoardReport>) -> Vec<PublishedFigure> {
    let speed = |curve: &str, bytes_per_ns: fn(&CoreCluster) -> Option<f64>| {
        figure(
            group,
            RowName::LargestOf(curve.into()),
            PublishedUnit::NsPerByte,
            host_ends,
            |report| {
                report
                    .fastest_cluster()
                    .and_then(bytes_per_ns)
                    .map(|speed| 1.0 / speed)
                    .into_iter()
                    .collect()
            },
        )
    };
    let l1 = |cluster: &CoreCluster| {
        let within_l1 = cluster.kib.iter().position(|&kib| kib == 16)?;
        Some(cluster.ns.get(within_l1)? * cluster.mhz? / 1e3)
    };
    let mut figures = vec![figure(
        group,
        RowName::row("memory.latency/L1"),
        PublishedUnit::Cycles,
        timing_ends,
        |report| report.fastest_cluster().and_then(l1).into_iter().collect(),
    )];
    // The memory of another board is another memory.
    if group.matched_by != MatchedBy::Design {
        figures.push(speed("memory.copy", |cluster| cluster.memcpy));
        figures.push(speed("memory.fill", |cluster| cluster.memset));
    }
    figures.into_iter().flatten().collect()
}

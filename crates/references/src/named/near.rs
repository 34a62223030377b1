//! Figures of the same job by other means (rule *near*): shown, never divided by.

use crate::machine::{MachineRecords, RecordGroup};
use crate::record::{BoardReport, CloudType, ComparisonRule, CoreCluster};
use compare::references::{LARGEST_POINT, ReferenceRow};
use model::size::format_size;
use model::stats::median;

/// The rows of what is near, the better figure of one row first.
pub(super) fn near_rows(records: &MachineRecords) -> Vec<ReferenceRow> {
    let mut rows = Vec::new();
    rows.extend(records.cloud.iter().flat_map(rows_of_types));
    rows.extend(records.boards.iter().flat_map(rows_of_boards));
    rows
}

/// The median of those that have the figure.
fn near_row(id: impl Into<String>, values_ns: impl Iterator<Item = f64>) -> Option<ReferenceRow> {
    let ns = Some(published_digits(median(values_ns)?));
    Some(ReferenceRow { id: id.into(), ns, rule: ComparisonRule::Near, ..ReferenceRow::default() })
}

fn rows_of_types(group: &RecordGroup<CloudType>) -> Vec<ReferenceRow> {
    let row = |id: &str, cost: fn(&CloudType) -> Option<f64>| {
        near_row(id, group.records.iter().filter_map(|one| cost(one)))
    };
    let rows = [
        row("memory.latency/L1", CloudType::ns_within_l1),
        row("process.fork_exit", |one| one.stress.as_ref()?.fork),
        row("sync.handoff/pipe", |one| one.stress.as_ref()?.switch),
        row("sync.handoff/eventfd", |one| one.stress.as_ref()?.eventfd),
        row("call.vdso", |one| one.stress.as_ref()?.vdso),
        speed_row("memory.read_all_cores", group, 0),
        speed_row("memory.write_all_cores", group, 1),
        // Where nothing was extrapolated: too low, since some loads hit a cache.
        row("memory.latency/DRAM", |one| one.membench.as_ref()?.ns.last().copied()),
    ];
    rows.into_iter().flatten().collect()
}

/// The largest set of all CPUs together, by bw_mem where membench did not run.
fn speed_row(curve: &str, group: &RecordGroup<CloudType>, way: usize) -> Option<ReferenceRow> {
    let speed = |one: &&CloudType| match (&one.membench, &one.bw_mem) {
        (Some(of), _) if !of.bw.is_empty() => of.bw.last().map(|at| at[way + 1]),
        (_, Some(of)) => of.bw.last().and_then(|at| at[way + 1]),
        _ => None,
    };
    let gb_per_s = median(group.records.iter().filter_map(speed))?;
    Some(ReferenceRow {
        id: format!("{curve}/{LARGEST_POINT}"),
        mb_per_s: Some(published_digits(gb_per_s * 1000.0)),
        rule: ComparisonRule::Near,
        ..ReferenceRow::default()
    })
}

/// What types with the CPU of another have of one CPU: their memory is another, so there is no ratio.
pub(super) fn rows_of_other_types(group: &RecordGroup<CloudType>) -> Vec<ReferenceRow> {
    let dram = |one: &&CloudType| one.membench.as_ref()?.dram;
    let beyond_caches = near_row("memory.latency/DRAM", group.records.iter().filter_map(dram));
    let of_one_cpu = rows_of_types(group).into_iter().filter(|row| row.mb_per_s.is_none());
    beyond_caches.into_iter().chain(of_one_cpu).collect()
}

/// Far beyond the caches of every board, KiB.
const FAR_KIB: u64 = 64 << 10;
/// Larger sets may lie beyond L1: where L2 ends, no report says.
const WITHIN_L1_KIB: u64 = 16;

fn rows_of_boards(group: &RecordGroup<BoardReport>) -> Vec<ReferenceRow> {
    let fastest = || group.records.iter().filter_map(|one| one.fastest_cluster());
    let mut sizes: Vec<u64> = fastest().flat_map(|cluster| cluster.kib.iter().copied()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let at = |kib: u64| {
        let latencies = fastest().filter(|cluster| cluster.is_latency());
        let id = format!("memory.latency/{}", format_size(kib << 10));
        near_row(id, latencies.filter_map(move |cluster| cluster.ramlat_ns(kib)))
    };
    let beyond_l1 = sizes.into_iter().filter(|&kib| kib > WITHIN_L1_KIB).filter_map(at);
    let far = near_row("memory.latency/DRAM", fastest().filter_map(far_ns));
    far.into_iter().chain(beyond_l1).collect()
}

/// tinymembench counts what is beyond L1.
fn far_ns(cluster: &CoreCluster) -> Option<f64> {
    let at = cluster.tkib.iter().position(|&kib| kib == FAR_KIB)?;
    Some(cluster.tns.get(at)? + cluster.ns.first()?)
}

/// As many digits as the sources have: what arithmetic adds is nothing that was measured.
pub(super) fn published_digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

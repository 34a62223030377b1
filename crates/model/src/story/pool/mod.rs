//! What a report says about `sched.pool`: whether more threads than CPUs cost anything here. `verdict.rs`
//! decides that, `singles.rs` has the times of single operations with their histogram. The row is measured in
//! `crates/probes/src/sched/pool`.

mod singles;
mod verdict;

use super::{Block, Cell, Table, by_x, curve, left, right, usable};
use crate::estimate::Estimate;
use crate::run::{Axis, Run};
use crate::shown::typical;
use crate::stats::Interval;
use crate::unit::Unit;
use singles::Singles;
pub use verdict::{More, PoolCost};

/// The probe.
pub const PROBE: &str = "sched.pool";
/// Threads of the published study (Kurkin).
const PUBLISHED: u64 = 16;

/// The figures of one number of threads.
struct Size<'r> {
    threads: u64,
    measured: Option<&'r Estimate>,
    ideal: Option<&'r Estimate>,
    single: Option<&'r Estimate>,
}

impl Size<'_> {
    /// Time of an operation over the ideal.
    fn ratio(&self) -> Option<Interval> {
        usable(self.measured?)?.over(&usable(self.ideal?)?)
    }
}

/// All numbers of threads that were measured, rising.
fn sizes(run: &Run) -> Vec<Size<'_>> {
    let of = |id: &str| curve(run, id, Axis::Threads);
    let (measured, ideal, single) = (of(PROBE), of("sched.pool/ideal"), of("sched.pool/single"));
    let mut threads: Vec<u64> = measured.iter().chain(single).map(|p| p.x).collect();
    threads.sort_unstable();
    threads.dedup();
    let [measured, ideal, single] = [measured, ideal, single].map(by_x);
    let size = |x| Size {
        threads: x,
        measured: measured.get(&x).copied(),
        ideal: ideal.get(&x).copied(),
        single: single.get(&x).copied(),
    };
    threads.into_iter().map(size).collect()
}

/// The figures by number of threads, the verdict, and the histogram of single
/// operations; empty where no pool was measured.
pub fn story(run: &Run) -> Vec<Block> {
    let sizes = sizes(run);
    if sizes.is_empty() {
        return Vec::new();
    }
    let singles = Singles::measured_in(run, &sizes);
    let mut table = Table::new([
        right("  threads"),
        right("time"),
        right("ideal"),
        left("of ideal"),
        left("single operation"),
        right("mean"),
    ]);
    for size in &sizes {
        let ns = |estimate: Option<&Estimate>| Cell::time(estimate.and_then(Estimate::ns));
        let published = if size.threads == PUBLISHED { "Kurkin's " } else { "" };
        let measured = ns(size.measured);
        let single = size.single.map(|e| typical(e, &Unit::Time));
        let optional = |figure: Option<Cell>| figure.unwrap_or("".into());
        table.row([
            format!("  {published}{}", size.threads).into(),
            size.measured.map_or(measured.clone(), |e| measured.marked(e.verdict)),
            ns(size.ideal),
            optional(size.ratio().map(|ratio| Cell::number(Some(ratio)))),
            single.unwrap_or_default().into(),
            optional(singles.mean_ns(size.threads).map(|ns| Cell::time(Some(ns)))),
        ]);
    }
    let mut story = vec![
        Block::Heading(format!(
            "{PROBE}: time per operation; ideal: the procedure alone / min(threads, CPUs)"
        )),
        Block::Table(table),
        Block::note(PoolCost::from_run(run).to_string()),
    ];
    story.extend(singles.story(&sizes, cpus(run)));
    story
}

/// How many CPUs the pool could use: those of the plan, else those that the
/// machine allows.
pub fn cpus(run: &Run) -> Option<u64> {
    let planned = Some(&run.plan.cpus).filter(|cpus| !cpus.is_empty());
    let cpus = planned.or(run.machine.allowed_cpus.get())?;
    Some(cpus.len() as u64)
}

/// The number of threads that others are compared with: as near to that of the
/// CPUs as there is one not above it; else the smallest.
fn base(threads: impl Iterator<Item = u64> + Clone, cpus: u64) -> Option<u64> {
    let within = threads.clone().filter(|&n| n <= cpus).max();
    within.or(threads.min())
}

/// `1 thread`, `16 threads`.
fn threads(n: u64) -> String {
    match n {
        1 => "1 thread".into(),
        n => format!("{n} threads"),
    }
}

//! The overview: about 30 operations that everybody asks for, in plain words,
//! cheapest first within each topic. What `latlas` measures and prints, and the
//! first screen of a report.

mod doubt;
mod ratio;

pub use doubt::{Cause, Doubt, cause_of, causes};
pub use ratio::{Ratio, ratios};

use crate::estimate::{Estimate, Verdict};
use crate::run::{Outcome, Row, Run};
use crate::stats::Interval;

crate::words! {
    /// What an operation is mostly about.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Topic: text {
        /// The core alone.
        Cpu = "cpu",
        /// Caches and memory.
        Memory = "memory",
        /// System calls.
        Kernel = "kernel",
        /// Threads and what is between them.
        Threads = "threads",
        /// Files, disks, network.
        Io = "I/O",
    }
}

/// An operation of the overview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverviewOperation {
    /// Its topic.
    pub topic: Topic,
    /// The row.
    pub row: &'static str,
    /// What it is, in a few words that need no explanation.
    pub words: &'static str,
}

/// The name that selects the rows of the overview.
pub const OVERVIEW: &str = "overview";

/// The operations, by topic.
pub const OPERATIONS: [OverviewOperation; 28] = {
    use Topic::{Cpu, Io, Kernel, Memory, Threads};
    const fn operation(topic: Topic, row: &'static str, words: &'static str) -> OverviewOperation {
        OverviewOperation { topic, row, words }
    }
    [
        operation(Cpu, "cpu.add_i64", "add two integers"),
        operation(Cpu, "cpu.mul_i64", "multiply integers"),
        operation(Cpu, "cpu.div_i64", "divide integers"),
        operation(Cpu, "cpu.mul_f64", "multiply floats"),
        operation(Cpu, "cpu.div_f64", "divide floats"),
        operation(Cpu, "cpu.sqrt_f64", "square root"),
        operation(Cpu, "call.virtual", "virtual call"),
        operation(Cpu, "cpu.branch_mispredict", "branch mispredicted"),
        operation(Cpu, "collections.hash_lookup/in_cache", "hash table lookup"),
        operation(Cpu, "codec.json_decode", "decode a small JSON"),
        operation(Memory, "memory.latency/L1", "load from L1 cache"),
        operation(Memory, "memory.latency/L2", "load from L2 cache"),
        operation(Memory, "memory.latency/L3", "load from L3 cache"),
        operation(Memory, "memory.latency/DRAM", "load from memory"),
        operation(Memory, "alloc.malloc_free/16B", "malloc + free, 16 B"),
        operation(Memory, "cpu.memcpy/1MiB", "copy 1 MiB"),
        operation(Kernel, "call.syscall", "system call"),
        operation(Kernel, "process.fork_exit", "fork + exit"),
        operation(Kernel, "process.fork_exec", "start a process"),
        operation(Threads, "sync.atomic_add", "atomic add"),
        operation(Threads, "sync.mutex_uncontended", "lock + unlock a mutex"),
        operation(Threads, "sync.semaphore_switch/free", "wake a thread"),
        operation(Threads, "thread.create_join", "create+join thread"),
        operation(Io, "file.open_close", "open + close a file"),
        operation(Io, "file.create/1KiB", "create a file, 1 KiB"),
        operation(Io, "net.round_trip/tcp", "TCP round trip"),
        operation(Io, "disk.random_read_4K", "read 4 KiB from disk"),
        operation(Io, "file.write_durable/16B", "write + fsync, 16 B"),
    ]
};

/// An operation, or one of the modes it ran in, with its figure.
#[derive(Clone, Debug, PartialEq)]
pub struct OverviewLine<'r> {
    /// Which.
    pub operation: OverviewOperation,
    /// The mode that the figure is of: `same CPU`.
    pub mode: Option<&'r str>,
    /// The row.
    pub row: &'r Row,
    /// Time of an operation, ns; absent where there is none.
    pub ns: Option<Interval>,
    /// 10 % and 90 % of all samples, ns.
    pub spread_ns: Option<(f64, f64)>,
    /// Clock cycles of the figure.
    pub cycles: Option<Interval>,
    /// How far to trust it; absent where the row is not available.
    pub verdict: Option<Verdict>,
}

impl OverviewLine<'_> {
    /// What it is sorted by: one without a figure comes last.
    fn cost_ns(&self) -> f64 {
        self.ns.map_or(f64::INFINITY, |ns| ns.value)
    }

    /// Its words, with the mode.
    pub fn words(&self) -> String {
        match self.mode {
            Some(mode) => format!("{}, {mode}", self.operation.words),
            None => self.operation.words.into(),
        }
    }

    /// Whether its figure is the row's: of a row with modes, the one of its
    /// first large mode.
    pub fn is_of_row(&self) -> bool {
        let of_row = self.row.estimate().and_then(Estimate::ns);
        self.ns.is_some() && of_row.map(|ns| ns.value) == self.ns.map(|ns| ns.value)
    }

    /// Whether there is a figure that is not to be relied on; an invalid row has none.
    pub fn is_uncertain(&self) -> bool {
        let sure = [Verdict::Ok, Verdict::Invalid];
        self.verdict.is_some_and(|verdict| !sure.contains(&verdict))
    }
}

/// What a row's operation is called, if it is one of the overview.
pub fn operation_words(row: &str) -> Option<&'static str> {
    OPERATIONS.iter().find(|operation| operation.row == row).map(|operation| operation.words)
}

/// The operations of a run, the cheapest first within each topic; those
/// without a figure come last there. Empty where the run has none of them.
pub fn overview_lines(run: &Run) -> Vec<OverviewLine<'_>> {
    let mut lines: Vec<OverviewLine> = OPERATIONS
        .iter()
        .filter_map(|operation| Some((operation, run.row(operation.row)?)))
        .flat_map(|(operation, row)| of_row(*operation, row))
        .collect();
    lines.sort_by(|a, b| {
        let topic = a.operation.topic.cmp(&b.operation.topic);
        topic.then(a.cost_ns().total_cmp(&b.cost_ns()))
    });
    lines
}

/// The same whatever the topic.
pub fn ladder(run: &Run) -> Vec<OverviewLine<'_>> {
    let mut lines = overview_lines(run);
    lines.sort_by(|a, b| a.cost_ns().total_cmp(&b.cost_ns()));
    lines
}

fn of_row(operation: OverviewOperation, row: &Row) -> Vec<OverviewLine<'_>> {
    let line = OverviewLine {
        operation,
        mode: None,
        row,
        ns: None,
        spread_ns: None,
        cycles: None,
        verdict: None,
    };
    let (Outcome::Figure(estimate) | Outcome::Level { estimate, .. }) = &row.outcome else {
        return vec![line];
    };
    let verdict = Some(estimate.verdict);
    let modes = apart(estimate);
    if modes.is_empty() {
        let ends = estimate.typical.map(|t| (t.p10_ns, t.p90_ns));
        return vec![OverviewLine {
            mode: estimate.mode(),
            ns: estimate.ns().filter(|_| estimate.below_ns.is_none()),
            spread_ns: ends,
            cycles: estimate.quiet.and_then(|quiet| quiet.cycles),
            verdict,
            ..line
        }];
    }
    let of_mode = |mode: &'_ crate::estimate::Mode| (mode.typical.p10_ns, mode.typical.p90_ns);
    let modes = modes.into_iter().map(|mode| OverviewLine {
        mode: Some(mode.name.as_str()),
        ns: Some(mode.typical.ns),
        spread_ns: Some(of_mode(mode)),
        verdict,
        ..line.clone()
    });
    modes.collect()
}

/// The large modes of an estimate whose figure is of one of several.
fn apart(estimate: &Estimate) -> Vec<&crate::estimate::Mode> {
    match estimate.headline() {
        Some((_, Some(_))) if estimate.quiet.is_none() => {
            crate::estimate::large(&estimate.modes).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn the_cheapest_first_within_a_topic() {
        let run = synthetic::run();
        let lines = overview_lines(&run);
        assert!(lines.len() > 4, "{}", lines.len());
        let places: Vec<(Topic, f64)> = lines
            .iter()
            .map(|line| {
                let ns = line.ns.map_or(f64::INFINITY, |ns| ns.value);
                (line.operation.topic, ns)
            })
            .collect();
        assert!(places.is_sorted_by(|a, b| a.0 < b.0 || (a.0 == b.0 && a.1 <= b.1)));
    }

    #[test]
    fn modes_that_lie_apart_are_lines_of_their_own() {
        let run = synthetic::run();
        let switches: Vec<(String, bool, bool)> = overview_lines(&run)
            .iter()
            .filter(|line| line.operation.row == "sync.semaphore_switch/free")
            .map(|line| (line.words(), line.is_uncertain(), line.is_of_row()))
            .collect();
        assert_eq!(
            switches,
            [
                ("wake a thread, same CPU".to_owned(), true, true),
                ("wake a thread, other CPU".to_owned(), true, false)
            ]
        );
    }

    #[test]
    fn words_fit_their_column() {
        for operation in OPERATIONS {
            assert!(operation.words.len() <= 22, "{}", operation.words);
        }
    }
}

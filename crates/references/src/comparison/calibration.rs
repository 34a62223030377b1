//! What the programs behind published figures measure beside our rows: by how much a place is off without it.
//!
//! Each program was built from its sources and run in alternation with `latlas run`, three rounds, on a Zen 4 guest of
//! two CPUs with Linux 6.18 (2026-11-28; `benches/RESULTS.md` has the figures). A program does the same job by other
//! means: osbench creates a hundred threads before it joins the first, stress-ng's children do some work. On another
//! machine the factor may be another, so that a place is of the job, never a ratio.

use super::figure::RowName;
use super::population::PopulationName;

/// Whose figures, the row, and our time over theirs: the least and the most of the rounds.
type Offset = (&'static str, &'static str, [f64; 2]);

/// By the first word of the population's name.
const OFFSETS: [Offset; 16] = [
    (CLOUD, "memory.latency/L1", [0.910, 0.918]),
    // The extrapolation's own bias.
    (CLOUD, "memory.latency/DRAM", [0.927, 0.979]),
    (CLOUD, "process.fork_exit", [0.377, 0.419]),
    // Where the scheduler puts the two threads is most of it.
    (CLOUD, "sync.handoff/pipe", [0.074, 0.688]),
    (CLOUD, "sync.handoff/eventfd", [0.043, 0.446]),
    // Ours reads the coarse clock, theirs four others.
    (CLOUD, "call.vdso", [0.306, 0.311]),
    ("osbench", "thread.create_join", [1.833, 2.037]),
    ("osbench", "process.fork_exit", [2.750, 2.929]),
    ("osbench", "process.fork_exec", [2.060, 2.283]),
    // 36.7 to 395 us a file in three rounds beside ours of 16.3: it deletes its files at the end.
    ("osbench", "file.create/1KiB", [0.041, 0.444]),
    // Its order stays within a page for a while.
    ("multichase", "memory.latency/DRAM", [1.127, 1.152]),
    ("multichase", "memory.latency/4MiB", [1.180, 1.283]),
    ("perf", "sync.handoff/pipe", [0.118, 0.985]),
    ("perf", "memory.copy/1MiB", [0.887, 0.910]),
    // The same call, timed by the operation: as fast beside it.
    ("perf", "cpu.memcpy/1MiB", [0.887, 0.910]),
    ("perf", "memory.fill/1MiB", [0.929, 0.934]),
];

const CLOUD: &str = "cloud";

/// Our time over a population's on one machine, least and most; 1 where it was not measured.
pub(super) fn ours_over_theirs(population: &PopulationName, row: &RowName) -> [f64; 2] {
    let whose = match population {
        PopulationName::CloudTypes => CLOUD,
        PopulationName::TestResults(test) => test.split('-').next().unwrap_or(test),
        PopulationName::CpuSignatures => return [1.0; 2],
    };
    let is_of = |offset: &&Offset| offset.0 == whose && *row == RowName::row(offset.1);
    OFFSETS.iter().find(is_of).map_or([1.0; 2], |offset| offset.2)
}

#[cfg(test)]
mod tests {
    use super::super::published_populations;
    use super::*;

    #[test]
    fn each_offset_is_of_a_population() {
        let all = published_populations().expect("whole");
        let is_used = |(whose, row, range): &Offset| {
            all.iter().any(|one| {
                let named = match &one.name {
                    PopulationName::CloudTypes => *whose == CLOUD,
                    PopulationName::TestResults(test) => test.starts_with(&format!("{whose}-")),
                    PopulationName::CpuSignatures => false,
                };
                named
                    && one.row == RowName::row(*row)
                    && ours_over_theirs(&one.name, &one.row) == *range
            })
        };
        for offset in &OFFSETS {
            assert!(is_used(offset), "{offset:?}");
            assert!(offset.2[0] > 0.0 && offset.2[0] < offset.2[1]);
        }
        let signatures = PopulationName::CpuSignatures;
        assert_eq!(ours_over_theirs(&signatures, &RowName::row("memory.latency/L2")), [1.0; 2]);
    }
}

//! Published figures of some 4,400 machines: cloud types, boards, instruction timings by CPU signature, core-to-core
//! matrices, and distributions of single tests.
//!
//! The figures are derived from the sources that [`Source`] names, each under its own licence (the file NOTICE has
//! them). They are in the program as one compressed file a source, `data/*.jsonl.zst`; a file is unpacked the first
//! time that its records are asked for, and never before; for a look-up the large ones are parsed in part. `tools/import-references FOLDER` makes the files anew, from
//! JSON lines as `zstd -dc` prints them, with the checks of [`record`]. To send a correction, change a line and import.
//!
//! # What may be compared
//! Each figure has the row that it belongs to and a [`ComparisonRule`]. Without the rule, a figure is not shown.
//!
//! | figure | row | rule |
//! |---|---|---|
//! | InstLatX64: latency and throughput of add, mul, AND, popcnt, add_f, mul_f; latency of div_f, sqrt | `cpu.*` | same |
//! | InstLatX64: throughput of div_f, sqrt | `cpu.*/throughput` | same with new operands; old ones are easier |
//! | InstLatX64: throughput of div_i64 64/32b, div_i32 31/31b | `cpu.div_*/throughput` | same with new operands |
//! | InstLatX64: latency of div_i | `cpu.div_*` | not: other operands |
//! | InstLatX64: throughput of a locked add | `sync.atomic_add` | same |
//! | InstLatX64: load, L1D, L2, L3 in cycles | `memory.latency/L1`.. | same; memory: near |
//! | Spare Cores: `dram`, extrapolated beyond every cache | `memory.latency/DRAM` | same |
//! | Spare Cores: set within L1, largest set | `memory.latency/L1`, `/DRAM` | near |
//! | Spare Cores: sets in between | `memory.latency` | not: four nodes share a line |
//! | Spare Cores: stress-ng's fork, switch, eventfd, vdso | `process.fork_exit`, `sync.handoff/*`, `call.vdso` | near |
//! | Spare Cores: bandwidth of all CPUs | `memory.*_all_cores` | near, a vCPU |
//! | sbc-bench: ramlat up to L2 | `memory.latency` | same, in cycles at the measured clock |
//! | sbc-bench: memcpy, memset | `memory.copy`, `memory.fill` | same |
//! | core-to-core-latency | `memory.core_to_core` | same by group of pairs; never the median of all |

mod band;
mod brief;
pub mod comparison;
pub mod hosts;
pub mod machine;
mod named;
mod packed;
pub mod record;
mod source;

pub use band::{BandExtent, BandSpan, LatencyBand, latency_bands};
pub use named::{ReferenceNameError, find_reference, reference_names};
pub use packed::{DamagedRecords, checked_records};
pub use record::{BoardReport, CloudType, CoreMatrix, InstructionTimings, TestPopulation};
pub use source::Source;

use brief::{BoardBrief, BriefRecord, CloudBrief, TimingBrief, embedded_briefs};
use packed::embedded_records;

/// Types of cloud providers: Spare Cores, CC BY-SA 4.0.
pub fn cloud_types() -> Result<&'static [CloudType], DamagedRecords> {
    embedded_records!(CloudType)
}

/// Reports of single-board computers and others: sbc-bench, BSD-3-Clause.
pub fn board_reports() -> Result<&'static [BoardReport], DamagedRecords> {
    embedded_records!(BoardReport)
}

/// Latency and throughput of instructions, by CPU signature and kind of core: InstLatX64.
pub fn instruction_timings() -> Result<&'static [InstructionTimings], DamagedRecords> {
    embedded_records!(InstructionTimings)
}

/// Latencies between the cores of a machine: core-to-core-latency, MIT.
pub fn core_matrices() -> Result<&'static [CoreMatrix], DamagedRecords> {
    embedded_records!(CoreMatrix)
}

/// Distributions of single tests over machines of unknown makes: OpenBenchmarking.org.
pub fn test_populations() -> Result<&'static [TestPopulation], DamagedRecords> {
    embedded_records!(TestPopulation)
}

/// Cloud types, parsed in part.
pub(crate) fn cloud_briefs() -> Result<&'static [BriefRecord<CloudBrief, CloudType>], DamagedRecords>
{
    embedded_briefs!(CloudBrief, CloudType)
}

/// Reports of boards, parsed in part.
pub(crate) fn board_briefs()
-> Result<&'static [BriefRecord<BoardBrief, BoardReport>], DamagedRecords> {
    embedded_briefs!(BoardBrief, BoardReport)
}

/// Instruction timings, parsed in part.
pub(crate) fn timing_briefs()
-> Result<&'static [BriefRecord<TimingBrief, InstructionTimings>], DamagedRecords> {
    embedded_briefs!(TimingBrief, InstructionTimings)
}

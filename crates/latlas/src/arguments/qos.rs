//! What `latlas qos` takes.

use crate::arguments::InvalidValue;
use crate::arguments::recorded::RecordedOptions;
use clap::{Args, Subcommand, ValueEnum};
use model::qos::{Codec, Level};
use qos::plan::CaseKind;
use std::path::PathBuf;

/// Printed below the options.
pub const EXAMPLES: &str = "\
Compresses a file block by block with an operation queue, at each quality-of-service level, alone and
with a second job at another level, interleaved. Each job is a process in its own session. Prints what
each level is on this system (applied, effective or refused), times, throughput, the share of the CPU
that the kernel's weights predict next to the measured one, and where the blocks ran. Levels are
Apple's classes; on Linux they are made of nice values, autogroup, policy and slice (`latlas help qos`).

Examples:
  latlas qos                                      Measure all levels and pairs (about 4 minutes)
  latlas qos --quick                              Measure two levels (about 45 s)
  sudo latlas qos                                 Also raise the upper levels, which needs root
  latlas qos --levels utility,default             Measure other levels (1 minute)
  latlas qos --cases alone --rounds 10            Measure each level alone
  latlas qos --jobs 1                             One operation at a time in each job
  latlas qos --size 10GB --rounds 1               Compress the size of the published study
  latlas qos --full                               Also run one level for five minutes
  latlas qos --history                            Also draw what each CPU did
  latlas qos --out qos.json                       Also write every run as JSON
  latlas qos --history --out qos.html             Also write a page
  latlas table oakley qos.json                    Show it next to the published study

Exit codes:
  0  done
  2  the request can't be carried out
  3  interrupted, a case failed, or too few rounds for any interval";

/// Size of the file, of `--quick` and without it.
const SIZES: [u64; 2] = [64 << 20, 256 << 20];
/// What `--quick` measures: the fewest rounds that give an interval.
const QUICK_LEVELS: [Level; 2] = [Level::BACKGROUND, Level::DEFAULT];
const QUICK_ROUNDS: u32 = 6;
const QUICK_KINDS: [CaseKind; 3] = [CaseKind::Alone, CaseKind::Pairs, CaseKind::Lowest];
/// Levels without `--quick`.
const LEVELS: [Level; 5] = [
    Level::BACKGROUND,
    Level::UTILITY,
    Level::DEFAULT,
    Level::USER_INITIATED,
    Level::USER_INTERACTIVE,
];

/// Options of it.
#[derive(Args, Debug, Clone)]
#[command(args_conflicts_with_subcommands = true)]
pub struct QosOptions {
    #[command(subcommand)]
    pub what: Option<QosCommand>,
    /// Measure two levels, alone and together, in 6 rounds with a file of 64MiB (about 45 s)
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Size of the file; it is removed at the end [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    size: Option<u64>,
    /// Size of a block
    #[arg(long, value_name = "SIZE", default_value = "256KiB", value_parser = block)]
    pub block: u64,
    /// Codec
    #[arg(long, value_name = "CODEC", default_value = "zstd")]
    pub codec: CodecChoice,
    /// Compression level of zstd [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=22))]
    pub compression: Option<i32>,
    /// Levels: background (9), utility (17), default (21), user-initiated (25), user-interactive (33),
    /// or another number [default: the five with names]
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', value_parser = level)]
    levels: Vec<Level>,
    /// Maximum number of concurrent operations in a job [default: one per allowed CPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Cases to measure [default: all]
    #[arg(long, value_name = "CASES", value_delimiter = ',')]
    cases: Vec<CaseChoice>,
    /// Also run the default level for five minutes, and read its settings again at the end
    #[arg(long)]
    pub full: bool,
    /// Record what all CPUs do, ten times per second, and draw it for the first run of each case
    #[arg(long)]
    pub history: bool,
    /// Rounds, each with one run of every case; an interval needs 6, the comparison of all levels 8
    /// [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: Option<u32>,
    /// Seed of the random order
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Directory for the file (default: the cache directory or /var/tmp, whichever is on a disk)
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    #[command(flatten)]
    pub run: RecordedOptions,
}

/// What else can be measured.
#[derive(Subcommand, Debug, Clone)]
pub enum QosCommand {
    /// Measure what each control of the Linux scheduler does: shares, wake-ups, permissions
    #[command(after_help = KNOBS_EXAMPLES)]
    Knobs(KnobsOptions),
}

/// Printed below the options of `qos knobs`.
pub const KNOBS_EXAMPLES: &str = "\
Lets threads with a control compete with threads without it: the share of CPU time that they get on
one CPU and on all, next to the share that the kernel's weights predict, and how late a small thread
wakes up. Also tries what this user and an unprivileged one may set and undo (`latlas help qos`).
All runs in child processes; nothing stays changed. As root, real-time threads take nearly all CPU
time for a second at a time.

Examples:
  sudo latlas qos knobs                Measure all knobs (about 5 minutes)
  sudo latlas qos knobs --quick        Measure them once, and for a shorter time (about 50 s)
  latlas qos knobs autogroup           Measure knobs with this word in their name
  latlas qos knobs nice slice --rounds 5
  latlas qos knobs --json > knobs.json

Exit codes:
  0  done
  2  the request can't be carried out
  3  interrupted, or no knob could be measured";

/// Options of `latlas qos knobs`.
#[derive(Args, Debug, Clone)]
pub struct KnobsOptions {
    /// Measure knobs with one of these words in their name, and `none` [default: all]
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,
    /// Measure one round, and half as long (about 50 s for all knobs)
    #[arg(long)]
    pub quick: bool,
    /// Rounds, each with every measurement once [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
    /// Seed of the random order
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub run: RecordedOptions,
}

/// A codec.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodecChoice {
    /// Zstandard
    Zstd,
    /// LZ4
    Lz4,
}

/// A kind of cases.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseChoice {
    /// Each level alone
    Alone,
    /// Each pair of a higher and a lower level
    Pairs,
    /// Two jobs of the lowest level
    Lowest,
    /// Two jobs of the highest level
    Highest,
    /// 1, 2, 4, ... operations at once, fewer than --jobs, with as much of the work
    Operations,
}

impl KnobsOptions {
    pub fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { 1 } else { 3 })
    }
}

/// What `--quick` decides is only what isn't given: typed, or in the configuration, whose options are defaults
/// to clap and would yield to a `default_value_if`.
impl QosOptions {
    /// Kinds, levels and rounds of `--quick`.
    pub fn quick() -> (&'static [CaseKind], &'static [Level], u32) {
        (&QUICK_KINDS, &QUICK_LEVELS, QUICK_ROUNDS)
    }

    /// Size of the file.
    pub fn size(&self) -> u64 {
        let [quick, usual] = SIZES;
        self.size.unwrap_or(if self.quick { quick } else { usual })
    }

    pub fn levels(&self) -> &[Level] {
        match (&self.levels[..], self.quick) {
            ([], true) => &QUICK_LEVELS,
            ([], false) => &LEVELS,
            (given, _) => given,
        }
    }

    pub fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { QUICK_ROUNDS } else { qos::plan::ROUNDS })
    }

    pub fn kinds(&self) -> Vec<CaseKind> {
        let chosen = self.cases.iter().map(|case| match case {
            CaseChoice::Alone => CaseKind::Alone,
            CaseChoice::Pairs => CaseKind::Pairs,
            CaseChoice::Lowest => CaseKind::Lowest,
            CaseChoice::Highest => CaseKind::Highest,
            CaseChoice::Operations => CaseKind::Operations,
        });
        match (self.cases.is_empty(), self.quick) {
            (true, true) => QUICK_KINDS.to_vec(),
            (true, false) => CaseKind::ALL.to_vec(),
            (false, _) => chosen.collect(),
        }
    }

    pub fn codec(&self) -> Codec {
        match self.codec {
            CodecChoice::Zstd => Codec::Zstd(self.compression.unwrap_or(3)),
            CodecChoice::Lz4 => Codec::Lz4,
        }
    }
}

fn size(text: &str) -> Result<u64, InvalidValue> {
    let bytes = model::size::parse_size(text);
    let range = 1 << 20..=1 << 40;
    bytes.filter(|bytes| range.contains(bytes)).ok_or(InvalidValue::QosSize)
}

fn block(text: &str) -> Result<u64, InvalidValue> {
    let bytes = model::size::parse_size(text);
    let range = 4 << 10..=64 << 20;
    bytes.filter(|bytes| range.contains(bytes)).ok_or(InvalidValue::QosBlock)
}

fn level(text: &str) -> Result<Level, InvalidValue> {
    Level::parse(text).ok_or(InvalidValue::QosLevel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_levels() {
        assert_eq!(size("10GB"), Ok(10_000_000_000));
        assert_eq!(size("256MiB"), Ok(256 << 20));
        for bad in ["", "1KiB", "2PB", "-1MB", "much"] {
            assert_eq!(size(bad), Err(InvalidValue::QosSize), "{bad}");
        }
        assert_eq!(block("1MiB"), Ok(1 << 20));
        assert_eq!(block("1GiB"), Err(InvalidValue::QosBlock));
        assert_eq!(level("utility"), Ok(Level::UTILITY));
        assert_eq!(level("17"), Ok(Level::UTILITY));
        assert_eq!(level("32").map(Level::is_known), Ok(false));
        assert_eq!(level("urgent"), Err(InvalidValue::QosLevel));
    }
}

//! What priority does to real work: one compression job at each
//! quality-of-service level, alone and competing. The recording holds every run;
//! [`figures`], [`shares`], [`cores`] and [`verdict`] say what follows from them.

pub mod cores;
pub mod figures;
pub mod knobs;
pub mod level;
pub mod predict;
pub mod shares;
pub mod verdict;

#[cfg(test)]
mod tests;

use crate::cpu_history::CpuHistory;
use crate::filesystem::Filesystem;
use crate::machine::Fact;
use crate::residency::Residency;
pub use crate::setting::{Outcome, Part, Setting};
pub use level::Level;
use serde::{Deserialize, Serialize};

/// What `latlas qos` records.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Qos {
    /// The job and the plan.
    pub how: How,
    /// What else the figures depend on.
    pub conditions: QosConditions,
    /// What each level is here, as it was read back in a job.
    pub levels: Vec<LevelHere>,
    /// The cases with their runs, in the order of the plan.
    pub cases: Vec<CaseRuns>,
}

/// The job and how it was repeated.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct How {
    /// Size of the file, bytes.
    pub file_bytes: u64,
    /// SHA-256 of the file, hexadecimal.
    pub file_sha256: String,
    /// Bytes of a block; each is compressed by itself.
    pub block_bytes: u64,
    /// The codec.
    pub codec: Codec,
    /// Size of all compressed blocks, bytes.
    pub compressed_bytes: u64,
    /// How often a job compresses the file, so that it runs long enough for
    /// steady shares.
    pub passes: u32,
    /// Most operations at once in a job.
    pub operations: u32,
    /// Rounds that were planned.
    pub rounds: u32,
    /// Seed of the order in the rounds.
    pub seed: u64,
    /// CPUs that the jobs may use.
    pub cpus: Vec<u32>,
}

/// What compresses.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Codec {
    /// Zstandard at this level.
    Zstd(i32),
    /// LZ4, fast mode.
    Lz4,
}

impl Codec {
    /// Name and level.
    pub fn name_and_level(self) -> String {
        match self {
            Codec::Zstd(level) => format!("zstd level {level}"),
            Codec::Lz4 => "LZ4".into(),
        }
    }
}

/// What the figures depend on apart from machine and job.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QosConditions {
    /// `mains`, `battery`.
    pub power: Fact<String>,
    /// Whether sessions have autogroups that act here.
    pub autogroups: Fact<bool>,
    /// Whether this was root.
    pub root: bool,
    /// What the file is on.
    pub filesystem: Filesystem,
    /// Load average over a minute, before.
    pub load_before: Option<f64>,
}

/// A level on this machine.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelHere {
    /// Which.
    pub level: Level,
    /// What it consists of, and what came of each.
    pub parts: Vec<Part>,
}

/// Jobs that run at once.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Case {
    /// One job by itself.
    Alone {
        /// Its level.
        level: Level,
    },
    /// A job and one of a lower level at the same time.
    Pair {
        /// The higher level: the first job.
        high: Level,
        /// The lower level: the second.
        low: Level,
    },
    /// Two jobs of one level.
    Same {
        /// Their level.
        level: Level,
    },
    /// One job by itself with another number of operations at once.
    Operations {
        /// Its level.
        level: Level,
        /// How many.
        operations: u32,
    },
    /// One job for a long time: systems change their mind after minutes.
    Long {
        /// Its level.
        level: Level,
        /// How long.
        seconds: u32,
    },
}

impl Case {
    /// The level of each of its jobs.
    pub fn levels(self) -> Vec<Level> {
        match self {
            Case::Alone { level } | Case::Operations { level, .. } | Case::Long { level, .. } => {
                vec![level]
            }
            Case::Pair { high, low } => vec![high, low],
            Case::Same { level } => vec![level, level],
        }
    }

    /// In words.
    pub fn label(self) -> String {
        match self {
            Case::Alone { level } => format!("{} alone", level.label()),
            Case::Pair { high, low } => format!("{} + {}", high.label(), low.label()),
            Case::Same { level } => format!("two {}", level.label()),
            Case::Operations { level, operations } => {
                let operations = crate::phrases::counted(operations as usize, "operation");
                format!("{}, {operations}", level.label())
            }
            Case::Long { level, seconds } => format!("{} for {seconds} s", level.label()),
        }
    }
}

/// A case and its runs.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaseRuns {
    /// Which.
    pub case: Case,
    /// Its runs: the n-th is of the n-th round.
    pub runs: Vec<CaseRun>,
    /// Why there are no more, if one failed.
    pub left_out: Option<String>,
    /// What all CPUs did in its first run, if that was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<CpuHistory>,
}

/// All jobs of a case, once.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaseRun {
    /// When it began, ms since the beginning.
    pub at_ms: u64,
    /// Time in which all jobs ran, ns: from their common start to the first
    /// end.
    pub together_ns: u64,
    /// The jobs, in the order of [`Case::levels`].
    pub jobs: Vec<JobRun>,
}

/// One run of a job. Times in ns.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobRun {
    /// From the common start to the end of its last block.
    pub wall_ns: u64,
    /// CPU time of its blocks.
    pub cpu_ns: u64,
    /// The part of that within [`CaseRun::together_ns`].
    pub together_cpu_ns: u64,
    /// Bytes compressed.
    pub bytes: u64,
    /// Time its threads waited for a CPU.
    pub run_delay_ns: Option<u64>,
    /// Times its threads gave up their CPU.
    pub voluntary: Option<u64>,
    /// Times a CPU was taken from them.
    pub involuntary: Option<u64>,
    /// Times a thread went on on another CPU.
    pub migrations: Option<u64>,
    /// Where its blocks ran.
    pub residency: Residency,
    /// Throughput in each tenth of a long run, bytes per second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tenths: Vec<f64>,
    /// What the level was at the end, where it had changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Part>,
}

impl Qos {
    /// The runs of a case.
    pub fn case(&self, case: Case) -> Option<&CaseRuns> {
        self.cases.iter().find(|runs| runs.case == case)
    }

    /// What a level is here.
    pub fn parts(&self, level: Level) -> &[Part] {
        let here = self.levels.iter().find(|here| here.level == level);
        here.map_or(&[], |here| &here.parts)
    }
}

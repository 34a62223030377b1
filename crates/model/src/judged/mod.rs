//! Two builds of somebody's benchmark suite, judged: what is kept of the experiment beside the samples of its slots,
//! which are the run's cells. A slot is a new process; each round has one of the base, of the head and of the base again
//! for every benchmark. What is concluded is computed from the samples (`compare::judged`), never kept.

pub mod evidence;
pub mod question;
pub mod tails;

use evidence::ArmCounts;
use serde::{Deserialize, Serialize};

/// The arms: what differs between the first and the last is the machine's doing.
pub const ARMS: [&str; 3] = ["base", "head", "base-again"];

/// Of suites in which nothing changed at most this share has any benchmark called changed.
pub const FAMILY_LEVEL: f64 = 0.01;

/// A change that should be found: where it could not have been, nothing is said of a benchmark.
pub const SOUGHT: f64 = 0.05;

/// What an experiment was, beside its samples.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judged {
    /// Base and head.
    pub builds: [JudgedBuild; 2],
    /// Time that was allowed for all slots, ms.
    pub budget_ms: u64,
    /// By how much a benchmark may become slower, a share.
    pub fail_above: f64,
    /// Rounds of all benchmarks, by which those that are measured again were chosen: they count from 0, and later ones
    /// are of these alone.
    pub screening_rounds: u32,
    /// All benchmarks of the suite.
    pub benchmarks: Vec<JudgedBenchmark>,
    /// What the reader should know of the builds, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// A side.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedBuild {
    /// As it was named.
    pub label: String,
    /// Its commit, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// A benchmark of the suite.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedBenchmark {
    /// Its name, unique in the suite: its rows are `judge.NAME@ARM`.
    pub name: String,
    /// Whose it is: `go test`, `criterion`.
    pub harness: String,
    /// What was done with it.
    pub state: BenchmarkState,
    /// Each slot had a layout of its own.
    #[serde(default)]
    pub relinked: bool,
    /// It was measured again, after the rounds of all.
    #[serde(default)]
    pub measured_again: bool,
    /// Slots that failed.
    #[serde(default)]
    pub lost_slots: u32,
    /// Why the first of them did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_because: Option<String>,
    /// Work of an operation in base and head, where it was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<[ArmCounts; 2]>,
}

/// What was done with a benchmark.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BenchmarkState {
    /// It was measured.
    Measured,
    /// Machine code and data of both builds are equal: there is nothing to measure.
    SameProgram,
    /// The head doesn't have it.
    OnlyInBase,
    /// The base doesn't have it.
    OnlyInHead,
    /// The budget was too short for its first rounds.
    BeyondBudget {
        /// Time that it would have taken, ms.
        needed_ms: u64,
    },
    /// The budget was too short to measure it again, though it may have changed.
    NotMeasuredAgain {
        /// Time that this would have taken, ms.
        needed_ms: u64,
    },
    /// Its slots fail.
    Failed {
        /// On which side.
        arm: String,
        /// How.
        why: String,
    },
}

impl JudgedBenchmark {
    /// The row of an arm.
    pub fn row_id(&self, arm: &str) -> String {
        format!("judge.{}@{arm}", self.name)
    }
}

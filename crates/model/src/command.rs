//! What a run of commands was: which, how often, under which controls, with
//! which page cache. The figures are rows and cells like any others,
//! `exec.NAME/wall` and so on.

use crate::compare::finding::Finding;
use crate::stats::Interval;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The commands of a run, and how they were run.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Commands {
    /// In the order given: the first is what the others are set against. Of
    /// each round, every command has one run.
    pub commands: Vec<Command>,
    /// What the commands found of their files.
    pub page_cache: PageCache,
    /// What was set for them.
    pub controls: Controls,
    /// Runs before, kept out of every figure.
    pub warmups: u32,
    /// When the runs were to end.
    pub rule: Rule,
    /// Why they ended.
    pub ended: Ended,
    /// The same is said only where the whole interval of a ratio stays within
    /// this share of 1.
    pub margin: f64,
    /// Every other command set against the first; empty where there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<Compared>,
    /// Where their standard output went, in words.
    pub output: String,
    /// Where their standard input came from, in words.
    pub input: String,
}

/// One row of a command set against the same row of the first.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Compared {
    /// Name of the command.
    pub name: String,
    /// What stands behind `exec.NAME/`.
    pub row: String,
    /// The median of the rounds' ratios, this command over the first, with
    /// its interval ([`crate::interleaved`]); absent where there are too few.
    pub ratio: Option<Interval>,
    /// Rounds behind it.
    pub rounds: u32,
    /// What may be said.
    pub word: Finding,
}

/// One command.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Command {
    /// Name of its rows: `exec.NAME/...`.
    pub name: String,
    /// Its words as executed.
    pub words: Vec<String>,
    /// As it was written, if a shell took it apart.
    pub shell: Option<String>,
    /// Timed runs that failed, where that was allowed.
    pub failures: u32,
    /// The program that found the warm-up's output right.
    pub checked_by: Option<String>,
}

impl Command {
    /// The command as one would write it.
    pub fn text(&self) -> String {
        self.shell.clone().unwrap_or_else(|| self.words.join(" "))
    }
}

/// What the commands found of their files.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum PageCache {
    /// What the warm-up and the run before had read.
    Warm,
    /// Nothing: all dirty pages were written back and the whole page cache
    /// was dropped before each run.
    Cold,
    /// Nothing of these files: they were dropped before each run.
    ColdFiles {
        /// Which.
        files: Vec<String>,
        /// Pages that stayed in memory nevertheless, in the worst run.
        stayed_pages: u64,
        /// Those of them of which the system does not tell this user what
        /// stayed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        untold: Vec<String>,
    },
}

/// What was set for the commands, and for the one that watches them.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
pub struct Controls {
    /// The one CPU they ran on.
    pub pinned_cpu: Option<u32>,
    /// Their nice value.
    pub nice: Option<i32>,
    /// Whether latlas itself was kept off that CPU.
    pub observer_apart: bool,
}

/// When the runs are to end.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// After exactly so many; the rest of the rule does not count then.
    pub runs: Option<u32>,
    /// Never before so many,
    pub least_runs: u32,
    /// nor before so long, ms;
    pub least_ms: u64,
    /// then as soon as half of the interval is at most this share of the
    /// median;
    pub half_width: f64,
    /// at the latest after so long, ms,
    pub most_ms: u64,
    /// or so many.
    pub most_runs: u32,
}

/// Why the runs ended.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// There were as many as asked for.
    AsAsked,
    /// The intervals are narrow enough.
    Narrow,
    /// The longest time or the largest number was reached first.
    AtTheLimit,
    /// They were stopped by a signal or the user.
    Interrupted,
}

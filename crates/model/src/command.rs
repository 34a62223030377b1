//! What a run of commands was: which, how often, under which controls, with
//! which page cache. The figures are rows and cells like any others,
//! `exec.NAME/wall` and so on.

use crate::compare::finding::Verdict;
use crate::keyed::{HasId, Keyed};
use crate::phrases::counted;
use crate::sequential::Question;
use crate::stats::Interval;
use serde::{Deserialize, Serialize};

/// The commands of a run, and how they were run.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Commands {
    /// In the order given: the first is what the others are set against. Of
    /// each round, every command has one run.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Command>"))]
    pub commands: Keyed<Command>,
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

impl Rule {
    /// Whether the rounds ended by what they had shown: their ratios have the intervals of [`crate::sequential`].
    pub fn is_watched(&self) -> bool {
        self.runs.is_none() && self.question.is_some()
    }
}

impl Commands {
    /// Names of the commands of two builds (`latlas ci`).
    pub const BUILDS: [&str; 2] = ["base", "head"];

    /// The commands as one would write them; of two builds that of the second.
    pub fn what(&self) -> String {
        match self.commands.as_slice() {
            [base, head] if [&base.name, &head.name] == Commands::BUILDS => {
                format!("ci {}", head.command_line())
            }
            all => all.iter().map(Command::command_line).collect::<Vec<_>>().join(" vs "),
        }
    }
}

/// One row of a command set against the same row of the first.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    pub word: Verdict,
    /// Why nothing may be said whatever the ratio is, if so
    /// ([`Command::not_comparable`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// One command.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Command {
    /// Name of its rows: `exec.NAME/...`.
    pub name: String,
    /// Its words as executed.
    pub words: Vec<String>,
    /// As it was written, if a shell took it apart.
    pub shell: Option<String>,
    /// Timed runs that failed, where that was allowed.
    pub failures: u32,
    /// How its timed runs ended, each way once; empty where all ended with exit
    /// code 0, and in documents of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<EndedRuns>,
    /// Whether the file of its program was another one after the runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaced: bool,
    /// Whether it had a file for its input, and no run read any of it with
    /// `read(2)` or the like.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub input_unread: bool,
    /// Pages of files that were dropped before each run and stayed in memory nevertheless, in its
    /// worst run.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stayed_pages: u64,
    /// The smallest and the largest output of a run, bytes, where it went to a
    /// file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<[u64; 2]>,
    /// The program that found the warm-up's output right.
    pub checked_by: Option<String>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl HasId for Command {
    fn id(&self) -> (&str, &[u64]) {
        (&self.name, &[])
    }
}

impl Command {
    /// The command as one would write it.
    pub fn command_line(&self) -> String {
        self.shell.clone().unwrap_or_else(|| self.words.join(" "))
    }

    /// Why its figures are not the cost of the work that it is meant to do, if so.
    pub fn flaw(&self) -> Option<String> {
        let ways = |with_runs: bool| {
            let way = |end: &EndedRuns| match with_runs {
                true => format!("{} in {}", end.how, end.runs),
                false => end.how.clone(),
            };
            self.ends.iter().map(way).collect::<Vec<_>>().join(", ")
        };
        match (self.failures, self.ends.as_slice()) {
            // Documents of earlier versions don't say of how many.
            (1.., []) => Some(format!("{} failed", counted(self.failures as usize, "run"))),
            (1.., [_]) => Some(format!("all {} runs failed ({})", self.failures, ways(false))),
            (1.., ends) => {
                let all: u32 = ends.iter().map(|end| end.runs).sum();
                Some(format!("{} of {all} runs failed ({})", self.failures, ways(true)))
            }
            (0, [_, _, ..]) => Some(format!("its runs ended in different ways ({})", ways(true))),
            _ if self.replaced => Some("the file of its program changed during the runs".into()),
            _ if self.stayed_pages > 0 => Some(format!(
                "not all cold: up to {} of the dropped files stayed in memory",
                counted(self.stayed_pages as usize, "page")
            )),
            _ => None,
        }
    }

    /// Why it can't be called faster or slower than `other`, if so.
    pub fn not_comparable(&self, other: &Command) -> Option<String> {
        let unread = |one: &Command| one.input_unread.then(|| UNREAD.to_owned());
        let of = |one: &Command| {
            let why = one.flaw().or_else(|| unread(one))?;
            Some(format!("{}: {why}", one.name))
        };
        let end = |one: &Command| match one.ends.as_slice() {
            [end] => end.how.clone(),
            _ => "exit code 0".into(),
        };
        of(self).or_else(|| of(other)).or_else(|| {
            (end(self) != end(other)).then(|| {
                format!(
                    "{} ended with {}, {} with {}",
                    other.name,
                    end(other),
                    self.name,
                    end(self)
                )
            })
        })
    }
}

/// What is said of [`Command::input_unread`].
pub const UNREAD: &str = "no run read its input (mmap is not seen)";

/// Timed runs of a command that ended in the same way.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndedRuns {
    /// In words: "exit code 3", "signal 11 (SIGSEGV)".
    pub how: String,
    /// The exit code; absent where a signal ended them.
    pub code: Option<i32>,
    /// How many.
    pub runs: u32,
}

/// What the commands found of their files.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Controls {
    /// The one CPU they ran on.
    pub pinned_cpu: Option<u32>,
    /// Their nice value.
    pub nice: Option<i32>,
    /// Whether latlas itself was kept off that CPU.
    pub observer_apart: bool,
}

/// When the runs are to end.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rule {
    /// After exactly so many; the rest of the rule does not count then.
    pub runs: Option<u32>,
    /// Never before so many,
    pub least_runs: u32,
    /// nor before so long, ms;
    pub least_ms: u64,
    /// then as soon as half of the interval is at most this share of the
    /// median, if that is asked for,
    pub half_width: Option<f64>,
    /// and this is answered of the commands that are compared;
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
    /// at the latest after so long, ms,
    pub most_ms: u64,
    /// or so many.
    pub most_runs: u32,
}

/// Why the runs ended.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// There were as many as asked for.
    AsAsked,
    /// The intervals are narrow enough.
    Narrow,
    /// The question was answered.
    Decided,
    /// The least number and time were reached, and nothing more was asked for.
    Enough,
    /// The longest time or the largest number was reached first.
    AtTheLimit,
    /// They were stopped by a signal or the user.
    Interrupted,
}

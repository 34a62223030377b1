//! What the experiment asks of two built sides, one new process at a time.

use std::time::Duration;

/// Which build a slot runs: the order in which they are told apart in documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Arm {
    Base,
    Head,
    /// The base once more: what differs between it and [`Arm::Base`] is the machine's.
    BaseAgain,
}

/// On which sides a benchmark is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Both,
    OnlyBase,
    OnlyHead,
}

/// A benchmark of the suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Benchmark {
    pub name: String,
    /// Whose it is: `go test`, `criterion`.
    pub harness: String,
    pub presence: Presence,
    /// Both builds of its program are the same machine code and data.
    pub equal_program: bool,
    /// Its program can be linked again with another layout.
    pub can_relink: bool,
}

/// What one new process should measure.
#[derive(Clone, Debug)]
pub struct SlotRequest<'a> {
    pub benchmark: &'a str,
    pub arm: Arm,
    /// Samples to take.
    pub samples: u32,
    /// Length of one sample.
    pub sample_length: Duration,
    /// Iterations of a sample where known (the same in all arms).
    pub iterations: Option<u64>,
    /// Layout of this arm and round, where the toolchain can relink.
    pub layout_seed: Option<u64>,
}

/// What it measured.
#[derive(Clone, Debug, PartialEq)]
pub struct SlotSamples {
    /// ns per operation, in the order taken.
    pub ns: Vec<f64>,
    /// Operations of each sample.
    pub iterations: Vec<u64>,
    /// Wall time of the whole process, ns.
    pub wall_ns: u64,
}

/// Why a slot has no samples.
#[derive(thiserror::Error, Clone, Debug, PartialEq, Eq)]
pub enum SlotError {
    #[error("it measured nothing")]
    Nothing,
    #[error("it gave more than one value for one name")]
    SeveralValues,
    #[error("it ended with {}{}", .code.map_or("a signal".into(), |code| format!("code {code}")), after_colon(.stderr))]
    Failed { code: Option<i32>, stderr: String },
    #[error("{0}")]
    NotRun(String),
    #[error("it ran longer than it may, and was killed")]
    TimedOut,
    #[error("its result can't be read: {field}")]
    NotParsed { field: String },
}

fn after_colon(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

/// Built sides that can measure slots.
pub trait Slots {
    fn benchmarks(&self) -> &[Benchmark];

    /// Measures one benchmark in a new process.
    ///
    /// # Errors
    /// Unless exactly one named value came back.
    fn measure(&mut self, request: &SlotRequest) -> Result<SlotSamples, SlotError>;
}

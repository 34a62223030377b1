//! What is asked for, and what will be done.

use super::available::NoPin;
use super::control::Spec;
use meter::controls::RequestedControls;
use model::noise::effect::{Control, Load, Workload};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct AbRequest {
    /// Controls; none for all.
    pub controls: Vec<&'static Spec>,
    pub loads: Vec<Load>,
    /// Jobs.
    pub workloads: Vec<Workload>,
    /// How often, or how long.
    pub length: Length,
    /// How long a job is to take on a quiet CPU; a command, how long it took.
    pub job: Duration,
    /// Busy processes of a load for each CPU.
    pub busy_per_cpu: u32,
    /// The CPUs to use.
    pub cpus: Vec<u32>,
    /// The CPU for what is pinned, or why there is none.
    pub pin: Result<u32, NoPin>,
    /// What switching took that was tried, on and off, by the control, ms.
    pub switch_ms: BTreeMap<String, f64>,
}

/// How much is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// So many rounds of each block, however long they take.
    Rounds(u32),
    /// No longer than this in all, if that is enough for the fewest rounds.
    Time(Duration),
    /// [`ROUNDS`], or of a command what fits two minutes; no longer than what
    /// that is expected to take, or a tenth more if those are the fewest rounds.
    Usual,
}

/// What will be done.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct AbPlan {
    /// All that were asked for.
    pub controls: Vec<Control>,
    /// What is run.
    pub blocks: Vec<PlannedBlock>,
    /// Rounds of each block that are expected.
    pub rounds: u32,
    /// Most rounds, where jobs are faster than expected.
    pub most_rounds: u32,
    /// Fewest rounds that are planned, whatever the time.
    pub least_rounds: u32,
    /// Time that all may take, ms: then no more rounds are begun. Nothing where
    /// a number of rounds was asked for.
    pub most_ms: Option<u64>,
    /// Time that it takes if a load slows jobs down as it should, ms.
    pub expected_ms: u64,
    /// Busy processes of a load.
    pub busy: u32,
}

/// One job under one load.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct PlannedBlock {
    pub workload: Workload,
    pub load: Load,
    /// The states, interleaved.
    pub arms: Vec<PlannedArm>,
    /// One round, expected, ms.
    pub round_ms: f64,
}

/// One state.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct PlannedArm {
    pub name: String,
    /// What is set for the job's process.
    pub asked: RequestedControls,
    /// Whether the page cache is dropped before.
    pub cold: bool,
    /// The control that is switched for the whole system during it.
    pub toggle: Option<String>,
}

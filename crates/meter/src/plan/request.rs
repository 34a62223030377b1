//! What a run is asked to measure, and why there may be no plan for it.

use crate::controls::WorkerControls;
use crate::core_kind::{CoreKindChoice, NoSuchCores};
use crate::scratch::ScratchError;
use model::core_clock::ClockMovement;
use model::movement::MovementOfRows;
use model::run::Scale;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// What is asked for. The default: everything of the default scale, seed 0,
/// and the controls that need no right.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// How much.
    pub scale: Scale,
    /// Row ids, resolved; empty for the scale's whole set. The id of a published point (`file.create/1KiB`) stands
    /// for this point of its curve alone.
    pub rows: Vec<String>,
    /// The same as it was typed.
    pub asked: Vec<String>,
    /// Seed of everything random.
    pub seed: u64,
    /// Time for measuring, if limited.
    pub budget: Option<Duration>,
    /// The CPU to measure on; chosen if absent.
    pub pin: Option<u32>,
    /// The `latlas echo` on another machine, `HOST:PORT`.
    pub peer: Option<String>,
    /// Only cores of this kind.
    pub core_kind: Option<CoreKindChoice>,
    /// The directory for files; chosen if absent.
    pub dir: Option<PathBuf>,
    /// What is set for the workers.
    pub controls: WorkerControls,
    /// Whether this process makes the visits itself, and starts no workers.
    pub in_process: bool,
    /// Quiet ratio of the canaries in kept runs of this machine, if there are
    /// such.
    pub kept_quiet_ratio: Option<f64>,
    /// How far the core's clock moves between stored runs of this machine.
    pub clock_movement: ClockMovement,
    /// How far figures that depend on a shared part of the computer move between stored runs, where these are enough.
    pub movement: MovementOfRows,
}

/// Why there is no plan.
#[derive(thiserror::Error, Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum PlanError {
    #[error("no row \"{0}\"; `latlas list` shows all")]
    UnknownRow(String),
    #[error(
        "CPU {cpu} can't be used: this process may run on {allowed}; choose one of those with --pin"
    )]
    NoSuchCpu { cpu: u32, allowed: String },
    /// Cores of the kind asked for can't be had.
    #[error(transparent)]
    CoreKind(#[from] NoSuchCores),
    /// The directory for files can't be used.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    #[error(
        "controls other than --pin are set for worker processes: leave them or --in-process out"
    )]
    ControlsInProcess,
    #[error("a budget of {0:?} leaves no time to measure; give at least 1s, such as --budget 30s")]
    NoBudget(Duration),
    #[error(
        "only {usable} of memory may be used here: too little to measure in, since the workers need \
         {needed} (what is free, the control group's limit and `ulimit -v` count)"
    )]
    NoMemory { usable: String, needed: String },
}

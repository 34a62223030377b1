//! The Run document: everything one run found, from which every later picture
//! and comparison is drawn without measuring again. Documents of older versions
//! are read in `older/`, by which fields and kinds of recordings they lack.

pub mod recording;
mod table;

use crate::campaign::Job;
use crate::command::Commands;
use crate::conditions::Conditions;
pub use crate::core_clock::CoreClock;
use crate::estimate::Estimate;
use crate::experiment::Experiment;
use crate::filesystem::Filesystem;
use crate::gate::{Gate, GateState};
use crate::imported::Imported;
use crate::keyed::{HasId, Keyed};
use crate::machine::Machine;
use crate::plateau::Plateau;
pub use crate::program::Program;
pub use crate::row_kind::{Bound, Regime};
use crate::sample::{Evidence, Sample};
use crate::sample_columns::Columns;
use crate::size;
use crate::unit::Unit;
use recording::Recording;
use serde::{Deserialize, Serialize};

/// Version of the document's shape; a reader refuses a newer one and says so.
/// 2 added stamped operations with their modes and tails; 3 the file system
/// that files were on, curves over a file's size, commands, counts and bytes,
/// and runs that other programs measured; 4 the gaps around a run and the
/// controls it was made under; 5 the canaries at both ends of each sample and
/// how the quiet ratio was derived; 6 the verdict `biased`, and no figures of
/// invalid rows; 7 arms of an experiment, and recordings, which had documents
/// of their own.
pub const SCHEMA_VERSION: u32 = 7;

/// One run.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// UUID (version 4) of this run.
    pub id: String,
    /// When it began, ms since 1970 UTC.
    pub started_unix_ms: u64,
    /// How long it took, ms.
    pub wall_ms: u64,
    /// What measured.
    pub program: Program,
    /// On what.
    pub machine: Machine,
    /// In what conditions.
    pub conditions: Conditions,
    /// What was asked for.
    pub plan: PlanRecord,
    /// With which clock.
    pub clock: ClockRecord,
    /// By which thresholds samples counted as quiet.
    pub gate: Gate,
    /// The core's own clock during the run.
    pub core_clock: Option<CoreClock>,
    /// Where rows of files put theirs; absent in a run without such rows, and
    /// in documents before schema 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files_on: Option<Filesystem>,
    /// The commands that were run, and how: only of a run of commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<Commands>,
    /// What was set against what; absent where there is one arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<Experiment>,
    /// What it holds beyond rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recordings: Vec<Recording>,
    /// The job of a campaign that made it (`latlas fleet`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// Why the run is not whole, if it is not (interrupted, a worker died).
    pub partial: Option<String>,
    /// Where it came from, if another program measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// What was found: one entry a row, in catalogue order.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Row>"))]
    pub rows: Keyed<Row>,
    /// Every sample, by cell.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Cell>"))]
    pub cells: Keyed<Cell>,
}

/// How much is measured.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Few points and rounds: a first look.
    Quick,
    /// What `latlas` alone does.
    #[default]
    Default,
    /// Every row and every point.
    Full,
}

/// What was asked for.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanRecord {
    /// How much.
    pub scale: Scale,
    /// The rows named on the command line, as given; empty for the default
    /// set.
    pub asked: Vec<String>,
    /// Seed of the order of visits.
    pub seed: u64,
    /// Time allowed for measuring, ms.
    pub budget_ms: u64,
    /// Workers for ordinary rows, each a process (but see `in_process`).
    pub workers: u32,
    /// Workers for working sets above twice the last level.
    pub large_workers: u32,
    /// Largest working set that fits here, bytes.
    pub largest_working_set_bytes: u64,
    /// Why it is smaller than the catalogue's, if it is.
    pub shrunk: Option<String>,
    /// The only kind of cores that was used, if one was asked for:
    /// `performance (P-core)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_kind: Option<String>,
    /// The CPUs that rows of several threads could use, rising: the allowed
    /// ones, of that kind. Empty in documents that don't say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
    /// Whether all workers shared the program's own process: intervals then have no variation
    /// between processes in them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_process: bool,
}

/// The clock that timed the samples.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockRecord {
    /// Its name: `tsc`, `cntvct_el0`, `clock_monotonic_raw`.
    pub name: String,
    /// Length of a tick, ns.
    pub ns_per_tick: f64,
    /// How that is known.
    pub source: String,
    /// Cost of one empty bracket, ns, where it is known.
    #[serde(default)]
    pub cost_ns: Option<f64>,
    /// Smallest step seen, ns, where it is known.
    #[serde(default)]
    pub resolution_ns: Option<f64>,
}

/// Points that are missing for one reason.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissingPoints {
    /// Each as in a cell: `[x]` of a curve, `[y, x]` of a map.
    pub at: Vec<Vec<u64>>,
    /// Why they are.
    pub reason: String,
}

/// One row of the result.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// Public name, `memory.latency/L1`.
    pub id: String,
    /// The arm of the experiment that it is of; its id ends in `@` and that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// Unit it is shown in.
    pub unit: Unit,
    /// What its time follows.
    pub bound: Bound,
    /// What came of it.
    pub outcome: Outcome,
    /// What a reader must know with the figure, one sentence each: shrunk
    /// working sets, kinds of pages, shortened curves.
    pub notes: Vec<String>,
    /// Points of a curve or map that can't be measured here; its notes say so
    /// too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingPoints>,
}

/// What came of a row.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// One figure.
    Figure(Estimate),
    /// A figure that stands on a flat stretch of a curve.
    Level {
        /// The figure.
        estimate: Estimate,
        /// The stretch.
        plateau: Plateau,
    },
    /// A curve.
    Curve {
        /// What the points run over.
        axis: Axis,
        /// The points, in rising order.
        points: Vec<CurvePoint>,
    },
    /// A map: one figure for each pair, such as working set and stride.
    Map {
        /// What the lines run over.
        y_axis: Axis,
        /// What the columns run over.
        x_axis: Axis,
        /// The points, line by line.
        points: Vec<MapPoint>,
    },
    /// Not measured, with the reason.
    Unavailable {
        /// The reason, ready to stand behind `not available here: `.
        reason: String,
    },
}

/// What a curve's points run over.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Working set in bytes.
    WorkingSetBytes,
    /// Stride in bytes.
    StrideBytes,
    /// Independent chases at once.
    Chases,
    /// Share of their time that the other CPUs stream, percent.
    LoadPercent,
    /// Threads.
    Threads,
    /// Processes.
    Processes,
    /// Number of a CPU.
    Cpu,
    /// Number of a NUMA node.
    Node,
    /// Size of a file in bytes.
    FileBytes,
}

/// One point of a curve.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurvePoint {
    /// Where on the axis.
    pub x: u64,
    /// What its time follows, where that is not what the row's does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    /// The figure there.
    pub estimate: Estimate,
}

/// One point of a map.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MapPoint {
    /// Where on the y axis.
    pub y: u64,
    /// Where on the x axis.
    pub x: u64,
    /// What its time follows, where that is not what the row's does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    /// The figure there.
    pub estimate: Estimate,
}

/// A figure of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureAt<'r> {
    /// Its point: empty of a single figure; of a map y before x.
    pub at: Vec<u64>,
    /// What its time follows.
    pub bound: Bound,
    /// The figure.
    pub estimate: &'r Estimate,
}

/// The samples of one measured quantity: a row, or one point of a curve.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// The row it belongs to.
    pub row: String,
    /// Point on the curve, or empty. A map has `[y, x]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<u64>,
    /// Operations in one turn of the loop (of the U loop, for a difference).
    pub ops_per_turn: f64,
    /// How it was measured.
    pub regime: Regime,
    /// Names of the modes that its operations ran in; empty where there is
    /// one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<String>,
    /// What all visits to it took, preparing included, ms. Rows that are
    /// measured by the same operations share them: the first has the time.
    #[serde(default)]
    pub wall_ms: f64,
    /// The samples.
    pub samples: Columns,
}

impl Row {
    /// A row without notes, of no arm.
    pub fn new(id: impl Into<String>, unit: Unit, bound: Bound, outcome: Outcome) -> Row {
        let (id, arm, notes, missing) = (id.into(), None, Vec::new(), Vec::new());
        Row { id, arm, unit, bound, outcome, notes, missing }
    }

    /// The estimate of a row that is a single figure.
    pub fn estimate(&self) -> Option<&Estimate> {
        match &self.outcome {
            Outcome::Figure(estimate) | Outcome::Level { estimate, .. } => Some(estimate),
            _ => None,
        }
    }

    /// Every figure with its point. None where the row is not available.
    pub fn figures(&self) -> Vec<FigureAt<'_>> {
        let figure = |at, bound: &Option<Bound>, estimate| FigureAt {
            at,
            bound: bound.unwrap_or(self.bound),
            estimate,
        };
        match &self.outcome {
            Outcome::Figure(estimate) | Outcome::Level { estimate, .. } => {
                vec![figure(Vec::new(), &None, estimate)]
            }
            Outcome::Curve { points, .. } => {
                let points = points.iter();
                points.map(|p| figure(vec![p.x], &p.bound, &p.estimate)).collect()
            }
            Outcome::Map { points, .. } => {
                let points = points.iter();
                points.map(|p| figure(vec![p.y, p.x], &p.bound, &p.estimate)).collect()
            }
            Outcome::Unavailable { .. } => Vec::new(),
        }
    }

    /// Makes each figure noisy that there is a reason for, if it was ok.
    pub fn downgrade(&mut self, reason: impl Fn(FigureAt<'_>) -> Option<String>) {
        let reasons: Vec<Option<String>> = self.figures().into_iter().map(reason).collect();
        for (estimate, reason) in self.estimates_mut().into_iter().zip(reasons) {
            if let Some(reason) = reason {
                estimate.downgrade(reason);
            }
        }
    }

    pub(crate) fn estimates_mut(&mut self) -> Vec<&mut Estimate> {
        match &mut self.outcome {
            Outcome::Figure(estimate) | Outcome::Level { estimate, .. } => vec![estimate],
            Outcome::Curve { points, .. } => points.iter_mut().map(|p| &mut p.estimate).collect(),
            Outcome::Map { points, .. } => points.iter_mut().map(|p| &mut p.estimate).collect(),
            Outcome::Unavailable { .. } => Vec::new(),
        }
    }

    /// What its points are over; empty for a single figure.
    pub fn axes(&self) -> Vec<Axis> {
        match &self.outcome {
            Outcome::Curve { axis, .. } => vec![*axis],
            Outcome::Map { y_axis, x_axis, .. } => vec![*y_axis, *x_axis],
            _ => Vec::new(),
        }
    }
}

impl Cell {
    /// Samples of one process, each with when it was taken (ms since the run began), its turns
    /// and its ticks.
    pub fn of_values(
        row: impl Into<String>,
        at: Vec<u64>,
        values: impl IntoIterator<Item = (u64, u64, u64)>,
    ) -> Cell {
        let sample = |(at_ms, turns, first_ticks)| Sample {
            worker: 0,
            at_ms: u32::try_from(at_ms).unwrap_or(u32::MAX),
            turns,
            first_ticks,
            second_ticks: None,
            evidence: Evidence::default(),
        };
        let samples: Vec<Sample> = values.into_iter().map(sample).collect();
        Cell {
            row: row.into(),
            at,
            ops_per_turn: 1.0,
            regime: Regime::Distribution,
            modes: Vec::new(),
            wall_ms: 0.0,
            samples: (&samples[..]).into(),
        }
    }
}

impl Axis {
    /// A value on the axis as text: `16 KiB` of sizes, else the number.
    pub fn value_text(self, x: u64) -> String {
        match self {
            Axis::WorkingSetBytes | Axis::StrideBytes | Axis::FileBytes => size::format_size(x),
            Axis::Chases
            | Axis::LoadPercent
            | Axis::Threads
            | Axis::Processes
            | Axis::Cpu
            | Axis::Node => x.to_string(),
        }
    }
}

impl Run {
    /// The emulator that the run was made under.
    pub fn emulator(&self) -> Option<&str> {
        let of_machine = self.machine.emulated.get().and_then(|e| e.present_name());
        self.program.emulated.as_deref().or(of_machine)
    }

    /// Whether something else is known to have shared the measuring core.
    pub fn is_contended(&self) -> bool {
        let contended = match self.gate.state {
            GateState::MostlyContended => true,
            // Where no ratio is known, only the multiplications speak of neighbours.
            GateState::NeverQuiet => {
                self.gate.quiet_ratio.is_some() || self.gate.multiply_is_whole() == Some(false)
            }
            _ => false,
        };
        contended && self.emulator().is_none()
    }

    /// The samples of a row, ns per operation, in the order measured.
    pub fn values_ns(&self, id: &str) -> Vec<f64> {
        self.cells
            .with_id(id)
            .filter_map(|cell| Some((cell.ops_per_turn, cell.samples.samples().ok()?)))
            .flat_map(|(ops, samples)| {
                samples.into_iter().map(move |s| s.ns_per_op(ops, self.clock.ns_per_tick))
            })
            .collect()
    }

    /// A row by its id.
    pub fn row(&self, id: &str) -> Option<&Row> {
        self.rows.at_point(id, &[]).next()
    }

    /// The samples of a row's figure at this point.
    pub fn cell(&self, id: &str, at: &[u64]) -> Option<&Cell> {
        self.cells.at_point(id, at).next()
    }
}

impl HasId for Row {
    fn id(&self) -> (&str, &[u64]) {
        (&self.id, &[])
    }
}

impl HasId for Cell {
    fn id(&self) -> (&str, &[u64]) {
        (&self.row, &self.at)
    }
}

//! JSON of the API, where it differs from the types of the index: no path of
//! this machine is in it.

use model::run::Scale;
use model::stats::Interval;
use model::summary::{KeptResult, KeptRun, MachineSummary, RunSetup};
use model::unit::Unit;
use serde::Serialize;
use store::index::{MachineStanding, Percentile, Quantile};

/// All machines, the one with the newest run first.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Machines {
    pub(crate) machines: Vec<MachineSummary>,
}

/// A run in a line.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Run {
    /// UUID.
    pub(crate) id: String,
    /// When it started, ms since 1970 UTC.
    pub(crate) started_unix_ms: u64,
    /// Duration, ms.
    pub(crate) wall_ms: u64,
    /// Key of its machine.
    pub(crate) machine: String,
    /// Host name, if known.
    pub(crate) host: Option<String>,
    /// The machine in a line.
    pub(crate) machine_line: String,
    /// What may move a figure from one run to the next.
    #[serde(flatten)]
    pub(crate) setup: RunSetup,
    /// How much was measured.
    pub(crate) scale: Scale,
    /// Number of rows.
    pub(crate) rows: u32,
    /// Why the run is not complete, if so.
    pub(crate) partial: Option<String>,
    /// Measured by another program.
    pub(crate) imported: bool,
    /// A run of commands (`latlas exec`).
    pub(crate) commands: bool,
    /// Its tags.
    pub(crate) tags: Vec<String>,
}

impl From<KeptRun> for Run {
    fn from(run: KeptRun) -> Run {
        Run {
            id: run.id,
            started_unix_ms: run.started_unix_ms,
            wall_ms: run.wall_ms,
            machine: run.machine.0,
            host: run.host,
            machine_line: run.machine_line,
            setup: run.setup,
            scale: run.scale,
            rows: run.rows,
            partial: run.partial,
            imported: run.imported,
            commands: run.commands,
            tags: run.tags,
        }
    }
}

/// A page of the list of runs.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Runs {
    /// Number of runs on all pages.
    pub(crate) total: usize,
    /// Newest runs skipped.
    pub(crate) offset: u32,
    /// Most runs on a page.
    pub(crate) limit: u32,
    /// The runs, newest first.
    pub(crate) runs: Vec<Run>,
}

/// A run with its figures.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RunWithFigures {
    /// The run in a line.
    pub(crate) run: Run,
    /// What is known of its machine.
    pub(crate) facts: model::machine::Machine,
    /// Every figure, points of curves and maps included.
    pub(crate) figures: Vec<KeptResult>,
}

/// A row that some stored run has.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Row {
    /// Its id.
    pub(crate) row: String,
    /// Number of points; 0 for a single figure.
    pub(crate) points: u32,
    /// A few words of the catalogue, if it has the row.
    pub(crate) title: Option<String>,
    /// Unit that people are shown, if known.
    pub(crate) unit: Option<Unit>,
    /// Latest figure that is ok, of the machine with the newest run: ns per
    /// operation, counts and bytes as they are.
    pub(crate) value_ns: Option<f64>,
}

/// All rows, by name.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Rows {
    pub(crate) rows: Vec<Row>,
}

/// A machine among all.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RankedMachine {
    /// Its key, latest figure and percentile.
    #[serde(flatten)]
    pub(crate) standing: MachineStanding,
    /// Host name, if known.
    pub(crate) host: Option<String>,
    /// The machine in a line.
    pub(crate) line: String,
}

/// A row over all machines: figures that are ok, of runs that latlas itself
/// measured on real hardware.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Percentiles {
    /// The row.
    pub(crate) row: String,
    /// The point; empty for a single figure.
    pub(crate) at: Vec<u64>,
    /// The mode of all the figures, where a row has modes.
    pub(crate) mode: Option<String>,
    /// Unit that people are shown.
    pub(crate) unit: Unit,
    /// Number of figures.
    pub(crate) results: u64,
    /// Quantiles of the machines' latest figures, each an observed one; empty
    /// if there are none.
    pub(crate) quantiles: Vec<Quantile>,
    /// Each machine that has a figure, fastest first.
    pub(crate) machines: Vec<RankedMachine>,
}

/// A machine among all, for every row that it has a reliable figure of.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MachinePercentiles {
    /// Key of the machine.
    pub(crate) machine: String,
    /// The rows and points, by name.
    pub(crate) rows: Vec<Percentile>,
}

/// A figure of a history.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Moment {
    /// The run.
    pub(crate) run: Run,
    /// Its figure.
    pub(crate) figure: KeptResult,
}

/// A row on one machine over time.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct History {
    /// Key of the machine.
    pub(crate) machine: String,
    /// The row.
    pub(crate) row: String,
    /// The point; empty for a single figure.
    pub(crate) at: Vec<u64>,
    /// The figures, oldest first.
    pub(crate) moments: Vec<Moment>,
    /// Unit of the levels: `cycles`, `ns`, `GB/s`, ...; empty for counts.
    pub(crate) unit: String,
    /// Stretches of one level, in order; a change lies between two. Untested
    /// runs before and after are in none.
    pub(crate) levels: Vec<Level>,
    /// The result of the test, in words.
    pub(crate) said: String,
}

/// A stretch of one level.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Level {
    /// UUID of its first run.
    pub(crate) first: String,
    /// UUID of its last run.
    pub(crate) last: String,
    /// Number of its runs that were tested.
    pub(crate) runs: usize,
    /// The level with its 95 % interval, in the history's unit.
    pub(crate) level: Interval,
    /// Ratio to the level before; absent for the first.
    pub(crate) ratio: Option<Interval>,
}

/// Outcome of an upload.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Uploaded {
    /// UUID of the run.
    pub(crate) id: String,
    /// Path of the run.
    pub(crate) location: String,
    /// Whether the same document was stored before.
    pub(crate) already: bool,
}

impl Uploaded {
    pub(crate) fn from_run(run: &model::run::Run, already: bool) -> Uploaded {
        Uploaded { id: run.id.clone(), location: format!("/api/runs/{}", run.id), already }
    }
}

/// The server responds.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Health {
    /// `ok`.
    pub(crate) status: &'static str,
}

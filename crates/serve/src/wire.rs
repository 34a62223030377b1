//! What programs are answered. Apart from the index's own types, so that no
//! path of this machine leaves it, and so that the interface changes only when
//! it is meant to.

use atlas::index::{KeptResult, KeptRun, Percentile};
use model::estimate::Verdict;
use model::run::{Bound, Scale};
use model::stats::Interval;
use model::unit::Unit;
use schemars::JsonSchema;
use serde::Serialize;

/// A machine with kept runs.
#[derive(Serialize, JsonSchema, Debug)]
pub(crate) struct Machine {
    /// By what it is known again: a hash of host name, CPU and emulator.
    pub(crate) key: String,
    /// Its host name, where known.
    pub(crate) host: Option<String>,
    /// What it is, in a line.
    pub(crate) line: String,
    /// Kept runs of it.
    pub(crate) runs: usize,
    /// When the newest began, ms since 1970 UTC.
    pub(crate) newest_unix_ms: u64,
}

/// All machines, the one with the newest run first.
#[derive(Serialize, JsonSchema, Debug)]
pub(crate) struct Machines {
    /// The machines.
    pub(crate) machines: Vec<Machine>,
}

/// A kept run in a line.
#[derive(Serialize, JsonSchema, Debug)]
pub(crate) struct Run {
    /// UUID.
    pub(crate) id: String,
    /// When it began, ms since 1970 UTC.
    pub(crate) started_unix_ms: u64,
    /// How long it took, ms.
    pub(crate) wall_ms: u64,
    /// Key of its machine.
    pub(crate) machine: String,
    /// Host name, where known.
    pub(crate) host: Option<String>,
    /// The machine in a line.
    pub(crate) machine_line: String,
    /// Kernel, where known.
    pub(crate) kernel: Option<String>,
    /// Version of the program that measured.
    pub(crate) version: String,
    /// Its commit, where known.
    pub(crate) commit: Option<String>,
    /// `release` or `debug`.
    pub(crate) profile: String,
    /// Governor of the CPUs' frequency, where known.
    pub(crate) governor: Option<String>,
    /// CPUs online, where known.
    pub(crate) cpus: Option<usize>,
    /// Controls in force for the workers, where told.
    pub(crate) controls: Option<String>,
    /// How much was measured.
    pub(crate) scale: Scale,
    /// Rows it has.
    pub(crate) rows: u32,
    /// Why it is not whole, if so.
    pub(crate) partial: Option<String>,
    /// Another program measured it.
    pub(crate) imported: bool,
    /// It is of commands (`latlas exec`).
    pub(crate) commands: bool,
    /// Names that somebody gave it.
    pub(crate) tags: Vec<String>,
}

impl From<&KeptRun> for Run {
    fn from(kept: &KeptRun) -> Run {
        let kept = kept.clone();
        Run {
            id: kept.id,
            started_unix_ms: kept.started_unix_ms,
            wall_ms: kept.wall_ms,
            machine: kept.machine.0,
            host: kept.host,
            machine_line: kept.machine_line,
            kernel: kept.setup.kernel,
            version: kept.setup.version,
            commit: kept.setup.commit,
            profile: kept.setup.profile,
            governor: kept.setup.governor,
            cpus: kept.setup.cpus,
            controls: kept.setup.controls,
            scale: kept.scale,
            rows: kept.rows,
            partial: kept.partial,
            imported: kept.imported,
            commands: kept.commands,
            tags: kept.tags,
        }
    }
}

/// Some of the kept runs.
#[derive(Serialize, JsonSchema, Debug)]
pub(crate) struct Runs {
    /// How many there are in all.
    pub(crate) total: usize,
    /// How many of the newest were left out.
    pub(crate) offset: u32,
    /// How many were asked for at most.
    pub(crate) limit: u32,
    /// The runs, the newest first.
    pub(crate) runs: Vec<Run>,
}

/// One figure: of a row, or of one point of a curve or map.
#[derive(Serialize, JsonSchema, Debug)]
pub(crate) struct Figure {
    /// The row.
    pub(crate) row: String,
    /// The point; empty for a single figure.
    pub(crate) at: Vec<u64>,
    /// The mode that it is of, where modes lie apart: each is a quantity of its own.
    pub(crate) mode: Option<String>,
    /// Unit that people are shown.
    pub(crate) unit: Unit,
    /// What its time follows.
    pub(crate) bound: Bound,
    /// The figure with its 95 % interval: ns per operation; counts and bytes
    /// as they are. Absent where there is none.
    pub(crate) value: Option<Interval>,
    /// Whether that is the quiet figure; else it is the typical one, which is
    /// another quantity: the two are no one history.
    pub(crate) quiet: bool,
    /// The same in clock cycles, where known.
    pub(crate) cycles: Option<Interval>,
    /// If set, the figure can't be told from nothing: it is below this.
    pub(crate) below_ns: Option<f64>,
    /// How far to trust it; absent where it was not measured.
    pub(crate) verdict: Option<Verdict>,
    /// The verdict's reason, or why it was not measured.
    pub(crate) reason: String,
}

impl From<&KeptResult> for Figure {
    fn from(kept: &KeptResult) -> Figure {
        Figure {
            row: kept.row.clone(),
            at: kept.at.clone(),
            mode: kept.mode.clone(),
            unit: kept.unit,
            bound: kept.bound,
            value: kept.value,
            quiet: kept.quiet,
            cycles: kept.cycles,
            below_ns: kept.below_ns,
            verdict: kept.verdict,
            reason: kept.reason.clone(),
        }
    }
}

/// A kept run with what was found.
#[derive(Serialize, JsonSchema, Debug)]
pub(crate) struct RunWithFigures {
    /// The run in a line.
    pub(crate) run: Run,
    /// What is known of its machine.
    pub(crate) facts: model::machine::Machine,
    /// Every figure, points of curves and maps included.
    pub(crate) figures: Vec<Figure>,
}

/// A row that some kept run has.
#[derive(Serialize, JsonSchema, Debug, Clone)]
pub(crate) struct Row {
    /// Its id.
    pub(crate) row: String,
    /// Points of it; 0 for a single figure.
    pub(crate) points: u32,
}

/// All rows, by name.
#[derive(Serialize, JsonSchema, Debug)]
pub(crate) struct Rows {
    /// The rows.
    pub(crate) rows: Vec<Row>,
}

/// A quantile of the figures of all machines.
#[derive(Serialize, JsonSchema, Debug)]
pub(crate) struct Quantile {
    /// Which, percent.
    pub(crate) percent: u32,
    /// The figure: ns per operation; counts and bytes as they are.
    pub(crate) value: f64,
}

/// Where a machine stands among all.
#[derive(Serialize, JsonSchema, Debug)]
pub(crate) struct Place {
    /// Key of the machine.
    pub(crate) machine: String,
    /// Its host name, where known.
    pub(crate) host: Option<String>,
    /// The machine in a line.
    pub(crate) line: String,
    /// Its latest reliable figure: ns per operation; counts and bytes as they
    /// are.
    pub(crate) value: f64,
    /// Percent of the machines whose latest figure is slower (larger).
    pub(crate) percentile: f64,
    /// How many reliable figures it has.
    pub(crate) results: u64,
}

/// A row over all machines. Counted are figures that are ok, of runs that
/// latlas itself measured on real hardware.
#[derive(Serialize, JsonSchema, Debug)]
pub(crate) struct Percentiles {
    /// The row.
    pub(crate) row: String,
    /// The point; empty for a single figure.
    pub(crate) at: Vec<u64>,
    /// The mode that all the figures are of, where modes lie apart.
    pub(crate) mode: Option<String>,
    /// Unit that people are shown.
    pub(crate) unit: Unit,
    /// How many figures there are.
    pub(crate) results: u64,
    /// Quantiles of the machines' latest figures, each an observed one; none
    /// where there is none.
    pub(crate) quantiles: Vec<Quantile>,
    /// Each machine that has a figure, the fastest first.
    pub(crate) machines: Vec<Place>,
}

/// Where a machine stands for one row.
#[derive(Serialize, JsonSchema, Debug)]
pub(crate) struct Standing {
    /// The row.
    pub(crate) row: String,
    /// The point; empty for a single figure.
    pub(crate) at: Vec<u64>,
    /// The mode that all the figures are of, where modes lie apart.
    pub(crate) mode: Option<String>,
    /// Unit that people are shown.
    pub(crate) unit: Unit,
    /// The machine's latest reliable figure: ns per operation; counts and bytes
    /// as they are.
    pub(crate) value: f64,
    /// Percent of the machines whose latest figure is slower (larger).
    pub(crate) percentile: f64,
    /// How many figures there are of all machines.
    pub(crate) results: u64,
    /// Of how many machines.
    pub(crate) machines: u64,
}

impl From<Percentile> for Standing {
    fn from(p: Percentile) -> Standing {
        Standing {
            row: p.row,
            at: p.at,
            mode: p.mode,
            unit: p.unit,
            value: p.value,
            percentile: p.percentile,
            results: p.results,
            machines: p.machines,
        }
    }
}

/// A machine among all, for every row that it has a reliable figure of.
#[derive(Serialize, JsonSchema, Debug)]
pub(crate) struct MachinePercentiles {
    /// Key of the machine.
    pub(crate) machine: String,
    /// The rows and points, by name.
    pub(crate) rows: Vec<Standing>,
}

/// A figure at its time.
#[derive(Serialize, JsonSchema, Debug)]
pub(crate) struct Moment {
    /// The run.
    pub(crate) run: Run,
    /// Its figure.
    pub(crate) figure: Figure,
}

/// A row on one machine over time.
#[derive(Serialize, JsonSchema, Debug)]
pub(crate) struct History {
    /// Key of the machine.
    pub(crate) machine: String,
    /// The row.
    pub(crate) row: String,
    /// The point; empty for a single figure.
    pub(crate) at: Vec<u64>,
    /// The figures, the oldest first.
    pub(crate) moments: Vec<Moment>,
    /// Unit of the levels: `cycles`, `ns`, `GB/s`, ...; empty where events are
    /// counted.
    pub(crate) unit: String,
    /// Stretches of one level, in order: each but the first begins with a
    /// change. Runs before and after that are not tested are in none.
    pub(crate) levels: Vec<Level>,
    /// What can be said of the row's past, in a sentence or some.
    pub(crate) said: String,
}

/// A stretch of one level.
#[derive(Serialize, JsonSchema, Debug)]
pub(crate) struct Level {
    /// UUID of its first run.
    pub(crate) first: String,
    /// UUID of its last run.
    pub(crate) last: String,
    /// Runs of it that were tested.
    pub(crate) runs: usize,
    /// The level with its 95 % interval, in the history's unit.
    pub(crate) level: Range,
    /// Over the level before; absent for the first.
    pub(crate) ratio: Option<Range>,
}

/// A figure with its 95 % interval.
#[derive(Serialize, JsonSchema, Debug)]
pub(crate) struct Range {
    /// The figure.
    pub(crate) value: f64,
    /// Lower end.
    pub(crate) low: f64,
    /// Upper end.
    pub(crate) high: f64,
}

impl From<Interval> for Range {
    fn from(interval: Interval) -> Range {
        let Interval { value, low, high } = interval;
        Range { value, low, high }
    }
}

/// What became of a document.
#[derive(Serialize, JsonSchema, Debug)]
pub(crate) struct Kept {
    /// UUID of the run.
    pub(crate) id: String,
    /// Where it is to be found.
    pub(crate) location: String,
    /// Whether it was kept already, the same to the last sample.
    pub(crate) already: bool,
}

/// Word that all is well.
#[derive(Serialize, JsonSchema, Debug)]
pub(crate) struct Health {
    /// `ok`.
    pub(crate) status: &'static str,
}

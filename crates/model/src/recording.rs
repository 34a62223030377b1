//! What a run holds beyond rows of samples, and the run that a recording makes.

use crate::conditions::Conditions;
use crate::cpu_history::CpuHistory;
use crate::experiment::Experiment;
use crate::machine::Machine;
use crate::machine_readings::MachineReadings;
use crate::noise::effect::Effects;
use crate::noise::osnoise::Interruptions;
use crate::program::Program;
use crate::qos::Qos;
use crate::qos::knobs::Knobs;
use crate::repeats;
use crate::run::{Bound, Cell, ClockRecord, Outcome, PlanRecord, Row, Run, SCHEMA_VERSION, Scale};
use crate::sets::Sets;
use crate::unit::Unit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of a run, by kind.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Recording {
    /// What took the CPU from threads that only spin.
    Interruptions(Interruptions),
    /// What each CPU did over time.
    CpuHistory(CpuHistory),
    /// A job with and without each control of noise.
    Effects(Effects),
    /// A job at each level of quality of service, alone and competing.
    Qos(Qos),
    /// Shares and wake-ups of threads with each control of the scheduler.
    Knobs(Knobs),
    /// The same rows again and again: a machine against itself.
    Sets(Sets),
}

/// What a run says of itself before anything was measured.
#[derive(Clone, Debug)]
pub struct About {
    /// UUID (version 4 or 8) of the run.
    pub id: String,
    /// When it began, ms since 1970 UTC.
    pub started_unix_ms: u64,
    /// How long it took, ms.
    pub wall_ms: u64,
    /// What measured.
    pub program: Program,
    /// On what.
    pub machine: Machine,
}

/// What follows from a recording: rows with their samples, and their arms.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) experiment: Option<Experiment>,
    pub(crate) rows: Vec<Row>,
    pub(crate) cells: Vec<Cell>,
}

/// A quantity that was found in one of several runs of the same thing.
pub(crate) struct Repeated {
    /// When, ms since the beginning.
    pub(crate) at_ms: u64,
    /// Sum of so many values, ns of times.
    pub(crate) sum: u64,
    /// How many; the sample is their mean.
    pub(crate) count: u64,
}

impl Rows {
    /// Adds a row in an arm.
    pub(crate) fn add_samples(&mut self, id: &str, arm: &str, unit: Unit, runs: Vec<Repeated>) {
        let id = format!("{id}@{arm}");
        let values: Vec<f64> =
            runs.iter().map(|run| run.sum as f64 / run.count.max(1) as f64).collect();
        let outcome = Outcome::Figure(repeats::estimate(&values, &unit, 0.0));
        let row = Row::new(&id, unit, Bound::Memory, outcome);
        self.rows.push(Row { arm: Some(arm.into()), ..row });
        let samples = runs.iter().map(|run| (run.at_ms, run.count, run.sum));
        self.cells.push(Cell::of_values(id, Vec::new(), samples));
    }
}

impl Recording {
    fn rows(&self) -> Rows {
        match self {
            Recording::Interruptions(of) => of.rows(),
            Recording::CpuHistory(of) => of.rows(),
            Recording::Effects(of) => of.rows(),
            Recording::Qos(of) => of.rows(),
            Recording::Knobs(of) => of.rows(),
            Recording::Sets(of) => of.rows(),
        }
    }

    /// What was recorded, in a word or two.
    pub fn name(&self) -> &'static str {
        match self {
            Recording::Interruptions(_) => "OS noise",
            Recording::CpuHistory(_) => "CPU history",
            Recording::Effects(_) => "effects of controls",
            Recording::Qos(_) => "quality of service",
            Recording::Knobs(_) => "scheduler controls",
            Recording::Sets(_) => "A/A test",
        }
    }
}

impl Run {
    /// A run without rows, measured by the kernel's clock and without canaries.
    pub fn begun(about: About) -> Run {
        Run {
            schema: SCHEMA_VERSION,
            id: about.id,
            started_unix_ms: about.started_unix_ms,
            wall_ms: about.wall_ms,
            program: about.program,
            machine: about.machine,
            conditions: Conditions::default(),
            plan: PlanRecord {
                scale: Scale::Default,
                asked: Vec::new(),
                seed: 0,
                budget_ms: 0,
                workers: 1,
                large_workers: 1,
                largest_working_set_bytes: 0,
                shrunk: None,
                core_kind: None,
                cpus: Vec::new(),
                in_process: false,
            },
            clock: ClockRecord {
                name: "CLOCK_MONOTONIC_RAW".into(),
                // Counts and bytes are ticks too.
                ns_per_tick: 1.0,
                source: "the kernel's".into(),
                cost_ns: None,
                resolution_ns: None,
            },
            gate: MachineReadings::of(&[]).gate(None),
            core_clock: None,
            files_on: None,
            commands: None,
            experiment: None,
            recordings: Vec::new(),
            job: None,
            partial: None,
            imported: None,
            rows: Vec::new().into(),
            cells: Vec::new().into(),
        }
    }

    /// The run that a recording makes; `partial` says why it is not whole.
    pub fn recorded(about: About, recording: Recording, partial: Option<String>) -> Run {
        let mut run = Run::begun(about);
        let Rows { experiment, rows, cells } = recording.rows();
        run.plan.asked = vec![recording.name().into()];
        run.plan.workers = 0;
        run.plan.seed = experiment.as_ref().map_or(0, |experiment| experiment.seed);
        run.experiment = experiment;
        run.recordings = vec![recording];
        run.partial = partial;
        run.rows = rows.into();
        run.cells = cells.into();
        run
    }

    /// Whether it is of rows: neither of commands nor of a recording alone.
    pub fn is_of_rows(&self) -> bool {
        self.commands.is_none() && !self.is_of_recording()
    }

    /// Whether it was made to hold a recording: no worker measured rows.
    pub fn is_of_recording(&self) -> bool {
        self.plan.workers == 0 && !self.recordings.is_empty()
    }
}

//! The run that a recording makes: the rows that follow from it, with samples and arms. A file for each type
//! of recording (CPU history, noise, effects of controls, qos, knobs, sets, trace); `shares.rs` has what
//! those in shares of CPU time have in common. The recordings themselves are listed in `run/recording.rs`.

mod cpu_history;
mod effects;
mod interruptions;
mod knobs;
mod qos;
mod sets;
mod shares;
mod trace;

use crate::conditions::Conditions;
use crate::estimate::Verdict;
use crate::experiment::{BadArms, Experiment};
use crate::machine_readings::MachineReadings;
use crate::repeats;
use crate::run::recording::{About, Recording};
use crate::run::{Bound, Cell, ClockRecord, Outcome, PlanRecord, Row, Run, SCHEMA_VERSION, Scale};
use crate::unit::Unit;
use std::collections::HashSet;

/// What follows from a recording: rows with their samples, and their arms.
#[derive(Default)]
struct RecordingRows {
    experiment: Option<Experiment>,
    rows: Vec<Row>,
    cells: Vec<Cell>,
}

/// A quantity that was found in one of several runs of the same thing.
struct Repeated {
    /// When, ms since the beginning.
    at_ms: u64,
    /// Sum of so many values, ns of times.
    sum: u64,
    /// How many; the sample is their mean.
    count: u64,
}

impl RecordingRows {
    /// Adds a row in an arm.
    fn add_samples(&mut self, id: &str, arm: &str, unit: Unit, runs: Vec<Repeated>) {
        let id = format!("{id}@{arm}");
        let values: Vec<f64> =
            runs.iter().map(|run| run.sum as f64 / run.count.max(1) as f64).collect();
        let outcome = Outcome::Figure(repeats::estimate(&values, &unit, 0.0));
        let row = Row::new(&id, unit, Bound::Memory, outcome);
        self.rows.push(Row { arm: Some(arm.into()), ..row });
        let samples = runs.iter().map(|run| (run.at_ms, run.count, run.sum));
        self.cells.push(Cell::of_values(id, Vec::new(), samples));
    }

    /// Says why the figure of the last row can't be relied on.
    fn doubt_last(&mut self, reason: &str) {
        if let Some(Row { outcome: Outcome::Figure(estimate), .. }) = self.rows.last_mut() {
            estimate.verdict = Verdict::CannotTell;
            reason.clone_into(&mut estimate.reason);
        }
    }
}

fn rows_of(recording: &Recording) -> RecordingRows {
    match recording {
        Recording::Interruptions(of) => interruptions::interruptions_rows(of),
        Recording::CpuHistory(of) => cpu_history::cpu_history_rows(of),
        Recording::Effects(of) => effects::effects_rows(of),
        Recording::Qos(of) => qos::qos_rows(of),
        Recording::Knobs(of) => knobs::knobs_rows(of),
        Recording::Sets(of) => sets::sets_rows(of),
        Recording::Trace(of) => trace::trace_rows(of),
        // Its samples are the run's own.
        Recording::Judged(_) => RecordingRows::default(),
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
            gate: MachineReadings::from_samples(&[]).gate(None),
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
        let RecordingRows { experiment, rows, cells } = rows_of(&recording);
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

    /// Refuses arms that contradict each other.
    ///
    /// # Errors
    /// The first that does.
    pub fn check_arms(&self) -> Result<(), BadArms> {
        let arms = self.experiment.as_ref().map_or(&[][..], |experiment| &experiment.arms);
        let mut known = HashSet::new();
        for arm in arms {
            if !known.insert(arm.id.as_str()) {
                return Err(BadArms::Twice(arm.id.clone()));
            }
        }
        let of_arms = arms.iter().flat_map(|arm| arm.with.iter().map(|with| (&arm.id, with)));
        let of_rows = self.rows.iter().filter_map(|row| Some((&row.id, row.arm.as_ref()?)));
        match of_arms.chain(of_rows).find(|(_, arm)| !known.contains(arm.as_str())) {
            Some((by, arm)) => Err(BadArms::Missing(by.clone(), arm.clone())),
            None => Ok(()),
        }
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

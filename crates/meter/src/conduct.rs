//! Conducts a run: starts the workers, sends them on their visits round by
//! round, sees what is still uncertain, and makes the document.

use crate::assemble;
use crate::cell_state::CellState;
use crate::controls::ControlError;
pub use crate::observer::{Latest, Observer, Progress, Silent};
use crate::osnoise::brief;
use crate::placement::{flag_conditions, moment, quietest_cpu, step_aside};
use crate::plan::Plan;
use crate::probe::{MachineShape, Probe};
use crate::rounds::{Conductor, Start};
use crate::run_context::RunContext;
use crate::run_remark::{Partial, RunRemark};
use crate::scratch::{self, Scratch, ScratchError};
use crate::shared_parts::flag_shared_parts;
use model::conditions::Conditions;
use model::machine::Machine;
use model::run::{Cell, ClockRecord, Program, Run, SCHEMA_VERSION};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use sys::clock::Counter;
use sys::controls::Above;
use sys::role::Lost;

/// Length of the clock's calibration.
pub(crate) const CALIBRATION: Duration = Duration::from_millis(20);

/// Why a run could not be made at all.
#[derive(thiserror::Error, Debug)]
pub enum ConductError {
    /// No worker could be started.
    #[error("no worker process could be started: {0}")]
    NoWorkers(Lost),
    /// Workers need `/dev/null` as their input.
    #[error("no worker process can be started: {0}")]
    NoNullDevice(std::io::Error),
    /// The clock is of no use.
    #[error("the clock {0} can't be calibrated: it does not advance evenly")]
    NoClock(String),
    /// Cores of one kind were asked for, and no thread can be kept on them.
    #[error("the workers can't be kept on {0} cores: {1}; leave --core-kind out")]
    NotPinned(String, String),
    /// The conducting thread can't be put before the workers.
    #[error("can't put the conducting thread before its workers: {0}")]
    NotAbove(std::io::Error),
    /// The directory that the user named for files can't be used after all.
    #[error(transparent)]
    NoScratch(ScratchError),
    /// A control was refused.
    #[error(transparent)]
    Controls(#[from] ControlError),
    /// Nothing to do.
    #[error("nothing to measure: no row was selected")]
    NothingToDo,
}

/// Carries out a plan. `stop` ends it early; what was measured is kept and
/// the document marked partial.
pub fn conduct(
    catalogue: &[Probe],
    plan: &Plan,
    machine: Machine,
    program: Program,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Run, ConductError> {
    if plan.cells.is_empty() && plan.unavailable.is_empty() {
        return Err(ConductError::NothingToDo);
    }
    plan.controls.check()?;
    let in_process = plan.record.in_process;
    if !in_process {
        // Each worker would fail on its own.
        sys::process::null_device().map_err(ConductError::NoNullDevice)?;
    }
    let began = Instant::now();
    let started_unix_ms = sys::clock::realtime_unix_ms();
    let counter = Counter::best();
    let calibration = sys::clock::calibrate(&counter, CALIBRATION);
    if !calibration.is_usable() {
        return Err(ConductError::NoClock(counter.name().to_string()));
    }
    let cost = sys::clock::measure_cost(&counter, &calibration);
    let mut conditions = Conditions { before: moment(), ..Conditions::default() };
    observer.started(plan);

    let home = sys::affinity::allowed_cpus().unwrap_or_default();
    let measuring_cpu = match plan.pin {
        _ if !plan.controls.pinned => None,
        Some(cpu) => Some(cpu),
        None => quietest_cpu(
            &plan.machine_shape.cpus,
            &machine,
            &counter,
            &calibration,
            plan.kept_quiet_ratio,
        )
        .map_err(|why| conditions.not_pinned = Some(why.to_string()))
        .ok(),
    };
    if let (Some(kind), Some(why)) = (&plan.record.core_kind, &conditions.not_pinned) {
        return Err(ConductError::NotPinned(kind.clone(), why.clone()));
    }
    let look = |not_pinned: Option<&String>| {
        let not_pinned = not_pinned.map(String::as_str);
        let place = (measuring_cpu, not_pinned);
        let asked = &plan.controls.asked;
        match asked.changes_the_share() {
            true => brief::in_child(asked, place, brief::SHORT, stop),
            false => brief::in_thread(place, brief::SHORT, counter, &calibration, stop),
        }
    };
    let osnoise_before = look(conditions.not_pinned.as_ref());
    // Removed when this function ends, however it does.
    let (scratch, machine_shape) = with_scratch(plan)?;
    let start = Start {
        plan,
        calibration: &calibration,
        measuring_cpu,
        machine_shape: &machine_shape,
        began,
    };
    let measured = match in_process {
        true => Conductor::start_here(catalogue, &start, &mut conditions)
            .measure_all(&cost, observer, stop),
        false => {
            let conductor = Conductor::start_workers(&start, &mut conditions, observer, stop);
            let conductor = conductor.map_err(ConductError::NoWorkers)?;
            step_aside(&home, measuring_cpu);
            // The process that may have to end a worker needs another CPU.
            let above = plan.controls.asked.real_time().map(Above::raise).transpose();
            let _above = above.map_err(ConductError::NotAbove)?;
            conductor.measure_all(&cost, observer, stop)
        }
    };
    let files_on = machine_shape.scratch.ok().map(|place| place.filesystem);
    let files_on = files_on.filter(|_| scratch.is_some());
    if let Some(Err(why)) = scratch.map(Scratch::remove) {
        observer.warning(&RunRemark::FilesLeft(why));
    }
    let osnoise_after = (!measured.interrupted).then(|| look(conditions.not_pinned.as_ref()));
    let _ = sys::affinity::pin_to(&home);
    conditions.after = moment();
    brief::record_osnoise(&mut conditions, osnoise_before, osnoise_after);

    let context = RunContext::from_readings(
        &measured.readings,
        plan.kept_quiet_ratio,
        calibration.ns_per_tick,
        cost.resolution_ns,
    )
    .with_clock_movement(Some(plan.clock_movement));
    let mut rows = assemble::assemble_rows(catalogue, plan, &measured.cells, &context);
    let cpus = plan.machine_shape.cpus.len();
    let remarks = plan.controls.asked.remarks(cpus);
    conditions.remarks.extend(remarks.iter().map(ToString::to_string));
    let one_cpu = (cpus == 1).then_some(RunRemark::OneCpu);
    let remarks = one_cpu.iter().chain(&measured.remarks);
    conditions.remarks.extend(remarks.map(RunRemark::to_string));
    flag_conditions(&mut rows, &conditions, began.elapsed(), &machine);
    let device = files_on.as_ref().map(|filesystem| filesystem.device);
    flag_shared_parts(&mut rows, plan, device, &machine);
    let partial = match (measured.interrupted, measured.all_lost) {
        (true, _) => Some(Partial::Interrupted),
        (false, true) => Some(Partial::AllWorkersLost),
        (false, false) => None,
    };
    Ok(Run {
        schema: SCHEMA_VERSION,
        id: uuid::Uuid::new_v4().to_string(),
        started_unix_ms,
        wall_ms: began.elapsed().as_millis() as u64,
        program,
        machine,
        conditions,
        plan: plan.record.clone(),
        clock: ClockRecord {
            name: counter.name().to_string(),
            ns_per_tick: calibration.ns_per_tick,
            source: calibration.source.clone(),
            cost_ns: Some(cost.cost_ns),
            resolution_ns: Some(cost.resolution_ns),
        },
        gate: context.gate,
        core_clock: context.core_clock,
        files_on,
        commands: None,
        experiment: None,
        recordings: Vec::new(),
        partial: partial.map(|partial| partial.to_string()),
        imported: None,
        job: None,
        rows: rows.into(),
        cells: assembled_cells(plan, &measured.cells).into(),
    })
}

/// The run's own directory, if a row wants one, and the machine_shape with it: that
/// is what the workers see.
pub(crate) fn with_scratch(plan: &Plan) -> Result<(Option<Scratch>, MachineShape), ConductError> {
    let mut machine_shape = plan.machine_shape.clone();
    let Ok(place) = &mut machine_shape.scratch else {
        return Ok((None, machine_shape));
    };
    if !plan.cells.iter().any(|cell| cell.wants_disk()) {
        scratch::sweep(place);
        // What can do without has to.
        machine_shape.scratch = Err(ScratchError::NotNeeded);
        return Ok((None, machine_shape));
    }
    match Scratch::make(place) {
        Ok(scratch) => {
            place.directory = scratch.path().to_owned();
            Ok((Some(scratch), machine_shape))
        }
        Err(why) if place.named => Err(ConductError::NoScratch(why)),
        Err(why) => {
            machine_shape.scratch = Err(why);
            Ok((None, machine_shape))
        }
    }
}

fn assembled_cells(plan: &Plan, found: &[CellState]) -> Vec<Cell> {
    plan.cells
        .iter()
        .zip(found)
        .filter(|(_, found)| !found.samples.is_empty())
        .map(|(cell, found)| Cell {
            row: cell.row.clone(),
            at: cell.at.clone(),
            ops_per_turn: found.ops_per_turn,
            regime: cell.regime,
            modes: found.modes.clone(),
            wall_ms: found.wall_ns as f64 / 1e6,
            samples: (&found.samples[..]).into(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Request, plan};
    use crate::probe::{OnDisk, Site};
    use std::path::Path;

    #[test]
    fn workers_get_a_directory_only_if_it_was_created() {
        let dir = tempfile::tempdir().expect("a directory");
        let request = Request { dir: Some(dir.path().into()), ..Request::default() };
        let machine = sys::machine_facts(Path::new("/"));
        let made = |on_disk: fn(&Site) -> Option<OnDisk>| {
            let probe = Probe { on_disk, ..Probe::blank("my.row") };
            let plan = plan(&[probe], &request, &machine).expect("a plan");
            let (scratch, machine_shape) = with_scratch(&plan).expect("room");
            let place = machine_shape.scratch.map(|place| place.directory);
            let own = scratch.as_ref().map(|scratch| scratch.path().to_owned());
            assert_eq!(place.ok(), own);
            scratch.map(Scratch::remove).is_some()
        };
        assert!(made(|_| Some(OnDisk::default())));
        let wants_more_than_there_is =
            |_: &Site| Some(OnDisk { bytes: 1 << 62, optional: true, ..OnDisk::default() });
        assert!(!made(wants_more_than_there_is), "and can do without");
    }
}

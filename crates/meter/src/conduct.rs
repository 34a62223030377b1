//! Conducts a run: starts the workers, sends them on their visits round by
//! round, sees what is still uncertain, and makes the document.

use crate::assemble::{self, Common};
use crate::controls::ControlError;
use crate::crew::WorkerLoss;
use crate::found::Found;
use crate::gaps::apart::look_under;
use crate::gaps::around::{self, short_look};
use crate::place::{flag_throttled, moment, quietest_cpu, remark, step_aside};
use crate::plan::Plan;
use crate::probe::{Probe, Terrain};
use crate::rounds::Conductor;
use crate::scratch::{self, Scratch};
use model::conditions::Conditions;
use model::estimate::Estimate;
use model::machine::Machine;
use model::run::{Cell, ClockRecord, Program, Run, SCHEMA_VERSION};
use model::unit::Unit;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use sys::clock::Counter;
use sys::controls::Above;

/// Length of the clock's calibration.
const CALIBRATION: Duration = Duration::from_millis(20);

/// Why a run could not be made at all.
#[derive(thiserror::Error, Debug)]
pub enum ConductError {
    /// No worker could be started.
    #[error("no worker process could be started: {0}")]
    NoWorkers(WorkerLoss),
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
    #[error("{0}")]
    NoScratch(String),
    /// A control was refused.
    #[error(transparent)]
    Controls(#[from] ControlError),
    /// Nothing to do.
    #[error("nothing to measure: no row was selected")]
    NothingToDo,
}

/// Hears how the run goes, between samples.
pub trait Observer {
    /// The plan is about to be carried out.
    fn started(&mut self, _plan: &Plan) {}
    /// Some visits were made.
    fn progress(&mut self, _progress: &Progress) {}
    /// Something that the user should hear at once, one line.
    fn warning(&mut self, _line: &str) {}
}

/// An observer that hears nothing.
pub struct Silent;
impl Observer for Silent {}

/// How far the run is.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// Round, from 1.
    pub round: u32,
    /// Rounds planned.
    pub rounds: u32,
    /// Time since the beginning.
    pub elapsed: Duration,
    /// Time that the rest should take.
    pub remaining: Duration,
    /// Visits made.
    pub visits_done: u64,
    /// Visits planned.
    pub visits_planned: u64,
    /// Estimates so far, renewed after each round: row (the last cell's on a
    /// curve), estimate, unit.
    pub latest: &'a [(String, Estimate, Unit)],
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
    // Each worker would fail on its own.
    sys::process::null_device().map_err(ConductError::NoNullDevice)?;
    let began = Instant::now();
    let started_unix_ms = sys::clock::realtime_unix_ms();
    let counter = Counter::best();
    let calibration = sys::clock::calibrate(&counter, CALIBRATION);
    if !calibration.is_usable() {
        return Err(ConductError::NoClock(counter.name().to_string()));
    }
    let cost = sys::clock::measure_cost(&counter, &calibration);
    let mut conditions = Conditions {
        before: moment(),
        ..Conditions::default()
    };
    observer.started(plan);

    let home = sys::affinity::allowed_cpus().unwrap_or_default();
    let measuring_cpu = match plan.pin {
        _ if !plan.controls.pinned => None,
        Some(cpu) => Some(cpu),
        None => quietest_cpu(
            &plan.terrain.cpus,
            &machine,
            &counter,
            &calibration,
            plan.kept_quiet_ratio,
        )
        .map_err(|why| conditions.not_pinned = Some(why))
        .ok(),
    };
    if let (Some(kind), Some(why)) = (&plan.record.core_kind, &conditions.not_pinned) {
        return Err(ConductError::NotPinned(kind.clone(), why.clone()));
    }
    let look = |not_pinned: Option<&String>| {
        let not_pinned = not_pinned.map(String::as_str);
        let asked = &plan.controls.asked;
        match asked.changes_the_share() {
            true => look_under(asked, measuring_cpu, not_pinned, stop),
            false => short_look(measuring_cpu, not_pinned, counter, &calibration, stop),
        }
    };
    let gaps_before = look(conditions.not_pinned.as_ref());
    // Removed when this function ends, however it does.
    let (scratch, terrain) = with_scratch(plan)?;
    let mut conductor = Conductor::start(
        plan,
        &calibration,
        measuring_cpu,
        &terrain,
        &mut conditions,
        observer,
        stop,
    )?;
    step_aside(&home, measuring_cpu);
    // Whoever may have to end a worker needs a CPU beside it.
    let above = plan.controls.asked.fifo().map(Above::start).transpose();
    let above = above.map_err(ConductError::NotAbove)?;
    conductor.pool.began = began;
    conductor.rounds(&cost, observer, stop);
    conductor.pool.hands.clear();
    drop(above);
    let files_on = terrain.scratch.ok().map(|place| place.filesystem);
    let files_on = files_on.filter(|_| scratch.is_some());
    if let Some(Err(why)) = scratch.map(Scratch::remove) {
        observer.warning(&format!("files of this run could not be removed: {why}"));
    }
    let gaps_after = (!conductor.interrupted).then(|| look(conditions.not_pinned.as_ref()));
    let _ = sys::affinity::pin_to(&home);
    conditions.after = moment();
    around::record(&mut conditions, gaps_before, gaps_after);

    let common = Common::learn(
        plan.kept_quiet_ratio,
        &conductor.found,
        calibration.ns_per_tick,
        cost.resolution_ns,
    );
    let mut rows = assemble::rows(catalogue, plan, &conductor.found, &common);
    let cpus = plan.terrain.cpus.len();
    conditions.remarks.extend(plan.controls.asked.remarks(cpus));
    remark(&mut conditions, plan, &conductor.losses);
    flag_throttled(&mut rows, &conditions, began.elapsed());
    let partial = if conductor.interrupted {
        Some("interrupted: rows hold what was measured until then".to_string())
    } else if conductor.all_lost {
        Some("every worker process ended early".to_string())
    } else {
        None
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
        gate: common.gate,
        core_clock: common.core_clock,
        files_on,
        commands: None,
        partial,
        imported: None,
        rows,
        cells: cells(plan, &conductor.found),
    })
}

/// The run's own directory, if a row wants one, and the terrain with it: that
/// is what the workers see.
fn with_scratch(plan: &Plan) -> Result<(Option<Scratch>, Terrain), ConductError> {
    let mut terrain = plan.terrain.clone();
    let Ok(place) = &mut terrain.scratch else {
        return Ok((None, terrain));
    };
    if !plan.cells.iter().any(|cell| cell.wants_disk()) {
        scratch::sweep(place);
        // What can do without has to.
        terrain.scratch = Err("no row that needs it is measured".into());
        return Ok((None, terrain));
    }
    match Scratch::make(place) {
        Ok(scratch) => {
            place.directory = scratch.path().to_owned();
            Ok((Some(scratch), terrain))
        }
        Err(why) if place.named => Err(ConductError::NoScratch(why)),
        Err(why) => {
            terrain.scratch = Err(why);
            Ok((None, terrain))
        }
    }
}

fn cells(plan: &Plan, found: &[Found]) -> Vec<Cell> {
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
    fn workers_are_told_of_a_directory_only_where_it_was_made() {
        let dir = tempfile::tempdir().expect("a directory");
        let request = Request {
            dir: Some(dir.path().into()),
            ..Request::default()
        };
        let machine = sys::machine(Path::new("/"));
        let made = |on_disk: fn(&Site) -> Option<OnDisk>| {
            let probe = Probe {
                on_disk,
                ..Probe::blank("my.row")
            };
            let plan = plan(&[probe], &request, &machine).expect("a plan");
            let (scratch, terrain) = with_scratch(&plan).expect("room");
            let place = terrain.scratch.map(|place| place.directory);
            let own = scratch.as_ref().map(|scratch| scratch.path().to_owned());
            assert_eq!(place.ok(), own);
            scratch.map(Scratch::remove).is_some()
        };
        assert!(made(|_| Some(OnDisk::default())));
        let wants_more_than_there_is = |_: &Site| {
            Some(OnDisk {
                bytes: 1 << 62,
                optional: true,
                ..OnDisk::default()
            })
        };
        assert!(!made(wants_more_than_there_is), "and can do without");
    }
}

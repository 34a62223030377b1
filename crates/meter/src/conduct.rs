//! Conducts a run: starts the workers, sends them on their visits round by
//! round, sees what is still uncertain, and makes the document.

use crate::assemble::{self, Common, Found};
use crate::crew::Hand;
use crate::plan::{Plan, PlannedCell};
use crate::probe::Probe;
use crate::schedule::{self, Visit};
use crate::wire::{Reply, Request, Setup};
use fastrand::Rng;
use model::conditions::{Conditions, Moment};
use model::estimate::{Estimate, Verdict};
use model::machine::Machine;
use model::run::{Bound, Cell, ClockRecord, Program, Regime, Row, Run, SCHEMA_VERSION};
use model::unit::Unit;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use sys::clock::{Calibration, ClockCost, Counter};

/// Length of the clock's calibration.
const CALIBRATION: Duration = Duration::from_millis(20);

/// Relative half width below which a cell needs no more visits, once half of
/// them are made.
const GOOD_ENOUGH: f64 = 0.007;

/// Extra rounds at most, for cells that are still uncertain.
const EXTRA_ROUNDS: u32 = 6;

/// Why a run could not be made at all.
#[derive(thiserror::Error, Debug)]
pub enum ConductError {
    /// No worker could be started.
    #[error("no worker process could be started: {0}")]
    NoWorkers(std::io::Error),
    /// The clock is of no use.
    #[error("the clock {0} can't be calibrated: it does not advance evenly")]
    NoClock(String),
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
    let measuring_cpu = plan
        .pin
        .or_else(|| quietest_cpu(&plan.terrain.cpus, &counter, &calibration));
    let mut conductor =
        Conductor::start(plan, &calibration, measuring_cpu, &mut conditions, observer)?;
    step_aside(&home, measuring_cpu);
    conductor.began = began;
    conductor.rounds(
        machine.microarchitecture.get().map(String::as_str),
        &cost,
        observer,
        stop,
    );
    conductor.crew.clear();
    let _ = sys::affinity::pin_to(&home);
    conditions.after = moment();

    let common = Common::learn(
        machine.microarchitecture.get().map(String::as_str),
        &conductor.found,
        calibration.ns_per_tick,
        cost.resolution_ns,
    );
    let mut rows = assemble::rows(catalogue, plan, &conductor.found, &common);
    remark(&mut conditions, &common, plan, &machine, &conductor.losses);
    flag_throttled(&mut rows, &conditions, began.elapsed());
    let partial = if stop.load(Ordering::Relaxed) {
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
            cost_ns: cost.cost_ns,
            resolution_ns: cost.resolution_ns,
        },
        gate: common.gate,
        core_clock: common.core_clock,
        partial,
        rows,
        cells: cells(plan, &conductor.found),
    })
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
            samples: (&found.samples[..]).into(),
        })
        .collect()
}

/// State of the machine now.
fn moment() -> Moment {
    Moment {
        load_average: sys::evidence::load_average(),
        cpu_pressure_percent: sys::evidence::pressure_cpu_some_avg10(),
        steal_ns: sys::evidence::steal_ns(),
        throttled_us: sys::evidence::throttled_us(),
    }
}

/// The allowed CPU whose canaries were quiet most often in a short look, so
/// that the run does not begin beside a busy neighbour. The first where no
/// look is possible.
fn quietest_cpu(cpus: &[u32], counter: &Counter, calibration: &Calibration) -> Option<u32> {
    use crate::surroundings::{RealSurroundings, Surroundings};
    const LOOKED_AT: usize = 8;
    const LOOK: Duration = Duration::from_millis(25);
    let home = sys::affinity::allowed_cpus().ok()?;
    let mut looks: Vec<(f64, u32)> = Vec::new();
    for &cpu in cpus.iter().take(LOOKED_AT) {
        if sys::affinity::pin_to(&[cpu]).is_err() {
            continue;
        }
        let mut around = RealSurroundings::new(*counter, calibration.ns_per_tick, 0);
        let until = Instant::now() + LOOK;
        let mut ratios = Vec::new();
        while Instant::now() < until {
            ratios.push(around.canary().ratio);
        }
        let lost = around.losses().lost_ns as f64 / LOOK.as_nanos() as f64;
        let typical = model::stats::median(ratios).unwrap_or(f64::INFINITY);
        looks.push((typical + 10.0 * lost, cpu));
    }
    let _ = sys::affinity::pin_to(&home);
    looks
        .into_iter()
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, cpu)| cpu)
}

/// Moves the conducting process off the measuring CPU, where there is another.
fn step_aside(home: &[u32], measuring_cpu: Option<u32>) {
    let others: Vec<u32> = home
        .iter()
        .copied()
        .filter(|&cpu| Some(cpu) != measuring_cpu)
        .collect();
    if !others.is_empty() {
        let _ = sys::affinity::pin_to(&others);
    }
}

/// What a reader should know of the whole run.
fn remark(
    conditions: &mut Conditions,
    common: &Common,
    plan: &Plan,
    machine: &Machine,
    losses: &[String],
) {
    if !common.gate.calibrated && common.core_clock.is_some() {
        let who = machine
            .microarchitecture
            .get()
            .map_or("this processor", String::as_str);
        conditions.remarks.push(format!(
            "canary not calibrated for {who}: quiet is the quietest this run saw ({:.2} cycles a taken branch), so a machine that was never quiet would pass unnoticed",
            common.gate.quiet_ratio
        ));
    }
    if plan.terrain.cpus.len() == 1 {
        conditions.remarks.push(
            "only one CPU may be used: the conducting process shares it with the workers, and rows on several CPUs are not available".into(),
        );
    }
    conditions.remarks.extend(losses.iter().cloned());
}

/// Downgrades rows of a run that its CPU quota kept stopping: the samples
/// between the stops are right, but caches and clock were disturbed.
fn flag_throttled(rows: &mut [Row], conditions: &Conditions, wall: Duration) {
    let Some(throttled_us) = conditions.throttled_us() else {
        return;
    };
    let share = throttled_us as f64 / wall.as_micros().max(1) as f64;
    if share < 0.01 {
        return;
    }
    let downgrade = |estimate: &mut Estimate| {
        if estimate.verdict == Verdict::Ok {
            estimate.verdict = Verdict::Noisy;
            estimate.reason = format!(
                "the control group's CPU quota stopped the run for {:.0} % of its time",
                share * 100.0
            );
        }
    };
    for row in rows {
        match &mut row.outcome {
            model::run::Outcome::Figure(estimate) | model::run::Outcome::Level { estimate, .. } => {
                downgrade(estimate)
            }
            model::run::Outcome::Curve { points, .. } => {
                points.iter_mut().for_each(|p| downgrade(&mut p.estimate));
            }
            model::run::Outcome::Map { points, .. } => {
                points.iter_mut().for_each(|p| downgrade(&mut p.estimate));
            }
            model::run::Outcome::Unavailable { .. } => {}
        }
    }
}

struct Conductor<'p> {
    plan: &'p Plan,
    calibration: Calibration,
    crew: BTreeMap<u32, Hand>,
    found: Vec<Found>,
    visits_made: Vec<u32>,
    open: Vec<bool>,
    rng: Rng,
    began: Instant,
    visits_done: u64,
    losses: Vec<String>,
    all_lost: bool,
    batch: usize,
    latest: Vec<(String, Estimate, Unit)>,
}

impl<'p> Conductor<'p> {
    fn start(
        plan: &'p Plan,
        calibration: &Calibration,
        measuring_cpu: Option<u32>,
        conditions: &mut Conditions,
        observer: &mut dyn Observer,
    ) -> Result<Conductor<'p>, ConductError> {
        let began_ns = sys::clock::monotonic_raw_ns();
        let mut rng = Rng::with_seed(plan.record.seed);
        let mut crew = BTreeMap::new();
        let workers = plan
            .cells
            .iter()
            .map(|cell| cell.first_worker + cell.workers)
            .max()
            .unwrap_or(0);
        let mut failure = None;
        for worker in 0..workers {
            let large = worker < plan.record.large_workers;
            let base = plan.record.workers - plan.record.large_workers < 3 || !large;
            let setup = Setup {
                worker,
                pin: measuring_cpu.into_iter().collect(),
                ns_per_tick: calibration.ns_per_tick,
                began_ns,
                huge_bytes: if large {
                    plan.large_bytes
                } else {
                    plan.small_bytes
                },
                base_bytes: if base { plan.base_bytes } else { 0 },
                last_level_canary_bytes: last_level_canary_bytes(plan),
                seed: rng.u64(..),
                terrain: plan.terrain.clone(),
            };
            match Hand::start(&setup) {
                Ok(hand) => {
                    match &hand.pinned {
                        Ok(cpus) => conditions.pinned_cpus.clone_from(cpus),
                        Err(why) => conditions.not_pinned = Some(why.clone()),
                    }
                    crew.insert(worker, hand);
                }
                Err(e) => {
                    observer.warning(&format!("worker {worker} could not be started: {e}"));
                    failure = Some(e);
                }
            }
        }
        if crew.is_empty() && !plan.cells.is_empty() {
            return Err(ConductError::NoWorkers(
                failure.unwrap_or_else(|| std::io::Error::other("none was planned")),
            ));
        }
        if let Some(why) = &conditions.not_pinned {
            observer.warning(&format!(
                "the workers can't be pinned to a CPU ({why}): figures may mix CPUs"
            ));
        }
        let cells = plan.cells.len();
        Ok(Conductor {
            plan,
            calibration: calibration.clone(),
            crew,
            found: vec![Found::default(); cells],
            visits_made: vec![0; cells],
            open: vec![true; cells],
            rng,
            began: Instant::now(),
            visits_done: 0,
            losses: Vec::new(),
            all_lost: false,
            // On a single CPU every answer interrupts the next visit.
            batch: if plan.terrain.cpus.len() > 1 {
                schedule::BATCH
            } else {
                1
            },
            latest: Vec::new(),
        })
    }

    fn rounds(
        &mut self,
        microarchitecture: Option<&str>,
        cost: &ClockCost,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) {
        let rounds = self.plan.rounds;
        for round in 0..rounds + EXTRA_ROUNDS {
            let extra = round >= rounds;
            let visits = self.visits_of(round, extra);
            if visits.is_empty() {
                if extra {
                    break;
                }
                continue;
            }
            if !extra {
                self.wait_for_turn(round, stop);
            }
            let common = extra.then(|| self.common(microarchitecture, cost));
            for batch in schedule::batches(&visits, &mut self.rng, self.batch) {
                if stop.load(Ordering::Relaxed) || self.began.elapsed() > self.plan.limit {
                    return;
                }
                self.carry_out(&batch, common.as_ref(), observer);
                if self.crew.is_empty() {
                    self.all_lost = true;
                    return;
                }
                self.tell(round.min(rounds - 1) + 1, observer);
            }
            let common = self.common(microarchitecture, cost);
            self.review(&common, extra || round + 1 == rounds);
            self.tell(round.min(rounds - 1) + 1, observer);
        }
    }

    /// Waits until a round's share of the span has come.
    fn wait_for_turn(&self, round: u32, stop: &AtomicBool) {
        let due = self
            .plan
            .span
            .mul_f64(f64::from(round) / f64::from(self.plan.rounds.max(1)));
        while self.began.elapsed() < due && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(
                Duration::from_millis(5).min(due.saturating_sub(self.began.elapsed())),
            );
        }
    }

    fn common(&self, microarchitecture: Option<&str>, cost: &ClockCost) -> Common {
        Common::learn(
            microarchitecture,
            &self.found,
            self.calibration.ns_per_tick,
            cost.resolution_ns,
        )
    }

    fn visits_of(&self, round: u32, extra: bool) -> Vec<Visit> {
        let mut visits = Vec::new();
        for (number, cell) in self.plan.cells.iter().enumerate() {
            let wanted = self.open[number]
                && self.found[number].unavailable.is_none()
                && (extra || schedule::takes_part(cell.visits, self.plan.rounds, round))
                // An extra visit waits for a quiet machine, which a
                // distribution has no use for.
                && !(extra && cell.regime == Regime::Distribution);
            if wanted {
                visits.extend(
                    (cell.first_worker..cell.first_worker + cell.workers)
                        .filter(|worker| self.crew.contains_key(worker))
                        .map(|worker| Visit {
                            worker,
                            cell: number as u32,
                        }),
                );
            }
        }
        visits
    }

    fn request(&self, visit: &Visit, hunt: Option<&Common>) -> Request {
        let cell = &self.plan.cells[visit.cell as usize];
        Request {
            cell: visit.cell,
            probe: cell.probe as u32,
            variant: cell.variant.clone(),
            at: cell.at.clone(),
            samples: cell.samples,
            last_level_canary: cell.last_level_canary,
            hunt: hunt.map(|common| common.gate.clone()),
        }
    }

    fn carry_out(&mut self, batch: &[Visit], hunt: Option<&Common>, observer: &mut dyn Observer) {
        let Some(worker) = batch.first().map(|visit| visit.worker) else {
            return;
        };
        let requests: Vec<Request> = batch.iter().map(|v| self.request(v, hunt)).collect();
        let Some(hand) = self.crew.get_mut(&worker) else {
            return;
        };
        let mut lost = None;
        for request in &requests {
            if let Err(e) = hand.tell(request) {
                lost = Some(e);
                break;
            }
        }
        let mut answered = 0;
        let mut replies = Vec::with_capacity(requests.len());
        while lost.is_none() && answered < requests.len() {
            match hand.listen() {
                Ok(reply) => replies.push(reply),
                Err(e) => lost = Some(e),
            }
            answered += 1;
        }
        let kept = replies.len();
        for reply in replies {
            self.take(reply);
        }
        if let Some(error) = lost {
            self.lose(worker, batch.get(kept), &error, observer);
        }
    }

    fn take(&mut self, reply: Reply) {
        match reply {
            Reply::Visited {
                cell,
                ops_per_turn,
                samples,
                notes,
                wall_ns: _,
            } => {
                let Some(found) = self.found.get_mut(cell as usize) else {
                    return;
                };
                found.ops_per_turn = ops_per_turn;
                found.notes.extend(notes);
                if let Ok(samples) = samples.samples() {
                    found.samples.extend(samples);
                }
                self.visits_made[cell as usize] += 1;
                self.visits_done += 1;
            }
            Reply::Unavailable { cell, reason } => {
                if let Some(found) = self.found.get_mut(cell as usize) {
                    if found.samples.is_empty() {
                        found.unavailable = Some(reason);
                    } else {
                        found.notes.insert(format!("later visits failed: {reason}"));
                    }
                    self.visits_done += 1;
                }
            }
            Reply::Ready { .. } => {}
        }
    }

    /// A worker is gone: its samples stay, the row it was at is marked.
    fn lose(
        &mut self,
        worker: u32,
        at: Option<&Visit>,
        error: &std::io::Error,
        observer: &mut dyn Observer,
    ) {
        self.crew.remove(&worker);
        let place = at.map(|visit| {
            let number = visit.cell as usize;
            self.found[number].notes.insert(format!(
                "{error} while measuring this row; what it had sent is kept"
            ));
            // A row that kills its workers must not kill them all.
            let deaths = self.found[number]
                .notes
                .iter()
                .filter(|note| note.contains("ended early") || note.contains("said nothing"))
                .count();
            if deaths >= 2 {
                self.open[number] = false;
                if self.found[number].samples.is_empty() {
                    self.found[number].unavailable = Some(format!("measuring it failed: {error}"));
                }
            }
            self.plan.cells[number].name()
        });
        let line = match place {
            Some(place) => format!("{error} while measuring {place}; its samples are kept"),
            None => format!("{error}; its samples are kept"),
        };
        observer.warning(&line);
        self.losses.push(line);
    }

    /// Which cells need more visits, and what they read so far.
    fn review(&mut self, common: &Common, planned_are_done: bool) {
        self.latest.clear();
        for (number, cell) in self.plan.cells.iter().enumerate() {
            let found = &self.found[number];
            let estimate = common.estimate(cell, found);
            if planned_are_done {
                self.open[number] &= estimate.verdict != Verdict::Ok;
            } else {
                let half_done = self.visits_made[number] * 2 >= cell.visits * cell.workers;
                self.open[number] &= !(half_done && is_good_enough(&estimate, cell));
            }
            if !found.samples.is_empty() {
                self.latest.push((cell.name(), estimate, cell.unit));
            }
        }
    }

    fn tell(&self, round: u32, observer: &mut dyn Observer) {
        let planned: u64 = self
            .plan
            .cells
            .iter()
            .map(|cell| u64::from(cell.visits) * u64::from(cell.workers))
            .sum();
        let elapsed = self.began.elapsed();
        let share = self.visits_done as f64 / planned.max(1) as f64;
        let by_pace = if share > 0.02 {
            elapsed.mul_f64((1.0 / share - 1.0).max(0.0))
        } else {
            self.plan.total()
        };
        let remaining = by_pace.max(self.plan.span.saturating_sub(elapsed));
        observer.progress(&Progress {
            round,
            rounds: self.plan.rounds,
            elapsed,
            remaining: remaining.min(self.plan.limit.saturating_sub(elapsed)),
            visits_done: self.visits_done,
            visits_planned: planned,
            latest: &self.latest,
        });
    }
}

/// Stop rule of a single cell.
fn is_good_enough(estimate: &Estimate, cell: &PlannedCell) -> bool {
    let Some(quiet) = &estimate.quiet else {
        return false;
    };
    let width = match (cell.bound, quiet.cycles) {
        (Bound::Core, Some(cycles)) => cycles.relative_half_width(),
        _ => quiet.ns.relative_half_width(),
    };
    estimate.verdict == Verdict::Ok
        && quiet.workers == cell.workers
        && (estimate.below_ns.is_some() || width < GOOD_ENOUGH)
}

/// Three times L2, but never more than half of the last level.
fn last_level_canary_bytes(plan: &Plan) -> u64 {
    let bytes = (3 * plan.terrain.l2_bytes).min(plan.terrain.last_level_bytes / 2);
    (bytes / 4096).max(1) * 4096
}

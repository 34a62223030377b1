//! The rounds of a run: workers started, told and listened to, cells
//! reviewed, extra visits to what is still uncertain.

use crate::assemble::Common;
use crate::conduct::{ConductError, Observer, Progress};
use crate::controls::WorkerControls;
use crate::crew::Hand;
use crate::found::Found;
use crate::plan::{Plan, PlannedCell};
use crate::probe::Terrain;
use crate::schedule::{self, Visit};
use crate::wire::{self, Reply, Request, Setup};
use fastrand::Rng;
use model::conditions::Conditions;
use model::estimate::{Estimate, Verdict};
use model::noise::applied::Applied;
use model::run::{Bound, Regime};
use model::unit::Unit;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use sys::clock::{Calibration, ClockCost};

/// Relative half width below which a cell needs no more visits, once half of
/// them are made.
const GOOD_ENOUGH: f64 = 0.007;

/// Extra rounds at most, for cells that are still uncertain.
const EXTRA_ROUNDS: u32 = 6;

/// The run in progress.
pub(crate) struct Conductor<'p> {
    plan: &'p Plan,
    calibration: Calibration,
    pub(crate) crew: BTreeMap<u32, Hand>,
    pub(crate) found: Vec<Found>,
    visits_made: Vec<u32>,
    open: Vec<bool>,
    rng: Rng,
    pub(crate) began: Instant,
    visits_done: u64,
    pub(crate) losses: Vec<String>,
    pub(crate) all_lost: bool,
    pub(crate) interrupted: bool,
    batch: usize,
    latest: Vec<(String, Estimate, Unit)>,
}

/// What is known of the cells before the first visit: of those that none is
/// made to, why.
fn found(plan: &Plan) -> Vec<Found> {
    let refused = |cell: &PlannedCell| cell.refused.as_deref().map(Found::refused);
    plan.cells
        .iter()
        .map(|cell| refused(cell).unwrap_or_default())
        .collect()
}

/// What a worker has of the controls; of those that have not the same, what
/// each is short of.
fn learn(
    conditions: &mut Conditions,
    controls: &WorkerControls,
    measuring_cpu: Option<u32>,
    hand: &Hand,
) {
    let mut asked = controls.asked.settings.clone();
    asked.cpus = measuring_cpu.into_iter().collect();
    let own = Applied::new(asked, hand.granted.clone());
    let refused = hand.refused.iter().chain(&own.refused).cloned();
    let refused: Vec<String> = refused.collect();
    let all = conditions.applied.get_or_insert(Applied {
        page_cache_dropped: controls.drop_page_cache,
        refused: Vec::new(),
        ..own
    });
    for why in refused {
        if !all.refused.contains(&why) {
            all.refused.push(why);
        }
    }
}

impl<'p> Conductor<'p> {
    pub(crate) fn start(
        plan: &'p Plan,
        calibration: &Calibration,
        measuring_cpu: Option<u32>,
        terrain: &Terrain,
        conditions: &mut Conditions,
        observer: &mut dyn Observer,
    ) -> Result<Conductor<'p>, ConductError> {
        let began_ns = sys::clock::monotonic_raw_ns();
        let mut rng = Rng::with_seed(plan.record.seed);
        let mut crew = BTreeMap::new();
        let workers = plan
            .cells
            .iter()
            .filter(|cell| cell.refused.is_none())
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
                asked: plan.controls.asked.clone(),
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
                terrain: terrain.clone(),
            };
            match Hand::start(&setup) {
                Ok(hand) => {
                    match &hand.pinned {
                        Ok(cpus) => conditions.pinned_cpus.clone_from(cpus),
                        Err(why) => conditions.not_pinned = Some(why.clone()),
                    }
                    learn(conditions, &plan.controls, measuring_cpu, &hand);
                    crew.insert(worker, hand);
                }
                Err(e) => {
                    observer.warning(&format!("worker {worker} could not be started: {e}"));
                    failure = Some(e);
                }
            }
        }
        if crew.is_empty() && workers > 0 {
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
            found: found(plan),
            visits_made: vec![0; cells],
            open: vec![true; cells],
            rng,
            began: Instant::now(),
            visits_done: 0,
            losses: Vec::new(),
            all_lost: false,
            interrupted: false,
            // On a single CPU every answer interrupts the next visit.
            batch: if plan.terrain.cpus.len() > 1 {
                schedule::BATCH
            } else {
                1
            },
            latest: Vec::new(),
        })
    }

    pub(crate) fn rounds(
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
                if stop.load(Ordering::Relaxed) {
                    self.interrupted = true;
                    return;
                }
                if self.began.elapsed() > self.plan.limit {
                    if !extra {
                        self.losses.push(format!(
                            "the time allowed ended in round {} of {rounds}: some rows have fewer samples than planned",
                            round + 1
                        ));
                    }
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
                && !self.found[number].given_up
                // An extra visit waits for a quiet machine, which a
                // distribution has no use for.
                && !(extra && cell.regime != Regime::Gated);
            if !wanted {
                continue;
            }
            visits.extend(
                (cell.first_worker..cell.first_worker + cell.workers)
                    .filter(|worker| self.crew.contains_key(worker))
                    .map(|worker| Visit {
                        worker,
                        cell: number as u32,
                    })
                    .filter(|visit| {
                        extra || schedule::takes_part(cell.visits, self.plan.rounds, round, visit)
                    }),
            );
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
            regime: cell.regime,
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
        // Opened only when the worker rests: rows on several CPUs would see
        // us at work beside them.
        let mut answers = Vec::with_capacity(requests.len());
        while lost.is_none() && answers.len() < requests.len() {
            match hand.listen_unopened() {
                Ok(answer) => answers.push(answer),
                Err(e) => lost = Some(e),
            }
        }
        let kept = answers.len();
        for answer in answers {
            match wire::open(&answer) {
                Ok(reply) => self.take(reply),
                Err(e) => self.losses.push(format!("an answer can't be read: {e}")),
            }
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
                parts,
                modes,
                notes,
                contradiction,
                wall_ns,
            } => {
                let leader = cell as usize;
                if leader >= self.found.len() {
                    return;
                }
                self.found[leader].wall_ns += wall_ns;
                for number in self.plan.together(leader) {
                    let found = &mut self.found[number];
                    found.visits += 1;
                    if let Some(how) = &contradiction {
                        found.contradict(how);
                    }
                }
                for part in parts {
                    let together = self.plan.together(leader);
                    let Some(number) = together
                        .into_iter()
                        .find(|&n| self.plan.cells[n].variant == part.variant)
                    else {
                        // A variant that was not asked for.
                        continue;
                    };
                    let found = &mut self.found[number];
                    found.ops_per_turn = ops_per_turn;
                    found.modes.clone_from(&modes);
                    found.notes.extend(notes.iter().cloned());
                    if let Ok(samples) = part.samples.samples() {
                        found.samples.extend(samples);
                    }
                }
                self.visits_made[leader] += 1;
                self.visits_done += 1;
            }
            Reply::Unavailable { cell, reason } => {
                if cell as usize >= self.found.len() {
                    return;
                }
                for number in self.plan.together(cell as usize) {
                    self.found[number].fail(&reason);
                }
                self.visits_done += 1;
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
            for number in self.plan.together(visit.cell as usize) {
                let found = &mut self.found[number];
                found.notes.insert(format!(
                    "{error} while measuring this row; what it had sent is kept"
                ));
                found.fail(&format!("measuring it failed: {error}"));
                // A row that kills its workers must not kill them all.
                let deaths = found
                    .notes
                    .iter()
                    .filter(|note| note.contains("ended early") || note.contains("said nothing"))
                    .count();
                if deaths >= 2 {
                    self.open[number] = false;
                    found.given_up = true;
                }
            }
            self.plan.cells[visit.cell as usize].name()
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

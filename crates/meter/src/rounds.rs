//! The rounds of a run: workers started and listened to, planned visits made
//! round by round, extra visits to what is still uncertain.

use crate::cell_state::{CellState, VisitFailure};
use crate::controls::WorkerControls;
use crate::observer::Observer;
use crate::pace::{self, Pace, Remaining};
use crate::plan::{BASE_SHARE, Plan, PlannedCell};
use crate::probe::MachineShape;
use crate::run_context::RunContext;
use crate::run_remark::RunRemark;
use crate::schedule::{self, Share, Visit};
use crate::wire::{self, Reply, Request, Setup};
use crate::worker_pool::{PATIENCE, WorkerHandle, WorkerLoss, WorkerPool, WorkerProcesses};
use fastrand::Rng;
use model::conditions::Conditions;
use model::estimate::Estimate;
use model::machine_readings::MachineReadings;
use model::noise::applied::Applied;
use model::run::Regime;
use model::unit::Unit;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use sys::clock::{Calibration, ClockCost};

mod review;

/// Where the last round begins, as a share of the time that its visits leave:
/// they may take a little longer than expected.
const LAST_ROUND_AT: f64 = 0.95;

/// Visits sent to a worker at once take no longer than this, ns, where they
/// are several: the time of a run ends between them.
const BATCH_NS: f64 = 250e6;

/// A worker may take this many times as long for a visit as it should.
const PATIENCE_FACTOR: f64 = 50.0;

/// The run in progress.
pub(crate) struct Conductor<'p, P> {
    plan: &'p Plan,
    calibration: Calibration,
    resolution_ns: f64,
    pub(crate) pool: P,
    pub(crate) cells: Vec<CellState>,
    /// What the samples of all cells say of the machine.
    pub(crate) readings: MachineReadings,
    visits_made: Vec<u32>,
    /// Those of them that were not planned.
    extra_made: Vec<u32>,
    pace: Pace,
    /// What batches took beyond the visits in them, as a factor.
    between: (f64, f64),
    rng: Rng,
    /// When the first visit could begin, after the run did.
    first: Duration,
    /// When the last one has to end, after that.
    end: Duration,
    visits_done: u64,
    pub(crate) remarks: Vec<RunRemark>,
    pub(crate) all_lost: bool,
    pub(crate) interrupted: bool,
    batch: usize,
    reviewed: Duration,
    context: Option<RunContext>,
    /// Of each cell, renewed when it has new samples.
    estimates: Vec<Option<Estimate>>,
    latest: Vec<(String, Estimate, Unit)>,
}

/// What is known of the cells before the first visit: of those that none is
/// made to, why.
fn states(plan: &Plan) -> Vec<CellState> {
    let refused = |cell: &PlannedCell| {
        let why = cell.refused.clone().map(VisitFailure::Refused);
        why.map(CellState::without_visits)
    };
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
    handle: &WorkerHandle,
) {
    let mut asked = controls.asked.settings.clone();
    asked.cpus = measuring_cpu.into_iter().collect();
    let own = Applied::new(asked, handle.granted.clone());
    let refused = handle.refused.iter().chain(&own.refused).cloned();
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

impl<'p> Conductor<'p, WorkerProcesses> {
    pub(crate) fn start(
        plan: &'p Plan,
        calibration: &Calibration,
        measuring_cpu: Option<u32>,
        machine_shape: &MachineShape,
        conditions: &mut Conditions,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Self, WorkerLoss> {
        let began_ns = sys::clock::monotonic_raw_ns();
        let mut rng = Rng::with_seed(plan.record.seed);
        let mut handles = BTreeMap::new();
        let workers = plan.workers();
        let mut failure = None;
        for worker in 0..workers {
            let (huge_bytes, base_bytes) = plan.buffers(worker);
            let setup = Setup {
                worker,
                pin: measuring_cpu.into_iter().collect(),
                asked: plan.controls.asked.clone(),
                ns_per_tick: calibration.ns_per_tick,
                began_ns,
                huge_bytes,
                base_bytes,
                last_level_canary_bytes: last_level_canary_bytes(plan),
                seed: rng.u64(..),
                machine_shape: machine_shape.clone(),
            };
            match WorkerHandle::start(&setup, stop) {
                Ok(handle) => {
                    match &handle.pinned {
                        Ok(cpus) => conditions.pinned_cpus.clone_from(cpus),
                        Err(why) => conditions.not_pinned = Some(why.to_string()),
                    }
                    learn(conditions, &plan.controls, measuring_cpu, &handle);
                    handles.insert(worker, handle);
                }
                Err(WorkerLoss::Stopped { .. }) => break,
                Err(loss) => {
                    observer.warning(&RunRemark::NotStarted(loss.clone()));
                    failure = Some(loss);
                }
            }
        }
        if let (true, Some(loss)) = (handles.is_empty(), failure) {
            return Err(loss);
        }
        if let Some(why) = &conditions.not_pinned {
            observer.warning(&RunRemark::NotPinned(why.clone()));
        }
        let pool = WorkerProcesses {
            handles,
            began: Instant::now(),
        };
        Ok(Conductor::new(plan, calibration, rng, pool))
    }
}

impl<'p, P: WorkerPool> Conductor<'p, P> {
    fn new(plan: &'p Plan, calibration: &Calibration, rng: Rng, pool: P) -> Self {
        let cells = plan.cells.len();
        Conductor {
            plan,
            calibration: calibration.clone(),
            resolution_ns: 0.0,
            pool,
            cells: states(plan),
            readings: MachineReadings::default(),
            visits_made: vec![0; cells],
            extra_made: vec![0; cells],
            pace: Pace::new(plan),
            between: (0.0, 0.0),
            rng,
            first: Duration::ZERO,
            end: Duration::ZERO,
            visits_done: 0,
            remarks: Vec::new(),
            all_lost: false,
            interrupted: false,
            // On a single CPU every answer interrupts the next visit.
            batch: if plan.machine_shape.cpus.len() > 1 {
                schedule::BATCH
            } else {
                1
            },
            reviewed: Duration::ZERO,
            context: None,
            estimates: vec![None; cells],
            latest: Vec::new(),
        }
    }

    /// Makes the planned visits round by round, and extra ones to what is still
    /// uncertain in the time between the later rounds and after them.
    pub(crate) fn rounds(
        &mut self,
        cost: &ClockCost,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) {
        self.resolution_ns = cost.resolution_ns;
        self.first = self.pool.elapsed();
        // On a loaded machine workers take long to start.
        let measured = self.first + self.plan.time.measuring();
        let latest = self.plan.limit.saturating_sub(self.plan.time.end);
        self.end = self.plan.time.until_end().max(measured.min(latest));
        let rounds = self.plan.rounds;
        let first_visits = schedule::cheapest_first(&self.first_visits(), self.batch, |visit| {
            self.visit_ns(visit.cell as usize)
        });
        self.make(&first_visits, 0, None, observer, stop);
        for round in 0..rounds {
            self.fill(round, observer, stop);
            let visits = self.visits_of(round);
            let batches = self.batches(&visits);
            let whole = self.make(&batches, round, None, observer, stop);
            if self.is_over() {
                return;
            }
            if !whole {
                self.remarks.push(RunRemark::TimeEnded {
                    round: round + 1,
                    rounds,
                });
                return;
            }
            if self.pool.elapsed() - self.reviewed > self.review_every() {
                self.review();
                self.report(round, observer);
            }
        }
        self.fill(rounds, observer, stop);
    }

    fn is_over(&self) -> bool {
        self.interrupted || self.all_lost || self.cells.iter().all(|cell| cell.given_up)
    }

    /// When a round should begin: the first half of them at the pace of the
    /// plan, since nothing is known yet of what needs more; the others spread
    /// over the time that is left, so that the last one ends with it.
    fn due(&self, round: u32) -> Duration {
        if round >= self.plan.rounds {
            return self.end;
        }
        let window = self.end.saturating_sub(self.first);
        let visits = self.remaining(round).into_iter();
        let takes_ns: f64 = visits.map(|r| f64::from(r.visits) * r.visit_ns).sum();
        let a_round = Duration::from_nanos(takes_ns as u64) / (self.plan.rounds - round);
        let half = window.mul_f64(BASE_SHARE / 2.0);
        let last = window.saturating_sub(a_round).mul_f64(LAST_ROUND_AT);
        let of_rounds = f64::from(round) / f64::from(self.plan.rounds.max(2) - 1);
        let second = (of_rounds * 2.0 - 1.0).max(0.0);
        let first = (of_rounds * 2.0).min(1.0) - second;
        self.first + half.mul_f64(first) + last.mul_f64(second)
    }

    fn review_every(&self) -> Duration {
        let of_all = self.end.saturating_sub(self.first) / 40;
        of_all.max(Duration::from_millis(250))
    }

    /// Extra visits until a round is due, where half of the rounds are over
    /// and a cell is still uncertain; else waiting. After the last round there
    /// is nothing to wait for.
    fn fill(&mut self, round: u32, observer: &mut dyn Observer, stop: &AtomicBool) {
        let due = self.due(round);
        let is_last = round >= self.plan.rounds;
        while !self.is_over() {
            let left = due.saturating_sub(self.pool.elapsed());
            if left.is_zero() || self.is_stopped(stop) {
                return;
            }
            let knows = round * 2 >= self.plan.rounds;
            if knows && self.context.is_none() {
                self.review();
            }
            // Slices: what they bring decides what the next one is for, and
            // each cell's extra visits are spread over the time.
            let slice = left.min(self.review_every() * 2);
            let visits = match knows {
                true => self.extra_visits(slice, left),
                false => Vec::new(),
            };
            let before = self.visits_done;
            let batches = self.batches(&visits);
            self.make(&batches, round, Some(due), observer, stop);
            match self.visits_done > before {
                true => {
                    self.review();
                    self.report(round, observer);
                }
                // Nothing is uncertain, or nothing fits any more.
                false if is_last => return,
                false => self.pool.sleep(Duration::from_millis(5).min(left)),
            }
        }
    }

    /// Whether the run is to stop; remembers it.
    fn is_stopped(&mut self, stop: &AtomicBool) -> bool {
        self.interrupted |= stop.load(Ordering::Relaxed);
        self.interrupted
    }

    /// One visit to each cell, so that each has a figure and a known cost
    /// before anything is waited for, however slow the machine.
    fn first_visits(&self) -> Vec<Visit> {
        let visits = self.planned_visits(0).into_iter();
        let firsts = visits.filter(|visit| {
            let cell = &self.plan.cells[visit.cell as usize];
            schedule::is_first(share(cell), visit)
        });
        firsts.collect()
    }

    fn batches(&mut self, visits: &[Visit]) -> Vec<Vec<Visit>> {
        let costs_ns: Vec<f64> = (0..self.plan.cells.len())
            .map(|number| self.visit_ns(number))
            .collect();
        let cost_ns = |visit: &Visit| costs_ns[visit.cell as usize];
        schedule::batches(visits, &mut self.rng, self.batch, BATCH_NS, cost_ns)
    }

    /// The planned visits of a round: of each cell that was not seen yet, and
    /// of the others those that fit into the time.
    fn visits_of(&mut self, round: u32) -> Vec<Visit> {
        let shares = self.shares(round);
        let mut visits = self.planned_visits(round);
        visits.retain(|visit| {
            let number = visit.cell as usize;
            let is_made = round == 0 && schedule::is_first(share(&self.plan.cells[number]), visit);
            let is_seen = self.visits_made[number] > 0;
            !is_made && (!is_seen || self.rng.f64() < shares[number])
        });
        visits
    }

    /// The visits of a round as the plan has them, where they can be made.
    fn planned_visits(&self, round: u32) -> Vec<Visit> {
        let mut visits = Vec::new();
        for (number, cell) in self.plan.cells.iter().enumerate() {
            let of_cell =
                (cell.first_worker..cell.first_worker + cell.workers).map(|worker| Visit {
                    worker,
                    cell: number as u32,
                });
            visits.extend(of_cell.filter(|visit| {
                !self.cells[number].given_up
                    && self.pool.has(visit.worker)
                    && schedule::takes_part(share(cell), self.plan.rounds, round, visit)
            }));
        }
        visits
    }

    /// The planned visits of each cell from this round on.
    fn remaining(&self, round: u32) -> Vec<Remaining> {
        let rounds = self.plan.rounds.max(1);
        let cells = self.plan.cells.iter().enumerate();
        let remaining = cells.map(|(number, cell)| Remaining {
            visits: (cell.visits * cell.workers * (rounds - round)).div_ceil(rounds),
            visit_ns: self.visit_ns(number),
            spent_ns: self.pace.spent_ns(number),
            allotted_ns: cell.allotment.as_nanos() as f64,
        });
        remaining.collect()
    }

    /// Which share of the visits from this round on each cell gets.
    fn shares(&self, round: u32) -> Vec<f64> {
        let left = self.end.saturating_sub(self.pool.elapsed());
        pace::shares(&self.remaining(round), left.as_nanos() as f64)
    }

    /// What a visit to a cell should take, ns.
    fn visit_ns(&self, number: usize) -> f64 {
        let samples = self.pace.samples(self.plan, number);
        let (taken_ns, within_ns) = self.between;
        let between = if within_ns > 0.0 {
            taken_ns / within_ns
        } else {
            1.0
        };
        self.pace.visit_ns(self.plan, number, samples) * between
    }

    /// Makes visits: planned ones, or extra ones until the time given. Gives
    /// whether the time allowed was enough for them.
    fn make(
        &mut self,
        batches: &[Vec<Visit>],
        round: u32,
        extra_until: Option<Duration>,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> bool {
        for batch in batches {
            if self.is_stopped(stop) {
                return true;
            }
            let elapsed = self.pool.elapsed();
            let costs_ns = batch.iter().map(|v| self.visit_ns(v.cell as usize));
            let takes = Duration::from_nanos(costs_ns.sum::<f64>() as u64);
            match extra_until {
                // Another batch may still fit.
                Some(until) if elapsed + takes > until => continue,
                None if elapsed > self.plan.limit => return false,
                _ => {}
            }
            self.carry_out(batch, extra_until.is_some(), observer, stop);
            if self.pool.is_empty() && !self.interrupted {
                self.all_lost = true;
            }
            if self.is_over() {
                return true;
            }
            self.report(round, observer);
        }
        true
    }

    fn request(&self, visit: &Visit, is_extra: bool) -> Request {
        let number = visit.cell as usize;
        let cell = &self.plan.cells[number];
        // An extra visit waits for a quiet machine, which a distribution has
        // no use for: it describes the machine as it is. Where the gate knows no
        // quiet machine it is an ordinary one, whose readings may show one.
        let waits = is_extra && cell.regime == Regime::Gated && self.visits_made[number] > 0;
        let gate = self.context.as_ref().map(|context| &context.gate);
        Request {
            cell: visit.cell,
            probe: cell.probe as u32,
            variant: cell.variant.clone(),
            at: cell.at.clone(),
            regime: cell.regime,
            samples: self.pace.samples(self.plan, number),
            last_level_canary: cell.last_level_canary,
            wait_for_quiet: gate.filter(|gate| waits && gate.can_be_quiet()).cloned(),
        }
    }

    fn carry_out(
        &mut self,
        batch: &[Visit],
        is_extra: bool,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) {
        let Some(worker) = batch.first().map(|visit| visit.worker) else {
            return;
        };
        let requests: Vec<Request> = batch.iter().map(|v| self.request(v, is_extra)).collect();
        let costs_ns = batch.iter().map(|v| self.visit_ns(v.cell as usize));
        let dearest_ns = costs_ns.fold(0.0, f64::max);
        let patience = PATIENCE.max(Duration::from_nanos((dearest_ns * PATIENCE_FACTOR) as u64));
        let began = self.pool.elapsed();
        let (answers, lost) = self.pool.visit(worker, &requests, patience, stop);
        self.between.0 += (self.pool.elapsed() - began).as_nanos() as f64;
        let kept = answers.len();
        for (answer, request) in answers.iter().zip(&requests) {
            match wire::open(answer) {
                Ok(reply) => self.take(reply, request, is_extra),
                Err(e) => self.remarks.push(RunRemark::Unreadable(e.to_string())),
            }
        }
        match lost {
            None => {}
            Some(WorkerLoss::Stopped { .. }) => self.interrupted = true,
            Some(loss) => self.lose(worker, batch.get(kept), &loss, observer),
        }
    }

    fn take(&mut self, reply: Reply, request: &Request, is_extra: bool) {
        match reply {
            Reply::Visited {
                cell,
                ops_per_turn,
                parts,
                modes,
                loops_alike,
                notes,
                contradiction,
                wall_ns,
            } => {
                let leader = cell as usize;
                if leader >= self.cells.len() {
                    return;
                }
                self.cells[leader].wall_ns += wall_ns;
                self.between.1 += wall_ns as f64;
                self.visits_done += 1;
                if parts.iter().all(|part| part.samples.is_empty()) {
                    // It waited in vain for a quiet machine.
                    return;
                }
                if !is_extra {
                    let planned = &self.plan.cells[leader];
                    self.pace.record(leader, planned, request.samples, wall_ns);
                }
                for number in self.plan.together(leader) {
                    let state = &mut self.cells[number];
                    state.visits += 1;
                    if let Some(how) = &contradiction {
                        state.contradict(how);
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
                    let state = &mut self.cells[number];
                    state.ops_per_turn = ops_per_turn;
                    state.modes.clone_from(&modes);
                    state.loops_alike = loops_alike;
                    state.notes.extend(notes.iter().cloned());
                    self.readings.add(&part.samples);
                    state.samples.extend(part.samples);
                    self.estimates[number] = None;
                }
                self.visits_made[leader] += 1;
                self.extra_made[leader] += u32::from(is_extra);
            }
            Reply::Unavailable { cell, reason } => {
                if cell as usize >= self.cells.len() {
                    return;
                }
                for number in self.plan.together(cell as usize) {
                    self.cells[number].fail(VisitFailure::Work(reason.clone()));
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
        loss: &WorkerLoss,
        observer: &mut dyn Observer,
    ) {
        self.pool.end(worker);
        let cell = at.map(|visit| {
            for number in self.plan.together(visit.cell as usize) {
                self.cells[number].lose_worker(loss);
            }
            self.plan.cells[visit.cell as usize].name()
        });
        let remark = RunRemark::WorkerLost {
            loss: loss.clone(),
            cell,
        };
        observer.warning(&remark);
        self.remarks.push(remark);
    }
}

fn share(cell: &PlannedCell) -> Share {
    Share {
        visits: cell.visits,
        first_worker: cell.first_worker,
        workers: cell.workers,
        rotates: cell.working_set_bytes == 0,
    }
}

/// Three times L2, but never more than half of the last level.
fn last_level_canary_bytes(plan: &Plan) -> u64 {
    let bytes = (3 * plan.machine_shape.l2_bytes).min(plan.machine_shape.last_level_bytes / 2);
    (bytes / 4096).max(1) * 4096
}

#[cfg(test)]
mod tests;

//! Whole runs on scripted workers and a scripted clock.

use super::*;
use crate::observer::Silent;
use crate::pack::{Origin, PackRow, PackSite};
use crate::plan::{self, plan_within};
use crate::probe::{Effort, Probe};
use crate::scratch::ScratchError;
use crate::wire::{Reply, VariantSamples, VisitRequest};
use crate::worker_pool::{PATIENCE, lost};
use model::run::Scale;
use model::sample::{Canaries, Evidence, Sample, flag};
use std::cell::Cell;
use std::collections::BTreeSet;
use sys::role::{Loss, Lost};

/// The row that does not return.
const DEADLY: &str = "my.pack3";

/// The row whose pack is found out to be wrong, which takes long.
const WRONG: &str = "my.pack4";

/// What an extra visit waits for a quiet machine before it gives up.
const WAITS: Duration = Duration::from_micros(2_400);

/// All samples of a run.
fn samples<'c>(conductor: &'c Conductor<'_, ScriptedPool>) -> impl Iterator<Item = &'c Sample> {
    conductor.cells.iter().flat_map(|cell| &cell.samples)
}

/// Workers on a clock that visits and waiting move on.
struct ScriptedPool {
    plan: Plan,
    now: Cell<Duration>,
    workers: BTreeSet<u32>,
    /// What visits take, as a multiple of what was planned.
    slower: f64,
    /// Whether a neighbour has the core's other hardware thread at a time.
    busy: Box<dyn Fn(Duration) -> bool>,
    /// Visits with samples.
    made: u32,
    /// From when on no worker answers any more.
    silent_from: Duration,
    /// The cell that ends its worker.
    deadly: Option<u32>,
    restarted: u32,
}

impl ScriptedPool {
    fn sample(&self, number: u32, worker: u32, busy: bool, waited: bool) -> Sample {
        // Readings differ a little, as real ones do.
        let jitter = (self.made * 7 + number * 3) % 5;
        let (branch, capacity, multiply) = match busy {
            true => (1_300, 1_900, 2_900),
            false => (1_000, 1_000, 2_998),
        };
        Sample {
            worker,
            at_ms: self.now.get().as_millis() as u32,
            turns: 1,
            first_ticks: 100_000 + u64::from(jitter * 10),
            second_ticks: None,
            evidence: Evidence {
                canaries: Some(Canaries {
                    branch_permille: [branch + jitter; 2],
                    capacity_permille: Some([capacity + jitter; 2]),
                    multiply_permille: multiply + self.made % 3,
                    l1_load_ps: 1_000 + self.made,
                }),
                cycle_fs: Some(250_000),
                flags: if waited { flag::WAITED_FOR_QUIET } else { 0 },
                ..Evidence::default()
            },
        }
    }

    fn answer(&mut self, worker: u32, request: &VisitRequest) -> Reply {
        let began = self.now.get();
        if self.plan.cells[request.cell as usize].row == WRONG {
            self.now.set(began + Duration::from_secs(3));
            return Reply::Unavailable { cell: request.cell, reason: "wrong".into() };
        }
        let busy = (self.busy)(began);
        let waits = request.wait_for_quiet.is_some();
        let (wall, samples) = match waits && busy {
            true => (WAITS, Vec::new()),
            false => {
                self.made += 1;
                let samples = 0..request.samples;
                let samples = samples.map(|number| self.sample(number, worker, busy, waits));
                let cost = &self.plan.cells[request.cell as usize].cost;
                let ns = cost.visit_of(request.samples) * self.slower;
                (Duration::from_nanos(ns as u64), samples.collect())
            }
        };
        self.now.set(began + wall);
        Reply::Visited {
            cell: request.cell,
            ops_per_turn: 1.0,
            parts: vec![VariantSamples { variant: request.variant.clone(), samples }],
            modes: Vec::new(),
            loops_alike: false,
            notes: Vec::new(),
            contradiction: None,
            wall_ns: wall.as_nanos() as u64,
        }
    }
}

impl WorkerPool for ScriptedPool {
    fn elapsed(&self) -> Duration {
        self.now.get()
    }
    fn sleep(&self, time: Duration) {
        self.now.set(self.now.get() + time);
    }
    fn has(&self, worker: u32) -> bool {
        self.workers.contains(&worker)
    }
    fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }
    fn end_worker(&mut self, worker: u32) {
        self.workers.remove(&worker);
    }
    fn restart(&mut self, _worker: u32) {
        self.restarted += 1;
    }
    fn visit(
        &mut self,
        worker: u32,
        requests: &[VisitRequest],
        patience: Duration,
        _stop: &AtomicBool,
    ) -> (Vec<Vec<u8>>, Option<Lost>) {
        if self.now.get() >= self.silent_from {
            self.sleep(patience);
            return (Vec::new(), Some(lost(worker, Loss::TimedOut(patience))));
        }
        let deadly = requests.iter().position(|of| Some(of.cell) == self.deadly);
        let until = deadly.unwrap_or(requests.len());
        let answers = requests[..until].iter().map(|request| {
            let reply = self.answer(worker, request);
            serde_json::to_vec(&reply).expect("a reply")
        });
        let answers = answers.collect();
        let lost = deadly.map(|_| {
            self.sleep(patience);
            lost(worker, Loss::TimedOut(patience))
        });
        (answers, lost)
    }
}

fn planned(rows: usize, visits: u32, scale: Scale) -> Plan {
    let probe = |row: usize| Probe {
        effort: Effort { visits, ..Effort::SCALAR },
        ..Probe::blank(format!("my.row{row}"))
    };
    let probes: Vec<Probe> = (0..rows).map(probe).collect();
    let machine = sys::machine_facts(std::path::Path::new("/nowhere"));
    let request = plan::Request { scale, ..plan::Request::default() };
    plan_within(&probes, &request, &machine, 24 << 30).expect("a plan")
}

/// Carries a plan out with workers that answer, and lets `look` see what came of it.
fn carried_out<T>(
    plan: &Plan,
    slower: f64,
    busy: impl Fn(Duration) -> bool + 'static,
    look: impl FnOnce(&mut Conductor<'_, ScriptedPool>) -> T,
) -> T {
    carried_out_until(plan, slower, busy, Duration::MAX, look)
}

fn carried_out_until<T>(
    plan: &Plan,
    slower: f64,
    busy: impl Fn(Duration) -> bool + 'static,
    silent_from: Duration,
    look: impl FnOnce(&mut Conductor<'_, ScriptedPool>) -> T,
) -> T {
    let calibration = Calibration {
        ns_per_tick: 1.0,
        frequency_hz: 1e9,
        brackets: 0,
        narrowest_ns: 0.0,
        source: "scripted".into(),
    };
    let pool = ScriptedPool {
        plan: plan.clone(),
        now: Cell::new(plan.time.start),
        workers: plan.workers(),
        slower,
        busy: Box::new(busy),
        made: 0,
        silent_from,
        deadly: plan.cells.iter().position(|cell| cell.row == DEADLY).map(|n| n as u32),
        restarted: 0,
    };
    let mut conductor = Conductor::new(plan, &calibration, Rng::with_seed(1), pool);
    let cost = ClockCost { cost_ns: 0.0, resolution_ns: 1.0, samples: 1 };
    conductor.rounds(&cost, &mut Silent, &AtomicBool::new(false));
    conductor.review();
    look(&mut conductor)
}

/// What planned visits to each cell are taken to cost, as a multiple of the plan.
fn paces(plan: &Plan, conductor: &Conductor<'_, ScriptedPool>) -> Vec<f64> {
    let of = |(number, cell): (usize, &PlannedCell)| {
        conductor.pace.visit_ns(plan, number, cell.samples) / cell.cost.visit_of(cell.samples)
    };
    plan.cells.iter().enumerate().map(of).collect()
}

#[test]
fn visits_that_wait_in_vain_cost_neither_quota_nor_pace() {
    let plan = planned(40, 16, Scale::Default);
    // Quiet for a tenth of each second.
    let busy = |at: Duration| at.subsec_millis() > 100;
    carried_out(&plan, 1.0, busy, |conductor| {
        let paces = paces(&plan, conductor);
        assert!(paces.iter().all(|p| (p - 1.0).abs() < 0.01), "{paces:?}");
        for (number, cell) in plan.cells.iter().enumerate() {
            let (made, extra) = (conductor.visits_made[number], conductor.extra_made[number]);
            assert_eq!(made - extra, cell.visits * cell.workers, "{}", cell.cell_name());
            assert_eq!(conductor.cells[number].visits, made);
        }
        let samples = samples(conductor).count() as u32;
        assert_eq!(samples, conductor.visits_made.iter().sum::<u32>() * 4);
    });
}

#[test]
fn extra_visits_of_a_run_that_is_never_quiet_are_ordinary_ones() {
    let plan = planned(40, 16, Scale::Default);
    carried_out(
        &plan,
        1.0,
        |_| true,
        |conductor| {
            let gate = &conductor.context.as_ref().expect("reviewed").gate;
            assert!(!gate.can_be_quiet(), "{gate:?}");
            assert!(conductor.extra_made.iter().all(|&extra| extra > 0));
            assert!(!samples(conductor).any(|s| s.has(flag::WAITED_FOR_QUIET)));
        },
    );
}

#[test]
fn extra_visits_use_a_late_quiet_period() {
    let plan = planned(40, 16, Scale::Default);
    let until = plan.time.start + plan.time.measuring().mul_f64(0.7);
    carried_out(
        &plan,
        1.0,
        move |at| at < until,
        |conductor| {
            for (number, cell) in plan.cells.iter().enumerate() {
                let estimate = conductor.estimates[number].as_ref().expect("samples");
                assert!(estimate.quiet.is_some(), "{}: {estimate:?}", cell.cell_name());
            }
            assert!(samples(conductor).any(|s| s.has(flag::WAITED_FOR_QUIET)));
        },
    );
}

#[test]
fn what_a_run_learns_round_by_round_is_what_all_its_samples_say() {
    let plan = planned(40, 16, Scale::Default);
    let busy = |at: Duration| at.subsec_millis() > 100;
    carried_out(&plan, 1.0, busy, |conductor| {
        let context =
            |readings: &MachineReadings| RunContext::from_readings(readings, None, 1.0, 1.0);
        let renewed = context(&conductor.readings);
        let whole = context(&MachineReadings::from_samples(samples(conductor)));
        assert_eq!(renewed.gate, whole.gate);
        assert_eq!(renewed.core_clock, whole.core_clock);
        for (cell, state) in plan.cells.iter().zip(&conductor.cells) {
            assert_eq!(renewed.estimate(cell, state), whole.estimate(cell, state));
        }
    });
}

#[test]
fn a_run_takes_the_time_that_was_announced() {
    for (rows, visits) in [(1, 1), (1, 2), (1, 5), (1, 16), (300, 1), (100, 16)] {
        for (extra_visits, slower) in [(true, 1.0), (false, 1.0), (true, 1.5), (true, 4.0)] {
            let mut plan = planned(rows, visits, Scale::Default);
            for cell in &mut plan.cells {
                cell.extra_visits = extra_visits;
            }
            let announced = plan.time.until_end();
            let taken = carried_out(&plan, slower, |_| false, |c| c.pool.elapsed());
            let share = taken.as_secs_f64() / announced.as_secs_f64();
            assert!(
                (0.9..1.1).contains(&share),
                "{share}: {visits} visits to {rows} rows, {slower} times as long"
            );
        }
    }
}

#[test]
fn on_a_loaded_machine_every_row_is_visited_once() {
    // As slow as that, the limit is over in the first round.
    let visited = |plan: &Plan| {
        carried_out(
            plan,
            40.0,
            |_| false,
            |conductor| {
                let visited = conductor.cells.iter().filter(|cell| cell.visits > 0);
                (visited.count(), conductor.pool.elapsed())
            },
        )
    };
    let mut plan = planned(300, 1, Scale::Quick);
    let (all, took) = visited(&plan);
    assert_eq!(all, 300);
    assert!(plan.limit < took && took < plan.first_limit, "{took:?}");
    // A budget is all the time there is.
    plan.first_limit = plan.limit;
    let (some, took) = visited(&plan);
    assert!((1..300).contains(&some), "{some}");
    assert!(took < plan.limit.mul_f64(1.1), "{took:?}");
}

#[test]
fn a_run_whose_workers_are_all_stopped_ends_by_itself_and_keeps_their_samples() {
    let plan = planned(10, 16, Scale::Default);
    let silent_from = plan.time.start + plan.time.measuring() / 2;
    carried_out_until(
        &plan,
        1.0,
        |_| false,
        silent_from,
        |conductor| {
            assert!(!conductor.interrupted);
            assert!(conductor.cells.iter().all(|f| !f.samples.is_empty()));
            let first = &conductor.remarks[0];
            let RunRemark::WorkerLost { loss, cell } = first else {
                panic!("{first}");
            };
            assert!(matches!(loss.how, Loss::TimedOut(_)), "{first}");
            assert!(cell.is_some(), "{first}");
            let most = plan.time.until_end() + PATIENCE * plan.workers().len() as u32;
            assert!(conductor.pool.elapsed() <= most);
        },
    );
}

#[test]
fn a_fault_of_a_pack_costs_its_row_and_no_time_of_the_others() {
    let of_pack = |row: usize| {
        let site = PackSite { file: "/pack.so".into(), id: format!("my.pack{row}") };
        Probe {
            origin: Origin::Pack(PackRow {
                site: site.clone(),
                pack: "mine".into(),
                disk_bytes: 0,
                unavailable: None,
            }),
            ..Probe::blank(site.id)
        }
    };
    let mut probes: Vec<Probe> = (0..10).map(|row| Probe::blank(format!("my.row{row}"))).collect();
    probes.extend((0..10).map(of_pack));
    let machine = sys::machine_facts(std::path::Path::new("/nowhere"));
    let plan = plan_within(&probes, &plan::Request::default(), &machine, 24 << 30).expect("a plan");
    let workers: Vec<u32> = plan.cells.iter().map(|cell| cell.first_worker).collect();
    assert_eq!((workers[9], workers[10], plan.workers().len()), (0, 8, 16));
    carried_out(
        &plan,
        1.0,
        |_| false,
        |conductor| {
            for (number, cell) in conductor.cells.iter().enumerate() {
                let planned = &plan.cells[number];
                let why = cell.unavailable().map(ToString::to_string);
                let wanted = match &*planned.row {
                    DEADLY => Some("its pack did not return within 10 s"),
                    WRONG => Some("wrong"),
                    _ => None,
                };
                assert_eq!(why.as_deref(), wanted, "{}", planned.row);
                assert!(
                    why.is_some() || cell.visits >= planned.visits * planned.workers,
                    "{}: {} visits",
                    planned.row,
                    cell.visits
                );
            }
            // Nor is time kept for what is given up.
            let planned = conductor.remaining(0).into_iter().zip(&conductor.cells);
            for (remaining, cell) in planned {
                assert_eq!(remaining.visits == 0, cell.given_up, "{remaining:?}");
            }
            assert_eq!(conductor.pool.restarted, 1);
            let [RunRemark::PackLost { row, .. }] = &conductor.remarks[..] else {
                panic!("{:?}", conductor.remarks);
            };
            assert_eq!(row, DEADLY);
        },
    );
}

#[test]
fn a_short_run_reads_the_multiplications_often_enough() {
    for scale in [Scale::Quick, Scale::Default] {
        let mut plan = planned(1, 1, scale);
        plan.cells[0].extra_visits = false;
        carried_out(
            &plan,
            1.0,
            |_| false,
            |conductor| {
                let gate = &conductor.context.as_ref().expect("reviewed").gate;
                assert_eq!(gate.multiply_is_whole(), Some(true), "{scale:?}");
            },
        );
    }
}

#[test]
fn a_run_of_rows_that_all_fail_waits_for_nothing() {
    let mut plan = planned(2, 16, Scale::Default);
    let wanted = plan.time.until_end();
    for cell in &mut plan.cells {
        // What the plan refused is given up from the beginning.
        cell.refused = Some(ScratchError::NotNeeded.into());
    }
    let taken = carried_out(&plan, 1.0, |_| false, |c| c.pool.elapsed());
    assert!(taken < wanted / 2, "{taken:?}");
}

//! How often `latlas judge` is wrong, and how often two rules of others are on the same samples: suites that are made up
//! from the slots of kept runs, with nothing changed and with a third of the benchmarks slower. Slots of the base and of
//! the base again are of the same program: base and head of a made-up round are both slots of one kept round, drawn with
//! replacement, in random order; the base again is one of another.

mod peers;

use crate::bars::Bars;
use anyhow::{Context, ensure};
use compare::judged::{BenchmarkAnswer, Judgment};
use judge::experiment::{
    ExperimentPlan, ExperimentProgress, MeasuredSlot, MeasuredSuite, Surroundings, measure,
};
use judge::slot::{Arm, Benchmark, Presence, SlotError, SlotRequest, SlotSamples, Slots};
use model::judged::{ARMS, Judged, JudgedBuild};
use model::recording::{About, Recording};
use model::run::Run;
use model::sample::Sample;
use model::stats::share_interval;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// Run documents of `latlas judge`
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Suites with nothing changed, and for each change
    #[arg(long, default_value_t = 200)]
    suites: u64,
    /// Benchmarks of a suite
    #[arg(long, default_value_t = 20)]
    benchmarks: usize,
    /// The budget of each, s
    #[arg(long, default_value_t = 600)]
    budget: u64,
}

/// Changes that are injected, with the share that must be found.
const CHANGES: [(f64, f64); 4] = [(0.02, 0.80), (0.05, 0.95), (0.10, 0.95), (0.20, 0.95)];
/// One benchmark of so many is changed.
const EACH: usize = 3;
/// Of suites in which nothing changed at most this share may have an alarm.
const MOST_ALARMS: f64 = 0.01;

/// Of the head's processes so many take so much longer as a whole, in a third of the benchmarks: a slower mode.
const SLOWER_MODE: [f64; 2] = [0.15, 0.5];

/// The slots of one benchmark of a kept run.
struct KeptSlots {
    rounds: Vec<[SlotSamples; 2]>,
}

/// What is made slower in a third of the benchmarks.
#[derive(Clone, Copy)]
enum Injected {
    /// Every process by this share.
    All(f64),
    /// Some, by a larger one.
    Mode,
}

pub fn check_judge(arguments: &Arguments) -> anyhow::Result<Bars> {
    let mut kept = Vec::new();
    let mut about = None;
    for file in &arguments.files {
        let run = store::read_run(file)?;
        kept.extend(kept_slots(&run)?);
        about = Some(run);
    }
    let about = about.context("no run")?;
    ensure!(!kept.is_empty(), "no run has a benchmark with slots");
    println!("{} benchmarks with slots of the same program", kept.len());
    let mut bars = Bars::new();
    let all = arguments.suites;
    let mut alarms = [0; 4];
    for seed in 0..all {
        let (measured, judgment) = suite(arguments, &kept, &about, seed, Injected::All(0.0))?;
        let any = |answer| !judgment.rows_with(answer).is_empty();
        let tells_of_tails = judgment.rows.iter().any(|row| row.tails.is_some());
        let is_called = |rule: fn(&[MeasuredSlot]) -> bool| {
            measured.benchmarks.iter().any(|one| rule(&one.slots))
        };
        let alarmed = [
            any(BenchmarkAnswer::Slower) || any(BenchmarkAnswer::Faster),
            tells_of_tails,
            is_called(peers::benchstat),
            is_called(peers::criterion),
        ];
        alarms.iter_mut().zip(alarmed).for_each(|(number, is)| *number += u64::from(is));
    }
    println!("suites with an alarm, of {all} in which nothing changed:");
    let names =
        ["latlas judge", "its line on tails", "benchstat, 10 a side", "criterion, 1 a side"];
    for (name, number) in names.into_iter().zip(alarms) {
        let share = share_interval(number, all).context("no suite")?;
        let [value, low, high] = [share.value, share.low, share.high].map(|share| 100.0 * share);
        println!("  {name:<22}{number:>5}  {value:>5.1} %  [{low:.1}, {high:.1}]");
        if name.contains("judge") || name.contains("tails") {
            let holds = share.low <= MOST_ALARMS;
            bars.hold(holds, format!("A/A, {name}: {number} of {all} suites alarm (at most 1 %)"));
        }
    }
    for (change, least) in CHANGES {
        let (mut found, mut wrong, mut all) = (0, 0, 0);
        for seed in 0..arguments.suites {
            let (_, judgment) = suite(arguments, &kept, &about, seed, Injected::All(change))?;
            for (at, row) in judgment.rows.iter().enumerate() {
                let is_slower = row.answer == BenchmarkAnswer::Slower;
                match at % EACH {
                    0 => found += u64::from(is_slower),
                    _ => wrong += u64::from(is_slower),
                }
            }
            all += arguments.benchmarks.div_ceil(EACH) as u64;
        }
        let share = found as f64 / all as f64;
        let what = format!("+{:.0} %: {:.1} % of {all} found", change * 100.0, share * 100.0);
        bars.hold(
            share >= least,
            format!("{what}, {wrong} others called slower (at least {:.0} %)", least * 100.0),
        );
    }
    let [mut slower, mut reported, mut other] = [0; 3];
    for seed in 0..arguments.suites {
        let (_, judgment) = suite(arguments, &kept, &about, seed, Injected::Mode)?;
        for (at, row) in judgment.rows.iter().enumerate() {
            let is_reported = u64::from(row.tails.is_some());
            match at % EACH {
                0 => {
                    slower += u64::from(row.answer == BenchmarkAnswer::Slower);
                    reported += is_reported;
                }
                _ => other += is_reported,
            }
        }
    }
    println!(
        "{:.0} % of processes +{:.0} %: reported {reported}, called slower {slower}, of {}; others reported {other}",
        100.0 * SLOWER_MODE[0],
        100.0 * SLOWER_MODE[1],
        arguments.suites * arguments.benchmarks.div_ceil(EACH) as u64,
    );
    Ok(bars)
}

fn kept_slots(run: &Run) -> anyhow::Result<Vec<KeptSlots>> {
    let judged =
        run.recordings.iter().find_map(Recording::judged_suite).context("no judged suite")?;
    let mut all = Vec::new();
    for benchmark in &judged.benchmarks {
        let mut rounds: BTreeMap<u32, [Option<SlotSamples>; 2]> = BTreeMap::new();
        for (place, arm) in [ARMS[0], ARMS[2]].into_iter().enumerate() {
            let Some(cell) = run.cell(&benchmark.row_id(arm), &[]) else { continue };
            let samples = cell.samples.samples()?;
            let slots = samples.chunk_by(|a, b| a.worker == b.worker);
            let number = slots.clone().count().max(1);
            for slot in slots {
                let ns = |one: &Sample| one.ns_per_op(cell.ops_per_turn, run.clock.ns_per_tick);
                rounds.entry(slot[0].worker).or_default()[place] = Some(SlotSamples {
                    ns: slot.iter().map(ns).collect(),
                    iterations: slot.iter().map(|one| one.turns).collect(),
                    wall_ns: (cell.wall_ms * 1e6 / number as f64) as u64,
                });
            }
        }
        let whole = rounds.into_values().filter_map(|[base, again]| Some([base?, again?]));
        let rounds: Vec<[SlotSamples; 2]> = whole.collect();
        if !rounds.is_empty() {
            all.push(KeptSlots { rounds });
        }
    }
    Ok(all)
}

/// Judges one suite.
fn suite(
    arguments: &Arguments,
    kept: &[KeptSlots],
    about: &Run,
    seed: u64,
    injected: Injected,
) -> anyhow::Result<(MeasuredSuite, Judgment)> {
    let named = |at: usize| Benchmark {
        name: at.to_string(),
        harness: "kept".into(),
        presence: Presence::Both,
        equal_program: false,
        can_relink: false,
    };
    let now = Rc::new(Cell::new(Duration::ZERO));
    let mut suite = MadeUpSuite {
        benchmarks: (0..arguments.benchmarks).map(named).collect(),
        kept,
        injected,
        seed,
        asked: vec![[0; 3]; arguments.benchmarks],
        now: Rc::clone(&now),
    };
    let plan = ExperimentPlan::new(Duration::from_secs(arguments.budget), seed);
    let measured = measure(&mut suite, plan, &mut MadeUpTime(now));
    let about = About {
        id: about.id.clone(),
        started_unix_ms: about.started_unix_ms,
        wall_ms: 0,
        program: about.program.clone(),
        machine: about.machine.clone(),
    };
    let builds = [JudgedBuild::default(), JudgedBuild::default()];
    let run = measured.to_run(about, builds, Judged::default());
    let judgment = Judgment::from_run(&run).context("no verdict")?;
    Ok((measured, judgment))
}

struct MadeUpSuite<'a> {
    benchmarks: Vec<Benchmark>,
    kept: &'a [KeptSlots],
    injected: Injected,
    seed: u64,
    /// Slots of each arm until now.
    asked: Vec<[u64; 3]>,
    now: Rc<Cell<Duration>>,
}

impl Slots for MadeUpSuite<'_> {
    fn benchmarks(&self) -> &[Benchmark] {
        &self.benchmarks
    }

    fn measure(&mut self, request: &SlotRequest) -> Result<SlotSamples, SlotError> {
        let at: usize = request.benchmark.parse().map_err(|_| SlotError::Nothing)?;
        let rounds = &self.kept[at % self.kept.len()].rounds;
        let asked = &mut self.asked[at][request.arm as usize];
        *asked += 1;
        // The same of a round in all arms.
        let place = ((self.seed << 16) + at as u64) << 20;
        let mut random = fastrand::Rng::with_seed(place + *asked);
        let [own, other] = [0; 2].map(|_| random.usize(..rounds.len()));
        let [first, again] = [0; 2].map(|_| usize::from(random.bool()));
        let mut slot = match request.arm {
            Arm::Base => &rounds[own][first],
            Arm::Head => &rounds[own][1 - first],
            Arm::BaseAgain => &rounds[other][again],
        }
        .clone();
        if request.arm == Arm::Head && at.is_multiple_of(EACH) {
            let by = match self.injected {
                Injected::All(by) => by,
                Injected::Mode if random.f64() < SLOWER_MODE[0] => SLOWER_MODE[1],
                Injected::Mode => 0.0,
            };
            slot.ns.iter_mut().for_each(|ns| *ns *= 1.0 + by);
        }
        self.now.set(self.now.get() + Duration::from_nanos(slot.wall_ns));
        Ok(slot)
    }
}

struct MadeUpTime(Rc<Cell<Duration>>);

impl Surroundings for MadeUpTime {
    fn elapsed(&self) -> Duration {
        self.0.get()
    }

    fn is_stopped(&self) -> bool {
        false
    }

    fn show(&mut self, _: &ExperimentProgress) {}
}

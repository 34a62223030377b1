//! The experiment on a scripted stage: its order, its switches, and what is
//! kept when something goes wrong.

use meter::commands::repeat::Done;
use model::noise::effect::judge::effects;
use model::noise::effect::{Block, Load, Verdict, Wakeups, Workload};
use noise::ab::conduct::{Conducted, Ran, Stage, Stop, conduct};
use noise::ab::control;
use noise::ab::plan::{Here, LEAST_ROUNDS, Length, Plan, PlannedArm, Request, plan};
use noise::ab::toggle::{Toggle, ToggleError, Toggles};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;
use sys::command::Usage;
use sys::counters::{Counts, Event};

/// What one run takes, ms: job, load, arm and how many runs were before it.
type Script = fn(Workload, Load, &str, usize) -> Result<f64, Stop>;

/// One run: job, load, arm and the switches that were on.
type Logged = (Workload, Load, String, Vec<&'static str>);

struct Scripted {
    script: Script,
    now_ms: f64,
    at: Option<(Workload, Load)>,
    arms: Vec<String>,
    runs: usize,
    log: Vec<Logged>,
    on: Rc<RefCell<Vec<&'static str>>>,
    groups: Vec<PathBuf>,
    /// Loads begun and ended.
    loads: (usize, usize),
    interrupt_at: Option<usize>,
}

impl Scripted {
    fn new(script: Script) -> Scripted {
        Scripted {
            script,
            now_ms: 0.0,
            at: None,
            arms: Vec::new(),
            runs: 0,
            log: Vec::new(),
            on: Rc::default(),
            groups: Vec::new(),
            loads: (0, 0),
            interrupt_at: None,
        }
    }
}

impl Stage for Scripted {
    fn begin(&mut self, workload: Workload, load: Load, arms: &[PlannedArm]) -> Result<(), Stop> {
        self.at = Some((workload, load));
        self.arms = arms.iter().map(|arm| arm.name.clone()).collect();
        self.loads.0 += 1;
        Ok(())
    }

    fn run(&mut self, arm: usize, groups: &[PathBuf]) -> Result<Done<Ran>, Stop> {
        let (workload, load) = self.at.expect("begun");
        let name = self.arms[arm].clone();
        if self.interrupt_at == Some(self.runs) {
            return Ok(Done::Interrupted);
        }
        let ms = (self.script)(workload, load, &name, self.runs)?;
        self.runs += 1;
        self.now_ms += ms;
        self.groups = groups.to_vec();
        let on = self.on.borrow().clone();
        self.log.push((workload, load, name.clone(), on));
        Ok(Done::Ended(Ran {
            usage: Usage {
                wall_ns: (ms * 1e6) as u64,
                user_ns: (ms * 5e5) as u64,
                // As in perf-book's appendix; no two rounds alike.
                voluntary: self.runs as u64 % 5 + if name == "pin" { 102 } else { 151 },
                counts: match name.as_str() {
                    "pin" => Counts::default().with(Event::CpuMigrations, 0),
                    _ => Counts::default().with(Event::CpuMigrations, 8 + self.runs as u64 % 4),
                },
                ..Usage::default()
            },
            took_ns: (ms * 1e6) as u64,
            wakeups: (workload == Workload::Wakeup).then(|| Wakeups {
                mean_ns: ms * 1e3,
                ..Wakeups::default()
            }),
        }))
    }

    fn end(&mut self) {
        self.loads.1 += 1;
    }

    fn elapsed_ms(&self) -> u64 {
        self.now_ms as u64
    }
}

/// Switches itself into the list of those that are on.
struct Switch {
    name: &'static str,
    on: Rc<RefCell<Vec<&'static str>>>,
    turns: Cell<usize>,
    /// Turns after which it does not go on, and after which not off.
    goes_on: usize,
    goes_off: usize,
}

impl Toggle for Switch {
    fn on(&mut self) -> Result<Vec<PathBuf>, ToggleError> {
        self.turns.set(self.turns.get() + 1);
        if self.turns.get() > self.goes_on {
            return Err(ToggleError::NotSet("the file is read-only".into()));
        }
        self.on.borrow_mut().push(self.name);
        Ok(vec![format!("/groups/{}", self.name).into()])
    }

    fn off(&mut self) -> Result<(), ToggleError> {
        if self.turns.get() > self.goes_off {
            return Err(ToggleError::NotRestored("the file is gone".into()));
        }
        self.on.borrow_mut().retain(|name| *name != self.name);
        Ok(())
    }
}

const EVER: usize = usize::MAX;

fn switch(
    stage: &Scripted,
    name: &'static str,
    goes_on: usize,
    goes_off: usize,
) -> Toggles<'static> {
    let switch = Switch {
        name,
        on: Rc::clone(&stage.on),
        turns: Cell::new(0),
        goes_on,
        goes_off,
    };
    Toggles::from([(name.to_owned(), Box::new(switch) as Box<dyn Toggle>)])
}

fn request(controls: &[&str], workloads: &[Workload], loads: &[Load], length: Length) -> Request {
    let found = controls.iter().map(|name| control::find(name).expect(name));
    Request {
        controls: found.collect(),
        loads: loads.to_vec(),
        workloads: workloads.to_vec(),
        length,
        job: Duration::from_millis(60),
        busy_per_cpu: 1,
        cpus: vec![0, 1],
        pin: Ok(1),
        switch_ms: BTreeMap::new(),
    }
}

fn planned(controls: &[&str], workloads: &[Workload], loads: &[Load], length: Length) -> Plan {
    let request = request(controls, workloads, loads, length);
    plan(&request, |_, _| Ok(Here::default()))
}

/// The job bound by the core, for so many rounds beside each load.
fn of_cpu(controls: &[&str], rounds: u32) -> Plan {
    planned(
        controls,
        &[Workload::Cpu],
        &ALL_LOADS,
        Length::Rounds(rounds),
    )
}

const ALL_LOADS: [Load; 3] = [Load::None, Load::SameSession, Load::OtherSession];

fn quiet(_: Workload, _: Load, _: &str, before: usize) -> Result<f64, Stop> {
    // A little different each time, in a pattern that no arm fits.
    Ok(60.0 + (before * 37 % 101) as f64 / 10.0)
}

fn counts(block: &Block) -> Vec<usize> {
    block.arms.iter().map(|arm| arm.runs.len()).collect()
}

fn sums(done: &Conducted) -> Vec<usize> {
    let blocks = done.blocks.iter();
    blocks.map(|block| counts(block).iter().sum()).collect()
}

fn run(stage: &mut Scripted, plan: &Plan, toggles: &mut Toggles, seed: u64) -> Conducted {
    conduct(plan, stage, toggles, seed, |_| ())
}

#[test]
fn every_round_has_each_state_once_and_the_next_has_them_the_other_way_round() {
    let plan = planned(
        &["pin", "nice", "fifo"],
        &[Workload::Cpu, Workload::Memory],
        &ALL_LOADS,
        Length::Rounds(8),
    );
    let mut stage = Scripted::new(quiet);
    let done = run(&mut stage, &plan, &mut Toggles::new(), 5);
    assert_eq!(done.partial, None);
    assert_eq!(done.blocks.len(), 6);
    let mut orders = Vec::new();
    for (block, log) in done.blocks.iter().zip(stage.log.chunks(9 * 4)) {
        assert_eq!(counts(block), [8; 4], "warming up counts for nothing");
        let names: Vec<&str> = log.iter().map(|(_, _, name, _)| name.as_str()).collect();
        let of_block = |l: &Logged| (l.0, l.1) == (block.workload, block.load);
        assert!(log.iter().all(of_block));
        let rounds: Vec<&[&str]> = names.chunks(4).collect();
        assert_eq!(rounds[0], ["none", "pin", "nice", "fifo"], "warming up");
        for pair in rounds[1..].chunks(2) {
            let mut sorted = pair[0].to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, ["fifo", "nice", "none", "pin"]);
            let back: Vec<&str> = pair[1].iter().rev().copied().collect();
            assert_eq!(pair[0], back);
        }
        orders.push(names[4..].join(" "));
    }
    assert_eq!(stage.loads, (6, 6));
    orders.sort();
    orders.dedup();
    assert!(orders.len() > 4, "another order in each block: {orders:?}");
    let again = &mut Scripted::new(quiet);
    run(again, &plan, &mut Toggles::new(), 5);
    assert_eq!(again.log, stage.log, "the seed repeats it");
}

#[test]
fn an_effect_is_found_where_it_is() {
    let plan = planned(
        &["pin", "fifo"],
        &[Workload::Cpu, Workload::Wakeup],
        &[Load::None, Load::OtherSession],
        Length::Rounds(16),
    );
    let mut stage = Scripted::new(|workload, load, arm, before| {
        let ms = quiet(workload, load, arm, before)?;
        Ok(match (load, arm) {
            (Load::OtherSession, "fifo") => ms / 3.0,
            _ => ms,
        })
    });
    let done = run(&mut stage, &plan, &mut Toggles::new(), 3);
    let all = effects(&plan.controls, &done.blocks);
    assert_eq!(all.len(), 8);
    for effect in all {
        let what = (effect.control.as_str(), effect.load);
        let expected = match what {
            ("fifo", Load::OtherSession) => Verdict::Better,
            _ => Verdict::NoEffectShown,
        };
        assert_eq!(effect.time.verdict, expected, "{what:?} {:?}", effect.time);
        assert_eq!(effect.rounds, 16);
        if expected == Verdict::Better {
            let ratio = effect.time.ratio.expect("enough");
            assert!(ratio.low < 1.0 / 3.0 && ratio.high > 1.0 / 3.0, "{ratio:?}");
        }
    }
}

#[test]
fn a_switch_is_on_for_its_own_runs_and_for_no_others() {
    let plan = of_cpu(&["thp", "pin"], 7);
    let mut stage = Scripted::new(quiet);
    let mut toggles = switch(&stage, "thp", EVER, EVER);
    let done = run(&mut stage, &plan, &mut toggles, 1);
    assert_eq!(done.partial, None);
    assert_eq!(stage.log.len(), 3 * 3 * 8);
    for (_, _, arm, on) in &stage.log {
        assert_eq!(on.is_empty(), arm != "thp", "{arm} {on:?}");
    }
    assert!(stage.on.borrow().is_empty());
}

#[test]
fn the_job_joins_the_groups_of_its_switch() {
    let mut seen = Vec::new();
    for seed in 0..8 {
        let plan = planned(
            &["shield"],
            &[Workload::Cpu],
            &[Load::None],
            Length::Rounds(1),
        );
        let mut stage = Scripted::new(quiet);
        let mut toggles = switch(&stage, "shield", EVER, EVER);
        run(&mut stage, &plan, &mut toggles, seed);
        let last = stage.log.last().expect("runs").2.clone();
        let joined = match last.as_str() {
            "shield" => vec![PathBuf::from("/groups/shield")],
            _ => Vec::new(),
        };
        assert_eq!(stage.groups, joined);
        seen.push(last);
    }
    assert!(seen.iter().any(|arm| arm == "shield"), "{seen:?}");
}

#[test]
fn a_switch_that_stays_on_ends_everything_and_is_named() {
    let plan = of_cpu(&["thp"], 8);
    let mut stage = Scripted::new(quiet);
    // Nine turns in the first block, then the warming up and three rounds.
    let mut toggles = switch(&stage, "thp", EVER, 13);
    let done = run(&mut stage, &plan, &mut toggles, 4);
    let why = done.partial.clone().expect("not whole");
    let said = "can't switch thp off: the file is gone";
    assert!(why.contains(said), "{why}");
    assert!(why.contains("latlas noise restore"), "{why}");
    assert_eq!(done.blocks.len(), 2, "the third was not begun");
    assert_eq!(counts(&done.blocks[0]), [8, 8]);
    let thp = counts(&done.blocks[1])[1];
    assert_eq!(thp, 3, "the run of that turn does not count");
    assert_eq!(stage.loads, (2, 2));
}

#[test]
fn a_switch_that_does_not_go_on_any_more_is_left_out_and_the_others_go_on() {
    let plan = of_cpu(&["thp", "pin"], 8);
    let mut stage = Scripted::new(quiet);
    let mut toggles = switch(&stage, "thp", 6, EVER);
    let done = run(&mut stage, &plan, &mut toggles, 4);
    let why = done.partial.expect("not whole");
    let first = "cpu with no load: thp left out after 5 runs: can't switch thp on: the file is \
                 read-only";
    assert!(why.starts_with(first), "{why}");
    let begun = why.matches("can't switch thp on").count();
    assert_eq!(begun, 3);
    // None, thp and pin: the last has all its rounds.
    assert_eq!(counts(&done.blocks[0]), [8, 5, 8]);
    assert_eq!(counts(&done.blocks[2]), [8, 0, 8]);
    let effects = effects(&plan.controls, &done.blocks);
    let rounds: Vec<u32> = effects.iter().map(|effect| effect.rounds).collect();
    assert_eq!(rounds, [5, 0, 0, 8, 8, 8]);
}

#[test]
fn one_job_that_does_not_start_leaves_its_control_out_alone() {
    let plan = of_cpu(&["fifo", "pin"], 8);
    let mut stage = Scripted::new(|workload, load, arm, before| match (arm, before) {
        ("fifo", 20..) => Err(Stop::Arm("no more processes".into())),
        _ => quiet(workload, load, arm, before),
    });
    let done = run(&mut stage, &plan, &mut Toggles::new(), 4);
    let why = done.partial.expect("not whole");
    assert!(why.contains("no more processes"), "{why}");
    for block in &done.blocks {
        let [none, fifo, pin] = counts(block)[..] else {
            panic!("three");
        };
        assert!(none == 8 && pin == 8 && fifo < 8, "{none} {fifo} {pin}");
    }
}

#[test]
fn a_switch_is_off_again_after_a_job_that_failed() {
    let plan = of_cpu(&["thp"], 8);
    let mut stage = Scripted::new(|_, _, arm, before| match (arm, before) {
        ("thp", 5..) => Err(Stop::Block("the job was killed by SIGKILL".into())),
        _ => Ok(60.0),
    });
    let mut toggles = switch(&stage, "thp", EVER, EVER);
    let done = run(&mut stage, &plan, &mut toggles, 4);
    assert!(done.partial.expect("not whole").contains("SIGKILL"));
    assert!(stage.on.borrow().is_empty());
    assert!(!done.blocks[0].arms[1].runs.is_empty());
}

#[test]
fn a_load_that_dies_ends_its_block_and_the_whole_rounds_before_count() {
    let plan = of_cpu(&["pin"], 16);
    let mut stage = Scripted::new(|workload, load, arm, before| match (load, before) {
        // After 34 runs of the first block: in the second's sixteenth round.
        (Load::SameSession, 67..) => Err(Stop::Block("process 7 of the load ended".into())),
        _ => quiet(workload, load, arm, before),
    });
    let done = run(&mut stage, &plan, &mut Toggles::new(), 9);
    assert_eq!(
        done.partial.as_deref(),
        Some("cpu with a load in the same session: process 7 of the load ended")
    );
    assert_eq!(sums(&done), [32, 31, 32]);
    let effects = effects(&plan.controls, &done.blocks);
    let rounds: Vec<u32> = effects.iter().map(|effect| effect.rounds).collect();
    assert_eq!(rounds, [16, 15, 16]);
    assert_eq!(stage.loads, (3, 3));
}

#[test]
fn an_interruption_keeps_what_is_there_and_begins_nothing_more() {
    let plan = of_cpu(&["pin"], 8);
    let mut stage = Scripted::new(quiet);
    stage.interrupt_at = Some(18 + 2 + 5);
    let done = run(&mut stage, &plan, &mut Toggles::new(), 9);
    assert_eq!(sums(&done), [16, 5]);
    assert!(done.partial.expect("not whole").starts_with("interrupted"));
    assert_eq!(stage.loads, (2, 2), "the load that was there has ended");

    let mut at_once = Scripted::new(quiet);
    at_once.interrupt_at = Some(0);
    let done = run(&mut at_once, &plan, &mut Toggles::new(), 9);
    assert!(done.blocks.is_empty() && done.partial.is_some());
}

#[test]
fn what_is_left_out_does_not_end_a_block_that_has_a_time() {
    let length = Length::Time(Duration::from_secs(20));
    let plan = planned(&["thp", "pin"], &[Workload::Cpu], &ALL_LOADS, length);
    let mut stage = Scripted::new(quiet);
    let mut toggles = switch(&stage, "thp", 3, EVER);
    let done = run(&mut stage, &plan, &mut toggles, 9);
    for (k, block) in done.blocks.iter().enumerate() {
        let thp = if k == 0 { 2 } else { 0 };
        assert_eq!(counts(block)[1], thp);
        assert!(
            counts(block)[0] > 10 && counts(block)[2] > 10,
            "{:?}",
            counts(block)
        );
    }
}

#[test]
fn a_time_ends_each_block_with_its_share() {
    let length = Length::Time(Duration::from_secs(20));
    let plan = planned(&["pin"], &[Workload::Cpu], &ALL_LOADS, length);
    // Twice as slow as expected.
    let mut stage = Scripted::new(|_, load, _, _| {
        Ok(match load {
            Load::None => 120.0,
            _ => 240.0,
        })
    });
    let done = run(&mut stage, &plan, &mut Toggles::new(), 9);
    assert_eq!(done.partial, None);
    let took_ms = stage.now_ms;
    assert!((18_000.0..=20_000.0).contains(&took_ms), "{took_ms}");
    for block in &done.blocks {
        assert!(counts(block)[0] > LEAST_ROUNDS as usize, "{block:?}");
        assert!(counts(block)[0] < plan.rounds as usize, "{block:?}");
    }
    // However slow, the time is kept: then nothing can be shown, and that is
    // said.
    let mut slow = Scripted::new(|_, _, _, _| Ok(10_000.0));
    let done = run(&mut slow, &plan, &mut Toggles::new(), 9);
    assert_eq!(slow.now_ms, 20_000.0);
    assert!(done.blocks.is_empty());
    assert!(done.cut.expect("said").contains(": 0 of "));
}

/// What is announced without a word on the length.
fn usual(controls: &[&str]) -> Plan {
    planned(controls, &[Workload::Cpu], &ALL_LOADS, Length::Usual)
}

#[test]
fn the_time_announced_is_kept_by_fewer_rounds_and_that_is_said() {
    let plan = usual(&["pin", "fifo"]);
    let mut stage =
        Scripted::new(|workload, load, arm, before| Ok(2.0 * quiet(workload, load, arm, before)?));
    let done = run(&mut stage, &plan, &mut Toggles::new(), 9);
    assert_eq!((done.partial, done.blocks.len()), (None, 3));
    let (took_ms, announced_ms) = (stage.now_ms, plan.expected_ms as f64);
    assert!(took_ms <= announced_ms, "{took_ms} of {announced_ms}");
    assert!(took_ms > 0.8 * announced_ms, "{took_ms} of {announced_ms}");
    let cut = done.cut.expect("said");
    assert!(cut.contains("of 24 rounds fit"), "{cut}");
    for block in &done.blocks {
        let counts = counts(block);
        assert!(
            counts.iter().all(|&n| n == counts[0]),
            "whole rounds: {counts:?}"
        );
    }
    // Who asks for a number of rounds gets them.
    let mut slow = Scripted::new(|_, _, _, _| Ok(10_000.0));
    let done = run(&mut slow, &of_cpu(&["pin"], 8), &mut Toggles::new(), 9);
    assert_eq!((sums(&done), done.cut), (vec![16; 3], None));
}

#[test]
fn the_fewest_rounds_of_a_long_command_fit_though_it_runs_slower_than_when_tried() {
    let request = Request {
        job: Duration::from_secs(5),
        ..request(
            &["pin", "nice"],
            &[Workload::Command],
            &[Load::None],
            Length::Usual,
        )
    };
    let plan = plan(&request, |_, _| Ok(Here::default()));
    assert_eq!((plan.rounds, plan.least_rounds), (9, 9));
    let mut stage = Scripted::new(|_, _, arm, _| Ok(if arm == "pin" { 4500.0 } else { 5050.0 }));
    let done = run(&mut stage, &plan, &mut Toggles::new(), 9);
    assert_eq!((counts(&done.blocks[0]), done.cut), (vec![9; 3], None));
    assert!(stage.now_ms as u64 <= plan.most_ms.expect("announced"));
    let pin = &effects(&plan.controls, &done.blocks)[0];
    assert_eq!(pin.time.verdict, Verdict::Better, "{:?}", pin.time);
    // Much slower: the time announced is kept.
    let mut stage = Scripted::new(|_, _, _, _| Ok(6000.0));
    let done = run(&mut stage, &plan, &mut Toggles::new(), 9);
    assert_eq!(counts(&done.blocks[0]), [8; 3]);
    assert!(done.cut.expect("said").contains(": 8 of 9 rounds"));
}

#[test]
fn a_round_that_outlasts_the_time_is_discarded() {
    let plan = planned(
        &["pin", "fifo"],
        &[Workload::Cpu],
        &[Load::None],
        Length::Usual,
    );
    let mut stage = Scripted::new(|workload, load, arm, before| match before {
        // The second run of the fourth round, after the warm-up.
        13 => Ok(plan_ms()),
        _ => quiet(workload, load, arm, before),
    });
    let done = run(&mut stage, &plan, &mut Toggles::new(), 9);
    assert_eq!(counts(&done.blocks[0]), [3; 3]);
    assert!(done.cut.expect("said").contains(": 3 of 24 rounds"));
}

/// Far more than any plan here.
fn plan_ms() -> f64 {
    1e6
}

#[test]
fn a_command_is_judged_on_switches_and_migrations_too() {
    let length = Length::Rounds(16);
    let plan = planned(
        &["pin", "nice"],
        &[Workload::Command],
        &[Load::None],
        length,
    );
    let mut stage = Scripted::new(quiet);
    let done = run(&mut stage, &plan, &mut Toggles::new(), 9);
    let all = effects(&plan.controls, &done.blocks);
    assert_eq!(all.len(), 2);
    for effect in &all {
        let expected = match effect.control.as_str() {
            "pin" => Verdict::Better,
            _ => Verdict::NoEffectShown,
        };
        let switches = effect.switches.as_ref().expect("counted");
        let migrations = effect.migrations.as_ref().expect("counted");
        assert_eq!(switches.verdict, expected, "{switches:?}");
        assert_eq!(migrations.verdict, expected, "{migrations:?}");
        assert_eq!(effect.time.verdict, Verdict::NoEffectShown);
        // Without an effect: what could have been seen.
        let least = effect.time.smallest.expect("sixteen rounds");
        assert!((0.02..0.2).contains(&least), "{least}");
        assert!(
            switches.smallest.is_some_and(|n| n > 0.0 && n < 30.0),
            "{switches:?}"
        );
    }
}

//! The experiment on a scripted stage: its order, its switches, and what is
//! kept when something goes wrong.

use super::stage::{EVER, Logged, Script, ScriptedStage, quiet, switch};
use super::{ALL_LOADS, request};
use model::noise::effect::judge::effects;
use model::noise::effect::{Block, Load, Workload};
use noise::ab::conduct::{Conducted, Stop, conduct};
use noise::ab::planned::{AbPlan, AbRequest, Length};
use noise::ab::toggle::{ToggleError, Toggles, rehearse};
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

const BETTER: &str = "better";
const NONE: &str = "no effect shown";

fn planned(controls: &[&str], workloads: &[Workload], loads: &[Load], length: Length) -> AbPlan {
    super::planned(&request(controls, workloads, loads, length))
}

/// The job bound by the core, for so many rounds under each load.
fn of_cpu(controls: &[&str], rounds: u32) -> AbPlan {
    planned(controls, &[Workload::Cpu], &ALL_LOADS, Length::Rounds(rounds))
}

fn runs_by_arm(block: &Block) -> Vec<usize> {
    block.arms.iter().map(|arm| arm.runs.len()).collect()
}

fn conduct_scripted(
    stage: &mut ScriptedStage,
    plan: &AbPlan,
    toggles: &mut Toggles,
    seed: u64,
) -> Conducted {
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
    let mut stage = ScriptedStage::new(quiet);
    let done = conduct_scripted(&mut stage, &plan, &mut Toggles::new(), 5);
    assert_eq!(done.partial, None);
    assert_eq!(done.blocks.len(), 6);
    let mut orders = Vec::new();
    for (block, log) in done.blocks.iter().zip(stage.log.chunks(9 * 4)) {
        assert_eq!(runs_by_arm(block), [8; 4], "warming up counts for nothing");
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
    let again = &mut ScriptedStage::new(quiet);
    conduct_scripted(again, &plan, &mut Toggles::new(), 5);
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
    let mut stage = ScriptedStage::new(|workload, load, arm, before| {
        let ms = quiet(workload, load, arm, before)?;
        Ok(match (load, arm) {
            (Load::OtherSession, "fifo") => ms / 3.0,
            _ => ms,
        })
    });
    let done = conduct_scripted(&mut stage, &plan, &mut Toggles::new(), 3);
    let all = effects(&plan.controls, &done.blocks);
    assert_eq!(all.len(), 8);
    for effect in all {
        let what = (effect.control.as_str(), effect.load);
        let expected = match what {
            ("fifo", Load::OtherSession) => BETTER,
            _ => NONE,
        };
        assert_eq!(effect.time.word(), expected, "{what:?} {:?}", effect.time);
        assert_eq!(effect.rounds, 16);
        if expected == BETTER {
            let ratio = effect.time.found.ratio.expect("enough");
            assert!(ratio.low < 1.0 / 3.0 && ratio.high > 1.0 / 3.0, "{ratio:?}");
        }
    }
}

#[test]
fn a_switch_is_on_for_its_own_runs_and_for_no_others() {
    let plan = of_cpu(&["thp", "pin"], 7);
    let mut stage = ScriptedStage::new(quiet);
    let mut toggles = switch(&stage, "thp", EVER, EVER);
    let done = conduct_scripted(&mut stage, &plan, &mut toggles, 1);
    assert_eq!(done.partial, None);
    assert_eq!(stage.log.len(), 3 * 3 * 8);
    for (_, _, arm, on) in &stage.log {
        assert_eq!(on.is_empty(), arm != "thp", "{arm} {on:?}");
    }
    assert!(stage.on.borrow().is_empty());
}

#[test]
fn what_does_not_go_on_is_taken_out_and_what_stays_on_ends_it() {
    let stage = ScriptedStage::new(quiet);
    let mut toggles = switch(&stage, "governor", 0, EVER);
    toggles.extend(switch(&stage, "thp", EVER, EVER));
    let rehearsed = rehearse(&mut toggles).expect("all are off");
    let refused = rehearsed.refused["governor"].to_string();
    assert_eq!(refused, "the file is read-only");
    assert_eq!(rehearsed.took_ms.keys().collect::<Vec<_>>(), ["thp"]);
    assert_eq!(toggles.keys().collect::<Vec<_>>(), ["thp"]);
    assert!(stage.on.borrow().is_empty());
    toggles.extend(switch(&stage, "turbo", EVER, 0));
    let error = rehearse(&mut toggles).expect_err("turbo");
    assert!(matches!(error, ToggleError::StillOn { name, .. } if name == "turbo"));
}

#[test]
fn the_job_joins_the_groups_of_its_switch() {
    let mut seen = Vec::new();
    for seed in 0..8 {
        let plan = planned(&["shield"], &[Workload::Cpu], &[Load::None], Length::Rounds(1));
        let mut stage = ScriptedStage::new(quiet);
        let mut toggles = switch(&stage, "shield", EVER, EVER);
        conduct_scripted(&mut stage, &plan, &mut toggles, seed);
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

/// What becomes of an experiment in which something goes wrong, or takes
/// longer than expected.
struct ConductCase<'a> {
    name: &'a str,
    plan: AbPlan,
    script: Script,
    /// Turns after which `thp` does not go on, and after which not off.
    thp: Option<(usize, usize)>,
    interrupt_at: Option<usize>,
}

impl<'a> ConductCase<'a> {
    fn new(name: &'a str, plan: AbPlan, script: Script) -> ConductCase<'a> {
        ConductCase { name, plan, script, thp: None, interrupt_at: None }
    }

    /// Runs of each arm, rounds of each effect, times and reasons.
    fn outcome(self, page: &mut String) -> Conducted {
        let ConductCase { name, plan, .. } = self;
        let mut stage = ScriptedStage::new(self.script);
        stage.interrupt_at = self.interrupt_at;
        let mut toggles = match self.thp {
            None => Toggles::new(),
            Some((goes_on, goes_off)) => switch(&stage, "thp", goes_on, goes_off),
        };
        let done = conduct_scripted(&mut stage, &plan, &mut toggles, 4);
        let of = plan.most_ms.map_or(String::new(), |ms| format!(" of {ms} ms"));
        let (begun, ended) = stage.loads;
        let on = stage.on.borrow().join(" ");
        assert!(begun <= ended, "{name}: each load that was there has ended");
        writeln!(page, "\n{name}: {} ms{of}, {begun} blocks; on: {on}", stage.now_ms)
            .expect("text");
        for block in &done.blocks {
            let arms = block.arms.iter();
            let arms: Vec<String> =
                arms.map(|arm| format!("{} {}", arm.name, arm.runs.len())).collect();
            let (workload, load) = (block.workload.name(), block.load.in_words());
            writeln!(page, "  {workload} {load}: {}", arms.join(", ")).expect("text");
        }
        let effects = effects(&plan.controls, &done.blocks);
        let rounds: Vec<String> = effects.iter().map(|e| e.rounds.to_string()).collect();
        writeln!(page, "  rounds of effects: {}", rounds.join(" ")).expect("text");
        for reason in [&done.partial, &done.cut].into_iter().flatten() {
            writeln!(page, "  {}", reason.replace("; ", "\n    ")).expect("text");
        }
        done
    }
}

#[test]
fn what_is_kept_when_something_goes_wrong() {
    let mut page = String::new();
    let page = &mut page;
    // Nine turns in the first block, then the warming up and three rounds: the
    // run of that turn does not count, and the third block is not begun.
    let stays_on = ConductCase::new("a switch that stays on", of_cpu(&["thp"], 8), quiet);
    let thp = Some((EVER, 13));
    ConductCase { thp, ..stays_on }.outcome(page);
    // The others have all their rounds.
    let plan = of_cpu(&["thp", "pin"], 8);
    let stays_off = ConductCase::new("a switch that does not go on any more", plan, quiet);
    let thp = Some((6, EVER));
    ConductCase { thp, ..stays_off }.outcome(page);
    let plan = of_cpu(&["fifo", "pin"], 8);
    let not_started = |workload, load, arm: &str, before| match (arm, before) {
        ("fifo", 20..) => Err(Stop::Arm("no more processes".into())),
        _ => quiet(workload, load, arm, before),
    };
    ConductCase::new("a job that does not start", plan, not_started).outcome(page);
    // Its switch is off again.
    let fails = |_, _, arm: &str, before| match (arm, before) {
        ("thp", 5..) => Err(Stop::Block("the job was killed by SIGKILL".into())),
        _ => Ok(60.0),
    };
    let failed = ConductCase::new("a job that fails", of_cpu(&["thp"], 8), fails);
    let thp = Some((EVER, EVER));
    ConductCase { thp, ..failed }.outcome(page);
    // After 34 runs of the first block: in the second's sixteenth round.
    let load_dies = |workload, load, arm: &str, before| match (load, before) {
        (Load::SameSession, 67..) => Err(Stop::Block("process 7 of the load ended".into())),
        _ => quiet(workload, load, arm, before),
    };
    ConductCase::new("a load that dies", of_cpu(&["pin"], 16), load_dies).outcome(page);
    for interrupt_at in [0, 18 + 2 + 5] {
        let interrupted = ConductCase::new("an interruption", of_cpu(&["pin"], 8), quiet);
        ConductCase { interrupt_at: Some(interrupt_at), ..interrupted }.outcome(page);
    }
    insta::assert_snapshot!(page);
}

#[test]
fn fewer_rounds_keep_the_announced_time_and_are_reported() {
    let mut page = String::new();
    let page = &mut page;
    let seconds = |seconds| Length::Time(Duration::from_secs(seconds));
    let cpu = |controls: &[&str], length| planned(controls, &[Workload::Cpu], &ALL_LOADS, length);
    let left_out = ConductCase::new("left out", cpu(&["thp", "pin"], seconds(20)), quiet);
    let thp = Some((3, EVER));
    ConductCase { thp, ..left_out }.outcome(page);
    // Each block has its share.
    let twice = |_, load, _: &str, _| match load {
        Load::None => Ok(120.0),
        _ => Ok(240.0),
    };
    ConductCase::new("twice as slow", cpu(&["pin"], seconds(20)), twice).outcome(page);
    let usual = cpu(&["pin", "fifo"], Length::Usual);
    let twice = |workload, load, arm: &str, before| Ok(2.0 * quiet(workload, load, arm, before)?);
    ConductCase::new("the usual length, twice as slow", usual, twice).outcome(page);
    // However slow, the time is kept: then nothing can be shown. Asking for a
    // number of rounds gets them.
    let slow = |_, _, _: &str, _| Ok(10_000.0);
    ConductCase::new("far slower", cpu(&["pin"], seconds(20)), slow).outcome(page);
    ConductCase::new("far slower, eight rounds", of_cpu(&["pin"], 8), slow).outcome(page);
    // The fewest rounds of a long command fit though it runs slower than when
    // tried; not where that is much slower.
    let command = planned_command(&["pin", "nice"], Length::Usual, Duration::from_secs(5));
    let slower = |_, _, arm: &str, _| Ok(if arm == "pin" { 4500.0 } else { 5050.0 });
    let case = ConductCase::new("a command of 5 s, slower", command.clone(), slower);
    let pin = effects(&command.controls, &case.outcome(page).blocks).remove(0);
    assert_eq!(pin.time.word(), BETTER, "{:?}", pin.time);
    let much_slower = |_, _, _: &str, _| Ok(6000.0);
    ConductCase::new("a command of 5 s, much slower", command, much_slower).outcome(page);
    // The second run of the fourth round, after the warm-up.
    let one = [Load::None];
    let plan = planned(&["pin", "fifo"], &[Workload::Cpu], &one, Length::Usual);
    let outlasts = |workload, load, arm: &str, before| match before {
        13 => Ok(1e6),
        _ => quiet(workload, load, arm, before),
    };
    ConductCase::new("a round that outlasts the time", plan, outlasts).outcome(page);
    insta::assert_snapshot!(page);
}

fn planned_command(controls: &[&str], length: Length, job: Duration) -> AbPlan {
    super::planned(&AbRequest {
        job,
        ..request(controls, &[Workload::Command], &[Load::None], length)
    })
}

#[test]
fn a_command_is_judged_on_switches_and_migrations_too() {
    let job = Duration::from_millis(60);
    let plan = planned_command(&["pin", "nice"], Length::Rounds(16), job);
    let mut stage = ScriptedStage::new(quiet);
    let done = conduct_scripted(&mut stage, &plan, &mut Toggles::new(), 9);
    let all = effects(&plan.controls, &done.blocks);
    assert_eq!(all.len(), 2);
    for effect in &all {
        let expected = match effect.control.as_str() {
            "pin" => BETTER,
            _ => NONE,
        };
        let switches = effect.switches.as_ref().expect("counted");
        let migrations = effect.migrations.as_ref().expect("counted");
        assert_eq!(switches.word(), expected, "{switches:?}");
        assert_eq!(migrations.word(), expected, "{migrations:?}");
        assert_eq!(effect.time.word(), NONE);
        // Without an effect: what could have been seen.
        let least = effect.time.smallest().expect("sixteen rounds");
        assert!((0.02..0.2).contains(&least), "{least}");
        assert!(switches.smallest().is_some_and(|n| n > 0.0 && n < 30.0), "{switches:?}");
    }
}

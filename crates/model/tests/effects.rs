//! What is said of controls, simulated: with no effect anywhere at most one
//! table in twenty says anything, and effects that are there are found.

mod dice;

use dice::Dice;
use model::noise::effect::judge::effects;
use model::noise::effect::{Block, Control, EffectArm, Load, OneRun, Wakeups, Workload};

const BETTER: &str = "better";
const NONE: &str = "no effect shown";
const CONTROLS: [&str; 3] = ["pin", "nice", "fifo"];
const BLOCKS: [(Workload, Load); 3] = [
    (Workload::Cpu, Load::None),
    (Workload::Memory, Load::SameSession),
    (Workload::Wakeup, Load::OtherSession),
];

fn controls() -> Vec<Control> {
    let control = |name: &&str| Control {
        name: (*name).into(),
        on: "on".into(),
        off: "off".into(),
        on_arm: (*name).into(),
        off_arm: "none".into(),
        needs: None,
        apply: String::new(),
        unavailable: None,
    };
    CONTROLS.iter().map(control).collect()
}

/// Runs of so many rounds: what a round shares (a wandering machine), what
/// each run has of its own, skewed, and in one run of ten a long stop.
/// `time` and `spread` are what each arm does to them.
fn blocks(random: &mut Dice, rounds: usize, time: [f64; 4], spread: [f64; 4]) -> Vec<Block> {
    let block = |&(workload, load): &(Workload, Load)| {
        let mut arms: Vec<EffectArm> = ["none"]
            .iter()
            .chain(&CONTROLS)
            .map(|name| EffectArm { name: (*name).into(), runs: Vec::new() })
            .collect();
        let mut wander = 0.0;
        for _ in 0..rounds {
            wander = 0.8 * wander + 0.05 * random.normal();
            for (k, arm) in arms.iter_mut().enumerate() {
                let own = 0.1 * random.normal().abs() + 0.05 * random.normal();
                let stop = if random.uniform() < 0.1 { 0.5 } else { 0.0 };
                let ns = time[k] * 6e7 * (wander + spread[k] * (own + stop)).exp();
                arm.runs.push(one_run(workload, ns));
            }
        }
        Block { workload, load, arms }
    };
    BLOCKS.iter().map(block).collect()
}

fn one_run(workload: Workload, ns: f64) -> OneRun {
    let wakeups = Wakeups { count: 200, mean_ns: ns / 1e3, ..Wakeups::default() };
    OneRun {
        took_ns: match workload {
            // What the sleeper is judged by must not be this.
            Workload::Wakeup => 1,
            _ => ns as u64,
        },
        wakeups: (workload == Workload::Wakeup).then_some(wakeups),
        ..OneRun::default()
    }
}

#[test]
fn nothing_is_found_where_there_is_nothing() {
    const TABLES: u32 = 400;
    let mut random = Dice(7);
    let (mut alarmed, mut alone) = (0_u32, 0_u32);
    for _ in 0..TABLES {
        let blocks = blocks(&mut random, 14, [1.0; 4], [1.0; 4]);
        let all = effects(&controls(), &blocks);
        assert_eq!(all.len(), CONTROLS.len() * BLOCKS.len());
        let changes = || all.iter().flat_map(|e| [&e.time, &e.spread]);
        let found = changes().any(|c| c.word() != NONE);
        let tempting = changes().any(|c| c.found.p_value.is_some_and(|p| p <= 0.05));
        alarmed += u32::from(found);
        alone += u32::from(tempting);
    }
    // 5 % and three standard errors of it.
    let share = f64::from(alarmed) / f64::from(TABLES);
    assert!(share <= 0.05 + 3.0 * (0.05 * 0.95 / 400.0_f64).sqrt(), "{share}");
    let tempted = f64::from(alone) / f64::from(TABLES);
    assert!(tempted > 0.3, "one by one many would be: {tempted}");
}

#[test]
fn what_is_there_is_found_and_the_rest_is_not() {
    let mut random = Dice(11);
    let (mut nice, mut fifo, mut wrong) = (0, 0, 0.0);
    const TABLES: usize = 200;
    for _ in 0..TABLES {
        // Pinning does nothing, nice shortens, FIFO shortens and steadies.
        let blocks = blocks(&mut random, 16, [1.0, 1.0, 0.15, 0.15], [3.0, 3.0, 3.0, 0.3]);
        let (mut all, mut false_ones) = (0, 0);
        for effect in effects(&controls(), &blocks) {
            let found = [effect.time.word(), effect.spread.word()];
            all += found.iter().filter(|&&v| v != NONE).count();
            let may_be = match effect.control.as_str() {
                "pin" => [NONE; 2],
                "nice" => [BETTER, NONE],
                _ => [BETTER; 2],
            };
            false_ones += found
                .iter()
                .zip(may_be)
                .filter(|&(&found, may_be)| found != NONE && found != may_be)
                .count();
            match effect.control.as_str() {
                "pin" => {}
                "nice" => nice += usize::from(found[0] == BETTER),
                _ => fifo += usize::from(found == [BETTER; 2]),
            }
            let ratio = effect.time.found.ratio.expect("sixteen rounds");
            assert!(ratio.low <= ratio.value && ratio.value <= ratio.high);
        }
        wrong += false_ones as f64 / all.max(1) as f64;
    }
    let cells = TABLES * BLOCKS.len();
    assert!(nice >= cells * 95 / 100, "{nice} of {cells}");
    assert!(fifo >= cells * 80 / 100, "{fifo} of {cells}");
    // What the procedure promises: the mean share of false ones among those found.
    let share = wrong / TABLES as f64;
    assert!(share <= 0.05, "{share}");
}

#[test]
fn an_interval_holds_one_exactly_where_nothing_is_reported() {
    let mut random = Dice(3);
    let mut found = 0;
    for step in 0..12 {
        let on = 1.0 - 0.05 * f64::from(step);
        let blocks = blocks(&mut random, 14, [1.0, on, 1.0, on], [1.0, 1.0, on, 0.3]);
        for effect in effects(&controls(), &blocks) {
            for change in [&effect.time, &effect.spread] {
                let ratio = change.found.ratio.expect("fourteen rounds");
                let holds_one = ratio.low <= 1.0 && ratio.high >= 1.0;
                assert_eq!(holds_one, change.word() == NONE, "{change:?}");
                found += usize::from(!holds_one);
            }
        }
    }
    assert!(found > 50, "{found}");
}

#[test]
fn few_rounds_give_no_verdict() {
    let mut random = Dice(5);
    let blocks = blocks(&mut random, 5, [1.0, 0.2, 0.2, 0.2], [1.0; 4]);
    for effect in effects(&controls(), &blocks) {
        assert_eq!(effect.time.word(), "inconclusive");
        assert_eq!(effect.time.found.ratio, None);
        assert_eq!(effect.rounds, 5);
    }
}

#[test]
fn a_control_without_runs_has_no_effect_and_an_odd_round_is_left_out() {
    let mut random = Dice(9);
    let mut blocks = blocks(&mut random, 14, [1.0; 4], [1.0; 4]);
    blocks[0].arms.retain(|arm| arm.name != "nice");
    blocks[1].arms[0].runs.pop();
    let all = effects(&controls(), &blocks);
    assert_eq!(all.len(), 8);
    let rounds: Vec<u32> = all.iter().map(|e| e.rounds).collect();
    assert_eq!(rounds, [14, 13, 14, 13, 14, 14, 13, 14]);
}

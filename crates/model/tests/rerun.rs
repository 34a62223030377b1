//! How often a rerun's quiet figure in ns lies inside the interval of the run
//! before it, where the core's clock moves between runs: with what stored runs
//! say of that, and without. Run with `--nocapture` for the shares.

#[path = "dice/mod.rs"]
mod dice;
#[path = "judged/mod.rs"]
mod judged;

use dice::Dice;
use model::core_clock::{ClockMovement, MovementSource};
use model::estimate::{Quiet, Verdict};
use model::gate::Gate;
use model::machine_readings::MachineReadings;
use model::movement::StoredFigure;
use model::run::{Bound, Regime};

const CYCLE_NS: f64 = 0.25;
/// Operations of the row take so many cycles.
const CYCLES: f64 = 20.0;
const MACHINES: usize = 60;
const RERUNS: usize = 20;

/// How the clock of a machine moves: its logarithm in each of so many runs,
/// five minutes apart.
type Moves = fn(&mut Dice, usize) -> Vec<f64>;

fn each_anew(dice: &mut Dice, runs: usize) -> Vec<f64> {
    (0..runs).map(|_| 0.03 * dice.normal()).collect()
}

/// With a memory of half an hour.
fn slowly(dice: &mut Dice, runs: usize) -> Vec<f64> {
    let keep = (-1.0_f64 / 6.0).exp();
    let mut at = dice.normal();
    let mut step = || {
        at = keep * at + (1.0 - keep * keep).sqrt() * dice.normal();
        0.05 * at
    };
    (0..runs).map(|_| step()).collect()
}

/// Two clocks, 2.6 and 3.0 GHz.
fn two_clocks(dice: &mut Dice, runs: usize) -> Vec<f64> {
    let mut of_run = || {
        if dice.uniform() < 0.3 { (3.0_f64 / 2.6).ln() } else { 0.0 }
    };
    (0..runs).map(|_| of_run()).collect()
}

fn hardly(dice: &mut Dice, runs: usize) -> Vec<f64> {
    (0..runs).map(|_| 0.002 * dice.normal()).collect()
}

/// The quiet figure of one run at such a clock.
fn quiet(dice: &mut Dice, ln_clock: f64, movement: Option<ClockMovement>) -> Quiet {
    let cycle_ns = CYCLE_NS * ln_clock.exp();
    let mut samples = Vec::new();
    for worker in 0..8 {
        let own = 1.0 + 0.002 * dice.normal();
        for k in 0..10 {
            let cycles = CYCLES * own * (1.0 + 0.003 * dice.normal());
            let cycle_ns = cycle_ns * (1.0 + 0.002 * dice.normal());
            samples.push(judged::sample(worker, k * 900, cycles * cycle_ns, cycle_ns));
        }
    }
    let readings = MachineReadings::from_samples(&samples);
    let gate = Gate { multiply_ratio: Some(3.0), ..readings.gate(Some(1.0)) };
    let mut clock = readings.core_clock().expect("a clock");
    clock.between_runs = movement;
    let (bound, regime) = (Bound::Core, Regime::Gated);
    let found = judged::judge_at(&samples, &gate, Some(&clock), bound, regime, &[]);
    assert_eq!(found.verdict, Verdict::Ok, "{}", found.reason);
    found.quiet.expect("a quiet figure")
}

/// What stored runs five minutes apart say of the clock.
fn movement(ln_clocks: &[f64]) -> ClockMovement {
    let clocks = ln_clocks.iter().enumerate().map(|(k, ln)| StoredFigure {
        started_unix_ms: k as u64 * 300_000,
        ns: CYCLE_NS * ln.exp(),
    });
    ClockMovement::from_clocks(&clocks.collect::<Vec<_>>())
}

/// Share of the reruns, within the hour, whose figure lies inside the interval
/// of a run that so many stored ones came before.
fn covered(moves: Moves, stored: usize, widened: bool) -> f64 {
    let mut dice = Dice(17);
    let mut inside = 0;
    for _ in 0..MACHINES {
        let clocks = moves(&mut dice, stored + 1 + 12);
        let known = movement(&clocks[..stored]);
        let first = quiet(&mut dice, clocks[stored], widened.then_some(known));
        for k in 0..RERUNS {
            let rerun = quiet(&mut dice, clocks[stored + 1 + k % 12], None);
            inside += usize::from((first.ns.low..=first.ns.high).contains(&rerun.ns.value));
        }
    }
    inside as f64 / (MACHINES * RERUNS) as f64
}

#[test]
fn of_ten_reruns_within_the_hour_nine_lie_inside() {
    let cases: [(&str, Moves); 3] =
        [("each run anew, 3 %", each_anew), ("slowly, 5 %", slowly), ("two clocks", two_clocks)];
    for (name, moves) in cases {
        for stored in [6, 12, 40] {
            let (with, without) = (covered(moves, stored, true), covered(moves, stored, false));
            println!("{name:<20} {stored:>2} stored: {with:.3}, not widened {without:.3}");
            assert!(with >= 0.85, "{name}, {stored} stored: {with}");
            assert!(without < 0.65, "{name}, {stored} stored: {without}");
        }
    }
}

#[test]
fn where_none_are_stored_the_floor_holds_an_ordinary_clock() {
    let known = movement(&[]);
    assert_eq!(known.source, MovementSource::Floor);
    let with = covered(each_anew, 0, true);
    assert!(with >= 0.85, "{with}");
}

#[test]
fn a_steady_clock_widens_nothing_once_it_is_known() {
    let mut dice = Dice(5);
    let clocks = hardly(&mut dice, 12);
    let known = movement(&clocks);
    assert!(known.relative < 0.01, "{known:?}");
    let wide = quiet(&mut dice, clocks[0], Some(known));
    assert!(wide.ns.relative_half_width() < 0.015, "{wide:?}");
}

#[test]
fn cycles_and_the_run_itself_are_as_certain_as_before() {
    let known = movement(&[0.0, 0.1]);
    let [alone, widened] = [None, Some(known)].map(|of| quiet(&mut Dice(3), 0.0, of));
    assert_eq!(widened.cycles, alone.cycles);
    assert_eq!(widened.ns.value, alone.ns.value);
    assert_eq!(widened.clock_movement, Some(known.relative));
    // Both half widths count in full, on the logarithmic scale.
    let half = |low: f64, high: f64| (high / low).ln() / 2.0;
    let sum = half(alone.ns.low, alone.ns.high) + known.relative;
    assert!((half(widened.ns.low, widened.ns.high) - sum).abs() < 1e-9);
    let of_run = widened.ns_of_run();
    assert!((of_run.low / alone.ns.low - 1.0).abs() < 1e-9);
    assert!((of_run.high / alone.ns.high - 1.0).abs() < 1e-9);
}

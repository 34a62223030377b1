//! Quiet figures that their samples don't support, and honest ones of machines
//! that are hardly ever quiet. The row takes 20 cycles.

#[path = "dice/mod.rs"]
mod dice;
#[path = "judged/mod.rs"]
mod judged;

use dice::Dice;
use model::estimate::{Estimate, Verdict};
use model::machine_readings::MachineReadings;
use model::run::{Bound, Regime};
use model::sample::{Canaries, Evidence, Sample, flag};

const CYCLES: f64 = 20.0;
const CYCLE_NS: f64 = 0.4;

/// What one sample meets, all as factors: of the operation, of the adds, of
/// the taken branches.
#[derive(Clone, Copy)]
struct Meets {
    operation: f64,
    adds: f64,
    branches: f64,
}

const QUIET: Meets = Meets { operation: 1.0, adds: 1.0, branches: 1.0 };

/// A neighbour that makes the operation so many times as long, the adds 2 %.
fn busy(operation: f64) -> Meets {
    busier(operation, 1.3)
}

/// The same with what it makes of the branches.
fn busier(operation: f64, branches: f64) -> Meets {
    Meets { operation, adds: 1.02, branches }
}

/// One sample. Readings of the adds at its ends vary by themselves.
fn sample(
    worker: u32,
    at_ms: u32,
    clock: f64,
    meets: Meets,
    multiply: f64,
    errors: [f64; 2],
) -> Sample {
    let cycle_ns = CYCLE_NS * clock;
    let adds = errors.map(|error| meets.adds * (1.0 + error));
    let ns = CYCLES * meets.operation * cycle_ns;
    let permille = |ratio: f64| (ratio * 1000.0).round() as u32;
    Sample {
        evidence: Evidence {
            canaries: Some(Canaries {
                branch_permille: adds.map(|adds| permille(meets.branches / adds)),
                capacity_permille: Some([1000, 1000]),
                multiply_permille: permille(multiply),
                l1_load_ps: 1300,
            }),
            cycle_fs: Some((cycle_ns * (adds[0] + adds[1]) / 2.0 * 1e6) as u32),
            ..Evidence::default()
        },
        ..judged::sample(worker, at_ms, ns, cycle_ns)
    }
}

/// Eight workers, twelve visits of ten samples each, over a minute; `visit`
/// makes the samples of one.
fn drawn_samples(visit: impl Fn(&mut Dice, u32, u32) -> Vec<Sample>) -> Vec<Sample> {
    let mut dice = Dice(11);
    let mut samples = Vec::new();
    for worker in 0..8 {
        for k in 0..12 {
            samples.extend(visit(&mut dice, worker, k * 5000 + worker * 300));
        }
    }
    samples
}

fn errors(dice: &mut Dice, deviation: f64) -> [f64; 2] {
    [deviation * dice.normal(), deviation * dice.normal()]
}

fn judge(samples: &[Sample], bound: Bound) -> Estimate {
    let readings = MachineReadings::from_samples(samples);
    let gate = readings.gate(Some(1.0));
    judged::judge(samples, &gate, bound, Regime::Gated, &[])
}

fn cycles(estimate: &Estimate) -> f64 {
    let quiet = estimate.quiet.expect("a quiet figure");
    quiet.cycles.expect("in cycles").value
}

/// One visit in six finds the core quiet, but for three of its ten samples; all
/// others have a neighbour. The clock moves by 8 %.
fn contended(operation: f64) -> Vec<Sample> {
    contended_by(busy(operation))
}

fn contended_by(neighbour: Meets) -> Vec<Sample> {
    drawn_samples(|dice, worker, at_ms| {
        let clock = 1.0 + 0.08 * dice.uniform();
        let quiet = dice.below(6) == 0;
        let multiply = if quiet { 3.0 } else { 2.92 };
        (0..10)
            .map(|k| {
                let meets = if quiet && k >= 3 { QUIET } else { neighbour };
                let errors = errors(dice, 0.004);
                sample(worker, at_ms, clock, meets, multiply, errors)
            })
            .collect()
    })
}

#[test]
fn an_honest_figure_of_a_contended_machine_is_ok() {
    for bound in [Bound::Core, Bound::Memory] {
        let operations = [1.0, 1.02, 1.05, 1.4, 2.0].into_iter();
        let busy = operations.flat_map(|operation| [1.08, 1.3, 2.0].map(|b| busier(operation, b)));
        for neighbour in busy {
            let found = judge(&contended_by(neighbour), bound);
            let share = found.quiet_share.expect("gated");
            assert!((0.05..0.2).contains(&share), "{share}");
            assert_eq!(found.verdict, Verdict::Ok, "{}", found.reason);
            assert!((cycles(&found) / CYCLES - 1.0).abs() < 0.005);
        }
    }
}

#[test]
fn a_quiet_machine_is_ok_at_any_clock() {
    // The quiet seconds are those with the slow clock.
    let samples = drawn_samples(|dice, worker, at_ms| {
        let quiet = at_ms < 10_000;
        let (clock, meets) = if quiet { (1.1, QUIET) } else { (1.0, busy(1.03)) };
        let multiply = if quiet { 3.0 } else { 2.92 };
        (0..10)
            .map(|_| sample(worker, at_ms, clock, meets, multiply, errors(dice, 0.004)))
            .collect()
    });
    let found = judge(&samples, Bound::Core);
    assert_eq!(found.verdict, Verdict::Ok, "{}", found.reason);
}

#[test]
fn a_neighbour_that_slows_branches_and_adds_alike_is_found_by_multiplications() {
    // It leaves the operation as it is, so the figure comes out 3.4 % low.
    let samples = drawn_samples(|dice, worker, at_ms| {
        let hidden = dice.below(6) == 0;
        let meets = match hidden {
            true => Meets { operation: 1.0, adds: 1.034, branches: 1.034 },
            false => busy(1.03),
        };
        (0..10).map(|_| sample(worker, at_ms, 1.0, meets, 2.9, errors(dice, 0.004))).collect()
    });
    let found = judge(&samples, Bound::Core);
    assert!((cycles(&found) - 19.34).abs() < 0.03, "{found:?}");
    assert_eq!(found.verdict, Verdict::Biased);
    assert_eq!(
        found.reason,
        "undisturbed samples take 19.3 cycles, 20.0 cycles timed by multiplications instead of adds"
    );
    // In ns it is what it is.
    assert_eq!(judge(&samples, Bound::Memory).verdict, Verdict::Ok);
}

#[test]
fn misread_adds_that_look_quiet_are_found_by_the_samples_next_to_them() {
    // A neighbour all the time; some visits read the adds long, and about half
    // of their samples pass for quiet.
    let samples = drawn_samples(|dice, worker, at_ms| {
        let misread = if dice.below(5) == 0 { 0.02 } else { -0.01 };
        let meets = Meets { operation: 1.0, adds: 1.0, branches: 1.04 };
        (0..10)
            .map(|_| {
                let error = misread + 0.01 * dice.normal();
                sample(worker, at_ms, 1.0, meets, 3.0, [error, error])
            })
            .collect()
    });
    let found = judge(&samples, Bound::Core);
    assert!(cycles(&found) < 0.985 * CYCLES, "{found:?}");
    assert!(found.quiet_share < Some(0.25), "{found:?}");
    assert_eq!(found.verdict, Verdict::Biased, "{found:?}");
    assert!(
        found.reason.ends_with("by the clock of disturbed samples next to them"),
        "{}",
        found.reason
    );
}

#[test]
fn extra_samples_that_ordinary_ones_never_reach_are_no_figure_of_the_row() {
    let mut samples = contended(1.4);
    let waited = drawn_samples(|dice, worker, at_ms| {
        let faster = Meets { operation: 0.93, ..QUIET };
        (0..10)
            .map(|_| {
                let errors = errors(dice, 0.002);
                let mut one = sample(worker, at_ms + 100, 1.0, faster, 3.0, errors);
                one.evidence.flags |= flag::WAITED_FOR_QUIET;
                one
            })
            .collect()
    });
    samples.extend(waited);
    let found = judge(&samples, Bound::Core);
    assert!((cycles(&found) - 18.6).abs() < 0.1, "{found:?}");
    assert_eq!(found.verdict, Verdict::Biased, "{found:?}");
    assert!(
        found.reason.starts_with("0 % of samples take 18.6 cycles or less"),
        "{}",
        found.reason
    );
}

#[test]
fn disturbed_samples_that_are_faster_contradict_the_figure() {
    let of = |operation: f64| judge(&contended(operation), Bound::Core);
    let found = of(0.8);
    assert_eq!(found.verdict, Verdict::Biased, "{found:?}");
    assert_eq!(
        found.reason,
        "undisturbed samples take 20.0 cycles, disturbed ones only 15.7 cycles"
    );
    // Within what a neighbour takes from the adds.
    assert_eq!(of(0.98).verdict, Verdict::Ok);
}

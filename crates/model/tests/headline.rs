//! Which figure stands for a row: never one between two states, the smallest
//! time of a difference, and what an interval holds for.

#[path = "judged/mod.rs"]
mod judged;

use model::estimate::{Estimate, Verdict};
use model::machine_readings::MachineReadings;
use model::run::{Bound, Regime};
use model::sample::Sample;
use model::unit::Unit;

fn sample(worker: u32, at_ms: u32, ns: f64) -> Sample {
    judged::sample(worker, at_ms, ns, 0.4)
}

fn judge(samples: &[Sample], bound: Bound, regime: Regime, modes: &[&str]) -> Estimate {
    let gate = MachineReadings::from_samples(samples).gate(Some(1.0));
    judged::judge(samples, &gate, bound, regime, modes)
}

/// Ten samples of each of eight workers, of two states: so many of four slow.
fn two(slow: u32) -> Vec<Sample> {
    (0..80)
        .map(|k| {
            let ns = if k / 8 % 4 < slow { 40.0 } else { 10.0 };
            sample(k % 8, k * 97, ns + 0.001 * f64::from(k))
        })
        .collect()
}

#[test]
fn the_figure_of_two_states_is_one_of_them() {
    for regime in [Regime::Gated, Regime::Distribution] {
        for slow in [1, 2, 3] {
            let found = judge(&two(slow), Bound::Memory, regime, &[]);
            assert_eq!(found.verdict, Verdict::TwoStates, "{regime:?} {slow}");
            let ns = found.ns().expect("a figure").value;
            assert!((10.0..10.1).contains(&ns), "{regime:?} {slow}: {ns}");
            assert!(found.reason.contains("fast 10.0 ns in"), "{}", found.reason);
            let speed = found.in_unit(&Unit::Bandwidth { bytes_per_op: 10.0 });
            assert!(speed.reason.contains("GB/s"), "{}", speed.reason);
            assert!(!speed.reason.contains("ns"), "{}", speed.reason);
        }
    }
}

/// Round trips between two threads: 12.3 us on one CPU, 43.6 us on two, in so
/// many percent of each of eight workers' operations.
fn round_trips(other_cpu: [u32; 8]) -> Estimate {
    let samples: Vec<Sample> = (0..800)
        .map(|k| {
            let other = k / 8 * 61 % 100 < other_cpu[k as usize % 8];
            let mut s = sample(k % 8, k * 31, if other { 43.6 } else { 12.3 });
            s.evidence.mode = u8::from(other);
            s
        })
        .collect();
    let modes = ["same CPU", "other CPU"];
    judge(&samples, Bound::Memory, Regime::Stamped, &modes)
}

#[test]
fn modes_in_other_shares_are_the_same_figure() {
    let of = |other_cpu: u32| {
        let found = round_trips([other_cpu; 8]);
        let (typical, name) = found.headline().expect("a figure");
        assert_eq!(found.ns(), Some(typical.ns));
        (typical.ns.value.round(), name.map(str::to_owned))
    };
    for share in [3, 20, 45, 55, 80] {
        assert_eq!(of(share), (12.0, Some("same CPU".into())), "{share} %");
    }
    // Hardly ever on one CPU: the name says so.
    assert_eq!(of(97), (44.0, Some("other CPU".into())));
}

#[test]
fn the_verdict_is_of_the_mode_that_is_shown() {
    // Of two workers most on the same CPU, of all operations 16 %: the workers'
    // medians are of different modes, and the mode's own are alike.
    let found = round_trips([34, 34, 100, 100, 100, 100, 100, 100]);
    let (typical, name) = found.headline().expect("a figure");
    assert_eq!(name, Some("other CPU"));
    assert!(typical.ns.relative_half_width() < 0.01, "{typical:?}");
    assert!(found.typical.expect("all").ns.relative_half_width() > 0.15);
    assert_eq!(found.verdict, Verdict::Ok, "{}", found.reason);
}

#[test]
fn modes_that_cost_the_same_share_one_figure() {
    let samples: Vec<Sample> = (0..200)
        .map(|k| {
            let mut s = sample(k % 8, k * 31, 12.0 + f64::from(k % 2));
            s.evidence.mode = u8::from(k % 2 == 0);
            s
        })
        .collect();
    let found = judge(&samples, Bound::Memory, Regime::Stamped, &["same CPU", "other CPU"]);
    assert_eq!(found.headline().map(|(_, name)| name), Some(None));
}

#[test]
fn the_smallest_difference_is_not_the_minimum() {
    // U takes 100 or 120 ticks, 2U 200 or 240, in any combination.
    let samples: Vec<Sample> = (0..80)
        .map(|k| Sample {
            turns: 1,
            first_ticks: if k % 2 == 0 { 100 } else { 120 },
            second_ticks: Some(if k / 2 % 2 == 0 { 200 } else { 240 }),
            ..sample(k % 8, k * 97, 1.0)
        })
        .collect();
    let found = judge(&samples, Bound::Memory, Regime::Gated, &[]);
    // Not 200 less 120.
    assert_eq!(found.quiet.expect("quiet").minimum_ns, 1.0);
}

#[test]
fn what_holds_for_this_runs_clock_says_so() {
    let samples: Vec<Sample> = (0..80).map(|k| sample(k % 8, k * 97, 10.0)).collect();
    let mark = |bound| judge(&samples, bound, Regime::Gated, &[]).quiet.map(|q| q.at_run_clock);
    assert_eq!(mark(Bound::Core), Some(true));
    assert_eq!(mark(Bound::Memory), Some(false));
}

#[test]
fn a_wild_interval_is_not_a_percentage() {
    let samples: Vec<Sample> =
        (0..80).map(|k| sample(k % 8, k * 97, f64::from(k % 8).powi(9))).collect();
    let found = judge(&samples, Bound::Memory, Regime::Distribution, &[]);
    assert_eq!(found.verdict, Verdict::CannotTell, "{}", found.reason);
    assert!(found.reason.ends_with("the interval reaches 0"), "{}", found.reason);
}

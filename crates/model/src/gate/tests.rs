use super::*;
use crate::machine_readings::MachineReadings;
use crate::sample::{Canaries, Evidence};

/// What a sample's two ends read, b and c in per mille, and its visit's m.
fn sample(branch: [u32; 2], capacity: Option<[u32; 2]>, multiply: u32) -> Sample {
    Sample {
        turns: 1,
        first_ticks: 1,
        evidence: Evidence {
            canaries: Some(Canaries {
                branch_permille: branch,
                capacity_permille: capacity,
                multiply_permille: multiply,
                l1_load_ps: capacity.map_or(0, |_| 1320),
            }),
            cycle_fs: Some(400_000),
            ..Evidence::default()
        },
        ..Sample::default()
    }
}

/// The machine's states, each at both ends of a sample.
const QUIET: (u32, u32) = (1003, 1006);
/// The hump close to quiet, which carries the whole slowdown.
const NEAR: (u32, u32) = (1090, 1700);
const FAR: (u32, u32) = (1700, 1750);

fn sample_at((branch, capacity): (u32, u32)) -> Sample {
    sample([branch; 2], Some([capacity; 2]), 2998)
}

/// A run of visits, each of these samples, `multiply` on the median visit.
fn made_samples(visits: u32, multiply: u32, states: &[(u32, u32)]) -> Vec<Sample> {
    let mut samples = Vec::new();
    for visit in 0..visits {
        for (k, &(branch, capacity)) in states.iter().enumerate() {
            // The spread of quiet readings, -0.5 to +1.2 %.
            let spread = (visit + k as u32) % 18;
            let branch = branch - 5 + spread;
            let mut one = sample([branch; 2], Some([capacity; 2]), multiply);
            one.at_ms = visit * 100;
            samples.push(one);
        }
    }
    samples
}

fn older(percent: u16) -> Sample {
    Sample {
        evidence: Evidence {
            canary_percent: Some(percent),
            cycle_fs: Some(400_000),
            ..Evidence::default()
        },
        ..sample_at(QUIET)
    }
}

#[test]
fn both_humps_of_contention_are_outside() {
    let samples = made_samples(60, 2998, &[QUIET, QUIET, QUIET, NEAR, FAR]);
    let gate = MachineReadings::from_samples(&samples).gate(None);
    assert_eq!((gate.quiet_ratio, gate.learned), (Some(1.0), Learned::FromRun));
    assert_eq!(gate.state, GateState::Usable);
    assert!(gate.peak_share.expect("a peak") > 0.9, "{gate:?}");
    assert!((gate.quiet_share.expect("readings") - 0.6).abs() < 0.01);
    assert!(gate.is_quiet(&sample_at(QUIET)));
    // Of the near hump each canary alone says enough.
    for (branch, capacity) in [NEAR, FAR, (1060, 1006), (1030, 1006), (1003, 1700), (1003, 1200)] {
        assert!(!gate.is_quiet(&sample_at((branch, capacity))), "{branch} {capacity}");
    }
    // A disturbed 4 KiB chase makes the capacity look better than it is.
    assert!(!gate.is_quiet(&sample_at((1003, 600))));
    assert!(!gate.is_quiet(&sample_at((960, 1006))), "the adds were disturbed");
}

#[test]
fn a_sample_is_as_good_as_its_worse_end() {
    let gate = MachineReadings::from_samples(&made_samples(60, 2998, &[QUIET; 4])).gate(None);
    assert!(gate.is_quiet(&sample([1000, 1010], Some([1004, 1010]), 2998)));
    assert!(!gate.is_quiet(&sample([1000, 1060], Some([1004, 1010]), 2998)));
    assert!(!gate.is_quiet(&sample([1060, 1000], Some([1004, 1010]), 2998)));
    assert!(!gate.is_quiet(&sample([1000, 1000], Some([1004, 1600]), 2998)));
    assert!(!gate.is_quiet(&sample([1000, 1000], Some([1600, 1004]), 2998)));
    assert!(!gate.is_quiet(&sample([1000, 1000], None, 2998)));
}

#[test]
fn half_of_a_visits_readings_are_quiet_or_none_of_it_is() {
    let gate = MachineReadings::from_samples(&made_samples(60, 2998, &[QUIET; 4])).gate(None);
    let visit = |states: &[(u32, u32)], at_ms| {
        let of = |&state: &(u32, u32)| Sample { at_ms, ..sample_at(state) };
        states.iter().map(of).collect::<Vec<Sample>>()
    };
    let mut samples = visit(&[QUIET, FAR, FAR, NEAR], 1);
    samples.extend(visit(&[QUIET, FAR, QUIET, QUIET], 2));
    let expected = [false, false, false, false, true, false, true, true];
    assert_eq!(gate.quiet(&samples), expected);
    assert_eq!(gate.quiet_samples(&samples).len(), 3);
    assert_eq!(gate.quiet_readings(&samples), Some(0.5));
}

#[test]
fn a_contended_level_is_not_learned_as_quiet() {
    // Two humps and nothing else, as a neighbour that never rests makes them:
    // no ratio holds a peak, though each hump is narrow enough for a mode.
    let gate =
        MachineReadings::from_samples(&made_samples(60, 2910, &[(1040, 1700), (1080, 1700), FAR]))
            .gate(None);
    assert_eq!((gate.quiet_ratio, gate.state), (None, GateState::NeverQuiet));
    assert!(!gate.can_be_quiet());
    assert!(gate.reason.contains("shared during the whole run"));
    assert!(!gate.is_quiet(&sample_at(QUIET)));
    // What kept runs had is known all the same.
    let gate = MachineReadings::from_samples(&made_samples(60, 2910, &[NEAR, FAR, NEAR, FAR]))
        .gate(Some(1.0));
    assert_eq!((gate.quiet_ratio, gate.learned), (Some(1.0), Learned::FromKeptRuns));
    assert_eq!(gate.state, GateState::NeverQuiet);
}

#[test]
fn a_shared_front_end_is_not_a_core_of_two_cycles_a_branch() {
    let contended = made_samples(60, 2910, &[(2003, 1700); 4]);
    assert_eq!(MachineReadings::from_samples(&contended).gate(None).quiet_ratio, None);
    // The multiplications agree, and L1 does not; or the other way round.
    assert_eq!(
        MachineReadings::from_samples(&made_samples(60, 2999, &[(2003, 1700); 4]))
            .gate(None)
            .quiet_ratio,
        None
    );
    assert_eq!(
        MachineReadings::from_samples(&made_samples(60, 2910, &[(2003, 1006); 4]))
            .gate(None)
            .quiet_ratio,
        None
    );
    let quiet = made_samples(60, 2999, &[(2003, 1006); 4]);
    assert_eq!(MachineReadings::from_samples(&quiet).gate(None).quiet_ratio, Some(2.0));
    // Where kept runs had 1, 2 is contention whatever the others say.
    assert_eq!(MachineReadings::from_samples(&quiet).gate(Some(1.0)).quiet_ratio, Some(1.0));
}

#[test]
fn two_branches_a_cycle_are_derived_too() {
    let gate = MachineReadings::from_samples(&made_samples(
        60,
        2999,
        &[(503, 1006), (503, 1006), (1003, 1700)],
    ))
    .gate(None);
    assert_eq!(gate.quiet_ratio, Some(0.5));
    assert!(gate.is_quiet(&sample_at((503, 1006))));
    assert!(!gate.is_quiet(&sample_at((1003, 1006))));
}

#[test]
fn few_strays_are_no_peak() {
    let mut samples = made_samples(600, 2999, &[(1330, 1006), (1400, 1006)]);
    samples.extend(made_samples(3, 2999, &[QUIET]));
    let gate = MachineReadings::from_samples(&samples).gate(None);
    assert_eq!((gate.quiet_ratio, gate.state), (None, GateState::NeverQuiet));
    assert_eq!(
        gate.reason,
        "no reference timings for this CPU (a taken branch takes 1.34 adds, expected 0.5, 1 or 2)"
    );
}

#[test]
fn contended_most_of_the_time_shows_in_the_multiplications() {
    let states = [QUIET, QUIET, FAR, FAR, FAR];
    let gate = MachineReadings::from_samples(&made_samples(60, 2910, &states)).gate(None);
    assert_eq!(gate.state, GateState::MostlyContended);
    assert!(gate.reason.contains("shared during most of the run"));
    // What passes both canaries counts, as they saw the neighbour too.
    assert!(gate.is_quiet(&sample_at(QUIET)));
    // Too few visits for a word on the run.
    let few = MachineReadings::from_samples(&made_samples(8, 2910, &states)).gate(None);
    assert_eq!((few.state, few.multiply_ratio), (GateState::Usable, None));
    assert!(few.reason.is_empty());
}

#[test]
fn a_neighbour_that_only_the_multiplications_see_leaves_no_quiet_sample() {
    let gate = MachineReadings::from_samples(&made_samples(60, 2910, &[QUIET; 4])).gate(None);
    assert_eq!(gate.state, GateState::NeverQuiet);
    assert!(gate.reason.contains("shared during the whole run"));
    assert!(!gate.is_quiet(&sample_at(QUIET)));
    let quiet = MachineReadings::from_samples(&made_samples(60, 2985, &[QUIET; 4])).gate(None);
    assert_eq!(quiet.state, GateState::Usable);
}

#[test]
fn what_was_never_quiet_by_capacity_was_never_quiet() {
    // A neighbour that leaves the branches alone: a third of contended readings.
    let gate =
        MachineReadings::from_samples(&made_samples(60, 2915, &[(1003, 1700); 4])).gate(None);
    assert_eq!((gate.quiet_ratio, gate.state), (Some(1.0), GateState::NeverQuiet));
    assert!(!gate.is_quiet(&sample_at(QUIET)));
}

#[test]
fn a_capacity_that_can_not_be_read_leaves_the_others() {
    let gate =
        MachineReadings::from_samples(&made_samples(60, 2999, &[(1003, 1300); 4])).gate(None);
    assert_eq!(gate.state, GateState::WithoutCapacity);
    assert!(gate.reason.starts_with("L1 capacity can't be read"));
    assert!(gate.is_quiet(&sample_at((1003, 1300))));
    assert!(!gate.is_quiet(&sample_at((1060, 1300))));
    // Without it and without the multiplications nothing vouches for a sample.
    let few = made_samples(8, 2999, &[(1003, 1300); 4]);
    assert_eq!(MachineReadings::from_samples(&few).gate(None).state, GateState::NeverQuiet);
    let none: Vec<Sample> = (0..40).map(|_| sample([1000; 2], None, 2999)).collect();
    assert_eq!(MachineReadings::from_samples(&none).gate(None).state, GateState::NeverQuiet);
}

#[test]
fn readings_that_waited_for_quiet_say_nothing_of_the_run() {
    let mut samples = made_samples(60, 2999, &[QUIET, FAR]);
    let before = MachineReadings::from_samples(&samples).gate(None);
    let mut waited = made_samples(60, 2999, &[QUIET; 4]);
    waited.iter_mut().for_each(|s| s.evidence.flags = flag::WAITED_FOR_QUIET);
    samples.extend(waited);
    let after = MachineReadings::from_samples(&samples).gate(None);
    assert_eq!(before.quiet_share, after.quiet_share);
    assert_eq!(before.readings, after.readings);
    // Nor do more visits that found the core quiet outvote a contended run.
    let mut samples = made_samples(40, 2910, &[QUIET, FAR, FAR]);
    let before = MachineReadings::from_samples(&samples).gate(None);
    assert_eq!(before.state, GateState::MostlyContended);
    samples.extend(made_samples(60, 2998, &[QUIET]).into_iter().map(|mut s| {
        s.evidence.flags = flag::WAITED_FOR_QUIET;
        s
    }));
    let after = MachineReadings::from_samples(&samples).gate(None);
    assert_eq!(after.multiply_ratio, before.multiply_ratio);
    assert_eq!(after.state, GateState::MostlyContended);
}

#[test]
fn a_run_without_canaries_is_not_judged() {
    let gate = MachineReadings::from_samples(&[]).gate(None);
    assert_eq!(gate.state, GateState::Unused);
    assert!(gate.reason.is_empty());
}

#[test]
fn older_documents_keep_their_rule_and_can_be_judged_anew() {
    let text = r#"{"quiet_ratio":1.0,"calibrated":true,"fastest_cycle_ns":null,
        "quiet_last_level_ns":null}"#;
    let gate: Gate = serde_json::from_str(text).expect("a gate of schema 4");
    assert_eq!(gate.state, GateState::Older);
    assert!(gate.is_quiet(&older(112)) && !gate.is_quiet(&older(116)));
    assert!(gate.quiet(&[older(112), older(116), older(116)])[0]);
    let samples: Vec<Sample> = (0..60).map(|k| older(99 + k % 4)).collect();
    let anew = MachineReadings::from_samples(&samples).gate(None);
    assert_eq!((anew.quiet_ratio, anew.state), (Some(1.0), GateState::Usable));
    assert!(anew.is_quiet(&older(102)) && anew.is_quiet(&older(98)));
    assert!(!anew.is_quiet(&older(103)) && !anew.is_quiet(&older(97)));
}

#[test]
fn lost_time_or_a_mark_is_never_quiet() {
    let gate = MachineReadings::from_samples(&made_samples(60, 2998, &[QUIET; 4])).gate(None);
    assert!(gate.is_quiet(&sample_at(QUIET)));
    let not = |change: fn(&mut Evidence)| {
        let mut sample = sample_at(QUIET);
        change(&mut sample.evidence);
        !gate.is_quiet(&sample)
    };
    assert!(not(|e| e.lost_ns = 5_000));
    assert!(not(|e| e.flags = flag::CLOCK_MOVED));
    assert!(not(|e| e.canaries = None));
    assert!(not(|e| e.cycle_fs = Some(900_000)), "half the frequency");
    assert!(!not(|e| e.flags = flag::WAITED_FOR_QUIET));
}

#[test]
fn last_level_theft_shows_only_in_its_own_canary() {
    let mut samples = made_samples(40, 2998, &[QUIET]);
    for (i, s) in samples.iter_mut().enumerate() {
        s.evidence.last_level_ps = Some(if i % 2 == 0 { 15_000 } else { 60_000 });
    }
    let gate = MachineReadings::from_samples(&samples).gate(None);
    assert_eq!(gate.quiet_samples(&samples).len(), 20);
}

#[test]
fn a_cpu_looks_quiet_on_any_ratio_until_one_is_kept() {
    let reading = |ratio, capacity| CanaryReading { ratio, capacity, cycle_ns: 0.4 };
    assert!(looks_quiet(&reading(1.0, Some(1.0)), None));
    assert!(looks_quiet(&reading(2.0, None), None));
    assert!(!looks_quiet(&reading(2.0, Some(1.0)), Some(1.0)));
    assert!(!looks_quiet(&reading(1.0, Some(1.6)), None));
    assert!(!looks_quiet(&reading(1.1, Some(1.0)), None));
}

#[test]
fn an_older_run_is_confirmed_by_its_multiplication_row() {
    let samples: Vec<Sample> = (0..60).map(|k| older(if k % 3 == 0 { 140 } else { 100 })).collect();
    let gate = MachineReadings::from_samples(&samples).gate(None);
    assert_eq!(gate.state, GateState::Usable);
    assert!(!gate.is_confirmed());
    let by = |ratio| gate.clone().confirmed_by(ratio);
    assert!(!by(None).is_confirmed());
    let quiet = by(Some(3.004));
    assert!(quiet.state == GateState::Usable && quiet.is_confirmed());
    let shared = by(Some(2.91));
    assert_eq!(shared.state, GateState::NeverQuiet);
    assert!(shared.reason.contains("shared during the whole run"), "{}", shared.reason);
}

//! Canaries, and neighbours that they see or don't.

use super::*;

#[test]
fn canaries_alone_make_no_row_ok() {
    let samples = simulated_samples(&machine(), 3.0, true);
    let gate = MachineReadings::from_samples(&samples).gate(None);
    assert_eq!((gate.state, gate.multiply_ratio), (GateState::Usable, None));
    let estimate = judged_by(&gate, &samples);
    assert_eq!(estimate.verdict, Verdict::CannotTell);
    assert!(estimate.reason.contains("checks for a shared core"), "{estimate:?}");
    assert!(estimate.quiet.is_some());
}

#[test]
fn a_busy_neighbour_leaves_no_quiet_figure() {
    let m = machine();
    *m.ratio.borrow_mut() = Some(Box::new(|_| 2.1));
    let estimate = judge(&simulated_samples(&m, 3.0, true));
    assert_eq!(estimate.quiet, None);
    assert_eq!(estimate.verdict, Verdict::CannotTell);
    let why = "no reference timings for this CPU";
    assert!(estimate.reason.starts_with(why), "{}", estimate.reason);
    assert!(estimate.typical.is_some());
}

#[test]
fn a_sample_carries_the_canaries_of_both_its_ends() {
    let m = machine();
    // The machine turns busy with the third canary: after the second sample.
    *m.ratio.borrow_mut() = Some(Box::new(|n| if n < 3 { 1.0 } else { 2.0 }));
    let mut work = Op { machine: m.clone(), per_op: 3.0, paired: true };
    let samples = visit_with(&m, &mut work, &order(4)).samples;
    let canaries = samples.iter().map(|s| s.evidence.canaries.expect("read"));
    let canaries: Vec<_> = canaries.collect();
    let branch: Vec<_> = canaries.iter().map(|c| c.branch_permille).collect();
    assert_eq!(branch, [[1000, 1000], [1000, 2000], [2000, 2000], [2000, 2000]]);
    for one in canaries {
        assert_eq!(one.capacity_permille, Some([1006, 1006]));
        assert_eq!((one.multiply_permille, one.l1_load_ps), (2998, 2000));
    }
}

/// Visits of eight workers, every third one on the quiet machine.
fn with_neighbour(neighbour: Neighbour) -> (Gate, Estimate) {
    let m = machine();
    let mut samples = Vec::new();
    for visit in 0..24_u32 {
        let quiet = visit % 3 == 0;
        m.neighbour.set(Some(if quiet { NONE } else { neighbour }));
        let mut work = Op { machine: m.clone(), per_op: 3.0, paired: true };
        let taken = visit_with(&m, &mut work, &order(6)).samples;
        samples.extend(taken.into_iter().map(|sample| Sample {
            worker: visit / 3,
            at_ms: visit * 10,
            ..sample
        }));
    }
    let gate = MachineReadings::from_samples(&samples).gate(None);
    let estimate = judged_by(&gate, &samples);
    (gate, estimate)
}

const SLOW: Neighbour = Neighbour { slowdown: 1.4, ..NONE };

#[test]
fn a_neighbour_that_one_canary_sees_never_reaches_the_quiet_figure() {
    let branches_only = Neighbour {
        // The hump that 15 % would pass.
        branch: 1.09,
        ..SLOW
    };
    let capacity_only = Neighbour { capacity: 1.7, ..SLOW };
    let both = Neighbour { branch: 1.09, capacity: 1.7, multiply: 2.91, ..SLOW };
    for (neighbour, state) in [
        (branches_only, GateState::Usable),
        (capacity_only, GateState::Usable),
        (both, GateState::MostlyContended),
    ] {
        let (gate, estimate) = with_neighbour(neighbour);
        assert_eq!(gate.state, state, "{gate:?}");
        let quiet = estimate.quiet.expect("a third was quiet");
        let cycles = quiet.cycles.expect("the clock is known").value;
        assert!((cycles - 3.0).abs() < 0.01, "{cycles}: {gate:?}");
        let typical = estimate.typical.expect("all").ns.value;
        assert!(typical > 2.0, "the neighbour's: {typical}");
    }
}

#[test]
fn a_neighbour_that_only_the_multiplications_see_leaves_no_figure() {
    let (gate, estimate) = with_neighbour(Neighbour { multiply: 2.91, ..SLOW });
    assert_eq!(gate.state, GateState::NeverQuiet);
    assert_eq!(estimate.quiet, None);
    assert_eq!(estimate.verdict, Verdict::CannotTell);
}

#[test]
fn an_extra_visit_waits_for_two_quiet_readings_and_gives_up() {
    let gate = Gate { quiet_ratio: Some(1.0), state: GateState::Usable, ..Gate::default() };
    let m = machine();
    // A single quiet reading, then from the 40th on.
    *m.ratio.borrow_mut() = Some(Box::new(|n| if n == 20 || n >= 40 { 1.0 } else { 2.0 }));
    let mut work = Op { machine: m.clone(), per_op: 3.0, paired: true };
    let mut waiting = order(2);
    waiting.wait_for_quiet = Some(&gate);
    let samples = visit_with(&m, &mut work, &waiting).samples;
    assert_eq!(samples.len(), 2);
    // 41 to wait, then one at each end of both samples.
    assert_eq!(m.canaries.get(), 41 + 3);
    assert!(samples.iter().all(|s| s.has(flag::WAITED_FOR_QUIET)));
    assert!(samples.iter().all(|s| gate.is_quiet(s)));

    *m.ratio.borrow_mut() = Some(Box::new(|_| 2.0));
    assert_eq!(visit_with(&m, &mut work, &waiting).samples, []);
}

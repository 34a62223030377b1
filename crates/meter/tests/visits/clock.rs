//! The clock: its cost, its resolution, its faults.

use super::*;

#[test]
fn an_exact_clock_gives_the_exact_cost_without_the_loop() {
    let estimate = judge(&simulated_samples(&machine(), 3.0, true));
    let quiet = estimate.quiet.expect("quiet throughout");
    let cycles = quiet.cycles.expect("the clock is known");
    assert!((cycles.value - 3.0).abs() < 1e-3, "{cycles:?}");
    assert!((quiet.ns.value - 1.5).abs() < 1e-3);
    assert_eq!(estimate.verdict, Verdict::Ok);
    assert_eq!(estimate.quiet_share, Some(1.0));
}

#[test]
fn a_plain_loop_keeps_its_overhead() {
    // 3 cycles over 16 operations: the difference method's reason to exist.
    let quiet = judge(&simulated_samples(&machine(), 3.0, false)).quiet.expect("quiet");
    assert!((quiet.ns.value - (3.0 + 3.0 / 16.0) * 0.5).abs() < 1e-3);
}

#[test]
fn an_empty_body_is_below_resolution_and_never_clamped() {
    let estimate = judge(&simulated_samples(&machine(), 0.0, true));
    assert!(estimate.below_ns.is_some(), "{estimate:?}");
    assert_eq!(estimate.verdict, Verdict::Ok);
}

#[test]
fn samples_aim_at_a_tenth_of_a_millisecond() {
    for (per_op, paired) in [(0.3, true), (40.0, true), (3.0, false), (90_000.0, false)] {
        let m = machine();
        let mut work = Op { machine: m.clone(), per_op, paired };
        let visited = visit_with(&m, &mut work, &order(3));
        let sample = visited.samples[0];
        let ticks = sample.first_ticks + sample.second_ticks.unwrap_or(0);
        let ns = ticks as f64 * TICK_NS;
        let one_turn_ns = 16.0 * per_op * 0.5;
        assert!(
            (60_000.0..170_000.0).contains(&ns) || one_turn_ns > 60_000.0,
            "{per_op} {paired}: {ns} ns"
        );
    }
}

#[test]
fn a_stopped_clock_makes_the_row_invalid() {
    let m = machine();
    let mut samples = simulated_samples(&m, 3.0, true);
    m.broken.set(Some(|_| 77));
    let mut work = Op { machine: m.clone(), per_op: 3.0, paired: true };
    let mut order = order(2);
    order.turns = Some(100);
    let visited = visit_with(&m, &mut work, &order);
    assert!(visited.samples.iter().all(|s| s.has(flag::COUNTER_BROKEN)));
    samples.extend(visited.samples);
    assert_eq!(judge(&samples).verdict, Verdict::Invalid);
}

#[test]
fn a_clock_that_runs_backwards_makes_the_row_invalid() {
    let m = machine();
    m.broken.set(Some(|now| u64::MAX / 2 - now));
    let mut work = Op { machine: m.clone(), per_op: 3.0, paired: true };
    let mut order = order(3);
    order.turns = Some(100);
    let samples = visit_with(&m, &mut work, &order).samples;
    assert!(samples.iter().all(|s| s.has(flag::COUNTER_BROKEN)));
    assert_eq!(judge(&samples).verdict, Verdict::Invalid);
}

#[test]
fn a_drifting_core_clock_cancels_in_cycles() {
    let m = machine();
    // From 0.40 to 0.52 ns a cycle and back, over 5 ms.
    m.cycle_ns.set(Some(|ns| 0.46 + 0.06 * (ns / 5e6 * std::f64::consts::TAU).sin()));
    let estimate = judge(&simulated_samples(&m, 3.0, true));
    let cycles = estimate.quiet.and_then(|q| q.cycles).expect("the clock is known");
    assert!((cycles.value / 3.0 - 1.0).abs() < 0.01, "{cycles:?}");
    let typical = estimate.typical.expect("all");
    assert!(typical.p90_ns / typical.p10_ns > 1.15, "{typical:?}");
}

/// Samples of a visit whose core clock changes once, in the middle of it, and which of them have the
/// mark of that.
fn with_a_step(cycle_at: CycleAt) -> Vec<bool> {
    let m = machine();
    m.cycle_ns.set(Some(cycle_at));
    let mut work = Op { machine: m.clone(), per_op: 3.0, paired: true };
    let samples = visit_with(&m, &mut work, &order(10)).samples;
    samples.iter().map(|s| s.has(flag::CLOCK_MOVED)).collect()
}

#[test]
fn a_step_of_the_core_clock_marks_the_sample_that_it_falls_into() {
    const HALF_A_MILLISECOND: f64 = 500_000.0;
    let steps: [(CycleAt, usize); 5] = [
        (|_| 0.5, 0),
        // 4 % is what a clock wanders by.
        (|ns| if ns < HALF_A_MILLISECOND { 0.5 } else { 0.52 }, 0),
        (|ns| if ns < HALF_A_MILLISECOND { 0.52 } else { 0.5 }, 0),
        (|ns| if ns < HALF_A_MILLISECOND { 0.5 } else { 0.53 }, 1),
        (|ns| if ns < HALF_A_MILLISECOND { 0.53 } else { 0.5 }, 1),
    ];
    for (number, (cycle_at, marked)) in steps.into_iter().enumerate() {
        let marks = with_a_step(cycle_at);
        let found = marks.iter().filter(|&&is_marked| is_marked).count();
        assert_eq!((marks.len(), found), (10, marked), "{number}: {marks:?}");
    }
}

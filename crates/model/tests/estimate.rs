//! What the estimate makes of samples: which count for what, how the core's
//! clock enters, and the words for what is wrong.

#[path = "judged/mod.rs"]
mod judged;

use model::context::Context;
use model::estimate::{Estimate, Verdict};
use model::estimator::estimate;
use model::gate::{Gate, GateState};
use model::machine_readings::MachineReadings;
use model::run::{Bound, Regime};
use model::sample::{Sample, flag};

/// A plain sample of 1000 operations that took so many cycles each, at this
/// length of a cycle in ns; ticks are 0.01 ns.
fn sample(worker: u32, at_ms: u32, cycles: f64, cycle_ns: f64) -> Sample {
    judged::sample(worker, at_ms, cycles * cycle_ns, cycle_ns)
}

fn judge(samples: &[Sample], bound: Bound, regime: Regime) -> Estimate {
    let gate = Gate {
        multiply_ratio: Some(3.0),
        ..MachineReadings::from_samples(samples).gate(Some(1.0))
    };
    judged::judge(samples, &gate, bound, regime, &[])
}

/// Eight workers, ten samples each, over ten seconds, with a clock that is
/// slow in the second half.
fn wandering(cycles: impl Fn(u32, u32) -> f64) -> Vec<Sample> {
    (0..8)
        .flat_map(|worker| {
            let cycles = &cycles;
            (0..10).map(move |k| {
                let cycle_ns = if k < 5 { 0.4 } else { 0.5 };
                sample(worker, k * 1000, cycles(worker, k), cycle_ns)
            })
        })
        .collect()
}

#[test]
fn core_rows_are_cycles_at_the_runs_clock_and_own_its_uncertainty() {
    let samples = wandering(|_, _| 4.0);
    let core = judge(&samples, Bound::Core, Regime::Gated);
    let quiet = core.quiet.expect("quiet");
    let cycles = quiet.cycles.expect("known");
    assert!((cycles.value - 4.0).abs() < 1e-3);
    assert!(cycles.relative_half_width() < 1e-3);
    let clock = MachineReadings::from_samples(&samples).core_clock().expect("read");
    assert!((quiet.ns.value - 4.0 * clock.cycle_ns.value).abs() < 1e-3);
    // Half the run at 0.4, half at 0.5: the clock is not known to a percent.
    assert!(quiet.ns.relative_half_width() > 0.05, "{quiet:?}");
    assert_eq!(core.verdict, Verdict::Ok, "the row is not to blame");

    let memory = judge(&samples, Bound::Memory, Regime::Gated);
    let typical = memory.typical.expect("all");
    assert!((typical.p90_ns / typical.p10_ns - 1.25).abs() < 0.01);
}

#[test]
fn extra_samples_count_for_quiet_and_never_for_typical() {
    let mut samples = wandering(|_, _| 4.0);
    for s in &mut samples {
        s.evidence.canary_percent = Some(210);
    }
    assert_eq!(judge(&samples, Bound::Memory, Regime::Gated).quiet, None);
    let before = judge(&samples, Bound::Memory, Regime::Gated).typical;
    samples.extend(wandering(|_, _| 3.0).into_iter().map(|mut s| {
        s.evidence.flags = flag::WAITED_FOR_QUIET;
        s
    }));
    let estimate = judge(&samples, Bound::Memory, Regime::Gated);
    assert_eq!(estimate.typical, before);
    assert_eq!(estimate.quiet_share, Some(0.0));
    let cycles = estimate.quiet.and_then(|q| q.cycles).expect("found");
    assert!((cycles.value - 3.0).abs() < 1e-3);
}

#[test]
fn two_figures_are_not_averaged_into_one() {
    let estimate =
        judge(&wandering(|_, k| if k % 3 == 0 { 40.0 } else { 4.0 }), Bound::Core, Regime::Gated);
    assert_eq!(estimate.verdict, Verdict::TwoStates, "{estimate:?}");
    assert!(
        estimate.reason.contains("60 %") && estimate.reason.contains("40 %"),
        "{}",
        estimate.reason
    );
}

#[test]
fn workers_that_disagree_make_a_row_noisy_or_untellable() {
    let spread = |by: f64| {
        let samples =
            wandering(move |worker, k| 4.0 * (1.0 + by * f64::from(worker)) + 0.001 * f64::from(k));
        judge(&samples, Bound::Core, Regime::Gated)
    };
    assert_eq!(spread(0.005).verdict, Verdict::Ok);
    let noisy = spread(0.03);
    assert_eq!(noisy.verdict, Verdict::Noisy, "{noisy:?}");
    assert!(noisy.reason.contains("vary by"));
    assert_eq!(spread(0.6).verdict, Verdict::CannotTell);
}

#[test]
fn a_distribution_has_no_quiet_figure_but_an_interval_by_ranks() {
    let samples: Vec<Sample> =
        (0..40).map(|k| sample(k % 8, k, 4.0 + 0.01 * f64::from(k), 0.5)).collect();
    let estimate = judge(&samples, Bound::Memory, Regime::Distribution);
    assert_eq!(estimate.quiet, None);
    let typical = estimate.typical.expect("all");
    assert!(typical.ns.low < typical.ns.value && typical.ns.value < typical.ns.high);
    assert_eq!(estimate.verdict, Verdict::Ok);
    let few = judge(&samples[..4], Bound::Memory, Regime::Distribution);
    assert_eq!(few.verdict, Verdict::CannotTell);
}

#[test]
fn too_few_quiet_samples_are_no_figure() {
    let mut samples = wandering(|_, _| 4.0);
    for s in &mut samples {
        // Beyond L2, where the low end says nothing.
        s.evidence.last_level_ps = Some(12_000);
    }
    for s in samples.iter_mut().skip(11) {
        s.evidence.lost_ns = 1000;
    }
    let estimate = judge(&samples, Bound::Core, Regime::Gated);
    assert_eq!(estimate.quiet, None);
    assert!(matches!(estimate.verdict, Verdict::Invalid | Verdict::CannotTell));
}

#[test]
fn a_row_without_a_quiet_figure_names_a_cause_only_where_it_is_known() {
    let reason = |gate: &Gate, visits: u32| {
        // One reading in four is quiet; all of those that waited for it are.
        let one = |k: u32| {
            let mut s = sample(k / 5 % 8, k / 5, 4.0, 0.4);
            s.evidence.canary_percent = Some(if k % 5 < 2 { 100 } else { 170 });
            s.evidence.last_level_ps = Some(12_000);
            if k.is_multiple_of(5) {
                s.evidence.flags = flag::WAITED_FOR_QUIET | flag::THROTTLED;
            }
            s
        };
        let samples: Vec<Sample> = (0..visits * 5).map(one).collect();
        let context = Context::plain(gate, Regime::Gated, 0.01);
        let found = estimate(&samples, &context);
        assert_eq!(found.verdict, Verdict::CannotTell, "{found:?}");
        found.reason
    };
    let gate = |state, multiply_ratio| Gate {
        quiet_ratio: Some(1.0),
        state,
        multiply_ratio: Some(multiply_ratio),
        reason: "as the run has it".into(),
        ..Gate::default()
    };
    assert_eq!(
        reason(&gate(GateState::MostlyContended, 2.91), 40),
        "the core was shared in 75 % of readings"
    );
    assert_eq!(reason(&gate(GateState::Usable, 2.998), 40), "75 % of readings were disturbed");
    // Not "in 100 %": the run's reason is that of all its rows.
    assert_eq!(reason(&gate(GateState::NeverQuiet, 2.998), 40), "as the run has it");
    // Two visits are no share.
    assert_eq!(reason(&gate(GateState::Usable, 2.998), 2), "0 undisturbed samples, 12 needed");
}

#[test]
fn a_long_sample_may_lose_its_cpu_for_a_moment_and_a_short_one_may_not() {
    let judged = |lost_ns: u64| {
        let mut samples = wandering(|_, _| 4.0);
        for sample in &mut samples {
            // 10 ms each.
            sample.first_ticks = 1_000_000_000;
            sample.evidence.lost_ns = lost_ns;
        }
        judge(&samples, Bound::Memory, Regime::Distribution)
    };
    assert_eq!(judged(100_000).verdict, Verdict::Ok);
    let robbed = judged(300_000);
    assert_eq!(robbed.verdict, Verdict::Invalid);
    assert!(robbed.reason.contains("lost its CPU"), "{}", robbed.reason);
    assert_eq!((robbed.ns(), robbed.typical), (None, None), "no figure");
}

#[test]
fn contradicted_samples_are_never_quiet_and_most_of_them_void_the_row() {
    for regime in [Regime::Gated, Regime::Distribution] {
        for (marked, invalid) in [(40, false), (41, true), (80, true)] {
            let mut samples = wandering(|_, _| 100.0);
            for sample in &mut samples[..marked] {
                sample.evidence.flags |= flag::CONTRADICTED;
            }
            let estimate = judge(&samples, Bound::Memory, regime);
            assert_eq!(estimate.verdict == Verdict::Invalid, invalid, "{regime:?} {marked}");
            let is_said = estimate.reason.contains("contradict the method");
            assert_eq!(is_said, invalid, "{}", estimate.reason);
            let quiet = estimate.quiet.map_or(0, |quiet| quiet.samples);
            if regime == Regime::Gated {
                assert!(quiet <= 80 - marked as u32, "{quiet} quiet of {marked} marked");
            }
        }
    }
}

/// A former word of documents stays readable.
#[test]
fn an_inconclusive_verdict_is_read_under_both_of_its_names() {
    use model::compare::finding;
    for stored in ["\"cannot_tell\"", "\"inconclusive\""] {
        let figure: Verdict = serde_json::from_str(stored).expect(stored);
        let change: finding::Verdict = serde_json::from_str(stored).expect(stored);
        assert_eq!((figure, change), (Verdict::CannotTell, finding::Verdict::CannotTell));
        assert_eq!(serde_json::to_string(&figure).expect("JSON"), "\"inconclusive\"");
        assert_eq!(serde_json::to_string(&change).expect("JSON"), "\"inconclusive\"");
    }
}

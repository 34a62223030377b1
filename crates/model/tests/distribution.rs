//! Stamped operations: tails by order statistics, modes with their shares,
//! and the kernel's word against the method.

use model::context::Context;
use model::estimate::{Estimate, Verdict};
use model::estimator::estimate;
use model::machine_readings::MachineReadings;
use model::run::Regime;
use model::sample::{Evidence, Sample, flag};

/// An operation from one stamp to another, in ns, in this mode.
fn operation(worker: u32, from: u64, to: u64, mode: u8) -> Sample {
    Sample {
        worker,
        at_ms: worker * 100,
        turns: 1,
        first_ticks: from,
        second_ticks: Some(to),
        evidence: Evidence { mode, ..Evidence::default() },
    }
}

fn judge(samples: &[Sample], modes: &[&str]) -> Estimate {
    let gate = MachineReadings::from_samples(samples).gate(None);
    let modes: Vec<String> = modes.iter().map(ToString::to_string).collect();
    estimate(samples, &Context { modes: &modes, ..Context::plain(&gate, Regime::Stamped, 1.0) })
}

/// Eight workers, this many operations each, of this length.
fn even(each: u64, length: impl Fn(u64) -> u64) -> Vec<Sample> {
    (0..8)
        .flat_map(|worker| {
            let length = &length;
            (0..each).map(move |k| operation(worker, 0, length(k), 0))
        })
        .collect()
}

#[test]
fn without_samples_the_reason_says_so() {
    let none = judge(&[], &[]);
    assert_eq!(none.verdict, Verdict::CannotTell);
    assert_eq!(none.reason, "no sample was taken");
}

#[test]
fn a_percentile_needs_ten_operations_above_it() {
    let tail = |each| judge(&even(each, |k| 1000 + k), &[]).tail.expect("a tail");
    assert_eq!(tail(124).p99_ns, None, "992 operations");
    let shown = tail(125).p99_ns.expect("1000 operations");
    // 1000 values 1000..1125, eight of each: the 99th percentile is 1123.
    assert!((shown.value - 1123.0).abs() <= 1.0, "{shown:?}");
    assert!(shown.low < shown.value && shown.value < shown.high, "{shown:?}");
    assert_eq!(tail(125).p999_ns, None);
    assert!(tail(1250).p999_ns.is_some());
    assert_eq!((tail(125).shortest_ns, tail(125).longest_ns), (1000.0, 1124.0));
    assert_eq!((tail(125).operations, tail(125).over_ms), (1000, 700));
}

#[test]
fn means_of_several_operations_have_no_tail() {
    let mut samples = even(125, |k| 1000 + k);
    assert!(judge(&samples, &[]).tail.is_some());
    // A round trip of two ways, once among a thousand.
    samples[7].turns = 2;
    assert_eq!(judge(&samples, &[]).tail, None);
}

#[test]
fn a_second_stamp_before_the_first_is_negative_and_stays_so() {
    let samples: Vec<Sample> = (0..8)
        .flat_map(|worker| (0..10).map(move |k| operation(worker, 5000, 4000 + k, 0)))
        .collect();
    let estimate = judge(&samples, &[]);
    let typical = estimate.typical.expect("a figure");
    assert_eq!(typical.ns.value, -995.5);
    assert_eq!(estimate.verdict, Verdict::Ok, "{}", estimate.reason);
}

#[test]
fn modes_have_shares_and_figures_and_two_of_them_are_two_states() {
    let mut samples = even(60, |_| 3000);
    samples.extend((0..8).flat_map(|w| (0..20).map(move |_| operation(w, 0, 37_000, 1))));
    let estimate = judge(&samples, &["same CPU", "other CPU"]);
    let shown: Vec<(&str, f64, f64)> =
        estimate.modes.iter().map(|m| (m.name.as_str(), m.share, m.typical.ns.value)).collect();
    assert_eq!(shown, [("same CPU", 0.75, 3000.0), ("other CPU", 0.25, 37_000.0)]);
    assert_eq!(estimate.verdict, Verdict::TwoStates);
    assert_eq!(estimate.reason, "same CPU 3.00 µs in 75 %, other CPU 37.0 µs in 25 %");
}

#[test]
fn modes_below_zero_are_separated_by_what_lies_between_them() {
    let modes = |one: u64, other: u64| {
        let mut samples = Vec::new();
        for worker in 0..8 {
            for _ in 0..30 {
                samples.push(operation(worker, 9_000, 9_000 - one, 0));
                samples.push(operation(worker, 9_000, 9_000 - other, 1));
            }
        }
        judge(&samples, &["same CPU", "other CPU"])
    };
    let alike = modes(3_000, 3_000);
    assert_eq!(alike.verdict, Verdict::Ok, "{}", alike.reason);
    // 20 % of the one nearer to 0, as above it.
    assert_ne!(modes(3_000, 3_590).verdict, Verdict::TwoStates);
    assert_eq!(modes(3_000, 3_610).verdict, Verdict::TwoStates);
    let apart = modes(6_000, 3_000);
    assert_eq!(apart.verdict, Verdict::TwoStates);
    assert!(apart.reason.contains("-6.00 µs"), "{}", apart.reason);
}

/// Times of -`spread` to `spread` about `middle`, the same of each worker, but
/// for its own `shift`.
fn about(middle: i64, spread: i64, shift: i64) -> Vec<Sample> {
    let of = |worker: u32, k: i64| {
        let ns = middle + spread * (k - 20) / 20 + shift * (i64::from(worker) - 4);
        let to = u64::try_from(20_000 + ns).expect("above 0");
        operation(worker, 20_000, to, 0)
    };
    (0..8).flat_map(|w| (0..=40).map(move |k| of(w, k))).collect()
}

#[test]
fn a_part_near_zero_is_judged_by_its_width_in_ns() {
    // The workers' medians are `shift` apart: half of Yuen's interval is t(5)
    // times the shift.
    let known = judge(&about(60, 400, 60), &[]);
    let half = known.typical.expect("a figure").ns.half_width();
    assert!((80.0..250.0).contains(&half), "{half}");
    assert_eq!(known.verdict, Verdict::Ok, "{}", known.reason);

    let noisy = judge(&about(60, 400, 200), &[]);
    assert_eq!(noisy.verdict, Verdict::Noisy, "{}", noisy.reason);
    assert!(noisy.reason.ends_with(" ns"), "{}", noisy.reason);
    let vague = judge(&about(60, 400, 900), &[]);
    assert_eq!(vague.verdict, Verdict::CannotTell, "{}", vague.reason);
}

#[test]
fn what_is_never_below_zero_or_far_above_is_judged_in_percent() {
    // Half a µs that is not known, though by less than 1 µs.
    let short = judge(&about(600, 40, 135), &[]);
    assert_eq!(short.verdict, Verdict::CannotTell, "{}", short.reason);
    assert!(short.reason.ends_with(" %"), "{}", short.reason);
    // Below 0 now and then, but long: 37 % of 9 µs.
    let long = judge(&about(9_000, 10_000, 1_300), &[]);
    assert_eq!(long.verdict, Verdict::Noisy, "{}", long.reason);
    assert!(long.reason.ends_with(" %"), "{}", long.reason);
    // Means of many operations have no such allowance.
    let mut many = about(60, 400, 60);
    many.iter_mut().for_each(|s| s.turns = 2);
    assert_eq!(judge(&many, &[]).verdict, Verdict::CannotTell);
}

#[test]
fn a_rare_mode_or_one_that_costs_the_same_is_no_second_state() {
    let mut rare = even(60, |k| 3000 + k);
    rare.extend((0..8).map(|w| operation(w, 0, 37_000, 1)));
    let estimate = judge(&rare, &["same CPU", "other CPU"]);
    assert_eq!(estimate.modes.len(), 2, "it is found all the same");
    assert_eq!(estimate.verdict, Verdict::Ok, "{}", estimate.reason);

    let mut alike = even(30, |k| 3000 + k);
    alike.extend((0..8).flat_map(|w| (0..30).map(move |k| operation(w, 0, 3200 + k, 1))));
    let estimate = judge(&alike, &["same CPU", "other CPU"]);
    assert_eq!(estimate.verdict, Verdict::Ok, "{}", estimate.reason);
}

#[test]
fn visits_that_the_kernel_contradicts_make_the_row_invalid() {
    let marked = |share: usize| {
        let mut samples = even(10, |_| 3000);
        for sample in samples.iter_mut().take(80 * share / 100) {
            sample.evidence.flags |= flag::CONTRADICTED;
        }
        judge(&samples, &[])
    };
    assert_eq!(marked(40).verdict, Verdict::Ok);
    let most = marked(60);
    assert_eq!(most.verdict, Verdict::Invalid);
    assert!(most.reason.contains("contradict the method"), "{}", most.reason);
}

#[test]
fn workers_that_disagree_widen_the_interval() {
    // Each worker is sure of itself; the workers are not of each other.
    let samples: Vec<Sample> = (0..8)
        .flat_map(|w| (0..200).map(move |k| operation(w, 0, 3000 + u64::from(w) * 100 + k % 3, 0)))
        .collect();
    let typical = judge(&samples, &[]).typical.expect("a figure");
    // The workers' medians are 100 apart: t(5) times that is 257.
    assert!(typical.ns.half_width() > 200.0, "{typical:?}");
}

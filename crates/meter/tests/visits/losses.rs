//! Time in which the CPU was lost.

use super::*;

#[test]
fn preempted_visits_are_kept_as_typical_and_kept_out_of_quiet() {
    let m = machine();
    // One of 200 loops loses 3 ms; a visit has some 60.
    *m.preemptions.borrow_mut() = [vec![0; 199], vec![3_000_000]].concat().repeat(4);
    let samples = simulated_samples(&m, 3.0, true);
    let lost = samples.iter().filter(|s| s.evidence.lost_ns > 0).count();
    assert_eq!(lost % 12, 0, "whole visits: {lost}");
    assert!((24..=48).contains(&lost), "{lost}");
    let estimate = judge(&samples);
    let quiet = estimate.quiet.expect("most are whole");
    assert!((quiet.ns.value - 1.5).abs() < 1e-2, "{quiet:?}");
    assert!(estimate.quiet_share.expect("asked") < 0.95);
    let typical = estimate.typical.expect("all of them");
    assert_eq!(typical.samples, 96);
}

#[test]
fn a_visits_loss_falls_to_its_samples_by_duration() {
    let m = machine();
    let mut work = Op { machine: m.clone(), per_op: 3.0, paired: false };
    let mut order = order(4);
    order.turns = Some(4_000);
    // The third run is the second sample's untimed part; the fourth it itself.
    *m.preemptions.borrow_mut() = vec![0, 0, 0, 0, 1_000_000, 0, 0, 0, 0];
    let samples = visit_with(&m, &mut work, &order).samples;
    let all: u64 = samples.iter().map(|s| s.evidence.lost_ns).sum();
    assert!((900_000..=1_000_000).contains(&all), "{all}");
    let share = |s: &Sample| s.evidence.lost_ns as f64 / s.first_ticks as f64;
    let shares: Vec<f64> = samples.iter().map(share).collect();
    assert!(shares.iter().all(|s| (s / shares[0] - 1.0).abs() < 1e-3), "{shares:?}");
}

#[test]
fn a_row_that_lost_its_cpu_in_most_samples_is_invalid() {
    let m = machine();
    *m.preemptions.borrow_mut() = vec![3_000_000; 2_000];
    let estimate = judge(&simulated_samples(&m, 3.0, true));
    assert_eq!(estimate.verdict, Verdict::Invalid, "{estimate:?}");
    assert!(estimate.reason.contains("lost its CPU"));
}

//! The far end of stamped operations: intervals that know that long ones come
//! in bursts, and whose the longest were.

#[path = "dice/mod.rs"]
mod dice;

use dice::Dice;
use model::context::Context;
use model::estimate::{Longest, Tail, Verdict};
use model::estimator::estimate;
use model::machine_readings::MachineReadings;
use model::run::Regime;
use model::sample::{Evidence, Sample};

/// An operation of this length in ns in a visit of this worker.
fn operation(worker: u32, at_ms: u32, ns: f64) -> Sample {
    Sample {
        worker,
        at_ms,
        turns: 1,
        first_ticks: 0,
        second_ticks: Some(ns as u64),
        evidence: Evidence::default(),
    }
}

fn tail(samples: &[Sample]) -> Tail {
    let gate = MachineReadings::from_samples(samples).gate(None);
    let context = Context::plain(&gate, Regime::Stamped, 1.0);
    estimate(samples, &context).tail.expect("single operations")
}

/// Eight workers, twelve visits each of 25 operations: 3 in 100 are long, in
/// `visits` of the 96 only.
fn bursts(dice: &mut Dice, visits: usize) -> Vec<Sample> {
    let chosen: Vec<usize> = (0..visits).map(|_| dice.below(96)).collect();
    (0..96)
        .flat_map(|visit| {
            let (worker, at_ms) = ((visit % 8) as u32, visit as u32 * 300);
            let often = match visits {
                96 => 0.03,
                _ => 0.03 * 96.0 / visits as f64 * f64::from(u8::from(chosen.contains(&visit))),
            };
            (0..25)
                .map(|_| {
                    let long = if dice.uniform() < often { 20.0 } else { 1.0 };
                    operation(worker, at_ms, 5_000.0 * long * (0.1 * dice.normal()).exp())
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

/// How many of two runs' p99 intervals are disjoint, of a hundred pairs.
fn disjoint(visits: usize) -> usize {
    let mut dice = Dice(11);
    let mut p99 = || {
        let found = tail(&bursts(&mut dice, visits));
        (found.p99_ns.expect("2400 operations"), found.verdict)
    };
    (0..100)
        .filter(|_| {
            let ((a, of_a), (b, of_b)) = (p99(), p99());
            // What is not known is not given as known.
            let known = of_a == Some(Verdict::Ok) && of_b == Some(Verdict::Ok);
            known && (a.high < b.low || b.high < a.low)
        })
        .count()
}

#[test]
fn intervals_of_two_runs_meet_though_long_operations_come_in_bursts() {
    let counts = [96, 24, 6].map(disjoint);
    println!("disjoint of 100 pairs, long ones in 96, 24 and 6 of 96 visits: {counts:?}");
    assert!(counts.iter().all(|&count| count <= 5), "{counts:?}");
}

#[test]
fn a_tail_of_one_visit_is_not_known() {
    let mut samples: Vec<Sample> =
        (0..2400).map(|k| operation(k % 8, k / 25 * 300, 5_000.0 + f64::from(k % 7))).collect();
    let spread_out = tail(&samples);
    assert_eq!(spread_out.verdict, Some(Verdict::Ok), "{spread_out:?}");
    let visit = samples[0];
    let own = |s: &&mut Sample| s.worker == visit.worker && s.at_ms == visit.at_ms;
    for s in samples.iter_mut().filter(own) {
        s.second_ticks = Some(4_000_000);
    }
    samples.extend((0..40).map(|_| operation(visit.worker, visit.at_ms, 3_900_000.0)));
    let burst = tail(&samples);
    assert_eq!(burst.verdict, Some(Verdict::CannotTell), "{burst:?}");
    assert!(burst.reason().contains("p99 not known"), "{}", burst.reason());
}

#[test]
fn the_longest_are_the_schedulers_where_run_delay_explains_them() {
    let mut samples: Vec<Sample> =
        (0..1000).map(|k| operation(k % 8, k / 50 * 300, 5_000.0 + f64::from(k % 7))).collect();
    assert_eq!(tail(&samples).longest, None, "none was recorded");
    // Each visit waits 20 us, as always; two of them 4 ms more.
    let mut first = std::collections::BTreeSet::new();
    for s in &mut samples {
        if first.insert((s.worker, s.at_ms)) {
            s.evidence.lost_ns = 20_000;
        }
    }
    for (at, ns, lost_ns) in [
        (0, 4_000_000, 4_020_000),
        (200, 4_000_000, 4_020_000),
        // As long, and the thread never waited for a CPU.
        (400, 4_000_000, 20_000),
    ] {
        samples[at].second_ticks = Some(ns);
        let visit = (samples[at].worker, samples[at].at_ms);
        let begins = samples.iter_mut().find(|s| (s.worker, s.at_ms) == visit);
        begins.expect("the visit").evidence.lost_ns = lost_ns;
    }
    let found = tail(&samples);
    assert_eq!(found.longest, Some(Longest { of: 3, scheduler: 2 }));
    assert_eq!(found.reason(), "2 of the longest 3 were the scheduler's");
    // Other threads of the operations may have waited: that none is explained
    // says nothing.
    samples[0].second_ticks = Some(5_000);
    samples[200].second_ticks = Some(5_000);
    let found = tail(&samples);
    let none = Longest { of: 1, scheduler: 0 };
    assert_eq!((found.longest, found.reason()), (Some(none), String::new()));
}

//! Stamped operations that waited for a CPU: what a time slice is worth as a figure.

use model::context::Context;
use model::estimate::{Estimate, Verdict};
use model::estimator::estimate;
use model::machine_readings::MachineReadings;
use model::run::Regime;
use model::sample::{Evidence, Sample};

const QUIET_NS: u64 = 30_000;
const SLICE_NS: u64 = 3_990_000;

/// Eight workers, four visits each of twenty operations, of which `slices` in ten take a time
/// slice and the others what they cost; each visit records `recorded` of what they waited.
fn machine(slices: u32, recorded: f64) -> Vec<Sample> {
    let mut samples = Vec::new();
    for visit in 0..32 {
        let first = samples.len();
        let mut waited_ns = 0;
        for k in 0..20 {
            // A hundredth to either side.
            let own_ns = QUIET_NS + u64::from((7 * k + visit) % 21) * QUIET_NS / 1000;
            let is_slice = (3 * k + visit) % 10 < slices;
            let ns = if is_slice { SLICE_NS + own_ns / 100 } else { own_ns };
            waited_ns += if is_slice { ns - QUIET_NS } else { 0 };
            samples.push(Sample {
                worker: visit % 8,
                at_ms: visit * 300,
                turns: 1,
                first_ticks: 0,
                second_ticks: Some(ns),
                evidence: Evidence::default(),
            });
        }
        samples[first].evidence.lost_ns = (waited_ns as f64 * recorded) as u64;
    }
    samples
}

fn judged(samples: &[Sample]) -> Estimate {
    let gate = MachineReadings::from_samples(samples).gate(None);
    estimate(samples, &Context::plain(&gate, Regime::Stamped, 1.0))
}

#[test]
fn slices_that_all_operations_waited_for_are_no_figure() {
    let unrecorded = judged(&machine(10, 0.0));
    let ns = unrecorded.ns().expect("a figure");
    assert_eq!(ns.value.round(), 3_990_303.0);
    assert!(ns.relative_half_width() < 0.01, "as narrow as a slice repeats: {ns:?}");
    assert_eq!(unrecorded.verdict, Verdict::Ok, "nothing says otherwise");
    let slices = judged(&machine(10, 1.0));
    assert_eq!(slices.verdict, Verdict::CannotTell);
    assert_eq!(
        slices.reason,
        "its time is a wait for a CPU: 3.96 ms of 3.99 ms runnable, not running"
    );
    assert_eq!(slices.ns(), unrecorded.ns(), "the figure stays");
    // Where a third of it is known, as of one of the threads, that is what is said.
    assert_eq!(
        judged(&machine(10, 1.0 / 3.0)).reason,
        "its time is a wait for a CPU: 1.32 ms of 3.99 ms runnable, not running"
    );
}

#[test]
fn slices_of_most_operations_are_no_figure_and_those_of_few_are_the_tails() {
    let most = judged(&machine(7, 1.0));
    assert_eq!(most.verdict, Verdict::CannotTell);
    assert!(most.reason.starts_with("its time is a wait for a CPU: 3.96 ms of "), "{most:?}");
    // A tenth is not what the median is made of.
    let few = judged(&machine(1, 1.0));
    assert_eq!((few.verdict, few.reason.as_str()), (Verdict::Ok, ""));
    assert_eq!(few.ns().expect("a figure").value.round(), 30_330.0);
}

#[test]
fn short_waits_are_a_part_of_the_operation() {
    let waiting = |quiet_ns: u64, ns: u64| {
        let mut samples = machine(0, 0.0);
        for sample in &mut samples {
            sample.second_ticks = sample.second_ticks.map(|ns| ns * quiet_ns / QUIET_NS);
        }
        for first in samples.iter_mut().step_by(20) {
            first.evidence.lost_ns = 20 * ns;
        }
        judged(&samples)
    };
    // The way of a thread that is woken to a CPU that nothing else runs on.
    assert_eq!(waiting(QUIET_NS, QUIET_NS * 9 / 10).verdict, Verdict::Ok);
    assert_eq!(waiting(300_000, 49_000).verdict, Verdict::Ok);
    // Less than a quarter of it.
    assert_eq!(waiting(300_000, 70_000).verdict, Verdict::Ok);
    assert_eq!(
        waiting(300_000, 100_000).reason,
        "its time is a wait for a CPU: 100 µs of 303 µs runnable, not running"
    );
    // Two threads that waited together for longer than the operation took.
    assert_eq!(
        waiting(300_000, 450_000).reason,
        "its time is a wait for a CPU: 303 µs of 303 µs runnable, not running"
    );
    // A slice that is longer than all operations of the visit did not fall into them.
    assert_eq!(waiting(300_000, 2_100_000).verdict, Verdict::Ok);
}

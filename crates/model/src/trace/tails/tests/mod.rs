//! Why a slow operation was slow, on synthetic traces: this file makes a trace of 30 operations of which one
//! is slow; `detours.rs`, `partners.rs`, `quota.rs` and `states.rs` test the causes, `documents.rs` damaged
//! documents, `many.rs` large ones.

mod detours;
mod documents;
mod many;
mod partners;
mod quota;
mod spans;
mod states;

use super::*;
use crate::trace::row::{ClockStep, Spin, TracedOperation, Watch, WatchReading};
use crate::trace::{
    Access, Cpu, Ended, Interrupt, PageFault, Segment, Signpost, State, Switch, Thread, Tier,
    TracedRow, Wakeup,
};

/// The thread of the operations, and its partner.
const FIRST: u32 = 1;
const SECOND: u32 = 2;
const PERIOD_NS: u64 = 100_000;
const USUAL_NS: u64 = 1_000;
const SLOW: usize = 7;
const SLOW_AT_NS: u64 = SLOW as u64 * PERIOD_NS;

/// A switch so long after the slow operation began.
fn switch(after_ns: u64, out: u32, into: u32) -> Switch {
    Switch { at_ns: SLOW_AT_NS + after_ns, out, state: 0, into }
}

/// 30 operations of a thread that runs, of which one takes 51 µs.
fn trace(tier: Tier, states: &[(u64, u64, State)]) -> Trace {
    let operation = |at: usize| {
        let from_ns = at as u64 * PERIOD_NS;
        let length = if at == SLOW { 51_000 } else { USUAL_NS };
        TracedOperation { from_ns, to_ns: from_ns + length, thread: FIRST }
    };
    let end_ns = 30 * PERIOD_NS;
    let mut segments = Vec::new();
    let mut now_ns = 0;
    for &(from, to, state) in states {
        let (from_ns, to_ns) = (SLOW_AT_NS + from, SLOW_AT_NS + to);
        segments.push(Segment::new(now_ns, from_ns, State::Running(0)));
        segments.push(Segment::new(from_ns, to_ns, state));
        now_ns = to_ns;
    }
    segments.push(Segment::new(now_ns, end_ns, State::Running(0)));
    segments.retain(|segment| segment.from_ns < segment.to_ns);
    let row = TracedRow {
        operations: (0..30).map(operation).collect(),
        prices: Some(([(InterruptKind::Timer, 4_000)].into(), Some(3_000))),
        ..TracedRow::default()
    };
    Trace {
        duration_ns: end_ns,
        threads: vec![Thread { id: FIRST, to_ns: end_ns, segments, ..Thread::default() }],
        cpus: vec![Cpu::default()],
        ..Trace::new(Target::Row(row), Ended::Exited(0), tier)
    }
}

/// Where the excess of the slow operation went, in ns.
fn causes(trace: &Trace) -> Vec<(Cause, u64)> {
    let [tails] = &tails(trace)[..] else {
        panic!("operations of one kind");
    };
    assert_eq!(tails.median_ns, USUAL_NS);
    let [slow] = &tails.slow[..] else {
        panic!("the others are as usual: {tails:?}");
    };
    assert_eq!((slow.number, slow.excess_ns), (SLOW, 50_000.0));
    let sum: f64 = slow.causes.iter().map(|(_, ns)| ns).sum();
    assert!((sum - slow.excess_ns).abs() < 1e-6, "{slow:?}");
    let causes = slow.causes.iter();
    causes.map(|&(cause, ns)| (cause, ns.round() as u64)).collect()
}

/// Readings of the counters during the trace.
fn set_watch(trace: &mut Trace, readings: Vec<(u64, u64, [u32; 4])>) {
    if let Target::Row(row) = &mut trace.target {
        row.watch = Some(Watch {
            thread: 99,
            cpu: 0,
            readings: readings.into_iter().map(WatchReading::from).collect(),
            clock_steps: Vec::new(),
        });
    }
}

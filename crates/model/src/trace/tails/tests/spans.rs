//! Spans that a program marked, of which one is slow.

use super::super::{Over, span_tails, spans_named};
use super::*;
use crate::trace::{Call, ServedFault};

/// 100 spans of 1 µs each 100 µs, of which the 8th takes 51 µs.
fn spans_trace(states: &[(u64, u64, State)]) -> Trace {
    let mut trace = trace(Tier::Full, states);
    trace.target = Target::Process(1);
    let last = &mut trace.threads[0];
    trace.duration_ns = 100 * PERIOD_NS;
    last.to_ns = trace.duration_ns;
    last.segments.last_mut().expect("one").to_ns = trace.duration_ns;
    let marks = (0..100).map(|at| {
        let from_ns = at as u64 * PERIOD_NS;
        let length_ns = if at == SLOW { 51_000 } else { USUAL_NS };
        Signpost { from_ns, to_ns: Some(from_ns + length_ns), name: 0 }
    });
    last.signposts = marks.collect();
    trace.signpost_names = vec!["work".into()];
    trace
}

fn causes_of(trace: &Trace) -> Vec<(Cause, u64)> {
    let (spans, unfinished) = spans_named(trace, "work");
    assert_eq!((spans.len(), unfinished), (100, 0));
    let tails = span_tails(trace, &spans, Over::Share(0.99)).expect("spans");
    assert_eq!((tails.median_ns, tails.limit_ns, tails.operations), (USUAL_NS, USUAL_NS, 100));
    let [slow] = &tails.slow[..] else {
        panic!("{tails:?}");
    };
    assert_eq!((slow.number, slow.excess_ns), (SLOW, 50_000.0));
    slow.causes.iter().map(|&(cause, ns)| (cause, ns.round() as u64)).collect()
}

#[test]
fn what_a_thread_waited_for_is_the_cause() {
    let blocked = State::Blocked { call: Some(202), uninterruptible: false };
    let mut trace = spans_trace(&[
        (500, 40_500, blocked),
        (40_500, 45_500, State::Runnable),
        (46_000, 51_000, State::Preempted(SECOND)),
    ]);
    trace.wakeups =
        vec![Wakeup { at_ns: SLOW_AT_NS + 40_500, thread: FIRST, by: Some(SECOND), cpu: 0 }];
    trace.cpus[0].switches = vec![
        switch(500, FIRST, 7),
        switch(45_500, 7, FIRST),
        switch(46_000, FIRST, SECOND),
        switch(50_000, SECOND, 7),
        switch(51_000, 7, FIRST),
    ];
    let expected = [
        (Cause::Waits { call: Some(202), by: Some(SECOND) }, 40_000),
        (Cause::Queued(7), 6_000),
        (Cause::Preempted(Some(SECOND)), 4_000),
    ];
    assert_eq!(causes_of(&trace), expected);
    // Without records of the CPUs it is not known who was waited for.
    trace.cpus.clear();
    trace.wakeups.clear();
    let expected = [
        (Cause::Waits { call: Some(202), by: None }, 40_000),
        (Cause::Preempted(Some(SECOND)), 5_000),
        (Cause::Runnable, 5_000),
    ];
    assert_eq!(causes_of(&trace), expected);
}

#[test]
fn time_on_a_cpu_is_of_faults_and_calls() {
    let mut trace = spans_trace(&[]);
    let at = |ns: u64| SLOW_AT_NS + ns;
    let fault = |from: u64, to: u64| PageFault {
        at_ns: at(from),
        address: 4_096,
        access: Access::Write,
        served: Some(ServedFault { to_ns: at(to), major: false }),
    };
    // The second one lies in a call, and the last one reaches beyond the end.
    trace.threads[0].faults =
        vec![fault(1_000, 6_000), fault(12_000, 14_000), fault(50_000, 60_000)];
    trace.threads[0].calls = vec![Call {
        from_ns: at(10_000),
        to_ns: at(30_000),
        number: 9,
        arguments: [0; 3],
        returned: Some(0),
    }];
    let expected = [(Cause::OnCpu, 24_000), (Cause::Call(9), 18_000), (Cause::Faults, 8_000)];
    assert_eq!(causes_of(&trace), expected);
}

#[test]
fn what_is_not_recorded_is_no_cause() {
    let lost =
        spans_trace(&[(1_000, 21_000, State::Lost), (21_000, 51_000, State::BlockedOrRunnable)]);
    let expected = [(Cause::WaitsOrRunnable(None), 30_000), (Cause::Unrecorded, 20_000)];
    assert_eq!(causes_of(&lost), expected);
    assert!(!Cause::Unrecorded.is_explained());
    let mut none = spans_trace(&[]);
    none.threads[0].segments.clear();
    // All of its time, of which each span has as much as it takes.
    assert_eq!(causes_of(&none), [(Cause::Unrecorded, 50_000)]);
}

#[test]
fn spans_that_did_not_end_are_not_among_them() {
    let mut trace = spans_trace(&[]);
    let end_ns = trace.duration_ns;
    trace.threads[0].signposts[3].to_ns = Some(end_ns);
    trace.threads[0].signposts[4].to_ns = None;
    let (spans, unfinished) = spans_named(&trace, "work");
    assert_eq!((spans.len(), unfinished), (98, 1));
    assert_eq!(spans_named(&trace, "other"), (Vec::new(), 0));
    assert_eq!(span_tails(&trace, &[], Over::Ns(1)), None);
    let over = span_tails(&trace, &spans, Over::Ns(51_000)).expect("spans");
    assert_eq!((over.slow.len(), over.limit_ns), (0, 51_000));
    // Spans of several threads may overlap.
    let both: Vec<TracedOperation> = [spans.clone(), spans].concat();
    let tails = span_tails(&trace, &both, Over::Ns(50_000)).expect("spans");
    assert_eq!(tails.slow.len(), 2);
}

#[test]
fn the_slowest_spans_of_each_name_are_explained_where_there_are_enough() {
    let blocked = State::Blocked { call: None, uninterruptible: false };
    let mut trace = spans_trace(&[(500, 50_500, blocked)]);
    trace.signpost_names.extend(["few".into(), "all alike".into()]);
    let other = |at: u64, name| Signpost { from_ns: at, to_ns: Some(at + at % 7), name };
    let marks = &mut trace.threads[0].signposts;
    marks.extend((1..20).map(|at| other(at * PERIOD_NS, 1)));
    marks.extend((1..40).map(|at| other(at * 7_000 + 1, 2)));
    let [work] = &tails(&trace)[..] else {
        panic!("{:?}", tails(&trace));
    };
    assert_eq!((work.name.as_deref(), work.operations), (Some("work"), 100));
    let [slow] = &work.slow[..] else {
        panic!("{work:?}");
    };
    assert_eq!((slow.number, slow.operation.from_ns), (SLOW, SLOW_AT_NS));
    assert_eq!(slow.causes[0].0, Cause::Waits { call: None, by: None });
    // Without states, nothing is.
    trace.threads[0].segments = vec![Segment::new(0, trace.duration_ns, State::Unknown)];
    assert_eq!(tails(&trace), []);
}

//! Threads that are waited for, and those that are not of the row.

use super::*;

#[test]
fn the_partner_that_is_waited_for_has_the_cause() {
    let waits = State::Blocked { call: None, uninterruptible: false };
    let mut trace = trace(Tier::Full, &[(500, 50_500, waits)]);
    // It is preempted before it wakes the first.
    let woken_ns = SLOW_AT_NS + 50_500;
    trace.threads.push(Thread {
        id: SECOND,
        to_ns: trace.duration_ns,
        segments: vec![
            Segment::new(0, SLOW_AT_NS + 2_000, State::Running(1)),
            Segment::new(SLOW_AT_NS + 2_000, SLOW_AT_NS + 42_000, State::Preempted(9)),
            Segment::new(SLOW_AT_NS + 42_000, trace.duration_ns, State::Running(1)),
        ],
        ..Thread::default()
    });
    trace.wakeups.push(Wakeup { at_ns: woken_ns, thread: FIRST, by: Some(SECOND), cpu: 1 });
    assert_eq!(causes(&trace), [(Cause::Preempted(Some(9)), 40_000), (Cause::OnCpu, 10_000)]);
    // One that is not traced says nothing more.
    trace.wakeups[0].by = Some(99);
    assert_eq!(causes(&trace), [(Cause::Blocked, 50_000)]);
}

#[test]
fn a_thread_of_the_row_that_takes_the_cpu_gets_on_with_it() {
    let mut trace = trace(Tier::Full, &[(500, 50_500, State::Preempted(SECOND))]);
    let at = |ns: u64| SLOW_AT_NS + ns;
    trace.threads.push(Thread {
        id: SECOND,
        to_ns: trace.duration_ns,
        segments: vec![
            Segment::new(0, at(500), State::Preempted(FIRST)),
            Segment::new(at(500), at(10_500), State::Running(0)),
            Segment::new(at(10_500), at(40_500), State::Preempted(9)),
            Segment::new(at(40_500), at(50_500), State::Running(0)),
        ],
        ..Thread::default()
    });
    assert_eq!(causes(&trace), [(Cause::Preempted(Some(9)), 30_000), (Cause::OnCpu, 20_000)]);
}

#[test]
fn without_wake_ups_the_other_threads_of_the_process_tell() {
    let state = State::BlockedOrRunnable;
    let mut trace = trace(Tier::OwnProcess, &[(500, 50_500, state)]);
    let at = |ns: u64| SLOW_AT_NS + ns;
    let other = |id, segments| Thread { id, to_ns: at(90_000), segments, ..Thread::default() };
    trace.threads.push(other(
        SECOND,
        vec![
            Segment::new(at(500), at(10_500), State::Running(1)),
            Segment::new(at(10_500), at(40_500), State::PreemptedOrYielded),
            Segment::new(at(40_500), at(90_000), State::BlockedOrRunnable),
        ],
    ));
    // A third runs for a part of that time.
    trace.threads.push(other(
        3,
        vec![
            Segment::new(at(15_500), at(20_500), State::Running(0)),
            Segment::new(at(20_500), at(25_500), State::PreemptedOrYielded),
        ],
    ));
    assert_eq!(
        causes(&trace),
        [(Cause::Preempted(None), 25_000), (Cause::OnCpu, 15_000), (Cause::OffCpu, 10_000)]
    );
}

#[test]
fn latlas_itself_is_no_other_thread() {
    let at = |ns: u64| SLOW_AT_NS + ns;
    let recorder = Cause::Recorder;
    let expected = [(recorder, 40_000), (Cause::Queued(8), 10_000)];
    for state in [State::Runnable, State::Preempted(9)] {
        let mut trace = trace(Tier::Full, &[(0, 50_000, state)]);
        trace.cpus[0].switches =
            vec![switch(0, FIRST, 9), switch(40_000, 9, 8), switch(50_000, 8, FIRST)];
        trace.recorder = vec![9];
        assert_eq!(causes(&trace), expected);
    }
    // Where its CPU is not recorded.
    let mut trace = trace(Tier::Full, &[(500, 50_500, State::Preempted(9))]);
    assert_eq!(causes(&trace), [(Cause::Preempted(Some(9)), 50_000)]);
    trace.recorder = vec![9];
    assert_eq!(causes(&trace), [(recorder, 50_000)]);
    // The thread that counts is one of the row's process, and does nothing for the row.
    let mut trace = self::trace(Tier::Full, &[(500, 50_500, State::Preempted(99))]);
    trace.threads.push(Thread {
        id: 99,
        to_ns: trace.duration_ns,
        segments: vec![Segment::new(0, at(50_500), State::Running(0))],
        ..Thread::default()
    });
    assert_eq!(causes(&trace), [(Cause::OnCpu, 50_000)]);
    set_watch(&mut trace, Vec::new());
    assert_eq!(causes(&trace), [(recorder, 50_000)]);
    // The idle task never is.
    let mut trace = self::trace(Tier::Full, &[(0, 50_000, State::Runnable)]);
    trace.cpus[0].switches = vec![switch(0, 8, 0), switch(50_000, 0, FIRST)];
    trace.recorder = vec![0];
    assert_eq!(causes(&trace), [(Cause::Queued(0), 50_000)]);
}

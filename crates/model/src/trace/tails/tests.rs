use super::*;
use crate::trace::row::Operation;
use crate::trace::{
    Access, Cpu, Ended, Fault, Interrupt, Row, Segment, State, Switch, Thread, Tier, Wakeup,
};

/// The thread of the operations, and its partner.
const FIRST: u32 = 1;
const SECOND: u32 = 2;
const PERIOD_NS: u64 = 100_000;
const USUAL_NS: u64 = 1_000;
const SLOW: usize = 7;
const SLOW_AT_NS: u64 = SLOW as u64 * PERIOD_NS;

fn segment(from_ns: u64, to_ns: u64, state: State) -> Segment {
    Segment {
        from_ns,
        to_ns,
        state,
    }
}

/// A switch so long after the slow operation began.
fn switch(after_ns: u64, out: u32, into: u32) -> Switch {
    Switch {
        at_ns: SLOW_AT_NS + after_ns,
        out,
        state: 0,
        into,
    }
}

/// 30 operations of a thread that runs, of which one takes 51 µs.
fn trace(tier: Tier, states: &[(u64, u64, State)]) -> Trace {
    let operation = |at: usize| {
        let from_ns = at as u64 * PERIOD_NS;
        let length = if at == SLOW { 51_000 } else { USUAL_NS };
        Operation {
            from_ns,
            to_ns: from_ns + length,
            thread: FIRST,
        }
    };
    let end_ns = 30 * PERIOD_NS;
    let mut segments = Vec::new();
    let mut now_ns = 0;
    for &(from, to, state) in states {
        let (from_ns, to_ns) = (SLOW_AT_NS + from, SLOW_AT_NS + to);
        segments.push(segment(now_ns, from_ns, State::Running(0)));
        segments.push(segment(from_ns, to_ns, state));
        now_ns = to_ns;
    }
    segments.push(segment(now_ns, end_ns, State::Running(0)));
    segments.retain(|segment| segment.from_ns < segment.to_ns);
    let row = Row {
        operations: (0..30).map(operation).collect(),
        prices: Some(([(InterruptKind::Timer, 4_000)].into(), Some(3_000))),
        ..Row::default()
    };
    Trace {
        duration_ns: end_ns,
        threads: vec![Thread {
            id: FIRST,
            to_ns: end_ns,
            segments,
            ..Thread::default()
        }],
        cpus: vec![Cpu::default()],
        ..Trace::new(Target::Row(row), Ended::Exited(0), tier)
    }
}

/// Where the excess of the slow operation went, in ns.
fn causes(trace: &Trace) -> Vec<(Cause, u64)> {
    let tails = tails(trace).expect("a row");
    assert_eq!(tails.median_ns, USUAL_NS);
    let [slow] = &tails.slow[..] else {
        panic!("the others are as usual: {tails:?}");
    };
    assert_eq!((slow.number, slow.excess_ns), (SLOW, 50_000.0));
    let sum: f64 = slow.causes.iter().map(|(_, ns)| ns).sum();
    assert!((sum - slow.excess_ns).abs() < 1e-6, "{slow:?}");
    let causes = slow.causes.iter();
    causes
        .map(|&(cause, ns)| (cause, ns.round() as u64))
        .collect()
}

#[test]
fn a_state_has_its_cause() {
    let by_bits = State::PreemptedOrYielded;
    let blocked = State::Blocked {
        call: None,
        uninterruptible: false,
    };
    for (tier, state, cause) in [
        (Tier::Full, State::Preempted(9), Cause::Preempted(Some(9))),
        (Tier::Full, State::Preempted(0), Cause::Throttled),
        (Tier::Full, State::Stopped, Cause::Stopped),
        (Tier::Full, blocked, Cause::Blocked),
        (Tier::Full, State::Lost, Cause::OffCpu),
        (Tier::OwnProcess, by_bits, Cause::Preempted(None)),
        (Tier::OwnProcess, State::BlockedOrRunnable, Cause::OffCpu),
    ] {
        let trace = trace(tier, &[(500, 50_500, state)]);
        assert_eq!(causes(&trace), [(cause, 50_000)]);
    }
}

#[test]
fn without_the_scheduler_the_quota_is_known_by_its_sum() {
    let mut trace = trace(Tier::OwnProcess, &[(0, 50_000, State::PreemptedOrYielded)]);
    // While the first runs, this one waits for its CPU.
    trace.threads.push(Thread {
        id: SECOND,
        to_ns: SLOW_AT_NS,
        segments: vec![segment(0, SLOW_AT_NS, State::PreemptedOrYielded)],
        ..Thread::default()
    });
    for (throttled_ns, cause) in [
        (45_000, Cause::Throttled),
        // Something else had most of it.
        (20_000, Cause::Preempted(None)),
    ] {
        if let Target::Row(row) = &mut trace.target {
            row.throttled_ns = throttled_ns;
        }
        assert_eq!(causes(&trace), [(cause, 50_000)]);
    }
}

#[test]
fn who_had_the_cpu_was_waited_for() {
    let mut trace = trace(Tier::Full, &[(0, 50_000, State::Runnable)]);
    trace.cpus[0].switches = vec![
        switch(10_000, 8, 9),
        switch(40_000, 9, 0),
        switch(50_000, 0, FIRST),
    ];
    let expected = [
        (Cause::Queued(9), 30_000),
        (Cause::Queued(0), 10_000),
        (Cause::Queued(8), 10_000),
    ];
    let mut found = causes(&trace);
    found.sort_by_key(|&(cause, ns)| (std::cmp::Reverse(ns), cause));
    assert_eq!(found, expected);
}

#[test]
fn of_a_thread_that_comes_to_another_cpu_the_queue_is_not_known() {
    let mut trace = trace(Tier::Full, &[(0, 50_000, State::Runnable)]);
    for segment in &mut trace.threads[0].segments {
        if segment.state == State::Running(0) && segment.from_ns > SLOW_AT_NS {
            segment.state = State::Running(1);
        }
    }
    trace.cpus.push(Cpu {
        id: 1,
        switches: vec![switch(50_000, 9, FIRST)],
        ..Cpu::default()
    });
    assert_eq!(causes(&trace), [(Cause::OffCpu, 50_000)]);
}

#[test]
fn the_one_that_preempts_answers_for_its_own_time() {
    let mut trace = trace(Tier::Full, &[(500, 50_500, State::Preempted(9))]);
    trace.cpus[0].switches = vec![
        switch(500, FIRST, 9),
        switch(10_500, 9, 8),
        switch(50_500, 8, FIRST),
    ];
    assert_eq!(
        causes(&trace),
        [
            (Cause::Queued(8), 40_000),
            (Cause::Preempted(Some(9)), 10_000)
        ]
    );
}

#[test]
fn the_partner_that_is_waited_for_has_the_cause() {
    let waits = State::Blocked {
        call: None,
        uninterruptible: false,
    };
    let mut trace = trace(Tier::Full, &[(500, 50_500, waits)]);
    // It is preempted before it wakes the first.
    let woken_ns = SLOW_AT_NS + 50_500;
    trace.threads.push(Thread {
        id: SECOND,
        to_ns: trace.duration_ns,
        segments: vec![
            segment(0, SLOW_AT_NS + 2_000, State::Running(1)),
            segment(SLOW_AT_NS + 2_000, SLOW_AT_NS + 42_000, State::Preempted(9)),
            segment(SLOW_AT_NS + 42_000, trace.duration_ns, State::Running(1)),
        ],
        ..Thread::default()
    });
    trace.wakeups.push(Wakeup {
        at_ns: woken_ns,
        thread: FIRST,
        by: Some(SECOND),
        cpu: 1,
    });
    assert_eq!(
        causes(&trace),
        [(Cause::Preempted(Some(9)), 40_000), (Cause::OnCpu, 10_000)]
    );
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
            segment(0, at(500), State::Preempted(FIRST)),
            segment(at(500), at(10_500), State::Running(0)),
            segment(at(10_500), at(40_500), State::Preempted(9)),
            segment(at(40_500), at(50_500), State::Running(0)),
        ],
        ..Thread::default()
    });
    assert_eq!(
        causes(&trace),
        [(Cause::Preempted(Some(9)), 30_000), (Cause::OnCpu, 20_000)]
    );
}

#[test]
fn without_wake_ups_the_other_threads_of_the_process_tell() {
    let state = State::BlockedOrRunnable;
    let mut trace = trace(Tier::OwnProcess, &[(500, 50_500, state)]);
    let at = |ns: u64| SLOW_AT_NS + ns;
    let other = |id, segments| Thread {
        id,
        to_ns: at(90_000),
        segments,
        ..Thread::default()
    };
    trace.threads.push(other(
        SECOND,
        vec![
            segment(at(500), at(10_500), State::Running(1)),
            segment(at(10_500), at(40_500), State::PreemptedOrYielded),
            segment(at(40_500), at(90_000), State::BlockedOrRunnable),
        ],
    ));
    // A third runs for a part of that time.
    trace.threads.push(other(
        3,
        vec![
            segment(at(15_500), at(20_500), State::Running(0)),
            segment(at(20_500), at(25_500), State::PreemptedOrYielded),
        ],
    ));
    assert_eq!(
        causes(&trace),
        [
            (Cause::Preempted(None), 25_000),
            (Cause::OnCpu, 15_000),
            (Cause::OffCpu, 10_000)
        ]
    );
}

#[test]
fn interrupts_and_faults_explain_no_more_than_their_price() {
    let mut trace = trace(Tier::Full, &[]);
    let interrupt = |at, kind| Interrupt {
        at_ns: SLOW_AT_NS + at,
        kind,
    };
    trace.cpus[0].interrupts = vec![
        interrupt(100, InterruptKind::Timer),
        interrupt(900, InterruptKind::Timer),
        // Its price is not known.
        interrupt(950, InterruptKind::Device),
        interrupt(51_000, InterruptKind::Timer),
    ];
    trace.threads[0].faults = vec![Fault {
        at_ns: SLOW_AT_NS + 10,
        address: 0,
        access: Access::Write,
    }];
    assert_eq!(
        causes(&trace),
        [
            (Cause::OnCpu, 39_000),
            (Cause::Interrupts(InterruptKind::Timer), 8_000),
            (Cause::Faults, 3_000)
        ]
    );
    // A storm is no more than what was lost.
    let storm = (0..100).map(|k| interrupt(k * 500, InterruptKind::Timer));
    trace.cpus[0].interrupts = storm.collect();
    assert_eq!(
        causes(&trace),
        [(Cause::Interrupts(InterruptKind::Timer), 50_000)]
    );
}

#[test]
fn what_is_usual_is_no_excess() {
    // Each operation is preempted for 300 ns; one runs for longer, or is preempted for
    // longer.
    for (preempted_ns, cause) in [(300, Cause::OnCpu), (50_300, Cause::Preempted(Some(9)))] {
        let mut trace = trace(Tier::Full, &[]);
        let mut segments = Vec::new();
        for at in 0..30 {
            let from_ns = at * PERIOD_NS + 500;
            let is_slow = at == SLOW as u64;
            let until_ns = from_ns + if is_slow { preempted_ns } else { 300 };
            segments.push(segment(from_ns - 500, from_ns, State::Running(0)));
            segments.push(segment(from_ns, until_ns, State::Preempted(9)));
            segments.push(segment(
                until_ns,
                from_ns - 500 + PERIOD_NS,
                State::Running(0),
            ));
        }
        trace.threads[0].segments = segments;
        assert_eq!(causes(&trace), [(cause, 50_000)]);
    }
}

#[test]
fn prices_are_of_detours_with_one_interrupt() {
    let mut trace = trace(Tier::Full, &[(0, 10_000, State::Preempted(9))]);
    let interrupt = |at_ns, kind| Interrupt { at_ns, kind };
    let (timer, device) = (InterruptKind::Timer, InterruptKind::Device);
    trace.cpus[0].interrupts = vec![
        interrupt(1_000, timer),
        interrupt(2_000, timer),
        interrupt(3_000, timer),
        interrupt(3_100, device),
        interrupt(SLOW_AT_NS + 5, timer),
    ];
    let detours = [
        (990, 5_990 - 4_000),
        (1_999, 5_999 - 1_000),
        // Two, and one of a thread that was not there alone.
        (2_990, 3_500),
        (SLOW_AT_NS, SLOW_AT_NS + 20_000),
        // None.
        (8_000, 9_000),
    ];
    let found = prices(&trace, FIRST, &[detours[0]; 5]);
    assert_eq!(found, [(timer, 1_000)].into());
    // Few tell no price.
    assert_eq!(prices(&trace, FIRST, &[detours[0]; 4]), BTreeMap::new());
    assert_eq!(prices(&trace, FIRST, &detours[2..]), BTreeMap::new());
    assert_eq!(prices(&trace, SECOND, &detours), BTreeMap::new());
}

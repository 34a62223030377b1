use super::*;
use crate::trace::row::{ClockStep, Operation, Reading, Spin, Watch};
use crate::trace::{
    Access, Cpu, Ended, Fault, Interrupt, Row, Segment, Signpost, State, Switch, Thread, Tier,
    Wakeup,
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
        segments.push(Segment::new(now_ns, from_ns, State::Running(0)));
        segments.push(Segment::new(from_ns, to_ns, state));
        now_ns = to_ns;
    }
    segments.push(Segment::new(now_ns, end_ns, State::Running(0)));
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

fn set_watch(trace: &mut Trace, readings: Vec<(u64, u64, [u32; 4])>) {
    if let Target::Row(row) = &mut trace.target {
        row.watch = Some(Watch {
            thread: 99,
            cpu: 0,
            readings: readings.into_iter().map(Reading::from).collect(),
            clock_steps: Vec::new(),
        });
    }
}

#[test]
fn the_quota_is_known_by_its_sum() {
    let at = |ns: u64| SLOW_AT_NS + ns;
    let (full, own) = (Tier::Full, Tier::OwnProcess);
    let preempted = [
        (
            full,
            State::Preempted(9),
            Cause::Preempted(Some(9)),
            Cause::Queued(9),
        ),
        (
            own,
            State::PreemptedOrYielded,
            Cause::Preempted(None),
            Cause::OffCpu,
        ),
    ];
    for (tier, state, else_cause, of_two) in preempted {
        let mut trace = trace(tier, &[(0, 50_000, state)]);
        for (readings, expected) in [
            // All of it, though another thread got the CPU.
            (
                vec![(at(49_000), 0), (at(51_000), 50_000)],
                vec![(Cause::Throttled, 50_000)],
            ),
            // Then it waited for that one.
            (
                vec![(at(29_000), 0), (at(31_000), 30_000)],
                vec![(Cause::Throttled, 30_000), (else_cause, 20_000)],
            ),
            // The kernel's sum has grown a little after the thread had its CPU again.
            (
                vec![(at(50_500), 0), (at(51_000), 50_000)],
                vec![(Cause::Throttled, 50_000)],
            ),
            // What ended before, and what was another thread's.
            (
                vec![(at(0), 50_000), (at(51_000), 0)],
                vec![(else_cause, 50_000)],
            ),
            // Of two CPUs: as far as there is no doubt.
            (
                vec![(at(40_000), 0), (at(51_000), 300_000)],
                vec![(Cause::Throttled, 40_000), (of_two, 10_000)],
            ),
        ] {
            let readings = readings.into_iter().map(|(at, ns)| (at, ns, [0; 4]));
            set_watch(&mut trace, readings.collect());
            if tier == full && expected.len() == 2 {
                // A thread that had the CPU after the quota was there again did not preempt it.
                trace.cpus[0].switches = vec![switch(0, FIRST, 9), switch(50_000, 9, FIRST)];
                let expected = vec![expected[0], (Cause::Queued(9), expected[1].1)];
                assert_eq!(causes(&trace), expected);
            } else {
                assert_eq!(causes(&trace), expected);
            }
        }
    }
}

#[test]
fn of_two_cpus_the_one_whose_thread_reads_had_quota_then() {
    let mut trace = trace(Tier::OwnProcess, &[(0, 50_000, State::PreemptedOrYielded)]);
    let reading = |after_ns: u64, ns: u64| (SLOW_AT_NS + after_ns, ns, [0; 4]);
    set_watch(
        &mut trace,
        vec![reading(10_000, 0), reading(200_000, 230_000)],
    );
    let rest = |ns: u64| [(Cause::Throttled, ns), (Cause::OffCpu, 50_000 - ns)];
    assert_eq!(causes(&trace), {
        let [throttled, rest] = rest(10_000);
        [rest, throttled]
    });
    trace.cpus = vec![Cpu::default(), Cpu::default()];
    // 230 less the 190 µs between the readings.
    assert_eq!(causes(&trace), rest(40_000));
}

#[test]
fn a_wait_is_longer_by_as_much_as_the_clock_was_set_back() {
    let blocked = State::Blocked {
        call: None,
        uninterruptible: false,
    };
    for (tier, state, else_cause) in [
        (Tier::Full, blocked, Cause::Blocked),
        (Tier::OwnProcess, State::BlockedOrRunnable, Cause::OffCpu),
    ] {
        let mut trace = trace(tier, &[(500, 50_500, state)]);
        set_watch(&mut trace, Vec::new());
        let mut with = |after_ns: u64, by_ns: i64| {
            if let Target::Row(row) = &mut trace.target {
                let after_ns = SLOW_AT_NS + after_ns;
                row.watch.as_mut().expect("set").clock_steps = vec![ClockStep {
                    before_ns: after_ns - 1_000,
                    after_ns,
                    by_ns,
                }];
            }
            causes(&trace)
        };
        let rest = (else_cause, 10_000);
        assert_eq!(with(20_000, -40_000), [(Cause::ClockStep, 40_000), rest]);
        assert_eq!(with(20_000, -90_000), [(Cause::ClockStep, 50_000)]);
        for (after_ns, by_ns) in [(20_000, 40_000), (60_000, -40_000)] {
            assert_eq!(with(after_ns, by_ns), [(else_cause, 50_000)]);
        }
    }
}

#[test]
fn counted_interrupts_explain_what_is_all_that_is_missing() {
    let counts = |count: u32| {
        vec![
            (SLOW_AT_NS - 1, 0, [0; 4]),
            (SLOW_AT_NS + 60_000, 0, [count, 0, 0, 0]),
        ]
    };
    let mut trace = trace(Tier::OwnProcess, &[]);
    // 4 us each.
    for (count, explained_ns) in [(13, 50_000), (9, 36_000), (8, 0)] {
        set_watch(&mut trace, counts(count));
        let timer = (Cause::Interrupts(InterruptKind::Timer), explained_ns);
        let rest = (Cause::OnCpu, 50_000 - explained_ns);
        let expected: Vec<_> = [timer, rest]
            .into_iter()
            .filter(|(_, ns)| *ns > 0)
            .collect();
        assert_eq!(causes(&trace), expected);
    }
    // Counted on another CPU.
    set_watch(&mut trace, counts(13));
    if let Target::Row(row) = &mut trace.target {
        row.watch.as_mut().expect("set").cpu = 1;
    }
    assert_eq!(causes(&trace), [(Cause::OnCpu, 50_000)]);
}

#[test]
fn the_thread_that_counts_does_nothing_for_the_row() {
    let mut trace = trace(Tier::OwnProcess, &[(500, 50_500, State::BlockedOrRunnable)]);
    trace.threads.push(Thread {
        id: 99,
        to_ns: trace.duration_ns,
        segments: vec![Segment::new(0, trace.duration_ns, State::Running(1))],
        ..Thread::default()
    });
    assert_eq!(causes(&trace), [(Cause::OnCpu, 50_000)]);
    set_watch(&mut trace, Vec::new());
    assert_eq!(causes(&trace), [(Cause::OffCpu, 50_000)]);
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
            Segment::new(0, SLOW_AT_NS + 2_000, State::Running(1)),
            Segment::new(SLOW_AT_NS + 2_000, SLOW_AT_NS + 42_000, State::Preempted(9)),
            Segment::new(SLOW_AT_NS + 42_000, trace.duration_ns, State::Running(1)),
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
            Segment::new(0, at(500), State::Preempted(FIRST)),
            Segment::new(at(500), at(10_500), State::Running(0)),
            Segment::new(at(10_500), at(40_500), State::Preempted(9)),
            Segment::new(at(40_500), at(50_500), State::Running(0)),
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
            segments.push(Segment::new(from_ns - 500, from_ns, State::Running(0)));
            segments.push(Segment::new(from_ns, until_ns, State::Preempted(9)));
            segments.push(Segment::new(
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
    let spin = |thread| Spin {
        thread,
        ..Spin::default()
    };
    let found = prices(&trace, &spin(FIRST), &[detours[0]; 5]);
    assert_eq!(found, [(timer, 1_000)].into());
    // Few tell no price.
    assert_eq!(
        prices(&trace, &spin(FIRST), &[detours[0]; 4]),
        BTreeMap::new()
    );
    assert_eq!(prices(&trace, &spin(FIRST), &detours[2..]), BTreeMap::new());
    assert_eq!(prices(&trace, &spin(SECOND), &detours), BTreeMap::new());
}

#[test]
fn where_interrupts_are_counted_nearly_all_of_one_kind_tell_its_price() {
    let trace = trace(Tier::OwnProcess, &[]);
    let detours = [(10, 4_010), (5_000, 10_000), (20_000, 23_000)];
    let detours: Vec<(u64, u64)> = (0..4).flat_map(|_| detours).collect();
    for (interrupts, expected) in [
        ([12, 0, 0, 1], Some((InterruptKind::Timer, 4_000))),
        ([1, 10, 0, 0], Some((InterruptKind::CallFunction, 4_000))),
        // Of two kinds; fewer than there were detours; too few.
        ([6, 6, 0, 0], None),
        ([7, 0, 0, 0], None),
        ([4, 0, 0, 0], None),
    ] {
        let spin = Spin {
            interrupts,
            ..Spin::default()
        };
        let found = prices(&trace, &spin, &detours);
        assert_eq!(found, expected.into_iter().collect());
    }
}

#[test]
fn a_damaged_document_is_no_panic() {
    let mut trace = trace(Tier::OwnProcess, &[(0, 50_000, State::PreemptedOrYielded)]);
    let Target::Row(row) = &mut trace.target else {
        panic!("a row");
    };
    row.prices = Some(([(InterruptKind::Timer, u64::MAX)].into(), Some(u64::MAX)));
    // The shortest has no length, and is one of the slowest.
    row.operations.truncate(2);
    row.operations.iter_mut().for_each(|o| o.to_ns = o.from_ns);
    let reading = |at_ns| (at_ns, u64::MAX, [u32::MAX; 4]);
    let (first_ns, last_ns) = (PERIOD_NS, 30 * PERIOD_NS);
    set_watch(
        &mut trace,
        vec![
            reading(0),
            reading(0),
            reading(first_ns),
            reading(first_ns),
            reading(last_ns),
        ],
    );
    let found = tails(&trace);
    assert_eq!((found.len(), found[0].slow.len()), (1, 0));
    // Counts beyond all numbers explain no more than there is.
    let mut trace = self::trace(Tier::OwnProcess, &[]);
    if let Target::Row(row) = &mut trace.target {
        row.prices = Some(([(InterruptKind::Timer, u64::MAX)].into(), None));
    }
    set_watch(&mut trace, vec![reading(0), reading(last_ns)]);
    let timer = Cause::Interrupts(InterruptKind::Timer);
    assert_eq!(causes(&trace), [(timer, 50_000)]);
    let mut trace = self::trace(Tier::OwnProcess, &[(0, 50_000, State::PreemptedOrYielded)]);
    set_watch(&mut trace, vec![reading(0), reading(last_ns)]);
    assert_eq!(causes(&trace), [(Cause::OffCpu, 50_000)]);
    // Switches that are not in the order of time.
    let mut trace = self::trace(Tier::Full, &[(0, 50_000, State::Runnable)]);
    let mut switches = vec![switch(10_000, 8, 9), switch(40_000, 9, 0)];
    switches.extend([switch(30_000, 0, 9), switch(50_000, 9, FIRST)]);
    trace.cpus[0].switches = switches;
    let sum_ns: u64 = causes(&trace).iter().map(|(_, ns)| ns).sum();
    assert_eq!(sum_ns, 50_000);
}

#[test]
fn operations_take_no_longer_than_their_trace() {
    let mut trace = trace(Tier::Full, &[(500, 50_500, State::Stopped)]);
    trace.threads.push(Thread::default());
    let Target::Row(row) = &mut trace.target else {
        panic!("a row");
    };
    // All of them together: as long as the trace.
    let sum_ns: u64 = row.operations.iter().map(Operation::duration_ns).sum();
    trace.duration_ns = sum_ns;
    assert_eq!(tails(&trace).len(), 1);
    trace.duration_ns = sum_ns - 1;
    assert_eq!(tails(&trace), []);
}

#[test]
fn latlas_itself_is_no_other_thread() {
    let at = |ns: u64| SLOW_AT_NS + ns;
    let recorder = Cause::Recorder;
    let expected = [(recorder, 40_000), (Cause::Queued(8), 10_000)];
    for state in [State::Runnable, State::Preempted(9)] {
        let mut trace = trace(Tier::Full, &[(0, 50_000, state)]);
        trace.cpus[0].switches = vec![
            switch(0, FIRST, 9),
            switch(40_000, 9, 8),
            switch(50_000, 8, FIRST),
        ];
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

#[test]
fn operations_are_compared_with_their_kind() {
    // Every second one takes 5 µs.
    let mut trace = trace(Tier::Full, &[(500, 50_500, State::Stopped)]);
    let Target::Row(row) = &mut trace.target else {
        panic!("a row");
    };
    for (at, operation) in row.operations.iter_mut().enumerate() {
        if at % 2 == 0 {
            operation.to_ns = operation.from_ns + 5_000;
        }
    }
    let mark = |(at, operation): (usize, &Operation)| Signpost {
        from_ns: operation.from_ns,
        to_ns: Some(operation.to_ns),
        name: (at % 2) as u32,
    };
    trace.threads[0].signposts = row.operations.iter().enumerate().map(mark).collect();
    trace.signpost_names = vec!["create".into(), "delete".into()];
    let medians = |trace: &Trace| -> Vec<(Option<String>, usize, u64, usize)> {
        let tails = tails(trace).into_iter();
        tails
            .map(|t| (t.name, t.operations, t.median_ns, t.slow.len()))
            .collect()
    };
    let kind = |name: &str, median_ns, slow| (Some(name.to_owned()), 15, median_ns, slow);
    assert_eq!(
        medians(&trace),
        [kind("create", 5_000, 0), kind("delete", USUAL_NS, 1)]
    );
    let found = tails(&trace);
    assert_eq!(found[1].slow[0].excess_ns, 50_000.0);
    assert_eq!(found[1].causes(), [(Cause::Stopped, 50_000.0, 1)]);
    // With a part of one of them, the names may be those of parts.
    let part = trace.threads[0].signposts[0];
    trace.threads[0].signposts.push(Signpost {
        to_ns: Some(part.from_ns + 1),
        ..part
    });
    assert_eq!(medians(&trace).len(), 1);
}

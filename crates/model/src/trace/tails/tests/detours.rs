//! Interrupts, faults and steps of the clock, by their prices.

use super::*;

#[test]
fn a_wait_is_longer_by_as_much_as_the_clock_was_set_back() {
    let blocked = State::Blocked { call: None, uninterruptible: false };
    for (tier, state, else_cause) in [
        (Tier::Full, blocked, Cause::Blocked),
        (Tier::OwnProcess, State::BlockedOrRunnable, Cause::OffCpu),
    ] {
        let mut trace = trace(tier, &[(500, 50_500, state)]);
        set_watch(&mut trace, Vec::new());
        let mut with = |after_ns: u64, by_ns: i64| {
            if let Target::Row(row) = &mut trace.target {
                let after_ns = SLOW_AT_NS + after_ns;
                row.watch.as_mut().expect("set").clock_steps =
                    vec![ClockStep { before_ns: after_ns - 1_000, after_ns, by_ns }];
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
    let counts =
        |count: u32| vec![(SLOW_AT_NS - 1, 0, [0; 4]), (SLOW_AT_NS + 60_000, 0, [count, 0, 0, 0])];
    let mut trace = trace(Tier::OwnProcess, &[]);
    // 4 us each.
    for (count, explained_ns) in [(13, 50_000), (9, 36_000), (8, 0)] {
        set_watch(&mut trace, counts(count));
        let timer = (Cause::Interrupts(InterruptKind::Timer), explained_ns);
        let rest = (Cause::OnCpu, 50_000 - explained_ns);
        let expected: Vec<_> = [timer, rest].into_iter().filter(|(_, ns)| *ns > 0).collect();
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
fn interrupts_and_faults_explain_no_more_than_their_price() {
    let mut trace = trace(Tier::Full, &[]);
    let interrupt = |at, kind| Interrupt { at_ns: SLOW_AT_NS + at, kind };
    trace.cpus[0].interrupts = vec![
        interrupt(100, InterruptKind::Timer),
        interrupt(900, InterruptKind::Timer),
        // Its price is not known.
        interrupt(950, InterruptKind::Device),
        interrupt(51_000, InterruptKind::Timer),
    ];
    trace.threads[0].faults =
        vec![PageFault { at_ns: SLOW_AT_NS + 10, address: 0, access: Access::Write, served: None }];
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
    assert_eq!(causes(&trace), [(Cause::Interrupts(InterruptKind::Timer), 50_000)]);
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
    let spin = |thread| Spin { thread, ..Spin::default() };
    let found = prices(&trace, &spin(FIRST), &[detours[0]; 5]);
    assert_eq!(found, [(timer, 1_000)].into());
    // Few tell no price.
    assert_eq!(prices(&trace, &spin(FIRST), &[detours[0]; 4]), BTreeMap::new());
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
        let spin = Spin { interrupts, ..Spin::default() };
        let found = prices(&trace, &spin, &detours);
        assert_eq!(found, expected.into_iter().collect());
    }
}

//! Which operations are slow, and documents that are damaged.

use super::*;

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
            segments.push(Segment::new(until_ns, from_ns - 500 + PERIOD_NS, State::Running(0)));
        }
        trace.threads[0].segments = segments;
        assert_eq!(causes(&trace), [(cause, 50_000)]);
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
        vec![reading(0), reading(0), reading(first_ns), reading(first_ns), reading(last_ns)],
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
    // Steps of the clock beyond all numbers.
    let mut trace = self::trace(Tier::Full, &[(500, 50_500, State::Stopped)]);
    set_watch(&mut trace, vec![reading(0), reading(last_ns)]);
    if let Target::Row(row) = &mut trace.target {
        let step =
            ClockStep { before_ns: SLOW_AT_NS + 1, after_ns: SLOW_AT_NS + 2, by_ns: i64::MIN };
        row.watch.as_mut().expect("set").clock_steps = vec![step; 3];
    }
    assert_eq!(causes(&trace), [(Cause::Stopped, 50_000)]);
}

#[test]
fn operations_take_no_longer_than_their_trace() {
    let mut trace = trace(Tier::Full, &[(500, 50_500, State::Stopped)]);
    trace.threads.push(Thread::default());
    let Target::Row(row) = &mut trace.target else {
        panic!("a row");
    };
    // All of them together: as long as the trace.
    let sum_ns: u64 = row.operations.iter().map(TracedOperation::duration_ns).sum();
    trace.duration_ns = sum_ns;
    assert_eq!(tails(&trace).len(), 1);
    trace.duration_ns = sum_ns - 1;
    assert_eq!(tails(&trace), []);
}

#[test]
fn operations_do_not_overlap() {
    let mut trace = trace(Tier::Full, &[(500, 50_500, State::Stopped)]);
    let mut set_from = |from_ns| {
        if let Target::Row(row) = &mut trace.target {
            row.operations[SLOW + 1].from_ns = from_ns;
        }
        tails(&trace).len()
    };
    // It begins as the one before ends.
    assert_eq!(set_from(SLOW_AT_NS + 51_000), 1);
    assert_eq!(set_from(SLOW_AT_NS + 50_999), 0);
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
    let mark = |(at, operation): (usize, &TracedOperation)| Signpost {
        from_ns: operation.from_ns,
        to_ns: Some(operation.to_ns),
        name: (at % 2) as u32,
    };
    trace.threads[0].signposts = row.operations.iter().enumerate().map(mark).collect();
    trace.signpost_names = vec!["create".into(), "delete".into()];
    let medians = |trace: &Trace| -> Vec<(Option<String>, usize, u64, usize)> {
        let tails = tails(trace).into_iter();
        tails.map(|t| (t.name, t.operations, t.median_ns, t.slow.len())).collect()
    };
    let kind = |name: &str, median_ns, slow| (Some(name.to_owned()), 15, median_ns, slow);
    assert_eq!(medians(&trace), [kind("create", 5_000, 0), kind("delete", USUAL_NS, 1)]);
    let found = tails(&trace);
    assert_eq!(found[1].slow[0].excess_ns, 50_000.0);
    assert_eq!(found[1].causes(), [(Cause::Stopped, 50_000.0, 1)]);
    // With a part of one of them, the names may be those of parts.
    let part = trace.threads[0].signposts[0];
    trace.threads[0].signposts.push(Signpost { to_ns: Some(part.from_ns + 1), ..part });
    assert_eq!(medians(&trace).len(), 1);
}

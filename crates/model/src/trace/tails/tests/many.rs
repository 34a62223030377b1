//! Many operations, threads, readings and steps of the clock, as a document from elsewhere may
//! have them: what is known of one is found without a pass over all others.

use super::*;
use crate::synthetic::random::Random;

const MANY: u64 = 1 << 17;

/// A trace of these operations, all of [`FIRST`], and what it did.
fn trace_of(operations: Vec<(u64, u64)>, states: Vec<(u64, u64, State)>, tier: Tier) -> Trace {
    let end_ns = states.last().map_or(0, |&(_, to_ns, _)| to_ns);
    let operations = operations.into_iter().map(|(from_ns, to_ns)| TracedOperation {
        from_ns,
        to_ns,
        thread: FIRST,
    });
    let segments = states.into_iter();
    let row = TracedRow {
        operations: operations.collect(),
        prices: Some((BTreeMap::new(), None)),
        ..TracedRow::default()
    };
    Trace {
        duration_ns: end_ns,
        threads: vec![Thread {
            id: FIRST,
            to_ns: end_ns,
            segments: segments
                .map(|(from_ns, to_ns, state)| Segment::new(from_ns, to_ns, state))
                .collect(),
            ..Thread::default()
        }],
        cpus: vec![Cpu::default()],
        ..Trace::new(Target::Row(row), Ended::Exited(0), tier)
    }
}

/// Of three operations one takes longer.
fn operations() -> impl Iterator<Item = (u64, u64)> {
    (0..3 * MANY).map(|at| (10 * at + 10, 10 * at + if at % 3 == 2 { 15 } else { 12 }))
}

fn set_steps(trace: &mut Trace, steps: impl Iterator<Item = ClockStep>) {
    if let Target::Row(row) = &mut trace.target
        && let Some(watch) = &mut row.watch
    {
        watch.clock_steps = steps.collect();
    }
}

#[test]
fn each_kind_has_slow_operations() {
    let end_ns = 30 * MANY + 20;
    let whole = vec![(0, end_ns, State::Running(0))];
    let mut trace = trace_of(operations().collect(), whole, Tier::OwnProcess);
    set_watch(&mut trace, vec![(5, 0, [0; 4]), (end_ns, 0, [1; 4])]);
    set_steps(
        &mut trace,
        (0..8 * MANY).map(|at| ClockStep { before_ns: at, after_ns: at + 1, by_ns: -1 }),
    );
    let mark = |(at, (from_ns, to_ns)): (usize, (u64, u64))| Signpost {
        from_ns,
        to_ns: Some(to_ns),
        name: at as u32 / 3,
    };
    trace.threads[0].signposts = operations().enumerate().map(mark).collect();
    let tails = tails(&trace);
    assert_eq!(tails.len() as u64, MANY);
    for kind in tails {
        let [slow] = &kind.slow[..] else {
            panic!("{kind:?}");
        };
        assert_eq!(slow.causes, [(Cause::OnCpu, 3.0)]);
    }
}

#[test]
fn an_operation_waits_behind_many_threads() {
    let many = 4 * MANY;
    let operations = vec![(0, many + 2), (many + 2, many + 3), (many + 3, many + 4)];
    let states = vec![(0, many + 1, State::Runnable), (many + 1, many + 4, State::Running(0))];
    let mut trace = trace_of(operations, states, Tier::Full);
    let switches = (0..=many).map(|at| Switch {
        at_ns: at,
        out: 10 + at as u32,
        state: 0,
        into: 11 + at as u32,
    });
    trace.cpus[0].switches = switches.collect();
    let tails = tails(&trace);
    let slow = &tails[0].slow[0];
    assert_eq!(slow.causes.len() as u64, many + 1);
    assert_eq!(slow.excess_ns, (many + 1) as f64);
}

#[test]
fn many_operations_lie_in_one_wait() {
    let end_ns = 30 * MANY + 20;
    let whole = vec![(0, end_ns, State::PreemptedOrYielded)];
    let mut trace = trace_of(operations().collect(), whole, Tier::OwnProcess);
    let readings = (1..8 * MANY).map(|at| (3 * at, 1, [0; 4]));
    set_watch(&mut trace, readings.collect());
    // Other threads wait as long.
    let other = |at: u64| Thread {
        id: 10 + at as u32,
        segments: vec![Segment::new(at, end_ns, State::PreemptedOrYielded)],
        ..Thread::default()
    };
    trace.threads.extend((0..MANY).map(other));
    let tails = tails(&trace);
    assert_eq!((tails.len(), tails[0].operations as u64), (1, 3 * MANY));
}

/// [`KernelCounts::interrupts`] by a pass over all readings and operations.
fn plain(
    row: &TracedRow,
    longer_ns: &[u64],
    number: usize,
    prices: &Prices<'_>,
) -> Vec<(InterruptKind, f64)> {
    let operation = row.operations[number];
    let watch = row.watch.as_ref().expect("set");
    let before = watch.readings.iter().rfind(|r| r.at_ns <= operation.from_ns);
    let after = watch.readings.iter().find(|r| r.at_ns >= operation.to_ns);
    let (Some(before), Some(after)) = (before, after) else {
        return Vec::new();
    };
    let within = watch.readings.iter();
    let within = within.filter(|r| r.at_ns > before.at_ns && r.at_ns <= after.at_ns);
    let within: Vec<&WatchReading> = within.collect();
    let took = (0..4).map(|kind| {
        let count: u32 = within.iter().map(|r| r.interrupts[kind]).sum();
        let price_ns = prices.interrupts.get(&InterruptKind::ALL[kind]).copied();
        (InterruptKind::ALL[kind], f64::from(count) * price_ns.unwrap_or(0) as f64)
    });
    let took: Vec<(InterruptKind, f64)> = took.collect();
    let all_ns: f64 = took.iter().map(|(_, ns)| ns).sum();
    let around = row.operations.iter().zip(longer_ns);
    let around = around.filter(|(o, _)| o.to_ns > before.at_ns && o.from_ns < after.at_ns);
    let longer_ns: f64 = around.map(|(_, &ns)| ns as f64).sum();
    if all_ns < longer_ns * 0.65 || all_ns == 0.0 {
        return Vec::new();
    }
    let share = 700.0 / all_ns.max(longer_ns);
    took.into_iter().map(|(kind, ns)| (kind, ns * share)).collect()
}

#[test]
fn what_interrupts_took_is_found_without_a_pass_over_all() {
    let mut random = Random(3);
    let mut number = |below: u64| (random.share() * below as f64) as u64;
    let interrupts: BTreeMap<InterruptKind, u64> =
        [(InterruptKind::Timer, 400), (InterruptKind::Device, 90)].into();
    let prices = Prices { interrupts: &interrupts, fault_ns: 0 };
    let mut named = 0;
    for _ in 0..300 {
        let mut at_ns = 0;
        let operations = (0..number(30)).map(|_| {
            let from_ns = at_ns + number(50);
            at_ns = from_ns + 1 + number(50);
            (from_ns, at_ns)
        });
        let operations: Vec<(u64, u64)> = operations.collect();
        let longer_ns: Vec<u64> = operations.iter().map(|_| number(900)).collect();
        let mut trace = trace_of(operations, Vec::new(), Tier::OwnProcess);
        let mut at_ns = 0;
        let readings = (0..number(20)).map(|_| {
            at_ns += 1 + number(200);
            (at_ns, 0, [0; 4].map(|_: u32| number(4) as u32))
        });
        set_watch(&mut trace, readings.collect());
        let Target::Row(row) = &trace.target else {
            panic!("a row");
        };
        let counted = KernelCounts::from_trace(&trace, row, &longer_ns);
        let path = Path { is_counted: true, ..Path::default() };
        for (at, operation) in row.operations.iter().enumerate() {
            let found = counted.interrupts(operation, &path, 700.0, &prices);
            assert_eq!(found, plain(row, &longer_ns, at, &prices));
            named += found.len();
        }
    }
    assert!(named > 100, "{named}");
}

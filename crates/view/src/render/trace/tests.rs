//! Pages of small traces, read as a whole.

use super::{TraceOptions, trace_page};
use crate::terminal::layout::width;
use crate::terminal::{Screen, blocks_text};
use model::story::Block;
use model::trace::row::TracedOperation;
use model::trace::tails::{Over, span_tails, spans_named};
use model::trace::tier::{Answer, Missing};
use model::trace::{
    Access, Call, Cpu, Ended, Gap, HeapCall, InterruptKind, Losses, MemoryOperation, NotRecorded,
    PageFault, Sample, Segment, ServedFault, Signpost, State, StateKind, Switch, Target, Thread,
    Tier, Topic, Trace, TracedRow,
};

const COLUMNS: usize = 80;

fn page(of: &Trace, all: bool) -> String {
    let options = TraceOptions { all, columns: COLUMNS, stretch: None };
    let screen = Screen { columns: COLUMNS, color: false };
    blocks_text(&trace_page(of, options), screen)
}

fn empty(tier: Tier) -> Trace {
    Trace {
        architecture: "x86_64".into(),
        kernel: "6.18.0".into(),
        cpu_count: 2,
        ring_bytes: 8 << 20,
        duration_ns: 1_000_000,
        call_names: [(0, "read".to_owned()), (9, "mmap".to_owned())].into(),
        other_names: [(77, "hog\u{1b}[2J".to_owned())].into(),
        ..Trace::new(Target::Command(vec!["./prog".into(), "x".repeat(80)]), Ended::Exited(0), tier)
    }
}

/// A thread that does each of these for as long as the next begins.
fn thread(id: u32, states: &[(u64, State)], to_ns: u64) -> Thread {
    let ends = states.iter().skip(1).map(|(from, _)| *from).chain([to_ns]);
    let segments = states.iter().zip(ends);
    Thread {
        id,
        process: 10,
        name: "prog".into(),
        from_ns: states[0].0,
        to_ns,
        segments: segments
            .map(|(&(from_ns, state), to_ns)| Segment { from_ns, to_ns, state })
            .collect(),
        ..Thread::default()
    }
}

pub(crate) fn full() -> Trace {
    let blocked = State::Blocked { call: Some(0), uninterruptible: false };
    let mut main = thread(
        10,
        &[
            (0, State::Running(0)),
            (300_000, blocked),
            (600_000, State::Runnable),
            (650_000, State::Running(1)),
            (800_000, State::Preempted(77)),
            (900_000, State::Running(1)),
        ],
        1_000_000,
    );
    let call = |at: u64, number, bytes, ns| Call {
        from_ns: at,
        to_ns: at + ns,
        number,
        arguments: [0, bytes, 0],
        returned: Some(4096),
    };
    main.calls = (0..20).map(|k| call(k * 1000, 0, 0, 100 + k)).collect();
    main.calls.push(call(100_000, 9, 1 << 20, 3_000));
    main.calls.push(Call { returned: None, ..call(200_000, 0, 0, 800_000) });
    main.faults = vec![PageFault {
        at_ns: 5,
        address: 4096,
        access: Access::Write,
        served: Some(ServedFault { to_ns: 1_205, major: false }),
    }];
    let signpost = |from_ns, to_ns, name| Signpost { from_ns, to_ns, name };
    main.signposts = (0..20).map(|k| signpost(k * 1000, Some(k * 1000 + 500), 0)).collect();
    main.signposts.push(signpost(400_000, None, 1));
    main.signposts.push(signpost(900_000, Some(1_000_000), 0));
    let worker = thread(
        11,
        &[
            (100_000, State::Runnable),
            (120_000, State::Running(1)),
            (500_000, State::Lost),
            (550_000, State::Running(1)),
        ],
        700_000,
    );
    Trace {
        threads: vec![main, worker],
        cpus: vec![Cpu {
            id: 0,
            switches: vec![Switch { at_ns: 1, out: 0, state: 0, into: 10 }; 12],
            lost: vec![(500_000, 550_000)],
            ..Cpu::default()
        }],
        signpost_names: vec!["parse".into(), "first byte\u{1b}[2J".into()],
        losses: Losses { breaks: 3, repaired: 2, ..Losses::default() },
        ..empty(Tier::Full)
    }
}

pub(super) fn own() -> Trace {
    let states = [
        (0, State::Unknown),
        (50_000, State::Running(0)),
        (500_000, State::PreemptedOrYielded),
        (600_000, State::Running(0)),
        (700_000, State::BlockedOrRunnable),
    ];
    Trace {
        threads: vec![thread(10, &states, 1_000_000)],
        target: Target::Process(10),
        ended: Ended::Time,
        gaps: vec![Gap {
            of: Missing::Tier(Tier::Full),
            reason: NotRecorded::NoTracefs("Operation not permitted (os error 1)".into()),
        }],
        ..empty(Tier::OwnProcess)
    }
}

fn minimal() -> Trace {
    let sample = |at_ns, running_ns| Sample {
        at_ns,
        running_ns,
        queued_ns: 0,
        switched_in: running_ns / 1000,
        faults: 7,
    };
    let thread = Thread {
        id: 10,
        name: "prog".into(),
        to_ns: 900_000,
        samples: vec![sample(0, 0), sample(300_000, 300_000), sample(900_000, 301_000)],
        ..Thread::default()
    };
    let denied = |tier, reason| Gap { of: Missing::Tier(tier), reason };
    Trace {
        threads: vec![thread],
        gaps: vec![
            denied(Tier::Full, NotRecorded::NoTracefs("Permission denied".into())),
            denied(Tier::OwnProcess, NotRecorded::Denied(Some(4))),
        ],
        ..empty(Tier::Minimal)
    }
}

/// Two threads that hand over, four operations in the second half.
fn signpost(from_ns: u64, to_ns: u64, name: u32) -> Signpost {
    Signpost { from_ns, to_ns: Some(to_ns), name }
}

pub(crate) fn row() -> Trace {
    let from = [500_000, 600_000, 700_000, 800_000];
    let lengths = [80_000, 95_000, 70_000, 85_000];
    let operations = from.iter().zip(lengths).map(|(&from_ns, length)| TracedOperation {
        from_ns,
        to_ns: from_ns + length,
        thread: 10,
    });
    let operations: Vec<TracedOperation> = operations.collect();
    let mut first = thread(10, &[(0, State::Running(0))], 1_000_000);
    let whole = operations.iter().map(|of| signpost(of.from_ns, of.to_ns, 0));
    first.signposts = whole.collect();
    // Inside of another, and too short for its name.
    first.signposts.push(signpost(810_000, 840_000, 1));
    let waits = State::Blocked { call: None, uninterruptible: false };
    let second = thread(11, &[(0, waits), (805_000, State::Running(1))], 900_000);
    let idle = thread(12, &[(0, State::Running(1)), (10_000, waits)], 1_000_000);
    let row = TracedRow {
        name: "sync.example".into(),
        operations,
        error_ns: 21,
        counted: 2,
        recording_pairs_ns: vec![(34_000, 68_000), (42_500, 102_000), (40_000, 88_000)],
        notes: vec!["the CPUs' counters agree within: ±200 ns".into()],
        ..TracedRow::default()
    };
    Trace {
        threads: vec![first, second, idle],
        target: Target::Row(row),
        signpost_names: vec!["hand over".into(), "in it".into()],
        ..empty(Tier::Full)
    }
}

/// A new thread is runnable until it runs, in the own tier too: the table of tiers may not deny what
/// the table of threads prints.
#[test]
fn no_state_is_printed_that_its_tier_denies() {
    let mut own = own();
    own.threads.push(thread(
        11,
        &[(100_000, State::Runnable), (120_000, State::Running(1))],
        900_000,
    ));
    let text = page(&own, false);
    assert!(text.contains("20.0 µs"), "{text}");
    for trace in [full(), own, minimal()] {
        for figures in model::trace::summary::summary(&trace).threads {
            for (kind, topic) in [
                (StateKind::Running, Topic::Running),
                (StateKind::Runnable, Topic::Runnable),
                (StateKind::Preempted, Topic::Preempted),
                (StateKind::PreemptedOrYielded, Topic::Preempted),
            ] {
                let denied = trace.tier.answer(topic) == Answer::No;
                assert!(!denied || figures.time_ns(kind) == 0, "{:?} {topic:?}", trace.tier);
            }
        }
    }
}

#[test]
fn the_slowest_operations_are_explained_where_that_was_asked_for() {
    let mut trace = row();
    let asked = |trace: &mut Trace| {
        if let Target::Row(row) = &mut trace.target {
            row.prices = Some(([(InterruptKind::Timer, 16_000)].into(), Some(1_900)));
        }
    };
    assert!(!page(&trace, false).contains("the slowest"));
    asked(&mut trace);
    trace.threads[0].segments = [
        (0, 610_000, State::Running(0)),
        (610_000, 650_000, State::Preempted(77)),
        (650_000, 1_000_000, State::Running(0)),
    ]
    .map(|(from_ns, to_ns, state)| Segment { from_ns, to_ns, state })
    .to_vec();
    let text = page(&trace, false);
    for part in [
        "the slowest 1 of 4 operations take more than 80.0 µs (median 85.0 µs)",
        "preempted by hog",
        "100 %",
        "in this run: timer 16.0 µs, page fault 1.90 µs",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let minimal = Trace { tier: Tier::Minimal, ..trace };
    assert!(page(&minimal, false).contains("why is not recorded in this tier"));
}

/// 40 spans of 1 µs, of which three take longer: blocked, preempted, with a page fault and in a call; and a few of
/// another name.
pub(crate) fn spans() -> Trace {
    const PERIOD_NS: u64 = 100_000;
    let blocked = State::Blocked { call: Some(0), uninterruptible: false };
    let at = |span: u64, ns: u64| span * PERIOD_NS + ns;
    let mut main = thread(
        10,
        &[
            (0, State::Running(0)),
            (at(8, 200), blocked),
            (at(8, 60_200), State::Running(0)),
            (at(20, 300), State::Preempted(77)),
            (at(20, 30_300), State::Running(0)),
        ],
        40 * PERIOD_NS,
    );
    let length_ns = |span: u64| match span {
        8 => 61_000,
        20 => 31_000,
        30 => 9_000,
        _ => 1_000,
    };
    let marks = (0..40).map(|span| signpost(at(span, 0), at(span, length_ns(span)), 0));
    main.signposts = marks.chain([signpost(at(8, 100), at(8, 900), 1)]).collect();
    main.faults = vec![PageFault {
        at_ns: at(30, 500),
        address: 4_096,
        access: Access::Write,
        served: Some(ServedFault { to_ns: at(30, 6_500), major: false }),
    }];
    let (from_ns, to_ns) = (at(30, 7_000), at(30, 9_000));
    main.calls = vec![Call { from_ns, to_ns, number: 9, arguments: [0; 3], returned: Some(0) }];
    Trace {
        threads: vec![main],
        duration_ns: 40 * PERIOD_NS,
        signpost_names: vec!["parse <b>".into(), "rare".into()],
        ..empty(Tier::Full)
    }
}

#[test]
fn slow_spans_say_where_their_time_went() {
    let trace = spans();
    let screen = Screen { columns: COLUMNS, color: false };
    let text = |blocks: &[Block]| blocks_text(blocks, screen);
    let only = text(&super::slow_spans(&trace, Some(COLUMNS)));
    assert!(page(&trace, false).contains(&only), "the page has the same");
    let (named, _) = spans_named(&trace, "parse <b>");
    let tails = span_tails(&trace, &named, Over::Share(0.95)).expect("spans");
    let why = text(&super::why(&trace, ("parse <b>", "p95"), &tails));
    assert!(why.lines().count() <= 10, "{why}");
    insta::assert_snapshot!("spans", format!("{only}\n{why}"));
    let none = Trace { signpost_names: Vec::new(), threads: Vec::new(), ..trace };
    assert!(text(&super::slow_spans(&none, None)).starts_with("no spans to explain"));
}

#[test]
fn slow_operations_keep_to_a_narrow_page() {
    let mut trace = row();
    if let Target::Row(row) = &mut trace.target {
        row.prices = Some(Default::default());
    }
    trace.other_names.insert(1_077_777, "kworker/u16:12".to_owned());
    trace.threads[0].segments = [
        (0, 610_000, State::Running(0)),
        (610_000, 650_000, State::Preempted(1_077_777)),
        (650_000, 1_000_000, State::Running(0)),
    ]
    .map(|(from_ns, to_ns, state)| Segment::new(from_ns, to_ns, state))
    .to_vec();
    let page = |columns| {
        let options = TraceOptions { all: false, columns, stretch: None };
        let color = false;
        blocks_text(&super::trace_page(&trace, options), Screen { columns, color })
    };
    let (narrow, wide) = (page(60), page(100));
    let begin = narrow.find("the slowest").expect("explained");
    let lines = narrow[begin..].lines().take_while(|l| !l.contains("prices"));
    let lines: Vec<&str> = lines.collect();
    assert!(lines.iter().all(|line| width(line) <= 60), "{narrow}");
    let cut = lines.iter().filter(|line| line.contains("… "));
    assert_eq!(cut.count(), 2, "{narrow}");
    assert_eq!(wide.matches("by kworker/u16:12 1077777").count(), 2, "{wide}");
}

#[test]
fn another_stretch_of_a_row_can_be_drawn() {
    let options = TraceOptions { all: false, columns: COLUMNS, stretch: Some((0, 600_000)) };
    let screen = Screen { columns: COLUMNS, color: false };
    let page = blocks_text(&trace_page(&row(), options), screen);
    assert!(page.contains("shown: operation 1 of 4, takes 80.0 µs"), "{page}");
    assert!(page.contains("prog 12 █·"), "it ran at the beginning: {page}");
    assert_eq!(page.matches("|hand").count(), 1, "{page}");
}

#[test]
fn each_tier_has_its_page() {
    let pages = [("full", full()), ("own", own()), ("minimal", minimal()), ("row", row())];
    for (name, trace) in pages {
        let page = page(&trace, false);
        assert!(page.lines().all(|line| width(line) <= COLUMNS), "{page}");
        insta::assert_snapshot!(name, page);
    }
}

#[test]
fn states_have_the_colours_of_the_page_in_lanes_and_legend() {
    use crate::shade::{MEMORY, state_shade};
    let options = TraceOptions { all: false, columns: COLUMNS, stretch: None };
    let coloured = |of: &Trace, color: bool| {
        blocks_text(&trace_page(of, options), Screen { columns: COLUMNS, color })
    };
    let drawn = coloured(&full(), true);
    for (kind, name) in [(StateKind::Running, "running"), (StateKind::Blocked, "blocked")] {
        let shade = state_shade(kind);
        let begin = format!("\u{1b}[38;5;{}m{}", shade.terminal, shade.mark);
        assert!(drawn.contains(&format!("{begin}\u{1b}[0m {name}")), "{drawn}");
        assert!(drawn.contains(&format!("{begin}{}", shade.mark)), "a lane: {drawn}");
    }
    assert!(drawn.contains(&format!("\u{1b}[38;5;{}m▁▂▃▄▅▆▇█", MEMORY.terminal)), "{drawn}");
    // Without colours nothing is left of them.
    assert_eq!(coloured(&full(), false), page(&full(), false));
    assert!(!page(&full(), false).contains(['\u{1b}', '\u{e010}']));
    let shares = coloured(&minimal(), true);
    let running = state_shade(StateKind::Running).terminal;
    assert!(shares.contains(&format!("\u{1b}[38;5;{running}m▁▂▃")), "{shares}");
}

#[test]
fn calls_of_the_allocator_are_operations_on_memory() {
    let heap = |from_ns, to_ns, operation, bytes| HeapCall { from_ns, to_ns, operation, bytes };
    let mut trace = Trace { heap_least_bytes: Some(64 << 10), ..full() };
    assert!(page(&trace, false).contains("malloc      calls for 64KiB or more: none was seen"));
    trace.threads[0].heap = vec![
        heap(100_000, Some(130_000), MemoryOperation::Calloc, Some(1 << 20)),
        heap(200_000, None, MemoryOperation::Free, None),
    ];
    let page = page(&trace, false);
    let row = page.lines().find(|line| line.starts_with("calloc")).expect("a row");
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells, ["calloc", "1", "30.0", "µs", "-", "-", "30.0", "µs", "-", "1024KiB"]);
    assert!(page.contains("calls for 64KiB or more\n"), "{page}");
    assert!(page.lines().any(|line| line.starts_with("free ")), "{page}");
}

#[test]
fn a_topic_that_is_missing_has_its_reason() {
    let gap = Gap { of: Missing::Topic(Topic::Calls), reason: NotRecorded::CheckFailed };
    let without = Trace { gaps: vec![gap], ..full() };
    assert!(page(&without, false).contains("no calls: a provoked event"));
}

#[test]
fn late_stamps_matter_where_turns_are_short() {
    let short = [(0, State::Running(0)), (10_000, State::BlockedOrRunnable)];
    let trace =
        |to_ns| Trace { threads: vec![thread(10, &short, to_ns)], ..empty(Tier::OwnProcess) };
    let remark = "too low by 0.5 to 5 µs for each of 1 switches";
    assert!(page(&trace(20_000), false).contains(remark));
    let long = Trace { tier: Tier::Full, ..trace(20_000) };
    assert!(!page(&long, false).contains(remark));
    assert!(!page(&own(), false).contains(remark), "long turns");
}

#[test]
fn many_threads_are_folded() {
    let threads =
        (0..25).map(|id| thread(id, &[(0, State::Running(0))], 1_000_000 - u64::from(id)));
    let many = Trace { threads: threads.collect(), ..empty(Tier::Full) };
    let few = page(&many, false);
    assert!(few.contains("15 threads more: --all"), "{few}");
    let all = page(&many, true);
    assert!(all.contains("prog 24") && !all.contains("--all"), "{all}");
}

#[test]
fn nothing_recorded_is_said() {
    assert!(page(&empty(Tier::Minimal), false).contains("no thread was recorded"));
}

#[test]
fn what_found_no_room_of_the_end_is_told() {
    let mut trace = own();
    trace.losses.last_ns = Some(1_000_000_000);
    let page = page(&trace, false);
    assert!(page.contains("the last 1.00 ms of 1.00 s fit in --buffer and a trace"), "{page}");
}

//! What a program wrote into its rings, on the threads of a trace.

use latlas_signpost::layout::RecordKind::{self, Begin, End, Moment};
use latlas_signpost::layout::word;
use model::trace::{
    Clocks, Ended, HeapCall, MemoryOperation, Segment, Signpost, State, Target, Thread, Tier, Trace,
};
use proptest::prelude::*;
use trace::signposts::{Chunk, Clock, Collected, add_to_trace};

const BEGAN_NS: u64 = 1000;

fn thread(id: u32, from_ns: u64, to_ns: u64) -> Thread {
    Thread {
        id,
        process: 1,
        from_ns,
        to_ns,
        segments: vec![Segment { from_ns, to_ns, state: State::Running(0) }],
        ..Thread::default()
    }
}

fn trace(threads: &[Thread], tier: Tier) -> Trace {
    Trace {
        began: Clocks { raw_ns: BEGAN_NS, ..Clocks::default() },
        duration_ns: 500,
        threads: threads.to_vec(),
        ..Trace::new(Target::Process(1), Ended::Gone, tier)
    }
}

/// A counter of two ticks a ns.
fn clock() -> Clock {
    let mut clock = Clock::default();
    for ns in [BEGAN_NS, BEGAN_NS + 100, BEGAN_NS + 400] {
        clock.add_reading(2 * ns, ns);
    }
    clock
}

fn chunk(thread: u32, records: &[(u64, RecordKind, u32)]) -> Chunk {
    let records =
        records.iter().map(|&(at_ns, kind, name)| [2 * (BEGAN_NS + at_ns), word(kind, name)]);
    Chunk { ring: 0, process: 1, thread, records: records.collect() }
}

fn collected(chunks: Vec<Chunk>) -> Collected {
    Collected {
        chunks,
        names: ["a", "b", "a"].map(str::to_owned).to_vec(),
        clock: clock(),
        dropped: 0,
    }
}

fn signpost(from_ns: u64, to_ns: Option<u64>, name: u32) -> Signpost {
    Signpost { from_ns, to_ns, name }
}

#[test]
fn stretches_nest_and_have_their_names() {
    let mut trace = trace(&[thread(5, 0, 500)], Tier::Full);
    let first = [(10, Begin, 0), (20, Begin, 1), (25, Moment, 2)];
    let then = [(30, End, 1), (450, End, 0)];
    add_to_trace(&mut trace, &collected(vec![chunk(5, &first), chunk(5, &then)]));
    // Two entries of the table are the same name. Beyond the last comparison
    // of the clocks their line goes on.
    assert_eq!(trace.signpost_names, ["a", "b"]);
    let wanted = [signpost(10, Some(450), 0), signpost(20, Some(30), 1), signpost(25, None, 0)];
    assert_eq!(trace.threads[0].signposts, wanted);
    assert_eq!(trace.losses.signposts, 0);
}

#[test]
fn operations_on_memory_are_no_signposts() {
    let mut trace = trace(&[thread(5, 0, 500)], Tier::Full);
    let names = ["memory:loaded", "memory:malloc", "a", "memory:free", "memory:other"];
    // A malloc of 70,000 bytes around a signpost, a free that does not end, and an own name.
    let records = [(10, Begin, 1), (12, Moment, 2), (20, End, 1), (30, Begin, 3), (40, Moment, 4)];
    let mut chunk = chunk(5, &records);
    chunk.records[2][1] |= 70_000 << 24;
    let mut collected = collected(vec![chunk]);
    collected.names = names.map(str::to_owned).to_vec();
    add_to_trace(&mut trace, &collected);
    assert_eq!(trace.signpost_names, ["a", "memory:other"]);
    let thread = &trace.threads[0];
    assert_eq!(thread.signposts, [signpost(12, None, 0), signpost(40, None, 1)]);
    let heap = |from_ns, to_ns, operation, bytes| HeapCall { from_ns, to_ns, operation, bytes };
    let wanted = [
        heap(10, Some(20), MemoryOperation::Malloc, Some(70_000)),
        heap(30, None, MemoryOperation::Free, None),
    ];
    assert_eq!(thread.heap, wanted);
    assert_eq!(trace.losses.signposts, 0);
}

#[test]
fn only_the_end_of_an_operation_on_memory_has_a_size() {
    let mut trace = trace(&[thread(5, 0, 500)], Tier::Full);
    let records = [(10, Begin, 0), (20, End, 0), (30, Begin, 1), (40, Moment, 1)];
    let mut chunk = chunk(5, &records);
    for record in &mut chunk.records[1..3] {
        record[1] |= 1 << 24;
    }
    let mut collected = collected(vec![chunk]);
    collected.names = ["a", "memory:malloc"].map(str::to_owned).to_vec();
    add_to_trace(&mut trace, &collected);
    // The signpost's end, the begin with a size, and a moment of what is none.
    assert_eq!(trace.losses.signposts, 3);
    assert_eq!(trace.threads[0].heap, []);
}

#[test]
fn a_stretch_without_an_end_ends_with_its_thread() {
    let mut trace = trace(&[thread(5, 0, 300)], Tier::Full);
    add_to_trace(&mut trace, &collected(vec![chunk(5, &[(10, Begin, 0)])]));
    assert_eq!(trace.threads[0].signposts, [signpost(10, Some(300), 0)]);
}

#[test]
fn a_number_that_is_used_again_is_the_thread_of_that_time() {
    let mut trace = trace(&[thread(5, 0, 100), thread(5, 200, 300)], Tier::Full);
    let records = [(50, Moment, 0), (250, Moment, 1)];
    add_to_trace(&mut trace, &collected(vec![chunk(5, &records)]));
    let of = |at: usize| trace.threads[at].signposts.as_slice();
    assert_eq!(of(0), [signpost(50, None, 0)]);
    assert_eq!(of(1), [signpost(250, None, 1)]);
}

#[test]
fn a_thread_that_no_record_tells_of_is_unknown() {
    let mut of_records = trace(&[thread(5, 0, 500)], Tier::Full);
    add_to_trace(&mut of_records, &collected(vec![chunk(6, &[(50, Moment, 0)])]));
    let unknown = &of_records.threads[1];
    assert_eq!((unknown.id, unknown.from_ns, unknown.to_ns), (6, 50, 500));
    assert_eq!(unknown.segments[0].state, State::Unknown);
}

#[test]
fn a_sampled_thread_lives_until_its_last_signpost() {
    let sampled = Thread { segments: Vec::new(), ..thread(5, 100, 200) };
    let mut trace = trace(&[sampled], Tier::Minimal);
    let records = [(50, Begin, 0), (60, Begin, 1), (230, End, 0)];
    add_to_trace(&mut trace, &collected(vec![chunk(5, &records)]));
    let thread = &trace.threads[0];
    assert_eq!((thread.from_ns, thread.to_ns), (50, 231));
    // Not the end of the thread: it has ended.
    let wanted = [signpost(50, Some(230), 0), signpost(60, Some(231), 1)];
    assert_eq!(thread.signposts, wanted);
}

#[test]
fn what_makes_no_sense_is_counted() {
    let mut trace = trace(&[thread(5, 0, 500)], Tier::Full);
    let mut wrong = chunk(5, &[(10, End, 0), (20, Begin, 0), (15, End, 0), (30, Moment, 7)]);
    wrong.records.push([40, 99]);
    wrong.records.push([40, u64::MAX]);
    add_to_trace(&mut trace, &collected(vec![wrong]));
    assert_eq!(trace.losses.signposts, 5);
    assert_eq!(trace.threads[0].signposts, []);
}

#[test]
fn what_lies_outside_of_the_trace_is_not_part_of_it() {
    let mut trace = trace(&[thread(5, 0, 500)], Tier::Full);
    let mut records = chunk(5, &[(490, Begin, 0), (600, End, 0), (700, Moment, 0)]);
    records.records.push([2 * BEGAN_NS - 10, word(Moment, 0)]);
    add_to_trace(&mut trace, &collected(vec![records]));
    assert_eq!(trace.threads[0].signposts, [signpost(490, Some(500), 0)]);
}

proptest! {
    #[test]
    fn of_any_words_nothing_lies_outside(
        words in prop::collection::vec((any::<u64>(), any::<u64>()), 0..20),
        near in prop::collection::vec((1900..3300_u64, 0..4_u64, 0..4_u32), 0..40),
        clock in prop::collection::vec((any::<u64>(), any::<u64>()), 0..4),
        odd in any::<bool>(),
    ) {
        let near = near.into_iter().map(|(at, kind, name)| [at, u64::from(name) << 8 | kind]);
        let records = words.into_iter().map(|(at, word)| [at, word]).chain(near);
        let chunk = Chunk { ring: 0, process: 1, thread: 5, records: records.collect() };
        let mut all = collected(vec![chunk]);
        if odd {
            for (ticks, ns) in clock {
                all.clock.add_reading(ticks, ns);
            }
        }
        let mut trace = trace(&[thread(5, 0, 300)], Tier::Full);
        add_to_trace(&mut trace, &all);
        for signpost in &trace.threads[0].signposts {
            prop_assert!(signpost.from_ns <= 500);
            let ends = signpost.to_ns.unwrap_or(signpost.from_ns);
            prop_assert!((signpost.from_ns..=500).contains(&ends));
        }
        let mut bytes = Vec::new();
        trace::perfetto::write_perfetto(&trace, &mut bytes).expect("to memory");
    }
}

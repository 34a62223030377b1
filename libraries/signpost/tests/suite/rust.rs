//! The macros.

use crate::memory::{SignpostMemory, marks};
use latlas_signpost::layout::{
    CLOCK_COUNTER, CLOCK_RAW, CLOSED, FREE, NAMES, RECORDS, RINGS, RecordKind, header, ring,
};
use latlas_signpost::{Site, is_traced, signpost, span};

#[test]
#[ignore = "run by others, with a memory"]
fn some() {
    assert!(is_traced());
    let outer = span!("outer");
    for _ in 0..2 {
        let _inner = span!("inner");
        signpost!("here");
    }
    drop(outer);
}

#[test]
fn stretches_and_moments_are_written_in_their_order() {
    use RecordKind::{Begin, End, Moment};
    for clock in [CLOCK_RAW, CLOCK_COUNTER] {
        let memory = SignpostMemory::new(clock);
        memory.run_test("rust::some");
        let once = [(Begin, "inner"), (Moment, "here"), (End, "inner")];
        let wanted = [&[(Begin, "outer")][..], &once, &once, &[(End, "outer")]].concat();
        assert_eq!(marks(&memory.records(0)), wanted);
        assert_eq!(memory.word(header::NAMES), 3, "each name once");
        assert_eq!(memory.of_ring(0, ring::OPEN), 0);
        assert_eq!(memory.of_ring(0, ring::STATE), CLOSED, "its thread ended");
    }
}

#[test]
fn names_of_several_processes_are_the_same() {
    let memory = SignpostMemory::new(CLOCK_RAW);
    memory.run_test("rust::some");
    memory.run_test("rust::some");
    assert_eq!(memory.word(header::NAMES), 3);
    assert_eq!(marks(&memory.records(0)), marks(&memory.records(1)));
    assert_ne!(memory.of_ring(0, ring::OWNER), memory.of_ring(1, ring::OWNER));
}

#[test]
fn without_the_variable_nothing_is_traced() {
    // The tests themselves are run without.
    assert!(!is_traced());
    let _span = span!("none");
    signpost!("none");
}

#[test]
#[ignore = "run by others, with a memory"]
fn too_many() {
    let outer = span!("outer");
    for _ in 0..RECORDS {
        let _inner = span!("inner");
    }
    drop(outer);
}

#[test]
fn what_finds_no_room_is_counted_and_no_end_is_lost() {
    let memory = SignpostMemory::new(CLOCK_RAW);
    memory.run_test("rust::too_many");
    let records = memory.records(0);
    let of = |wanted: RecordKind| records.iter().filter(|(kind, _, _)| *kind == wanted).count();
    assert_eq!((of(RecordKind::Begin), of(RecordKind::End)), (RECORDS / 2, RECORDS / 2));
    let inner = (RECORDS / 2 - 1) as u64;
    assert_eq!(memory.of_ring(0, ring::DROPPED), RECORDS as u64 - inner);
    assert_eq!(records.last().map(|(_, name, _)| name.as_str()), Some("outer"));
}

#[test]
#[ignore = "run by others, with a memory"]
fn many_threads() {
    for _ in 0..RINGS + 10 {
        std::thread::spawn(|| signpost!("thread")).join().expect("ends");
    }
}

#[test]
fn a_thread_without_a_free_ring_counts() {
    let memory = SignpostMemory::new(CLOCK_RAW);
    memory.run_test("rust::many_threads");
    assert_eq!(memory.word(header::RINGLESS), 10);
    assert_eq!(memory.of_ring(RINGS - 1, ring::STATE), CLOSED);
    assert_eq!(memory.records(RINGS - 1).len(), 1);
}

#[test]
#[ignore = "run by others, with a memory"]
fn names_at_the_limits() {
    static LONG: Site = Site::new(concat!(
        "ääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää",
        "too long"
    ));
    static CUT: Site = Site::new(concat!(
        "-ääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää",
        "too long"
    ));
    LONG.moment();
    CUT.moment();
    for name in 0..NAMES {
        let name = Box::leak(name.to_string().into_boxed_str());
        Box::leak(Box::new(Site::new(name))).moment();
    }
}

#[test]
fn names_are_cut_off_between_characters_and_counted_where_the_table_is_full() {
    let memory = SignpostMemory::new(CLOCK_RAW);
    memory.run_test("rust::names_at_the_limits");
    assert_eq!(memory.record_name(0), "ä".repeat(60));
    assert_eq!(memory.record_name(1), format!("-{}", "ä".repeat(59)));
    assert_eq!(memory.record_name(4095), "4093");
    assert_eq!(memory.word(header::UNNAMED), 2);
}

#[test]
fn another_file_is_not_written() {
    for at in [header::MAGIC, header::VERSION, header::CLOCK] {
        let memory = SignpostMemory::new(CLOCK_RAW);
        memory.set(at, 77);
        memory.run_test("rust::is_off");
        assert_eq!(memory.of_ring(0, ring::STATE), FREE);
    }
}

#[test]
#[ignore = "run by others, with a memory"]
fn is_off() {
    assert!(!is_traced());
    signpost!("none");
}

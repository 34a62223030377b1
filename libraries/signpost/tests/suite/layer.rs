//! Spans and events of the `tracing` crate.

use crate::memory::{SignpostMemory, marks};
use latlas_signpost::layout::{CLOCK_RAW, RECORDS, RecordKind, ring};
use tracing_subscriber::layer::SubscriberExt;

#[test]
#[ignore = "run by others, with a memory"]
fn some() {
    let subscriber = tracing_subscriber::registry().with(latlas_signpost::layer());
    let work = || {
        let outer = tracing::info_span!("outer", size = 5);
        outer.in_scope(|| {
            tracing::info_span!("inner").in_scope(|| {});
            tracing::info!(name: "told", "text {}", 1);
        });
        // Entered again.
        outer.in_scope(|| {});
    };
    tracing::subscriber::with_default(subscriber, work);
}

#[test]
fn spans_and_events_are_signposts() {
    use RecordKind::{Begin, End, Moment};
    let memory = SignpostMemory::new(CLOCK_RAW);
    memory.run_test("layer::some");
    let wanted = [
        (Begin, "outer"),
        (Begin, "inner"),
        (End, "inner"),
        (Moment, "told"),
        (End, "outer"),
        (Begin, "outer"),
        (End, "outer"),
    ];
    assert_eq!(marks(&memory.records(0)), wanted);
}

#[test]
#[ignore = "run by others, with a memory"]
fn too_many() {
    let subscriber = tracing_subscriber::registry().with(latlas_signpost::layer());
    let work = || {
        let _outer = tracing::info_span!("outer").entered();
        for _ in 0..RECORDS {
            tracing::info_span!("inner").in_scope(|| {});
        }
    };
    tracing::subscriber::with_default(subscriber, work);
}

#[test]
fn a_span_that_was_dropped_ends_no_other() {
    let memory = SignpostMemory::new(CLOCK_RAW);
    memory.run_test("layer::too_many");
    let records = memory.records(0);
    assert_eq!(records.last().map(|(_, name, _)| name.as_str()), Some("outer"));
    assert_eq!(memory.of_ring(0, ring::OPEN), 0);
    assert_eq!(memory.of_ring(0, ring::HEAD), RECORDS as u64);
}

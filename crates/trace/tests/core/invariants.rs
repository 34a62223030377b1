//! What holds of any bytes: reordered, cut off, invented. The fuzz target
//! `trace` has the same.

use crate::anything;
use crate::ring::{Bytes, layouts};
use model::trace::{StateKind, Trace};
use proptest::prelude::*;
use trace::decode::Decoded;

proptest! {
    #[test]
    fn of_records_in_any_order(
        cpus in proptest::collection::vec(
            proptest::collection::vec(any::<[u8; 4]>(), 0..60), 1..4),
        scheduler in any::<bool>(),
    ) {
        let rings: Vec<Bytes> = cpus.iter().map(|records| anything::ring(records)).collect();
        let trace = anything::trace(&layouts(), &rings, scheduler);
        anything::holds(&trace);
        prop_assert!(shares(&trace));
        let mut written = Vec::new();
        trace::perfetto::write_perfetto(&trace, &mut written).expect("to memory");
    }

    #[test]
    fn of_stacks_of_any_bytes(chunks in proptest::collection::vec(
        (0_u32..3, proptest::collection::vec(any::<u8>(), 0..300)), 1..4), copied in any::<bool>()) {
        anything::stacks(&chunks, copied);
    }

    #[test]
    fn of_any_bytes(rings in proptest::collection::vec(
        proptest::collection::vec(any::<u8>(), 0..300), 1..3)) {
        let mut decoded = Decoded::default();
        for (cpu, bytes) in (0..).zip(&rings) {
            anything::decode(&layouts(), cpu, bytes, &mut decoded);
        }
        anything::holds(&anything::trace_of(decoded, true));
    }
}

/// Times in all states are the life of each thread.
fn shares(trace: &Trace) -> bool {
    let summary = model::trace::summary::summary(trace);
    summary.threads.iter().all(|thread| {
        let times = StateKind::ALL.map(|kind| thread.time_ns(kind));
        times.iter().sum::<u64>() == thread.life_ns
    })
}

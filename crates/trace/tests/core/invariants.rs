//! What holds of any bytes: reordered, cut off, invented. The fuzz target
//! `trace` has the same.

use crate::anything;
use crate::ring::{Bytes, layouts};
use model::trace::{Kind, Trace};
use proptest::prelude::*;

/// One record of a few threads on a few CPUs, in any order.
fn record(bytes: Bytes, [kind, at, a, b]: [u8; 4]) -> Bytes {
    let (at, a, b) = (u64::from(at), u32::from(a % 5), u32::from(b % 5));
    match kind % 12 {
        0 => bytes.switch(at, a, 1, (b, "x")),
        1 => bytes.switch(at, a, 0, (b, "x")),
        2 => bytes.switch(at, a, 0x10, (b, "x")),
        3 => bytes.waking(at, 0, a, b),
        4 => bytes.enter(at, a, i64::from(b), [0; 6]),
        5 => bytes.returns(at, a, 0, 0),
        6 => bytes.own_switch(at, a, true, b % 2 == 0),
        7 => bytes.own_switch(at, a, false, false),
        8 => bytes.fork(at, a, b, a),
        9 => bytes.exit(at, a),
        10 => bytes.exec(at, a, "y"),
        _ => bytes.lost(at, 1),
    }
}

proptest! {
    #[test]
    fn of_records_in_any_order(
        cpus in proptest::collection::vec(
            proptest::collection::vec(any::<[u8; 4]>(), 0..60), 1..4),
        scheduler in any::<bool>(),
    ) {
        let rings: Vec<Vec<u8>> = cpus
            .into_iter()
            .map(|records| records.into_iter().fold(Bytes::default(), record).0)
            .collect();
        let trace = anything::trace(&layouts(), &rings, scheduler);
        anything::holds(&trace);
        prop_assert!(shares(&trace));
    }

    #[test]
    fn of_any_bytes(rings in proptest::collection::vec(
        proptest::collection::vec(any::<u8>(), 0..300), 1..3)) {
        anything::holds(&anything::trace(&layouts(), &rings, true));
    }
}

/// Times in all states are the life of each thread.
fn shares(trace: &Trace) -> bool {
    let summary = model::trace::summary::summary(trace);
    summary.threads.iter().all(|thread| {
        let times = Kind::ALL.map(|kind| thread.time_ns(kind));
        times.iter().sum::<u64>() == thread.life_ns
    })
}

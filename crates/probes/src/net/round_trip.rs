//! One byte to another thread and back.

use super::loopback::{tcp_pair, udp_pair};
use crate::handoff::means::{Datagrams, Streams};
use crate::handoff::pair::{Pair, PairResult};
use crate::handoff::placement::Placement;
use crate::handoff::plan::HandoffPlan;
use crate::handoff::plan::Waiting;
use meter::probe::{MachineShape, Probe};

struct RoundTripRow {
    variant: &'static str,
    how: &'static str,
    source: &'static str,
    round_trip_ns: f64,
    waiting: Waiting,
    work: fn(HandoffPlan, &MachineShape) -> PairResult,
}

const ROWS: [RoundTripRow; 3] = [
    RoundTripRow {
        variant: "tcp",
        how: "One byte over an established TCP connection on loopback, TCP_NODELAY at both ends.",
        source: "LMbench's lat_tcp is the same round trip between two processes, each placed by the system, without TCP_NODELAY (which makes no difference to one byte at a time).",
        round_trip_ns: 60_000.0,
        waiting: Waiting::Sleeps,
        work: |plan, machine| Pair::made(Streams(tcp_pair()?), plan, machine),
    },
    RoundTripRow {
        variant: "udp",
        how: "A datagram of one byte between two connected UDP sockets on loopback.",
        source: "LMbench's lat_udp is the same round trip between two processes with 4 bytes; its server's socket is not connected and looks the address up for each answer.",
        round_trip_ns: 60_000.0,
        waiting: Waiting::Sleeps,
        work: |plan, machine| Pair::made(Datagrams(udp_pair()?), plan, machine),
    },
    RoundTripRow {
        variant: "unix",
        how: "One byte over a connected pair of unix stream sockets.",
        source: "LMbench's lat_unix is the same round trip between two processes; sync.handoff/unix_socket is half of it, pinned too.",
        round_trip_ns: 50_000.0,
        waiting: Waiting::SleepsStirred,
        work: |plan, machine| Pair::made(Streams::unix()?, plan, machine),
    },
];

pub(super) fn round_trip_probes() -> Vec<Probe> {
    let probe = |row: &'static RoundTripRow| {
        let plan = HandoffPlan {
            ops_per_trip: 1,
            ..HandoffPlan::round_trips(Placement::Free, row.waiting)
        };
        Probe {
            variants: vec![row.variant.into()],
            title: format!("round trip of one byte on this machine, {}", row.variant).into(),
            operation: "One round trip: a byte to another thread, which waits for it, and a byte back; the whole of it, not one way.".into(),
            method: format!("{} Both threads may use every allowed CPU; each hand-off records where the scheduler put them, and each mode has its share (busy CPU: other programs kept the woken thread's CPU from going idle). The first thread stamps each of 100 round trips, after 100 that warm up. {}", row.how, row.waiting.assumption(Placement::Free)).into(),
            source: row.source.into(),
            make: Box::new(move |worker, _| (row.work)(plan, &worker.machine)),
            ..super::blank("net.round_trip", 100, row.round_trip_ns)
        }
    };
    ROWS.iter().map(probe).collect()
}

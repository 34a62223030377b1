//! One byte to another thread and back.

use super::loopback::{tcp_pair, udp_pair};
use crate::handoff::means::Streams;
use crate::handoff::pair::{Made, Manner, Means, Pair, Side, WARM_UP};
use crate::handoff::placement::Placement;
use crate::handoff::switches::Waiting;
use meter::probe::{Probe, Terrain};
use std::io;
use std::net::UdpSocket;

struct Row {
    variant: &'static str,
    how: &'static str,
    source: &'static str,
    round_trip_ns: f64,
    waiting: Waiting,
    work: fn(Manner, &Terrain) -> Made,
}

const ROWS: [Row; 3] = [
    Row {
        variant: "tcp",
        how: "One byte over an established TCP connection on loopback, TCP_NODELAY at both ends.",
        source: "LMbench's lat_tcp is the same round trip between two processes, each placed by the system, without TCP_NODELAY (which makes no difference to one byte at a time).",
        round_trip_ns: 60_000.0,
        waiting: Waiting::Sleeps,
        work: |manner, terrain| Pair::made(Streams(tcp_pair()?), manner, terrain),
    },
    Row {
        variant: "udp",
        how: "A datagram of one byte between two connected UDP sockets on loopback.",
        source: "LMbench's lat_udp is the same round trip between two processes with 4 bytes; its server's socket is not connected and looks the address up for each answer.",
        round_trip_ns: 60_000.0,
        waiting: Waiting::Sleeps,
        work: |manner, terrain| Pair::made(Datagrams(udp_pair()?), manner, terrain),
    },
    Row {
        variant: "unix",
        how: "One byte over a connected pair of unix stream sockets.",
        source: "LMbench's lat_unix is the same round trip between two processes; sync.handoff/unix_socket is half of it, pinned too.",
        round_trip_ns: 50_000.0,
        waiting: Waiting::SleepsStirred,
        work: |manner, terrain| Pair::made(Streams::unix()?, manner, terrain),
    },
];

pub(super) fn probes() -> Vec<Probe> {
    ROWS.iter()
        .map(|row| {
            let manner = Manner {
                placement: Placement::Free,
                warm_up: WARM_UP,
                trips_per_event: 1,
                ops_per_trip: 1,
                waiting: row.waiting,
            };
            let work = row.work;
            Probe {
                variants: vec![row.variant.into()],
                title: format!("round trip of one byte on this machine, {}", row.variant).into(),
                operation: "One round trip: a byte to another thread, which waits for it, and a byte back; the whole of it, not one way.".into(),
                method: format!("{} Both threads may use every allowed CPU; where the scheduler put them is recorded at each hand-off, and each mode is told with its share. The first thread stamps each of 100 round trips after 20 that warm up. {}", row.how, row.waiting.text(Placement::Free)).into(),
                source: row.source.into(),
                make: Box::new(move |bench, _| work(manner, &bench.terrain)),
                ..super::blank("net.round_trip", 100, row.round_trip_ns)
            }
        })
        .collect()
}

/// Two connected UDP sockets, by side.
pub(super) struct Datagrams(pub(super) [UdpSocket; 2]);

impl Means for Datagrams {
    fn give(&self, from: Side) -> io::Result<()> {
        self.0[from.place()].send(b"x").map(drop)
    }
    fn take(&self, at: Side) -> io::Result<()> {
        loop {
            match self.0[at.place()].recv(&mut [0]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                done => return done.map(drop),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::testing::{Counted, terrain};
    use meter::probe::Work;

    fn goes_round<M: Means>(name: &str, waiting: Waiting, means: M) {
        let counted = Counted::new(means);
        let manner = Manner {
            placement: Placement::Free,
            warm_up: WARM_UP,
            trips_per_event: 1,
            ops_per_trip: 1,
            waiting,
        };
        let mut pair = Pair::new(&counted, manner, &terrain()).expect("threads");
        let events = pair.stamped(30).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(events.len() == 30 && events.iter().all(|e| e.ops == 1));
        let trips = u64::from(WARM_UP) + 30;
        assert_eq!(counted.counts(), [trips; 4], "{name}");
        // Others may take a CPU for a while: not in every visit.
        let agrees = (0..5).any(|_| {
            let done = pair.stamped(100).is_ok();
            done && pair.contradiction().is_none()
        });
        assert!(agrees, "{name}: {:?}", pair.contradiction());
    }

    #[test]
    fn each_kind_of_socket_carries_the_byte_there_and_back() {
        let tcp = Streams(tcp_pair().expect("loopback"));
        goes_round("tcp", Waiting::Sleeps, tcp);
        let udp = Datagrams(udp_pair().expect("loopback"));
        goes_round("udp", Waiting::Sleeps, udp);
        let unix = Streams::unix().expect("unix sockets");
        goes_round("unix", Waiting::SleepsStirred, unix);
    }
}

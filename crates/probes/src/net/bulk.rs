//! Many bytes one way over TCP: messages of 1 KiB, and a stream.

use super::loopback::tcp_pair;
use crate::engine::reason::Reason;
use crate::handoff::pair::Pair;
use crate::handoff::placement::Placement;
use crate::handoff::plan::HandoffPlan;
use crate::handoff::plan::Waiting;
use crate::handoff::token::{Means, Side};
use meter::probe::Probe;
use model::run::Scale;
use model::unit::Unit;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, PoisonError};

/// Batches before the first stamp.
const WARM_UP: u32 = 2;

/// What the reader asks for at once.
const READ_BYTES: usize = 64 << 10;

pub(super) fn send() -> Probe {
    const MESSAGE_BYTES: usize = 1024;
    const MESSAGES: usize = 1000;
    Probe {
        title: "sending 1 KiB to another thread of this machine, TCP".into(),
        operation: "One message of 1 KiB written to a TCP connection on loopback that another thread reads, in a stream of messages.".into(),
        method: format!("A thousand messages, a write call each, TCP_NODELAY set; the reader takes up to 64 KiB at once and answers the last byte with one byte, for which the writer waits. The time from the first write to that answer, divided by the messages; two thousand warm up. Both threads may use every allowed CPU; modes: where the first byte and the answer went. {}", Waiting::Depends.assumption(Placement::Free)).into(),
        source: "Ours, for the 2012 list's row of 1 KB over a 1 Gbps network, which one machine can't measure: without a wire, what remains is the cost of the two ends.".into(),
        make: Box::new(|worker, _| {
            let bulk = Bulk::new(MESSAGE_BYTES, MESSAGES)?;
            Pair::made(bulk, plan(MESSAGES), &worker.machine)
        }),
        since: Scale::Default,
        ..super::blank("net.send_1K", 10, 3e6)
    }
}

pub(super) fn bandwidth() -> Probe {
    const WRITE_BYTES: usize = 64 << 10;
    const WRITES: usize = 256;
    Probe {
        title: "TCP bandwidth between two threads of this machine".into(),
        operation: "One byte of a stream over a TCP connection on loopback, written by one thread and read by another.".into(),
        method: format!("16 MiB in writes of 64 KiB, read in calls of up to 64 KiB and not loaded; the reader answers the last byte with one byte, for which the writer waits; two streams warm up. Socket buffers are as the system sizes them. Both threads may use every allowed CPU; modes: where the first byte and the answer went. {}", Waiting::Depends.assumption(Placement::Free)).into(),
        source: "LMbench's bw_tcp moves its bytes between two processes, in messages of 1 MiB and requests socket buffers of that size.".into(),
        unit: Unit::Bandwidth { bytes_per_op: 1.0 },
        make: Box::new(|worker, _| {
            let bulk = Bulk::new(WRITE_BYTES, WRITES)?;
            Pair::made(bulk, plan(WRITE_BYTES * WRITES), &worker.machine)
        }),
        since: Scale::Default,
        ..super::blank("net.bandwidth", 4, 9e6)
    }
}

fn plan(ops: usize) -> HandoffPlan {
    HandoffPlan {
        placement: Placement::Free,
        warm_up: WARM_UP,
        trips_per_event: 1,
        ops_per_trip: ops as u64,
        waiting: Waiting::Depends,
    }
}

/// Messages one way, and a byte back for all of them.
struct Bulk {
    ends: [TcpStream; 2],
    message: Vec<u8>,
    messages: usize,
    /// Where the reader puts them.
    buffer: Mutex<Vec<u8>>,
}

impl Bulk {
    fn new(message_bytes: usize, messages: usize) -> Result<Bulk, Reason> {
        Ok(Bulk {
            ends: tcp_pair()?,
            message: vec![b'x'; message_bytes],
            messages,
            buffer: Mutex::new(vec![0; READ_BYTES]),
        })
    }

    /// Reads all messages and not a byte more.
    fn drain(&self, mut from: &TcpStream) -> io::Result<()> {
        let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = self.message.len() * self.messages;
        while left > 0 {
            let most = left.min(buffer.len());
            match from.read(&mut buffer[..most]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => left -= length,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

impl Means for Bulk {
    fn give(&self, from: Side) -> io::Result<()> {
        let mut end = &self.ends[from as usize];
        match from {
            Side::First => (0..self.messages).try_for_each(|_| end.write_all(&self.message)),
            Side::Second => end.write_all(b"x"),
        }
    }
    fn take(&self, at: Side) -> io::Result<()> {
        let mut end = &self.ends[at as usize];
        match at {
            Side::First => end.read_exact(&mut [0]),
            Side::Second => self.drain(end),
        }
    }
    fn abandon(&self) {
        // A further stream might wait for room; a closed connection never
        // does.
        for end in &self.ends {
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::small_machine;
    use meter::probe::Work;

    #[test]
    fn all_is_read_and_nothing_is_left_over() {
        let bulk = Bulk::new(1000, 300).expect("loopback");
        let ends = [0, 1].map(|n: usize| bulk.ends[n].try_clone().expect("a handle"));
        let mut pair = Pair::new(bulk, plan(300), &small_machine()).expect("threads");
        let events = pair.stamped(4).expect("it runs");
        assert!(events.len() == 4 && events.iter().all(|e| e.ops == 300));
        for end in ends {
            end.set_nonblocking(true).expect("settable");
            let left = end.peek(&mut [0]).map_err(|e| e.kind());
            assert_eq!(left, Err(io::ErrorKind::WouldBlock));
        }
        let notes = pair.notes().join("; ");
        assert!(notes.contains("context switches per transfer and its answer: "), "{notes}");
        assert_eq!(pair.contradiction(), None);
    }

    #[test]
    fn the_answer_waits_for_the_last_byte() {
        let bulk = Bulk::new(1000, 2).expect("loopback");
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| bulk.take(Side::Second));
            (&bulk.ends[0]).write_all(&[0; 1999]).expect("room");
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert!(!reader.is_finished(), "a byte is missing");
            (&bulk.ends[0]).write_all(&[0]).expect("room");
            let read = reader.join().expect("no panic");
            assert!(read.is_ok(), "{read:?}");
        });
    }

    #[test]
    fn an_abandoned_stream_lets_both_ends_go() {
        let bulk = Bulk::new(1 << 20, 1000).expect("loopback");
        std::thread::scope(|scope| {
            // No task reads: it fills the buffers and waits.
            let writer = scope.spawn(|| bulk.give(Side::First));
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert!(!writer.is_finished(), "1 GB fits in no socket");
            bulk.abandon();
            assert!(writer.join().expect("no panic").is_err());
            assert!(bulk.take(Side::First).is_err());
        });
    }
}

//! One byte to another machine and back.

use meter::probe::{Event, Probe, Work};
use model::run::Scale;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;
use sys::clock::Counter;

/// A peer that takes longer to connect is none to measure.
const CONNECT_PATIENCE: Duration = Duration::from_secs(2);
/// The same for a byte.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);
/// Round trips before the first stamp.
const WARM_UP: u32 = 5;

pub(super) fn probe() -> Probe {
    Probe {
        title: "round trip of one byte to a peer, TCP".into(),
        operation: "One round trip: a byte to `latlas echo` on the machine that --peer names, and the byte back; the whole of it, not one way.".into(),
        method: "One byte over an established TCP connection with TCP_NODELAY at both ends, written by a thread that then waits for its return; each answer is checked. The stamps hold the network, the peer's wake-up and our own. Only this end is ours to look at, so neither CPUs nor context switches are told.".into(),
        source: "The 2012 list's round trip within a datacenter, if the peer is in it; LMbench's lat_tcp between two machines.".into(),
        since: Scale::Full,
        unavailable: |terrain| {
            terrain.peer.is_none().then(|| "no peer was named: run `latlas echo` on another machine and give --peer HOST:PORT".into())
        },
        make: Box::new(|bench, _| {
            let name = bench.terrain.peer.clone().ok_or("no peer was named")?;
            Ok(Box::new(Peer::connect(name)?))
        }),
        ..super::blank("net.round_trip_peer", 50, 1e6)
    }
}

struct Peer {
    name: String,
    stream: TcpStream,
}

impl Peer {
    fn connect(name: String) -> Result<Peer, String> {
        let addresses = name
            .to_socket_addrs()
            .map_err(|e| format!("the peer's name {name} leads nowhere: {e}"))?;
        let mut last = Err(io::ErrorKind::AddrNotAvailable.into());
        for address in addresses {
            last = TcpStream::connect_timeout(&address, CONNECT_PATIENCE);
            if last.is_ok() {
                break;
            }
        }
        let prepared = last.and_then(|stream| {
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(ANSWER_PATIENCE))?;
            stream.set_write_timeout(Some(ANSWER_PATIENCE))?;
            Ok(stream)
        });
        match prepared {
            Ok(stream) => Ok(Peer { name, stream }),
            Err(e) => Err(no_connection(&name, &e)),
        }
    }

    fn round_trip(&self, byte: u8) -> Result<(), String> {
        let mut stream = &self.stream;
        let mut answer = [0];
        stream
            .write_all(&[byte])
            .and_then(|()| stream.read_exact(&mut answer))
            .map_err(|e| no_answer(&self.name, &e))?;
        if answer == [byte] {
            Ok(())
        } else {
            Err(format!(
                "the peer {} sends back other bytes than it gets: it is no `latlas echo`",
                self.name
            ))
        }
    }
}

impl Work for Peer {
    fn ops_per_turn(&self) -> f64 {
        1.0
    }
    fn run(&mut self, _turns: u64, _double: bool) {}
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, String> {
        let counter = Counter::best();
        for number in 0..WARM_UP {
            self.round_trip(number as u8)?;
        }
        (0..operations)
            .map(|number| {
                let from = counter.start();
                let done = self.round_trip(number as u8);
                let to = counter.stop();
                done.map(|()| crate::across::event(from, to, 1, 0))
            })
            .collect()
    }
    fn run_delay_ns(&self, _series: usize, own_ns: u64) -> Option<u64> {
        Some(own_ns)
    }
}

fn no_connection(name: &str, e: &io::Error) -> String {
    match e.kind() {
        io::ErrorKind::ConnectionRefused => {
            format!(
                "nothing listens at the peer {name}: is `latlas echo` running there, and on that address?"
            )
        }
        io::ErrorKind::TimedOut => format!(
            "no connection to the peer {name} within {} s: is it up, and does a firewall let the port through?",
            CONNECT_PATIENCE.as_secs()
        ),
        _ => format!("no connection to the peer {name}: {e}"),
    }
}

fn no_answer(name: &str, e: &io::Error) -> String {
    match e.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => format!(
            "no answer from the peer {name} within {} s: is it a `latlas echo`?",
            ANSWER_PATIENCE.as_secs()
        ),
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::BrokenPipe => format!(
            "the peer {name} closed the connection: is it a `latlas echo`, and has it room for one more?"
        ),
        _ => format!("talking to the peer {name} failed: {e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::testing::terrain;
    use meter::bench::Bench;
    use meter::probe::{Site, Terrain};
    use std::net::{SocketAddr, TcpListener};
    use std::thread;

    /// What the row makes of this peer.
    fn measured(peer: &str) -> Result<Vec<Event>, String> {
        let terrain = Terrain {
            peer: Some(peer.to_string()),
            ..terrain()
        };
        assert_eq!((probe().unavailable)(&terrain), None);
        let mut bench = Bench::new(terrain, 0, 0, 1);
        let site = Site {
            variant: String::new(),
            at: Vec::new(),
        };
        let mut work = (probe().make)(&mut bench, &site)?;
        assert!(work.modes().is_empty() && work.contradiction().is_none());
        work.stamped(20)
    }

    /// A peer that does this with the one connection it takes.
    fn with_peer<T>(serve: impl FnOnce(TcpStream) + Send, ask: impl FnOnce(&str) -> T) -> T {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback");
        let address = listener.local_addr().expect("bound").to_string();
        thread::scope(|scope| {
            scope.spawn(move || serve(listener.accept().expect("a client").0));
            ask(&address)
        })
    }

    /// Sends each byte back, changed by `change`; gives the number of bytes.
    fn echo(mut stream: TcpStream, change: fn(u8) -> u8) -> u32 {
        let mut bytes = 0;
        let mut byte = [0];
        while stream.read_exact(&mut byte).is_ok() {
            bytes += 1;
            if stream.write_all(&[change(byte[0])]).is_err() {
                break;
            }
        }
        bytes
    }

    #[test]
    fn an_echo_is_measured() {
        let events = with_peer(
            |stream| assert_eq!(echo(stream, |byte| byte), WARM_UP + 20),
            measured,
        );
        let events = events.expect("an echo answers");
        assert_eq!(events.len(), 20);
        assert!(events.iter().all(|e| e.ops == 1 && e.to_ticks > 0));
    }

    #[test]
    fn a_peer_that_is_no_echo_is_told() {
        let wrong = with_peer(|stream| assert_eq!(echo(stream, |byte| !byte), 1), measured);
        let reason = wrong.expect_err("other bytes");
        assert!(reason.contains("it is no `latlas echo`"), "{reason}");
        let closed = with_peer(drop, measured);
        let reason = closed.expect_err("it hangs up");
        assert!(reason.contains("closed the connection"), "{reason}");
    }

    #[test]
    fn nobody_there_is_told() {
        let free: SocketAddr = {
            let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback");
            listener.local_addr().expect("bound")
        };
        let reason = measured(&free.to_string()).expect_err("nothing listens");
        assert!(
            reason.starts_with(&format!(
                "nothing listens at the peer {free}: is `latlas echo`"
            )),
            "{reason}"
        );
        let reason = measured("no port").expect_err("it is no address");
        assert!(reason.starts_with("the peer's name no port leads nowhere: "));
    }

    #[test]
    fn without_a_peer_it_says_what_to_do() {
        assert_eq!(
            (probe().unavailable)(&terrain()).as_deref(),
            Some(
                "no peer was named: run `latlas echo` on another machine and give --peer HOST:PORT"
            )
        );
    }
}

//! One byte to another machine and back.

use crate::engine::reason::{Doing, Reason};
use crate::engine::single::{Single, Singles};
use meter::probe::{Probe, WorkError};
use model::run::Scale;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// A peer that takes longer to connect can't be measured.
const CONNECT_PATIENCE: Duration = Duration::from_secs(2);
/// The same for a byte.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);
/// Round trips before the first stamp.
const WARM_UP: u32 = 5;

const NO_PEER: &str =
    "no peer was named: run `latlas echo` on another machine and give --peer HOST:PORT";

pub(super) fn peer_probe() -> Probe {
    Probe {
        title: "round trip of one byte to a peer, TCP".into(),
        operation: "One round trip: a byte to `latlas echo` on the machine that --peer names, and the byte back; the whole of it, not one way.".into(),
        method: "One byte over an established TCP connection with TCP_NODELAY at both ends, written by a thread that then waits for its return; each answer is checked. The stamps hold the network, the peer's wake-up and that of this machine. CPUs and context switches of the peer can't be observed, so neither is noted.".into(),
        source: "The 2012 list's round trip within a datacenter, if the peer is in it; LMbench's lat_tcp between two machines.".into(),
        since: Scale::Full,
        unavailable: |machine| machine.peer.is_none().then(|| NO_PEER.into()),
        make: Box::new(|worker, _| {
            let name = worker.machine.peer.clone().ok_or(NO_PEER)?;
            Ok(Box::new(Singles::new(Peer::connect(name)?).warm_up(WARM_UP)))
        }),
        ..super::blank("net.round_trip_peer", 50, 1e6)
    }
}

struct Peer {
    name: String,
    stream: TcpStream,
    byte: u8,
}

impl Peer {
    fn connect(name: String) -> Result<Peer, Reason> {
        let addresses = name.to_socket_addrs().doing(format!("can't resolve the peer {name}"))?;
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
            Ok(stream) => Ok(Peer { name, stream, byte: 0 }),
            Err(e) => Err(no_connection(&name, &e)),
        }
    }
}

impl Single for Peer {
    fn ready(&mut self) -> Result<(), WorkError> {
        self.byte = self.byte.wrapping_add(1);
        Ok(())
    }
    fn perform(&mut self) -> Result<(), WorkError> {
        let mut answer = [0];
        self.stream
            .write_all(&[self.byte])
            .and_then(|()| self.stream.read_exact(&mut answer))
            .map_err(|e| no_answer(&self.name, &e))?;
        match answer == [self.byte] {
            true => Ok(()),
            false => Err(Reason::wrong(format!(
                "the peer {} sends back other bytes: it is not `latlas echo`",
                self.name
            ))
            .into()),
        }
    }
}

fn no_connection(name: &str, e: &io::Error) -> Reason {
    let patience = CONNECT_PATIENCE.as_secs();
    Reason::missing(match e.kind() {
        io::ErrorKind::ConnectionRefused => {
            format!(
                "the peer {name} refuses connections: is `latlas echo` running there, and on that address?"
            )
        }
        io::ErrorKind::TimedOut => {
            format!(
                "no connection to the peer {name} within {patience} s: is it up, and does a firewall let the port through?"
            )
        }
        _ => format!("no connection to the peer {name}: {e}"),
    })
}

fn no_answer(name: &str, e: &io::Error) -> Reason {
    let patience = ANSWER_PATIENCE.as_secs();
    Reason::missing(match e.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            format!("no answer from the peer {name} within {patience} s: is it `latlas echo`?")
        }
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::BrokenPipe => {
            format!(
                "the peer {name} closed the connection: is it `latlas echo`, and below its limit of connections?"
            )
        }
        _ => format!("talking to the peer {name} failed: {e}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{row_work, small_machine};
    use meter::probe::{Event, MachineShape};
    use meter::worker_memory::WorkerMemory;
    use std::net::TcpListener;
    use std::thread;

    /// What the row makes of this peer.
    fn peer_events(peer: Option<&str>) -> Result<Vec<Event>, WorkError> {
        let machine = MachineShape { peer: peer.map(String::from), ..small_machine() };
        let mut worker = WorkerMemory::new(machine, 0, 0, 1);
        let row = "net.round_trip_peer";
        row_work(&[peer_probe()], row, &[], &mut worker).and_then(|mut work| work.stamped(20))
    }

    /// What comes of a peer that does this with the one connection it takes.
    fn with_peer(serve: impl FnOnce(TcpStream) + Send) -> Result<Vec<Event>, WorkError> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback");
        let address = listener.local_addr().expect("bound").to_string();
        thread::scope(|scope| {
            scope.spawn(move || serve(listener.accept().expect("a client").0));
            peer_events(Some(&address))
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
        let events = with_peer(|stream| assert_eq!(echo(stream, |byte| byte), WARM_UP + 20));
        let events = events.expect("an echo answers");
        assert_eq!(events.len(), 20);
        assert!(events.iter().all(|e| e.ops == 1 && e.to_ticks > 0));
    }

    #[test]
    fn what_is_no_echo_has_a_reason() {
        let free = {
            let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback");
            listener.local_addr().expect("bound").to_string()
        };
        let wrong = with_peer(|stream| assert_eq!(echo(stream, |byte| !byte), 1));
        for (visit, reason) in [
            (wrong, "it is not `latlas echo`"),
            (with_peer(drop), "closed the connection"),
            (peer_events(Some(&free)), "refuses connections"),
            (peer_events(Some("no port")), "can't resolve the peer no port: "),
            (peer_events(None), NO_PEER),
        ] {
            let why = visit.expect_err(reason).to_string();
            assert!(why.contains(reason), "{why}");
        }
    }
}

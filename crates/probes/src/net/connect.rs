//! What a TCP connection costs before a byte has gone over it.

use super::loopback::{PATIENCE, accept, listener, reason};
use meter::probe::{Event, Probe, Work};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use sys::clock::Counter;
use sys::evidence::thread_switches;

/// Connections before the first stamp.
const WARM_UP: u32 = 5;

pub(super) fn probe() -> Probe {
    Probe {
        title: "TCP connection to this machine".into(),
        operation: "One connection: a socket made and connected to a listening one on loopback.".into(),
        method: "The calls socket and connect are between the stamps; in connect the kernel carries the three segments of the handshake back and forth on the calling thread's CPU. No thread waits in accept, so waking one is not inside. Accepting and closing come after the stamp, in the same thread. Each connection is aborted (SO_LINGER of 0), so that no port stays in TIME_WAIT.".into(),
        source: "LMbench's lat_connect also counts setting SO_REUSEADDR, closing the socket, and the wake-up of its server, which waits in accept in another process; it leaves a port in TIME_WAIT for each connection.".into(),
        make: Box::new(|_, _| {
            let listener = listener()?;
            let address = listener.local_addr().map_err(reason)?;
            Ok(Box::new(Connect {
                listener,
                address,
                slept_per_connection: None,
            }))
        }),
        ..super::blank("net.tcp_connect", 50, 60_000.0)
    }
}

struct Connect {
    listener: TcpListener,
    address: SocketAddr,
    slept_per_connection: Option<f64>,
}

impl Connect {
    /// Whether there is an answer at all: a connect without a limit would wait
    /// for two minutes where a firewall drops what goes to loopback.
    fn answers(&self) -> Result<(), String> {
        let client = TcpStream::connect_timeout(&self.address, PATIENCE);
        self.end(client).map_err(reason)
    }

    /// Accepts the connection and ends both its ends.
    fn end(&self, client: io::Result<TcpStream>) -> io::Result<()> {
        let client = client?;
        sys::socket::abort_on_close(&client)?;
        let accepted = accept(&self.listener, &client)?;
        // The reset goes first: then the other end has nothing left to say.
        drop(client);
        drop(accepted);
        Ok(())
    }

    /// One connection; its stamps, and how often the thread slept in it.
    fn once(&self, counter: Counter) -> Result<(u64, u64, Option<u64>), String> {
        let before = thread_switches();
        let from = counter.start();
        let client = TcpStream::connect(self.address);
        let to = counter.stop();
        let after = thread_switches();
        self.end(client).map_err(reason)?;
        let slept = before.zip(after).map(|(b, a)| a.voluntary - b.voluntary);
        Ok((from, to, slept))
    }
}

impl Work for Connect {
    fn ops_per_turn(&self) -> f64 {
        1.0
    }
    fn run(&mut self, _turns: u64, _double: bool) {}
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, String> {
        let counter = Counter::best();
        self.answers()?;
        for _ in 1..WARM_UP {
            self.once(counter)?;
        }
        let mut slept_in_all = Some(0);
        let mut events = Vec::with_capacity(operations as usize);
        for _ in 0..operations {
            let (from, to, slept) = self.once(counter)?;
            slept_in_all = slept_in_all.zip(slept).map(|(all, own)| all + own);
            events.push(crate::across::event(from, to, 1, 0));
        }
        self.slept_per_connection =
            slept_in_all.map(|all| all as f64 / f64::from(operations.max(1)));
        Ok(events)
    }
    fn run_delay_ns(&self, _series: usize, own_ns: u64) -> Option<u64> {
        Some(own_ns)
    }
    fn notes(&self) -> Vec<String> {
        self.slept_per_connection
            .map(|slept| format!("sleeps of the thread per connection: {slept:.2}"))
            .into_iter()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meter::bench::Bench;
    use meter::probe::Site;

    #[test]
    fn each_connection_is_made_and_none_is_left() {
        let mut bench = Bench::new(crate::handoff::testing::terrain(), 0, 0, 1);
        let site = Site {
            variant: String::new(),
            at: Vec::new(),
        };
        let mut work = (probe().make)(&mut bench, &site).expect("loopback");
        let events = work.stamped(40).expect("it runs");
        assert!(events.len() == 40 && events.iter().all(|e| e.ops == 1));
        assert!(events.iter().all(|e| e.to_ticks > e.from_ticks));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_loopback_that_does_not_answer_is_a_reason_and_no_hang() {
        let listener = listener().expect("loopback");
        let address = listener.local_addr().expect("bound");
        // With room for one that nobody accepts: the next ones get no answer.
        rustix::net::listen(&listener, 0).expect("it listens already");
        let mut waiting = Vec::new();
        let full = (0..8).any(|_| {
            let short = std::time::Duration::from_millis(100);
            let one = TcpStream::connect_timeout(&address, short);
            let full = one.is_err();
            waiting.push(one);
            full
        });
        assert!(full, "there was room for eight");
        let mut connect = Connect {
            listener,
            address,
            slept_per_connection: None,
        };
        let began = std::time::Instant::now();
        let reason = connect.stamped(3).expect_err("nobody answers");
        assert!(reason.contains("timed out"), "{reason}");
        assert!(began.elapsed() < 10 * PATIENCE);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn no_port_stays_in_time_wait() {
        let listener = listener().expect("loopback");
        let address = listener.local_addr().expect("bound");
        let connect = Connect {
            listener,
            address,
            slept_per_connection: None,
        };
        for _ in 0..10 {
            connect.once(Counter::best()).expect("it connects");
        }
        let port = format!(":{:04X} ", address.port());
        let list = || {
            let table = std::fs::read_to_string("/proc/net/tcp").expect("Linux has it");
            let own = table.lines().filter(|line| line.contains(&port));
            own.map(String::from).collect::<Vec<_>>()
        };
        // State 0A: the listening socket, and it alone.
        let left = list();
        assert!(left.len() == 1 && left[0].contains(" 0A "), "{left:?}");
        drop(connect);
        assert_eq!(list(), Vec::<String>::new());
    }
}

//! What a TCP connection costs before a byte has gone over it.

use super::loopback::{PATIENCE, accept, listener, loopback_refusal};
use crate::engine::reason::Reason;
use crate::engine::single::{Single, Singles};
use meter::probe::{Probe, WorkError};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use sys::evidence::{Switches, thread_switches};

pub(super) fn connect_probe() -> Probe {
    Probe {
        title: "TCP connection to this machine".into(),
        operation: "One connection: a socket made and connected to a listening one on loopback.".into(),
        method: "The calls socket and connect are between the stamps; in connect the kernel carries the three segments of the handshake back and forth on the calling thread's CPU. No thread waits in accept, so waking one is not inside. Accepting and closing come after the stamp, in the same thread. Each connection is aborted (SO_LINGER of 0), so that no port stays in TIME_WAIT.".into(),
        source: "LMbench's lat_connect also counts setting SO_REUSEADDR, closing the socket, and the wake-up of its server, which waits in accept in another process; it leaves a port in TIME_WAIT for each connection.".into(),
        make: Box::new(|_, _| Ok(Box::new(Singles::new(Connect::new()?).warm_up(5)))),
        ..super::blank("net.tcp_connect", 50, 60_000.0)
    }
}

struct Connect {
    listener: TcpListener,
    address: SocketAddr,
    client: Option<io::Result<TcpStream>>,
    answered: bool,
    switches: Option<Switches>,
    /// Sleeps of the thread in connections, and those connections.
    slept: (u64, u64),
}

impl Connect {
    fn new() -> Result<Connect, Reason> {
        let listener = listener()?;
        let address = listener.local_addr().map_err(loopback_refusal)?;
        Ok(Connect {
            listener,
            address,
            client: None,
            answered: false,
            switches: None,
            slept: (0, 0),
        })
    }

    /// Accepts the connection and ends both its ends.
    fn close_both(&self, client: io::Result<TcpStream>) -> io::Result<()> {
        let client = client?;
        sys::socket::abort_on_close(&client)?;
        let accepted = accept(&self.listener, &client)?;
        // The reset goes first: then the other end has nothing left to say.
        drop(client);
        drop(accepted);
        Ok(())
    }
}

impl Single for Connect {
    fn begin_visit(&mut self) {
        self.answered = false;
        self.slept = (0, 0);
    }
    /// Before the first connection of a visit: whether there is an answer at
    /// all. A connect without a limit would wait for two minutes where a
    /// firewall drops what goes to loopback.
    fn ready(&mut self) -> Result<(), WorkError> {
        if !self.answered {
            let client = TcpStream::connect_timeout(&self.address, PATIENCE);
            self.close_both(client).map_err(loopback_refusal)?;
            self.answered = true;
        }
        self.switches = thread_switches();
        Ok(())
    }
    fn perform(&mut self) -> Result<(), WorkError> {
        self.client = Some(TcpStream::connect(self.address));
        Ok(())
    }
    fn finish(&mut self) -> Result<(), WorkError> {
        if let Some((before, after)) = self.switches.zip(thread_switches()) {
            self.slept.0 += after.voluntary.saturating_sub(before.voluntary);
            self.slept.1 += 1;
        }
        match self.client.take() {
            Some(client) => Ok(self.close_both(client).map_err(loopback_refusal)?),
            None => Ok(()),
        }
    }
    fn notes(&self) -> Vec<String> {
        let (sleeps, connections) = self.slept;
        let each = sleeps as f64 / connections as f64;
        let note =
            (connections > 0).then(|| format!("sleeps of the thread per connection: {each:.2}"));
        note.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meter::probe::Work;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_loopback_that_does_not_answer_is_a_reason_and_no_hang() {
        let connect = Connect::new().expect("loopback");
        let address = connect.address;
        // With room for one that is never accepted: the next ones get no answer.
        rustix::net::listen(&connect.listener, 0).expect("it listens already");
        let mut waiting = Vec::new();
        let full = (0..8).any(|_| {
            let short = std::time::Duration::from_secs(3);
            let one = TcpStream::connect_timeout(&address, short);
            let full = one.is_err();
            waiting.push(one);
            full
        });
        assert!(full, "there was room for eight");
        let began = std::time::Instant::now();
        let reason = Singles::new(connect).stamped(3).expect_err("no answer");
        assert!(reason.to_string().contains("timed out"), "{reason}");
        // The kernel's own limit is above two minutes.
        assert!(began.elapsed() < 30 * PATIENCE);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn each_connection_is_made_and_no_port_stays_in_time_wait() {
        let connect = Connect::new().expect("loopback");
        let port = format!(":{:04X} ", connect.address.port());
        let mut singles = Singles::new(connect);
        let events = singles.stamped(10).expect("it connects");
        assert!(events.len() == 10 && events.iter().all(|e| e.to_ticks >= e.from_ticks));
        let list = || {
            let table = std::fs::read_to_string("/proc/net/tcp").expect("Linux has it");
            let own = table.lines().filter(|line| line.contains(&port));
            own.map(String::from).collect::<Vec<_>>()
        };
        // State 0A: the listening socket, and it alone.
        let left = list();
        assert!(left.len() == 1 && left[0].contains(" 0A "), "{left:?}");
        drop(singles);
        assert_eq!(list(), Vec::<String>::new());
    }
}

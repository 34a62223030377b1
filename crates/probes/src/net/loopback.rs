//! Connections of this machine with itself.

use crate::engine::reason::Reason;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// Loopback answers at once or never.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// A listening socket on loopback, at a free port.
pub(crate) fn listener() -> Result<TcpListener, Reason> {
    let listener = TcpListener::bind(&anywhere()[..]).map_err(loopback_refusal)?;
    // An accept that waits for a client that never comes would hang.
    listener.set_nonblocking(true).map_err(loopback_refusal)?;
    Ok(listener)
}

/// Both ends of a TCP connection: what is written is sent at once
/// (TCP_NODELAY), and closing leaves nothing behind.
pub(crate) fn tcp_pair() -> Result<[TcpStream; 2], Reason> {
    let listener = listener()?;
    let address = listener.local_addr().map_err(loopback_refusal)?;
    let first = TcpStream::connect_timeout(&address, PATIENCE).map_err(loopback_refusal)?;
    let second = accept(&listener, &first).map_err(loopback_refusal)?;
    for end in [&first, &second] {
        end.set_nodelay(true).map_err(loopback_refusal)?;
        sys::socket::abort_on_close(end).map_err(loopback_refusal)?;
    }
    Ok([first, second])
}

/// The listener's end of a client's connection; another's is closed.
pub(crate) fn accept(listener: &TcpListener, client: &TcpStream) -> io::Result<TcpStream> {
    let wanted = client.local_addr()?;
    let begin = Instant::now();
    loop {
        match listener.accept() {
            Ok((stream, from)) if from == wanted => {
                // Some systems hand the listener's setting down.
                stream.set_nonblocking(false)?;
                return Ok(stream);
            }
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock && begin.elapsed() < PATIENCE => {
                std::thread::yield_now();
            }
            Err(e) => return Err(e),
        }
    }
}

/// Two UDP sockets that are connected with each other.
pub(crate) fn udp_pair() -> Result<[UdpSocket; 2], Reason> {
    let one = || UdpSocket::bind(&anywhere()[..]).map_err(loopback_refusal);
    let ends = [one()?, one()?];
    for (end, other) in [(&ends[0], &ends[1]), (&ends[1], &ends[0])] {
        end.connect(other.local_addr().map_err(loopback_refusal)?).map_err(loopback_refusal)?;
    }
    Ok(ends)
}

/// A free port of the loopback address, of whichever kind there is.
fn anywhere() -> [SocketAddr; 2] {
    [(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 0).into()]
}

/// What a reader can do about it.
pub(crate) fn loopback_refusal(e: io::Error) -> Reason {
    Reason::missing(format!(
        "the loopback network can't be used: {e} (is it up, and may this process use it? `ip link set lo up`)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn the_ends_of_a_pair_are_each_others() {
        let [mut first, mut second] = tcp_pair().expect("loopback");
        assert!(first.nodelay().expect("readable") && second.nodelay().expect("readable"));
        first.write_all(b"to").expect("room");
        let mut got = [0; 2];
        second.read_exact(&mut got).expect("it blocks until then");
        assert_eq!(&got, b"to");
        let [first, second] = udp_pair().expect("loopback");
        second.send(b"and fro").expect("room");
        let mut got = [0; 20];
        let length = first.recv(&mut got).expect("a datagram");
        assert_eq!(&got[..length], b"and fro");
    }

    #[test]
    fn a_stranger_is_not_taken_for_the_client() {
        let listener = listener().expect("loopback");
        let address = listener.local_addr().expect("bound");
        let stranger = TcpStream::connect(address).expect("it listens");
        let client = TcpStream::connect(address).expect("it listens");
        let accepted = accept(&listener, &client).expect("the second in the queue");
        let from = accepted.peer_addr().expect("connected");
        assert_eq!(from, client.local_addr().expect("bound"));
        drop(stranger);
    }
}

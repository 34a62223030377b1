//! What the standard library can't say about a socket.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// Makes closing a TCP connection abort it (SO_LINGER of 0): a reset is sent,
/// unsent data is dropped, and neither end keeps its port for the minute that
/// TIME_WAIT lasts.
pub fn abort_on_close(socket: impl AsFd) -> io::Result<()> {
    Ok(rustix::net::sockopt::set_socket_linger(socket, Some(Duration::ZERO))?)
}

//! The echo server of `latlas run --peer`. Connections, buffers and idle time are limited, so
//! that clients can't exhaust the machine.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Pause after accept(2) failed for lack of file descriptors or memory, instead of spinning.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Maximum number of connections; further ones are closed.
    pub(crate) connections: usize,
    /// Buffer size of a connection.
    pub(crate) message_bytes: usize,
    /// Connections without traffic for this time are closed.
    pub(crate) idle: Duration,
}

pub(crate) struct Server {
    listener: TcpListener,
    bounds: Bounds,
    open: Arc<AtomicUsize>,
}

impl Server {
    /// Listens on one of the addresses (a name may have several).
    pub(crate) fn bind(addresses: &[SocketAddr], bounds: Bounds) -> io::Result<Server> {
        Ok(Server { listener: TcpListener::bind(addresses)?, bounds, open: Arc::default() })
    }

    /// Its address, with the port chosen for port 0.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the process ends. `complain` gets errors of this side, a line each.
    pub(crate) fn serve(&self, complain: impl Fn(&str)) -> ! {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    if let Err(e) = self.take(stream) {
                        complain(&format!("rejected a connection: {e}"));
                    }
                }
                // The client gave up before accept(2).
                Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    complain(&format!("can't accept connections: {e}"));
                    std::thread::sleep(ACCEPT_PAUSE);
                }
            }
        }
    }

    /// Serves a connection in a new thread; if there are too many, closes it.
    fn take(&self, stream: TcpStream) -> io::Result<()> {
        let slot = Slot::take(&self.open, self.bounds.connections);
        let Some(slot) = slot else {
            return Ok(());
        };
        let bounds = self.bounds;
        let thread = std::thread::Builder::new().name("echo".into()).stack_size(128 << 10);
        sys::thread::spawn(thread, move || {
            let _slot = slot;
            // Errors of a connection concern only the client.
            let _ = echo(&stream, bounds);
            let _ = stream.shutdown(Shutdown::Both);
        })
        .map(drop)
    }
}

/// A counted connection.
struct Slot(Arc<AtomicUsize>);

impl Slot {
    fn take(open: &Arc<AtomicUsize>, limit: usize) -> Option<Slot> {
        let one_more = |n: usize| (n < limit).then_some(n + 1);
        open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
            .ok()
            .map(|_| Slot(Arc::clone(open)))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sends data back until the client closes, fails or idles.
fn echo(mut stream: &TcpStream, bounds: Bounds) -> io::Result<()> {
    // An answer must not wait for more data.
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(bounds.idle))?;
    stream.set_write_timeout(Some(bounds.idle))?;
    let mut buffer = vec![0; bounds.message_bytes];
    loop {
        let length = match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => length,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        stream.write_all(&buffer[..length])?;
    }
}

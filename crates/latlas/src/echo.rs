//! The other end of the rows between two machines: a server that sends every
//! byte back. It holds nothing between two reads, and everything a stranger
//! could make it spend is bounded: connections, bytes held, idle time.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Pause after an accept that failed for want of something of ours (file
/// descriptors, memory): trying again at once would burn a CPU.
const BREATH: Duration = Duration::from_millis(100);

/// What a server may spend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Connections at once; a further one is closed unanswered.
    pub(crate) connections: usize,
    /// Bytes of one connection that are held before they are sent back.
    pub(crate) message_bytes: usize,
    /// A connection that neither sends nor takes anything for so long is
    /// closed.
    pub(crate) idle: Duration,
}

/// A server that listens.
pub(crate) struct Server {
    listener: TcpListener,
    bounds: Bounds,
    open: Arc<AtomicUsize>,
}

impl Server {
    /// Listens on one of the addresses (a name may have several).
    pub(crate) fn bind(addresses: &[SocketAddr], bounds: Bounds) -> io::Result<Server> {
        Ok(Server {
            listener: TcpListener::bind(addresses)?,
            bounds,
            open: Arc::default(),
        })
    }

    /// Where it listens, with the port that the system chose for port 0.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the process is ended. `complain` hears of what went wrong
    /// on our side, one line each.
    pub(crate) fn serve(&self, complain: impl Fn(&str)) -> ! {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    if let Err(e) = self.take(stream) {
                        complain(&format!("a connection was turned away: {e}"));
                    }
                }
                // The other end gave up before we looked.
                Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    complain(&format!("no connection can be accepted: {e}"));
                    std::thread::sleep(BREATH);
                }
            }
        }
    }

    /// Serves a connection in a thread of its own, unless there are too many:
    /// then the stream is dropped, which closes it.
    fn take(&self, stream: TcpStream) -> io::Result<()> {
        let place = Place::take(&self.open, self.bounds.connections);
        let Some(place) = place else {
            return Ok(());
        };
        let bounds = self.bounds;
        std::thread::Builder::new()
            .name("echo".into())
            .stack_size(128 << 10)
            .spawn(move || {
                let _place = place;
                // How a connection ends is the other end's affair.
                let _ = echo(&stream, bounds);
                let _ = stream.shutdown(Shutdown::Both);
            })?;
        Ok(())
    }
}

/// One of the places for connections; free again when dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(open: &Arc<AtomicUsize>, places: usize) -> Option<Place> {
        let one_more = |n: usize| (n < places).then_some(n + 1);
        open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
            .ok()
            .map(|_| Place(Arc::clone(open)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sends back what comes until the other end closes, errs or idles.
fn echo(mut stream: &TcpStream, bounds: Bounds) -> io::Result<()> {
    // An answer of one byte must not wait for a second one.
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(bounds.idle))?;
    stream.set_write_timeout(Some(bounds.idle))?;
    let mut held = vec![0; bounds.message_bytes];
    loop {
        let length = match stream.read(&mut held) {
            Ok(0) => return Ok(()),
            Ok(length) => length,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        stream.write_all(&held[..length])?;
    }
}

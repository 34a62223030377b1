//! The parent's end of a connection.

use super::frame;
use serde::de::DeserializeOwned;
use std::io::{self, BufReader, Read};
use std::mem::replace;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the parent looks whether a silent child has ended or is not wanted any more: seldom
/// enough that rows on several CPUs don't see it.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A child takes no message for so long if it is stopped.
pub(super) const SENDING: Duration = Duration::from_secs(60);

/// The parent's end of a connection.
#[derive(Debug)]
pub struct Connection {
    pub(super) from: BufReader<UnixStream>,
    pub(super) to: UnixStream,
}

impl Connection {
    /// That of a command, which holds the child's end until it is dropped.
    pub(super) fn for_command(command: &mut Command) -> io::Result<Connection> {
        let (connection, theirs) = Connection::pair()?;
        command.stdin(Stdio::from(theirs));
        Ok(connection)
    }

    /// Both ends.
    pub(super) fn pair() -> io::Result<(Connection, OwnedFd)> {
        let (to, theirs) = UnixStream::pair()?;
        to.set_read_timeout(Some(LOOK_EVERY))?;
        to.set_write_timeout(Some(SENDING))?;
        Ok((Connection { from: BufReader::new(to.try_clone()?), to }, theirs.into()))
    }

    /// The next message of a child that another waits for, and sets the flag when it has ended.
    ///
    /// # Errors
    /// A message of another type, or half of one.
    pub fn receive_until<T: DeserializeOwned>(
        &mut self,
        ended: &AtomicBool,
    ) -> io::Result<Option<T>> {
        frame::receive(&mut self.reading(|| Ok(ended.load(Ordering::Acquire))))
    }

    /// Reads, and looks whenever nothing came for a while: whether the child has ended, or why it is
    /// not waited for any longer.
    pub(super) fn reading<'a>(
        &'a mut self,
        mut has_ended: impl FnMut() -> io::Result<bool> + 'a,
    ) -> impl Read + 'a {
        let mut had_ended = false;
        ReplyReader(&mut self.from, move || Ok(replace(&mut had_ended, has_ended()?)))
    }
}

/// What the child sent before it ended is there at the look after that. A process that it left may
/// hold the connection, but is not waited for.
struct ReplyReader<'a, L>(&'a mut BufReader<UnixStream>, L);

impl<L: FnMut() -> io::Result<bool>> Read for ReplyReader<'_, L> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if is_timeout(&error) => {
                    if self.1()? {
                        return Ok(0);
                    }
                }
                read => return read,
            }
        }
    }
}

pub(super) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

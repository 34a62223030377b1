//! The two ends of a connection, one byte at a time.

use super::TOKEN;
use crate::handoff::pair::{Means, Side};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

/// Ends of a connected stream, by side.
pub(crate) struct Streams<S>(pub(crate) [S; 2]);

impl Streams<UnixStream> {
    pub(crate) fn unix() -> Result<Streams<UnixStream>, String> {
        UnixStream::pair()
            .map(|(first, second)| Streams([first, second]))
            .map_err(|e| format!("no pair of unix sockets could be made: {e}"))
    }
}

impl<S: Sync> Means for Streams<S>
where
    for<'s> &'s S: Read + Write,
{
    fn give(&self, from: Side) -> io::Result<()> {
        (&self.0[from.place()]).write_all(&TOKEN)
    }
    fn take(&self, at: Side) -> io::Result<()> {
        (&self.0[at.place()]).read_exact(&mut [0])
    }
}

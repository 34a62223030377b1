//! The child's side of the connection.

use super::frame;
use serde::{Serialize, de::DeserializeOwned};
use std::io::{self, BufReader, BufWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

/// The connection to the process that started this one.
#[derive(Debug)]
pub struct Parent {
    from: BufReader<UnixStream>,
    to: BufWriter<UnixStream>,
}

impl Parent {
    /// The connection at standard input, which is empty from then on: what this process starts must
    /// not hold the connection.
    ///
    /// # Errors
    /// Standard input that can't be replaced.
    pub fn connect() -> io::Result<Parent> {
        let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        crate::process::stdin_from_null()?;
        Ok(Parent { from: BufReader::new(socket.try_clone()?), to: BufWriter::new(socket) })
    }

    /// Its next message; `None` if it closed the connection or ended.
    ///
    /// # Errors
    /// A message of another type, or half of one.
    pub fn receive<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        frame::receive(&mut self.from)
    }

    /// Sends it a message.
    ///
    /// # Errors
    /// It has ended.
    pub fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        frame::send(&mut self.to, message)
    }

    /// For what is no message; to be flushed.
    pub fn writer(&mut self) -> &mut impl Write {
        &mut self.to
    }
}

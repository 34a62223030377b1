//! Not made for Apple systems: they lack the promise that a command ends with
//! its parent, and pinning.

use std::io;

use crate::command::{Command, Finished, Limits, NotStarted, Streams};
use crate::counters::Counters;

/// The group that commands run in.
#[derive(Debug)]
pub struct Group(());

pub(crate) fn tick_ns() -> Option<u64> {
    None
}

fn unsupported() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "commands under control are not made for Apple systems yet",
    )
}

impl Group {
    /// A new group.
    ///
    /// # Errors
    /// `Unsupported`.
    pub fn start() -> io::Result<Group> {
        Err(unsupported())
    }

    /// CPU time that the last command left running has used since.
    ///
    /// # Errors
    /// `Unsupported`.
    pub fn left_over_ns(&self, _counters: &mut Counters) -> io::Result<u64> {
        Err(unsupported())
    }

    /// Processes of the group.
    ///
    /// # Errors
    /// `Unsupported`.
    pub fn members(&self) -> io::Result<Vec<u32>> {
        Err(unsupported())
    }

    /// Runs a command.
    ///
    /// # Errors
    /// `Unsupported`.
    pub fn run(
        &mut self,
        _command: &Command,
        _streams: Streams,
        _counters: &mut Counters,
        _limits: Limits,
    ) -> Result<Finished, NotStarted> {
        Err(NotStarted::new("run the command", unsupported()))
    }
}

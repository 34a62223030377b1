//! Commands under control do not run on Apple systems, which can't end a command
//! with its parent or pin it.

use std::io;

use crate::command::{Action, Command, Finished, NotStarted, Streams, WaitLimits};
use crate::counters::Counters;
use crate::platform::unsupported;

const COMMANDS: &str = "commands under control (no death signal, no pinning)";

#[derive(Debug)]
pub struct ProcessGroup(());

pub fn tick_ns() -> Option<u64> {
    None
}

impl ProcessGroup {
    pub fn new_group() -> io::Result<ProcessGroup> {
        Err(unsupported(COMMANDS))
    }

    pub fn left_over_ns(&mut self, _counters: &mut Counters) -> io::Result<u64> {
        Err(unsupported(COMMANDS))
    }

    pub fn members(&self) -> io::Result<Vec<u32>> {
        Err(unsupported(COMMANDS))
    }

    pub fn run_command(
        &mut self,
        _command: &Command,
        _streams: Streams,
        _counters: &mut Counters,
        _limits: WaitLimits,
    ) -> Result<Finished, NotStarted> {
        Err(Action::Clone.failed(unsupported(COMMANDS)))
    }
}

//! What else is run for a command: around its runs, and to check what it wrote.

use super::streams::{last_lines, stream, temporary};
use super::{CommandRunner, JudgeResult, Which};
use crate::commands::arm::Hook;
use crate::commands::error::{CommandError, Said};
use crate::commands::repeat::Done;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::fd::AsFd;
use std::sync::Arc;
use sys::command::{End, Streams};

impl CommandRunner {
    /// Runs what is run once before or after all runs of the commands.
    ///
    /// # Errors
    /// That it failed.
    pub fn run_around(&mut self, hook: Hook) -> JudgeResult {
        for command in 0..self.ready.len() {
            if self.run_hook(command, hook)? == Done::Interrupted {
                return Ok(Done::Interrupted);
            }
        }
        Ok(Done::Ended(()))
    }

    pub(super) fn run_hook(&mut self, command: usize, hook: Hook) -> JudgeResult {
        let Some(own) = self.ready[command].hooks[hook as usize].take() else {
            return Ok(Done::Ended(()));
        };
        let null = Arc::clone(&self.null);
        let said = tempfile::tempfile().map_err(stream("make", &temporary()))?;
        let streams = Streams { input: null.as_fd(), output: null.as_fd(), error: said.as_fd() };
        let finished = self.run_once(Which::Check(&own), streams);
        let text = own.text.clone();
        self.ready[command].hooks[hook as usize] = Some(own);
        match finished?.end {
            End::Interrupted => Ok(Done::Interrupted),
            End::Code(0) => Ok(Done::Ended(())),
            how => Err(CommandError::HookFailed {
                option: hook.option(),
                hook: text,
                how,
                said: last_lines(said).unwrap_or(Said::Nothing),
            }),
        }
    }

    /// Gives the warm-up's output to the check.
    pub(super) fn check_output(
        &mut self,
        command: usize,
        mut output: File,
    ) -> Result<Done<()>, CommandError> {
        let Some(check) = self.check.take() else {
            return Ok(Done::Ended(()));
        };
        output.seek(SeekFrom::Start(0)).map_err(stream("read", &temporary()))?;
        let said = tempfile::tempfile().map_err(stream("make", &temporary()))?;
        let finished = self.run_once(
            Which::Check(&check),
            Streams { input: output.as_fd(), output: said.as_fd(), error: said.as_fd() },
        );
        let how = match finished?.end {
            End::Interrupted => return Ok(Done::Interrupted),
            End::Code(0) => None,
            end => Some(end),
        };
        let text = check.text.clone();
        self.check = Some(check);
        match how {
            None => Ok(Done::Ended(())),
            Some(how) => Err(CommandError::CheckFailed {
                check: text,
                how,
                command: self.ready[command].text.clone(),
                said: last_lines(said).unwrap_or(Said::Nothing),
            }),
        }
    }
}

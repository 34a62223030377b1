//! One run of a command, untimed or timed, and what its end means.

use super::streams::{last_lines, null, stream, temporary};
use super::{CommandRunner, JudgeResult, Which};
use crate::commands::arm::{Cold, Failures, Hook, Output, WarmUp};
use crate::commands::error::{CommandError, Said};
use crate::commands::repeat::{Done, Runner, Timed};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use sys::command::{End, Finished, Streams, Usage, WaitLimits};
use sys::page_cache::{drop_all, drop_file};

impl Runner for CommandRunner {
    type Error = CommandError;

    fn warm_up(&mut self, command: usize) -> JudgeResult {
        if self.run_hook(command, Hook::Prepare)? == Done::Interrupted {
            return Ok(Done::Interrupted);
        }
        let mut input = self.settings.input.open()?;
        let said = tempfile::tempfile().map_err(stream("make", &temporary()))?;
        let output = match self.check {
            Some(_) => tempfile::tempfile().map_err(stream("make", &temporary()))?,
            None => null()?,
        };
        let streams = Streams { input: input.as_fd(), output: output.as_fd(), error: said.as_fd() };
        self.resumed.store(false, Ordering::Relaxed);
        let at_ms = self.elapsed_ms();
        let Finished { end, usage, .. } = self.run_once(Which::Command(command), streams)?;
        let is_alike = self.check.is_none()
            && self.settings.output == Output::Null
            && self.ready[command].arm.cold == Cold::No
            && said.metadata().is_ok_and(|said| said.len() == 0)
            && !self.resumed.load(Ordering::Relaxed);
        let judged = self.judge_end(command, end, "its warm-up".into(), Some(said))?;
        if judged == Done::Interrupted || self.check_output(command, output)? == Done::Interrupted {
            return Ok(Done::Interrupted);
        }
        let has_read = input.stream_position().map_or(true, |position| position > 0);
        let timed = Timed { at_ms, usage };
        self.ready[command].warm_up = Some(WarmUp { timed, end, has_read, is_alike });
        self.run_hook(command, Hook::Conclude)
    }

    fn timed(&mut self, command: usize) -> Result<Done<Usage>, CommandError> {
        loop {
            self.resumed.store(false, Ordering::Relaxed);
            if self.run_hook(command, Hook::Prepare)? == Done::Interrupted {
                return Ok(Done::Interrupted);
            }
            let Done::Ended((usage, end)) = self.timed_once(command)? else {
                return Ok(Done::Interrupted);
            };
            if self.run_hook(command, Hook::Conclude)? == Done::Interrupted {
                return Ok(Done::Interrupted);
            }
            if self.resumed.load(Ordering::Relaxed) {
                self.discarded += 1;
                continue;
            }
            self.ready[command].ended(end, &self.settings.failures);
            return Ok(Done::Ended(usage));
        }
    }

    fn elapsed_ms(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }
}

impl CommandRunner {
    pub(super) fn run_once(
        &mut self,
        which: Which,
        streams: Streams,
    ) -> Result<Finished, CommandError> {
        let ready = match which {
            Which::Command(k) => &self.ready[k],
            Which::Check(check) => check,
        };
        let limits =
            WaitLimits { time: self.settings.timeout, wake: self.wake.as_ref().map(AsFd::as_fd) };
        let left_ns =
            self.group.left_over_ns(&mut self.counters).map_err(CommandError::LeftOver)?;
        if self.left.wants_a_look(left_ns) {
            let members = self.group.members().map_err(CommandError::LeftOver)?;
            self.left.between(left_ns, &members);
        }
        let finished = self
            .group
            .run_command(&ready.command, streams, &mut self.counters, limits)
            .map_err(|error| CommandError::NotStarted { command: ready.text.clone(), error })?;
        if let Which::Command(k) = which {
            self.left.ran(k, finished.process);
        }
        Ok(finished)
    }

    fn chill(&mut self, command: usize) -> Result<(), CommandError> {
        match &self.ready[command].arm.cold {
            Cold::No => {}
            Cold::All => drop_all().map_err(CommandError::Cold)?,
            Cold::Files(files) => {
                let mut stayed = 0;
                for path in files {
                    let left = drop_file(path).map_err(|error| CommandError::ColdFile {
                        path: path.display().to_string(),
                        error,
                    })?;
                    match left {
                        Some(left) => stayed += left.pages,
                        None if self.unverified.contains(path) => {}
                        None => self.unverified.push(path.clone()),
                    }
                }
                let ready = &mut self.ready[command];
                ready.stayed_pages = ready.stayed_pages.max(stayed);
            }
        }
        Ok(())
    }

    /// What a command's end means. `said` is its standard error, where it was kept.
    fn judge_end(&mut self, k: usize, end: End, which: String, said: Option<File>) -> JudgeResult {
        let failures = &self.settings.failures;
        let is_timed = match end {
            End::Interrupted => return Ok(Done::Interrupted),
            End::Code(_) | End::Signal(_) => *failures == Failures::Timed,
            End::TimedOut | End::Stopped(_) => false,
        };
        if is_timed || failures.is_success(end) {
            return Ok(Done::Ended(()));
        }
        let command = self.ready[k].text.clone();
        let said = match (said, &self.settings.output) {
            (Some(said), _) => last_lines(said).unwrap_or(Said::NotKept),
            (None, Output::Show) => Said::Nothing,
            (None, _) => Said::NotKept,
        };
        Err(match end {
            End::TimedOut => CommandError::TimedOut {
                command,
                which,
                limit: self.settings.timeout.unwrap_or_default(),
                said,
            },
            End::Stopped(signal) => CommandError::Stopped { command, signal, which, said },
            how => CommandError::Failed { command, how, which, said },
        })
    }

    /// One run, and how it ended.
    fn timed_once(&mut self, command: usize) -> Result<Done<(Usage, End)>, CommandError> {
        self.chill(command)?;
        let null = Arc::clone(&self.null);
        let mut input = match self.settings.input.is_named() {
            true => Some(self.settings.input.open()?),
            false => None,
        };
        let output = self.output_file()?.map(|(file, _)| file);
        let unheard = stream("read", Path::new("a pipe"));
        let pipe = (self.settings.output == Output::Heard).then(io::pipe);
        let pipe = pipe.transpose().map_err(&unheard)?;
        let stderr = io::stderr();
        let error: BorrowedFd = match self.settings.output {
            Output::Show => stderr.as_fd(),
            _ => null.as_fd(),
        };
        let streams = Streams {
            input: input.as_ref().map_or(null.as_fd(), File::as_fd),
            output: match (&pipe, &output) {
                (Some((_, to)), _) => to.as_fd(),
                (None, Some(output)) => output.as_fd(),
                (None, None) => error,
            },
            error,
        };
        let finished = self.run_once(Which::Command(command), streams)?;
        self.settings.input.check_unchanged()?;
        if let Some((mut from, to)) = pipe {
            drop(to);
            self.heard.clear();
            from.read_to_end(&mut self.heard).map_err(unheard)?;
        }
        let ready = &mut self.ready[command];
        // Of what is not a file nothing is known.
        if let Some(input) = &mut input {
            ready.has_read |= input.stream_position().map_or(true, |position| position > 0);
        }
        if let (Output::File(_), Some(output)) = (&self.settings.output, &output) {
            let length = output.metadata().map_or(0, |file| file.len());
            let [least, most] = ready.output_bytes.unwrap_or([length; 2]);
            ready.output_bytes = Some([least.min(length), most.max(length)]);
        }
        let which = format!("run {}", ready.timed + 1);
        Ok(match self.judge_end(command, finished.end, which, None)? {
            Done::Ended(()) => Done::Ended((finished.usage, finished.end)),
            Done::Interrupted => Done::Interrupted,
        })
    }
}

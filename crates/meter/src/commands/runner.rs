//! The real runner: commands in a process group of their own. `timing.rs` runs one and judges its end,
//! `hooks.rs` runs what is run around it, `streams.rs` has their files.

mod hooks;
mod streams;
mod timing;

use super::arm::{Arm, Cold, CommandSettings, Output, Ready, laid_out};
use super::error::CommandError;
use super::left::{Left, LeftOver};
use super::repeat::{Done, Timed};
use model::command::Command;
use model::setting::Setting;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use streams::{null, stream};
use sys::command::ProcessGroup;
use sys::counters::{Counted, CounterEvent, Counters};
use sys::page_cache::drop_all;

/// Runs commands for real.
#[derive(Debug)]
pub struct CommandRunner {
    ready: Vec<Ready>,
    check: Option<Ready>,
    settings: CommandSettings,
    group: ProcessGroup,
    counters: Counters,
    wake: Option<OwnedFd>,
    resumed: Arc<AtomicBool>,
    discarded: u32,
    left: LeftOver,
    began: Instant,
    unverified: Vec<PathBuf>,
    heard: Vec<u8>,
    /// /dev/null, to read and to write.
    null: Arc<File>,
    /// The pipe or device of the output, open for all runs: its reader sees one end.
    stream: Option<(File, bool)>,
}

impl CommandRunner {
    /// Lays the commands out.
    /// `wake` becomes readable when no more is wanted; `resumed` becomes true
    /// when this process goes on after it was stopped.
    ///
    /// # Errors
    /// What is wrong with a command or the settings, before anything runs.
    pub fn new(
        arms: Vec<Arm>,
        settings: CommandSettings,
        wake: Option<OwnedFd>,
        resumed: Arc<AtomicBool>,
    ) -> Result<CommandRunner, CommandError> {
        let drops = arms.iter().any(|arm| arm.cold == Cold::All);
        let ready: Result<Vec<Ready>, CommandError> = arms.into_iter().map(Ready::new).collect();
        let check = settings.check.clone().map(|words| Ready::new(Arm { words, ..Arm::default() }));
        let mut runner = CommandRunner {
            ready: ready?,
            check: check.transpose()?,
            group: ProcessGroup::new_group().map_err(CommandError::NoGroup)?,
            counters: Counters::open(),
            wake,
            resumed,
            discarded: 0,
            left: LeftOver::default(),
            began: Instant::now(),
            unverified: Vec::new(),
            heard: Vec::new(),
            null: Arc::new(null()?),
            stream: None,
            settings,
        };
        runner.settings.input.open()?;
        runner.stream = runner.output_file()?.filter(|(_, is_file)| !is_file);
        if drops {
            // Whether that may be done is known before anything runs.
            drop_all().map_err(CommandError::Cold)?;
        }
        Ok(runner)
    }

    /// How each event is counted here.
    pub fn counted(&self) -> &[(CounterEvent, Counted)] {
        self.counters.counted()
    }

    /// Sets other controls for the runs of a command to come.
    ///
    /// # Errors
    /// Those of [`CommandRunner::new`].
    pub fn set_controls(
        &mut self,
        command: usize,
        controls: Vec<Setting>,
    ) -> Result<(), CommandError> {
        let ready = &mut self.ready[command];
        ready.arm.controls = controls;
        ready.command = laid_out(&ready.arm)?;
        Ok(())
    }

    /// How long the last warm-up of a command ran; `None` where there was none.
    pub fn warm_up_took(&self, command: usize) -> Option<Duration> {
        let warm_up = self.ready[command].warm_up.as_ref()?;
        Some(Duration::from_nanos(warm_up.timed.usage.wall_ns))
    }

    /// Makes the last warm-up of a command its first timed run, if it took at least so long and ran as the timed
    /// ones do.
    ///
    /// # Errors
    /// The input has changed.
    pub fn count_warm_up(
        &mut self,
        command: usize,
        least: Duration,
    ) -> Result<Option<Timed>, CommandError> {
        let is_long = self.warm_up_took(command).is_some_and(|took| took >= least);
        let ready = &mut self.ready[command];
        let Some(warm_up) = ready.warm_up.filter(|warm_up| warm_up.is_alike && is_long) else {
            return Ok(None);
        };
        ready.has_read |= warm_up.has_read;
        ready.ended(warm_up.end, &self.settings.failures);
        self.settings.input.check_unchanged()?;
        Ok(Some(warm_up.timed))
    }

    /// What the last timed run wrote, with [`Output::Heard`].
    pub fn heard(&self) -> &[u8] {
        &self.heard
    }

    /// A command, by its place, with what its timed runs did.
    pub fn command_record(&self, command: usize, named: Command) -> Command {
        let ready = &self.ready[command];
        Command {
            failures: ready.failures,
            ends: ready.ended_runs(),
            replaced: ready.is_replaced(),
            input_unread: self.settings.input.is_named() && !ready.has_read,
            stayed_pages: ready.stayed_pages,
            output_bytes: ready.output_bytes,
            ..named
        }
    }

    /// Pages that stayed in memory though their files were dropped, in the
    /// worst run.
    pub fn stayed_pages(&self) -> u64 {
        let each = self.ready.iter().map(|ready| ready.stayed_pages);
        each.max().unwrap_or(0)
    }

    /// Files that were dropped, of which the system does not tell what stayed.
    pub fn unverified(&self) -> &[PathBuf] {
        &self.unverified
    }

    /// Timed runs that were made again: this process had been stopped while
    /// they ran, and saw their end late.
    pub fn discarded(&self) -> u32 {
        self.discarded
    }

    /// Ends whatever commands left running; tells what each of them had.
    ///
    /// # Errors
    /// When `/proc` can't be read.
    pub fn end_commands(self) -> Result<Vec<Left>, CommandError> {
        let members = self.group.members().map_err(CommandError::LeftOver)?;
        Ok(self.left.at_end(self.ready.len(), &members))
    }

    /// The file of the standard output, and whether it is a regular one; `None` where it goes elsewhere.
    fn output_file(&self) -> Result<Option<(File, bool)>, CommandError> {
        Ok(match (&self.settings.output, &self.stream) {
            (Output::File(path), Some((stream, _))) => {
                let again = stream.try_clone().map_err(self::stream("write", path))?;
                Some((again, false))
            }
            (Output::File(path), None) => {
                Some(sys::place::create(path).map_err(stream("write", path))?)
            }
            (Output::Null | Output::Heard | Output::Show, _) => None,
        })
    }
}

type JudgeResult = Result<Done<()>, CommandError>;

enum Which<'a> {
    Command(usize),
    Check(&'a Ready),
}

//! Commands with what is set for them, laid out to be run.

use super::error::{CommandError, end_name};
use super::input::Input;
use super::repeat::Timed;
use model::command::EndedRuns;
use model::setting::Setting;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;
use sys::command::{Command, End, find_program};

/// Where the commands' output goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// To /dev/null.
    #[default]
    Null,
    /// To this process's standard error.
    Show,
    /// Standard output to this file, emptied before each run.
    File(PathBuf),
    /// Standard output to [`CommandRunner::heard`]: at most what a pipe holds.
    Heard,
}

/// What is done to the page cache before each timed run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cold {
    /// Nothing.
    #[default]
    No,
    /// All of it is dropped.
    All,
    /// What it holds of these files is dropped.
    Files(Vec<PathBuf>),
}

/// When something else is run for a command, untimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// Once before all its runs.
    Setup,
    /// Before each run.
    Prepare,
    /// After each run.
    Conclude,
    /// Once after all its runs.
    Cleanup,
}

impl Hook {
    /// All, in their order.
    pub const ALL: [Hook; 4] = [Hook::Setup, Hook::Prepare, Hook::Conclude, Hook::Cleanup];

    /// The option that asks for it.
    pub fn option(self) -> &'static str {
        ["--setup", "--prepare", "--conclude", "--cleanup"][self as usize]
    }
}

/// What is run at each [`Hook`], words of a program and its arguments.
pub type Hooks = [Option<Vec<OsString>>; Hook::ALL.len()];

/// A command, and what is set for its runs alone.
#[derive(Clone, Debug, Default)]
pub struct Arm {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// Its controls.
    pub controls: Vec<Setting>,
    /// Its page cache.
    pub cold: Cold,
    /// What else is run for it.
    pub hooks: Hooks,
}

/// How all commands are run.
#[derive(Clone, Debug, Default)]
pub struct CommandSettings {
    /// Their standard input.
    pub input: Input,
    /// Where their output goes.
    pub output: Output,
    /// Time that one run may take.
    pub timeout: Option<Duration>,
    /// Which ends of a run are no reason to stop.
    pub failures: Failures,
    /// A program that gets the warm-up's output and exits with 0 if it is
    /// right.
    pub check: Option<Vec<OsString>>,
}

/// Which ends of a run are no reason to stop, apart from exit code 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Failures {
    /// None.
    #[default]
    Stop,
    /// All: failed runs are timed, and nothing is concluded from them.
    Timed,
    /// These exit codes, by which the command says that it has done its work.
    Accepted(Vec<i32>),
}

impl Failures {
    /// Whether a run that ended so did its work.
    pub(super) fn is_success(&self, end: End) -> bool {
        match (end, self) {
            (End::Code(0), _) => true,
            (End::Code(code), Failures::Accepted(codes)) => codes.contains(&code),
            _ => false,
        }
    }
}

/// What tells one version of a program's file from another: device, inode, size
/// and time of the last change.
type FileVersion = (u64, u64, u64, i64, i64);

/// A command that is laid out to be run.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) arm: Arm,
    pub(super) text: String,
    pub(super) command: Command,
    /// What else is run for it, by [`Hook`].
    pub(super) hooks: [Option<Box<Ready>>; Hook::ALL.len()],
    pub(super) timed: u32,
    pub(super) failures: u32,
    /// How its timed runs ended, each way once.
    ends: Vec<(End, u32)>,
    version: Option<FileVersion>,
    /// Whether any timed run read from its input.
    pub(super) has_read: bool,
    /// Pages of its dropped files that stayed, in the worst run.
    pub(super) stayed_pages: u64,
    /// The smallest and the largest output of a timed run.
    pub(super) output_bytes: Option<[u64; 2]>,
    /// The last run before the timed ones.
    pub(super) warm_up: Option<WarmUp>,
}

/// A run before the timed ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct WarmUp {
    pub(super) timed: Timed,
    pub(super) end: End,
    pub(super) has_read: bool,
    /// Whether it ran as the timed runs do. That its standard error went to a file makes no difference
    /// where nothing was written to it.
    pub(super) is_alike: bool,
}

impl Ready {
    pub(super) fn new(mut arm: Arm) -> Result<Ready, CommandError> {
        let mut hooks = [const { None }; Hook::ALL.len()];
        for (hook, words) in hooks.iter_mut().zip(std::mem::take(&mut arm.hooks)) {
            let ready = words.map(|words| Ready::new(Arm { words, ..Arm::default() }));
            *hook = ready.transpose()?.map(Box::new);
        }
        Ok(Ready {
            hooks,
            text: command_text(&arm.words),
            command: laid_out(&arm)?,
            version: version(&arm),
            arm,
            timed: 0,
            failures: 0,
            ends: Vec::new(),
            has_read: false,
            stayed_pages: 0,
            output_bytes: None,
            warm_up: None,
        })
    }

    /// Counts a timed run.
    pub(super) fn ended(&mut self, end: End, failures: &Failures) {
        self.timed += 1;
        self.failures += u32::from(!failures.is_success(end));
        match self.ends.iter_mut().find(|(known, _)| *known == end) {
            Some((_, runs)) => *runs += 1,
            None => self.ends.push((end, 1)),
        }
    }

    /// How its timed runs ended, the most frequent first; nothing where all
    /// ended with exit code 0.
    pub(super) fn ended_runs(&self) -> Vec<EndedRuns> {
        if matches!(self.ends.as_slice(), [] | [(End::Code(0), _)]) {
            return Vec::new();
        }
        let mut ends = self.ends.clone();
        ends.sort_by_key(|&(_, runs)| std::cmp::Reverse(runs));
        let of = |(end, runs)| EndedRuns {
            how: end_name(end),
            code: match end {
                End::Code(code) => Some(code),
                _ => None,
            },
            runs,
        };
        ends.into_iter().map(of).collect()
    }

    /// Whether the file of its program is another one now.
    pub(super) fn is_replaced(&self) -> bool {
        version(&self.arm) != self.version
    }
}

fn version(arm: &Arm) -> Option<FileVersion> {
    let file = find_program(arm.words.first()?)?.metadata().ok()?;
    Some((file.dev(), file.ino(), file.size(), file.mtime(), file.mtime_nsec()))
}

/// A command in words.
pub fn command_text(words: &[OsString]) -> String {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// Whether a command's program is there and can be executed, without running it.
pub fn check_program(words: &[OsString]) -> Result<(), CommandError> {
    let words = words.to_vec();
    laid_out(&Arm { words, ..Arm::default() })?;
    Ok(())
}

pub(super) fn laid_out(arm: &Arm) -> Result<Command, CommandError> {
    let not_executable =
        |error| CommandError::NotExecutable { command: command_text(&arm.words), error };
    let Some((name, arguments)) = arm.words.split_first() else {
        return Err(CommandError::NotFound { name: String::new() });
    };
    let not_found = || CommandError::NotFound { name: name.to_string_lossy().into_owned() };
    let path = find_program(name).ok_or_else(not_found)?;
    if path.is_dir() {
        return Err(not_executable(io::ErrorKind::IsADirectory.into()));
    }
    Command::new(name, &path, arguments, &arm.controls).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => not_found(),
        _ => not_executable(error),
    })
}

//! Commands with what is set for them, laid out to be run.

use super::error::CommandError;
use super::input::Input;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use sys::command::{Command, Controls, find_program};

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

/// A command, and what is set for its runs alone.
#[derive(Clone, Debug, Default)]
pub struct Arm {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// Its controls.
    pub controls: Controls,
    /// Its page cache.
    pub cold: Cold,
}

/// How all commands are run.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Their standard input.
    pub input: Input,
    /// Where their output goes.
    pub output: Output,
    /// Time that one run may take.
    pub timeout: Option<Duration>,
    /// Whether a run that fails counts like any other.
    pub ignore_failure: bool,
    /// A program that gets the warm-up's output and exits with 0 if it is
    /// right.
    pub check: Option<Vec<OsString>>,
}

/// A command that is laid out to be run.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) arm: Arm,
    pub(super) text: String,
    pub(super) command: Command,
    pub(super) timed: u32,
    pub(super) failures: u32,
}

impl Ready {
    pub(super) fn new(arm: Arm) -> Result<Ready, CommandError> {
        Ok(Ready {
            text: text(&arm.words),
            command: laid_out(&arm)?,
            arm,
            timed: 0,
            failures: 0,
        })
    }
}

/// A command in words.
pub fn text(words: &[OsString]) -> String {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// Whether a command's program is there and can be executed, without running it.
///
/// # Errors
/// Why it can't.
pub fn check(words: &[OsString]) -> Result<(), CommandError> {
    let words = words.to_vec();
    laid_out(&Arm {
        words,
        ..Arm::default()
    })?;
    Ok(())
}

pub(super) fn laid_out(arm: &Arm) -> Result<Command, CommandError> {
    let not_executable = |error| CommandError::NotExecutable {
        command: text(&arm.words),
        error,
        hint: "",
    };
    let Some((name, arguments)) = arm.words.split_first() else {
        return Err(CommandError::NotFound(String::new()));
    };
    let not_found = || CommandError::NotFound(name.to_string_lossy().into_owned());
    let path = find_program(name).ok_or_else(not_found)?;
    if path.is_dir() {
        return Err(not_executable(io::ErrorKind::IsADirectory.into()));
    }
    Command::new(name, &path, arguments, &arm.controls).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => not_found(),
        _ => not_executable(error),
    })
}

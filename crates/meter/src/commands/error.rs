//! Why a command can't be run, in one line that says what to do.

use crate::controls;
use std::io;
use std::time::Duration;
use sys::command::{Action, End, NotStarted};

/// Why a command can't be run, or must not go on. Each is one line that says
/// what to do.
#[derive(thiserror::Error, Debug)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum CommandError {
    #[error("command not found: {name:?}{}", shell_hint(.name, "add --shell"))]
    NotFound { name: String },
    #[error("{command:?} can't be executed: {error}{}", if error.kind() == io::ErrorKind::PermissionDenied { "; is it a program? (chmod +x)" } else { "" })]
    NotExecutable { command: String, error: io::Error },
    #[error("{command:?}: {error}{}", hint(.error))]
    NotStarted { command: String, error: NotStarted },
    #[error("{command:?} {} in {which}{said}; use --ignore-failure to time it anyway", end_text(*.how))]
    Failed { command: String, how: End, which: String, said: Said },
    #[error(
        "{command:?} ran longer than --timeout allows, {limit:?}, in {which}, and was killed{said}"
    )]
    TimedOut { command: String, which: String, limit: Duration, said: Said },
    #[error("{command:?} was stopped by {} in {which}{}, and was killed{said}", signal_text(*.signal), why_stopped(*.signal))]
    Stopped { command: String, signal: i32, which: String, said: Said },
    #[error("the check failed: {check:?} {} on the output of {command:?}{said}", end_text(*.how))]
    CheckFailed { check: String, how: End, command: String, said: Said },
    #[error("{option} {hook:?} {}{said}", end_text(*.how))]
    HookFailed { option: &'static str, hook: String, how: End, said: Said },
    #[error("can't {action} {path}: {error}")]
    Stream { action: &'static str, path: String, error: io::Error },
    #[error("the input {0} is empty; to time commands without input, use --input /dev/null")]
    EmptyInput(String),
    #[error(
        "the input {0} was changed or removed while commands were timed: runs had different inputs"
    )]
    InputChanged(String),
    #[error(
        "can't drop the page cache: {0}; --cold needs root and a writable \
         /proc/sys/vm/drop_caches, --cold-files FILE needs neither"
    )]
    Cold(io::Error),
    #[error("can't drop {path} from the page cache: {error}")]
    ColdFile { path: String, error: io::Error },
    #[error("can't make a process group for the commands: {0}")]
    NoGroup(io::Error),
    #[error("can't look for processes that the commands left running: {0}")]
    LeftOver(io::Error),
}

/// What a command wrote before it failed, after the words that say so.
#[derive(thiserror::Error, Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// The user has seen it, or it is nothing.
    #[error("")]
    Nothing,
    /// It went elsewhere.
    #[error("; add --warmup 0 --output show to see what it prints")]
    NotKept,
    /// Its last lines on standard error.
    #[error(" and wrote {:?}", .0.join(" / "))]
    Lines(Vec<String>),
}

/// What to do where a name is not a program's: it may be a whole line of a shell.
pub fn shell_hint(name: &str, shell: &str) -> String {
    match name.contains(char::is_whitespace) {
        true => format!("; {shell} to run a shell command line, or remove the quotes around it"),
        false => format!("; for a shell's builtins and aliases, {shell}"),
    }
}

/// How a command ended, in the words of a list.
pub fn end_name(end: End) -> String {
    match end {
        End::Code(code) => format!("exit code {code}"),
        End::Signal(signal) => signal_text(signal),
        other => end_text(other),
    }
}

/// How a command ended, after its name.
pub fn end_text(end: End) -> String {
    match end {
        End::Code(code) => format!("ended with exit code {code}"),
        End::Signal(signal) => format!("was killed by {}", signal_text(signal)),
        End::Stopped(signal) => format!("was stopped by {}", signal_text(signal)),
        End::TimedOut => "ran longer than --timeout allows".into(),
        End::Interrupted => "was interrupted".into(),
    }
}

fn signal_text(signal: i32) -> String {
    match sys::signals::signal_name(signal) {
        Some(name) => format!("signal {signal} ({name})"),
        None => format!("signal {signal}"),
    }
}

/// Why a signal stopped a command.
fn why_stopped(signal: i32) -> &'static str {
    match sys::signals::signal_name(signal) {
        Some("SIGTTIN" | "SIGTTOU") => {
            " since it wants the terminal, which no measured command gets (--input FILE gives it \
             its input)"
        }
        _ => " and was not continued",
    }
}

/// What to do about a command that did not start.
pub(super) fn hint(error: &NotStarted) -> String {
    use io::ErrorKind::{NotFound, PermissionDenied};
    match (error.action, error.error.kind()) {
        // ENOEXEC has no kind of its own.
        (Action::Execute, _) if error.error.raw_os_error() == Some(8) => {
            "; a script needs a first line such as #!/bin/sh, or --shell"
        }
        (Action::Execute, PermissionDenied) => "; its interpreter may lack the right",
        (Action::Execute, NotFound) => {
            "; its file is there, but the interpreter (#! line) or dynamic loader that it names is not"
        }
        (Action::Control(row), _) => return controls::hint(row, &error.error),
        _ => "",
    }
    .into()
}

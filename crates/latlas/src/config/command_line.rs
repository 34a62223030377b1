//! What a command line tells the configuration.

use crate::arguments::config::ConfigOptions;
use clap::{Command, FromArgMatches};
use std::ffi::OsString;

/// The command line of a program: of `latlas`, or of one beside it.
pub trait CommandLine: FromArgMatches {
    /// The name of a program beside `latlas`, which is that of its only command. The file's lines for other commands
    /// are not its own.
    const PROGRAM: Option<&str>;

    /// The command line as it is shown and parsed.
    fn command() -> Command;

    /// What is asked for, where that is one command whose options alone say so; `None` where the options of all
    /// commands are needed.
    fn of_one_command(_words: &[OsString]) -> Option<Self> {
        None
    }

    /// The options that choose the file and the store.
    fn configuration(&self) -> &ConfigOptions;

    /// Whether its command must work with a broken configuration, and needs none.
    fn ignores_configuration(&self) -> bool {
        false
    }

    /// Whether its command must work with a broken configuration.
    fn works_without(&self) -> bool {
        false
    }

    /// What to type in place of a command that does not exist.
    fn near(_command: &Command, _name: &str) -> String {
        String::new()
    }
}

//! The command line of one command. Building the options of all commands and laying out their helps takes as long as
//! ten runs of a short command: of a command that is timed in milliseconds, only its own are built.

use super::config::ConfigOptions;
use super::exec::ExecOptions;
use super::{Arguments, Command, RunOptions};
use clap::{Args, FromArgMatches};
use std::ffi::OsString;

/// What is asked for, if it is such a command and rightly typed. What else there is to say (a help, an error) takes
/// the whole command line.
pub(super) fn one_command(words: &[OsString]) -> Option<Arguments> {
    const NAME: &str = "exec";
    if words.get(1)? != NAME {
        return None;
    }
    let command = ExecOptions::augment_args(clap::Command::new(NAME));
    let line = ConfigOptions::augment_args(clap::Command::new("latlas")).subcommand(command);
    let matches = line.disable_help_subcommand(true).try_get_matches_from(words).ok()?;
    Some(Arguments {
        run: RunOptions::default(),
        config: ConfigOptions::from_arg_matches(&matches).ok()?,
        command: Some(Command::from_arg_matches(&matches).ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::command;

    fn words(line: &str) -> Vec<OsString> {
        shlex::split(line).expect("words").into_iter().map(OsString::from).collect()
    }

    #[test]
    fn one_command_is_parsed_as_among_all() {
        for line in [
            "latlas exec -- true",
            "latlas exec -r 300 -w 0 --no-config -- grep -c x file",
            "latlas exec 'a | b' 'c' --name x --name y --margin 3% --precise",
            "latlas exec --store /tmp/x --config file --vs 'true 1' --json -- true",
            "latlas exec -P n 1 5 -D 2 -p 'sync' 'sleep {n}' --nice=-5 --sort command",
        ] {
            let alone = one_command(&words(line)).expect(line);
            let matches = command().try_get_matches_from(words(line)).expect(line);
            let among_all = Arguments::from_arg_matches(&matches).expect(line);
            assert_eq!(format!("{alone:?}"), format!("{among_all:?}"), "{line}");
        }
    }

    #[test]
    fn what_is_not_one_command_takes_all_of_them() {
        for line in [
            "latlas",
            "latlas run",
            "latlas --quick exec -- true",
            "latlas exec --help",
            "latlas exec --no-such-option -- true",
            "latlas exec --runs many -- true",
            "latlas execute",
        ] {
            assert!(one_command(&words(line)).is_none(), "{line}");
        }
    }
}

//! Makes the file's options defaults of the command line.

use super::lines::{below, commands_by_path, long, shown, with_option};
use super::{ConfigError, Read, Setting};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, Id};
use std::path::Path;
use store::Place;

/// Options that need another one, or a word: their defaults apply only with it. Command, option, the
/// other ones, any of which will do.
const NEEDS: &[(&str, &str, &str)] = &[
    ("table", "quick", "measure"),
    ("table", "dir", "measure"),
    ("table", "no_wait", "measure"),
    ("exec", "margin", "vs|lines"),
    ("", "fail_above", "baseline"),
    ("run", "fail_above", "baseline"),
    ("trace", "files", "row"),
    ("trace", "no_wait", "row"),
    ("trace", "operations", "row"),
    ("trace", "tails", "row"),
];

/// Options whose default another one disables, though both may be given: option, the other one.
const DISABLED_BY: &[(&str, &str)] = &[("pin", "shield"), ("pin", "core_kind")];

/// The given command by its path, and its matches.
pub(super) fn typed(matches: &ArgMatches) -> (String, &ArgMatches) {
    let (mut matches, mut path) = (matches, String::new());
    while let Some((name, inner)) = matches.subcommand() {
        (matches, path) = (inner, below(&path, name));
    }
    (path, matches)
}

/// The options of the file that apply to this command line: the command has them, and no typed one
/// contradicts them, nor one of the file that precedes: a line of the command precedes one of all, and a
/// later line an earlier one.
pub(super) fn followed<'a>(
    command: &Command,
    settings: impl IntoIterator<Item = &'a Setting>,
    matches: &ArgMatches,
) -> Vec<&'a Setting> {
    let (path, matches) = typed(matches);
    let Some((_, own)) = commands_by_path(command).into_iter().find(|(other, _)| *other == path)
    else {
        return Vec::new();
    };
    let is_typed = |arg: &Arg| {
        let id = arg.get_id().as_str();
        matches.try_contains_id(id).is_ok()
            && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    let mut settings: Vec<&Setting> = settings
        .into_iter()
        .filter(|setting| match &setting.command {
            Some(of) => *of == path,
            None => with_option(command, &setting.option).iter().any(|of| std::ptr::eq(*of, own)),
        })
        .collect();
    settings.sort_by_key(|setting| (setting.command.is_some(), setting.line));
    let mut given: Vec<&Arg> = own.get_arguments().filter(|arg| is_typed(arg)).collect();
    let mut chosen: Vec<&Setting> = Vec::new();
    for &setting in settings.iter().rev() {
        let Some(arg) = long(own, &setting.option) else { continue };
        let id = arg.get_id().as_str();
        let contradicts = |other: &&Arg| {
            let same = other.get_id() == arg.get_id();
            let adds = same && !is_typed(other) && matches!(arg.get_action(), ArgAction::Append);
            same && !adds
                || conflict(own, other, arg)
                || DISABLED_BY.contains(&(id, other.get_id().as_str()))
        };
        let mut needs = NEEDS.iter().filter(|&&(of, name, _)| of == path && name == id);
        let of_file = |other: &&str| {
            settings.iter().any(|s| long(own, &s.option).is_some_and(|arg| arg.get_id() == *other))
        };
        let has = |others: &str| {
            let mut others = others.split('|');
            others.any(|other| given.iter().any(|arg| arg.get_id() == other) || of_file(&other))
        };
        if !given.iter().any(contradicts) && needs.all(|(.., other)| has(other)) {
            given.push(arg);
            chosen.push(setting);
        }
    }
    chosen.reverse();
    chosen
}

/// The command line with these options as defaults of the command at this path.
pub(super) fn with_defaults(command: Command, path: &str, settings: &[&Setting]) -> Command {
    if let Some((name, rest)) = path.split_once(' ') {
        return command.mut_subcommand(name, |inner| with_defaults(inner, rest, settings));
    }
    if !path.is_empty() {
        return command.mut_subcommand(path, |inner| with_defaults(inner, "", settings));
    }
    settings.iter().fold(command, |command, setting| {
        let Some(id) = long(&command, &setting.option).map(|arg| arg.get_id().clone()) else {
            return command;
        };
        // An alias is the same option.
        let is_same = |other: &&&Setting| {
            long(&command, &other.option).is_some_and(|arg| *arg.get_id() == id)
        };
        let of_option = settings.iter().filter(is_same);
        let values: Vec<String> = of_option.flat_map(|other| other.values.clone()).collect();
        // In their order: what one option decides of another depends on it.
        command.mut_args(|arg| match (*arg.get_id() == id, values.is_empty()) {
            (false, _) => arg,
            (true, true) => arg.default_value("true"),
            (true, false) => arg.default_values(values.clone()),
        })
    })
}

fn conflict(command: &Command, other: &Arg, own: &Arg) -> bool {
    let of = |arg: &Arg, id: &Id| {
        let conflicts = command.get_arg_conflicts_with(arg);
        conflicts.iter().any(|conflict| conflict.get_id() == id)
    };
    of(own, other.get_id()) || of(other, own.get_id())
}

/// Checks the values with the parsers of the options.
///
/// # Errors
/// The first value that an option refuses, or a path that isn't absolute.
pub(super) fn check_values(command: &Command, read: &Read) -> Result<(), ConfigError> {
    for setting in &read.settings {
        let of = match &setting.command {
            None => with_option(command, &setting.option),
            Some(path) => {
                let own = commands_by_path(command).into_iter().find(|(other, _)| other == path);
                own.into_iter().map(|(_, command)| command).collect()
            }
        };
        for value in &setting.values {
            let refused = of.iter().find_map(|of| refused(of, &setting.option, value));
            if let Some(why) = relative(&setting.option, value).or(refused) {
                return Err(read.wrong(setting.line, format_args!("--{}: {why}", setting.option)));
            }
        }
    }
    Ok(())
}

/// That a path leads elsewhere from each directory.
fn relative(option: &str, value: &str) -> Option<String> {
    let is_path = match option {
        "dir" | "pack" => true,
        "store" => matches!(Place::parse(value), Place::Directory(_)),
        _ => false,
    };
    (is_path && !Path::new(value).is_absolute())
        .then(|| format!("{:?} is not an absolute path", shown(value)))
}

/// Why an option refuses a value: its error on a command line.
fn refused(of: &Command, option: &str, value: &str) -> Option<String> {
    // latlas run has the options of latlas, and is faster to build.
    if of.get_name() == "latlas" {
        return None;
    }
    let arg = long(of, option)?;
    let words = [of.get_name().to_owned(), format!("--{}={value}", arg.get_long()?)];
    let error = of.clone().try_get_matches_from(words).err()?;
    match error.kind() {
        // Other errors are not of this value.
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => {
            let source = std::error::Error::source(&error).map(ToString::to_string);
            let values = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(values)) => format!("give {}", values.join(" or ")),
                _ => "invalid value".to_owned(),
            };
            Some(format!("{:?}: {}", shown(value), source.unwrap_or(values)))
        }
        _ => None,
    }
}

//! The file's values as defaults of the command line.

use super::{ConfigError, Key, Read, keys};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, Id};
use std::path::Path;

/// Options that mean something only beside another one: a default of such a
/// one would be silly without it. Command, option, the other one.
const BESIDE: &[(&str, &str, &str)] = &[
    ("table", "quick", "measure"),
    ("table", "dir", "measure"),
    ("", "fail_above", "baseline"),
    ("run", "fail_above", "baseline"),
];

/// Options that another one takes the sense from, though the two may be typed
/// together: option, the other one.
const YIELDS: &[(&str, &str)] = &[("pin", "shield"), ("pin", "core_kind")];

/// What was typed: the command by its path, and its own matches.
pub(super) fn typed(matches: &ArgMatches) -> (String, &ArgMatches) {
    let (mut matches, mut path) = (matches, String::new());
    while let Some((name, inner)) = matches.subcommand() {
        (matches, path) = (inner, below(&path, name));
    }
    (path, matches)
}

/// The keys with a value that this command line follows: its command has the
/// option, and nothing typed is against it.
pub(super) fn followed<'a>(
    command: &Command,
    keys: &'a [Key],
    matches: &ArgMatches,
) -> Vec<&'a Key> {
    let (path, matches) = typed(matches);
    let Some((_, command)) = all(command).into_iter().find(|(found, _)| *found == path) else {
        return Vec::new();
    };
    let is_typed = |id: &Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
    let follows = |option: &str| {
        let mut others = command.get_arguments();
        let stopped = others.any(|other| {
            let against = other.get_id() == option
                || conflict(command, other, option)
                || has_pair(YIELDS, option, other);
            against && is_typed(other.get_id())
        });
        let beside = BESIDE
            .iter()
            .find(|&&(of, name, other)| of == path && name == option && has(command, other));
        let alone = beside.is_some_and(|(.., other)| !is_typed(&Id::from(*other)));
        has(command, option) && !stopped && !alone
    };
    keys.iter()
        .filter(|key| key.values.is_some() && key.is_of(&path))
        .filter(|key| key.option.is_some_and(follows))
        .collect()
}

/// The command line with values of these keys as defaults of the command at
/// this path.
pub(super) fn with_defaults(command: Command, path: &str, keys: &[&Key]) -> Command {
    match path.split_once(' ') {
        _ if path.is_empty() => {
            keys.iter()
                .fold(command, |command, key| match (key.option, &key.values) {
                    (Some(option), Some(values)) => {
                        command.mut_arg(option, |arg| with_default(arg, values))
                    }
                    _ => command,
                })
        }
        Some((name, rest)) => {
            command.mut_subcommand(name, |inner| with_defaults(inner, rest, keys))
        }
        None => command.mut_subcommand(path, |inner| with_defaults(inner, "", keys)),
    }
}

/// A flag takes no text such as `quick`: it stands for true.
fn with_default(arg: Arg, values: &[String]) -> Arg {
    match matches!(arg.get_action(), ArgAction::SetTrue) {
        true => {
            let on = values.first().is_some_and(|value| value != "false");
            arg.default_value(if on { "true" } else { "false" })
        }
        false => arg.default_values(values.to_vec()),
    }
}

fn conflict(command: &Command, other: &Arg, option: &str) -> bool {
    let of = |arg: &Arg, id: &Id| {
        let conflicts = command.get_arg_conflicts_with(arg);
        conflicts.iter().any(|conflict| conflict.get_id() == id)
    };
    let own = command.get_arguments().find(|arg| arg.get_id() == option);
    own.is_some_and(|own| of(own, other.get_id()) || of(other, own.get_id()))
}

fn has_pair(pairs: &[(&str, &str)], option: &str, other: &Arg) -> bool {
    pairs
        .iter()
        .any(|&(name, second)| name == option && other.get_id() == second)
}

fn has(command: &Command, option: &str) -> bool {
    command.get_arguments().any(|arg| arg.get_id() == option)
}

fn below(path: &str, name: &str) -> String {
    match path.is_empty() {
        true => name.to_owned(),
        false => format!("{path} {name}"),
    }
}

/// Every command by its path, in the order of the help.
pub(super) fn all(command: &Command) -> Vec<(String, &Command)> {
    fn into<'a>(command: &'a Command, path: &str, found: &mut Vec<(String, &'a Command)>) {
        found.push((path.to_owned(), command));
        for inner in command.get_subcommands() {
            into(inner, &below(path, inner.get_name()), found);
        }
    }
    let mut found = Vec::new();
    into(command, "", &mut found);
    found
}

/// The commands whose option a key is a default of, by their paths.
pub(super) fn taking<'a>(command: &'a Command, key: &Key) -> Vec<(String, &'a Command)> {
    let Some(option) = key.option else {
        return Vec::new();
    };
    let mut found = all(command);
    found.retain(|(path, command)| key.is_of(path) && has(command, option));
    found
}

/// Whether the options take the file's values: their own parsers say so.
///
/// # Errors
/// The first value that an option refuses, or a path that isn't absolute.
pub(super) fn check(command: &Command, read: &Read) -> Result<Vec<Key>, ConfigError> {
    let keys = keys(&read.configuration);
    for key in &keys {
        let values = key.values.iter().flatten();
        for value in values.clone() {
            if key.name.ends_with("dir") && !Path::new(value).is_absolute() {
                return Err(read.wrong(key.name, &format!("{value:?} is no absolute path")));
            }
        }
        for (_, of) in taking(command, key) {
            for value in values.clone() {
                if let Some(why) = refused(of, key, value) {
                    return Err(read.wrong(key.name, &why));
                }
            }
        }
    }
    Ok(keys)
}

/// Why an option refuses a value: what it says when it is typed.
fn refused(of: &Command, key: &Key, value: &str) -> Option<String> {
    // What latlas alone takes, latlas run takes, and is sooner built.
    if of.has_subcommands() {
        return None;
    }
    let mut arguments = of.get_arguments();
    let arg = arguments.find(|arg| Some(arg.get_id().as_str()) == key.option)?;
    if !arg.get_action().takes_values() {
        return None;
    }
    let words = [
        of.get_name().to_owned(),
        format!("--{}={value}", arg.get_long()?),
    ];
    let error = of.clone().try_get_matches_from(words).err()?;
    match error.kind() {
        // What else misses is not the file's.
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => {
            let source = std::error::Error::source(&error).map(ToString::to_string);
            let values = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(values)) => format!("give {}", values.join(" or ")),
                _ => "it is refused".to_owned(),
            };
            Some(format!("{value:?}: {}", source.unwrap_or(values)))
        }
        _ => None,
    }
}

//! Makes the file's values defaults of the command line.

use super::keys::{all, argument, below};
use super::{ConfigError, Read, Setting};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, Id};
use model::text::cut;
use std::path::Path;

/// Options that need another one: their defaults apply only with it. Command, option, the other
/// one.
const NEEDS: &[(&str, &str, &str)] = &[
    ("table", "quick", "measure"),
    ("table", "dir", "measure"),
    ("", "fail_above", "baseline"),
    ("run", "fail_above", "baseline"),
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

/// The settings that apply to this command line: the command has the option, and no given option
/// contradicts it.
pub(super) fn followed<'a>(
    command: &Command,
    settings: impl IntoIterator<Item = &'a Setting>,
    matches: &ArgMatches,
) -> Vec<&'a Setting> {
    let (path, matches) = typed(matches);
    let Some((_, command)) = all(command).into_iter().find(|(other, _)| *other == path) else {
        return Vec::new();
    };
    let is_typed = |id: &str| {
        argument(command, id).is_some()
            && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    let follows = |option: &str| {
        let mut others = command.get_arguments();
        let contradicted = others.any(|other| {
            let id = other.get_id().as_str();
            let contradicts = id == option
                || conflict(command, other, option)
                || DISABLED_BY.contains(&(option, id));
            contradicts && is_typed(id)
        });
        let mut needs = NEEDS.iter().filter(|&&(of, name, _)| of == path && name == option);
        argument(command, option).is_some()
            && !contradicted
            && needs.all(|(.., other)| is_typed(other))
    };
    let settings = settings.into_iter();
    settings
        .filter(|setting| setting.key.is_of(&path) && setting.option().is_some_and(follows))
        .collect()
}

/// The command line with these settings as defaults of the command at this path.
pub(super) fn with_defaults(command: Command, path: &str, settings: &[&Setting]) -> Command {
    if let Some((name, rest)) = path.split_once(' ') {
        return command.mut_subcommand(name, |inner| with_defaults(inner, rest, settings));
    }
    if !path.is_empty() {
        return command.mut_subcommand(path, |inner| with_defaults(inner, "", settings));
    }
    settings.iter().fold(command, |command, setting| match setting.option() {
        Some(option) => command.mut_arg(option, |arg| with_default(arg, &setting.values)),
        None => command,
    })
}

/// A flag has no text such as `quick`: it means true.
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
    argument(command, option).is_some_and(|own| of(own, other.get_id()) || of(other, own.get_id()))
}

/// Checks the values with the parsers of the options.
///
/// # Errors
/// The first value that an option refuses, or a path that isn't absolute.
pub(super) fn check(command: &Command, read: &Read) -> Result<(), ConfigError> {
    for setting in &read.settings {
        for value in &setting.values {
            if setting.key.is_path() && !Path::new(value).is_absolute() {
                let why = format!("{:?} is not an absolute path", cut(value));
                return Err(read.wrong(setting, &why));
            }
            let Some(option) = setting.option() else {
                continue;
            };
            for (_, of) in setting.key.taken_by(command) {
                if let Some(why) = refused(of, option, value) {
                    return Err(read.wrong(setting, &why));
                }
            }
        }
    }
    Ok(())
}

/// Why an option refuses a value: its error on a command line.
fn refused(of: &Command, option: &str, value: &str) -> Option<String> {
    // latlas run has the options of latlas, and is faster to build.
    if of.has_subcommands() {
        return None;
    }
    let arg = argument(of, option)?;
    if !arg.get_action().takes_values() {
        return None;
    }
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
            Some(format!("{:?}: {}", cut(value), source.unwrap_or(values)))
        }
        _ => None,
    }
}

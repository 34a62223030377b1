//! The command line, with the configuration as its defaults.

use super::apply::{check, followed, typed, with_defaults};
use super::{ConfigError, KEYS, Key, Read, Setting, of_user};
use crate::arguments::noise::NoiseCommand;
use crate::arguments::{self, Arguments, Command as Subcommand};
use crate::{REFUSED, catalogue, output, packs, selection};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, FromArgMatches};
use model::nearest::nearest;
use model::run::Scale;
use store::Place;

/// Options that may precede a command.
const OF_ALL: &[&str] = &["config_file", "no_config", "store"];

/// Parses the command line, with defaults of the configuration. Help, versions and usage errors end
/// the program here.
///
/// # Errors
/// An error in the configuration.
pub(crate) fn arguments() -> Result<Arguments, ConfigError> {
    let plain = arguments::command();
    let first = matches(&plain);
    check_order(&plain, &first);
    let arguments = from(&first);
    if ignores_configuration(&arguments) {
        return Ok(arguments);
    }
    let location = of_user(arguments.config.file.as_ref(), arguments.config.none);
    let read = match checked_file(&location, &plain) {
        Ok(read) => read,
        Err(error) if works_without(&arguments) => {
            output::message(format_args!(
                "warning: {}; ignoring the configuration",
                output::harmless(error.what())
            ));
            return Ok(arguments);
        }
        Err(error) => return Err(error),
    };
    keep_directories(&read);
    // Environment variables take precedence.
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let settings = read.settings.iter();
    let settings = settings.filter(|setting| !(no_color && setting.key.name == "look.color"));
    let settings = followed(&plain, settings, &first);
    if settings.is_empty() {
        return Ok(arguments);
    }
    print_measuring(&read, &settings);
    let (path, _) = typed(&first);
    let defaults = with_defaults(plain, &path, &settings);
    let matches = defaults.try_get_matches();
    Ok(from(&matches.unwrap_or_else(|error| output::end_with(&error))))
}

fn keep_directories(read: &Read) {
    let settings = read.settings.iter();
    for setting in settings.filter(|one| one.key.name == "data_dir") {
        store::keep_below(setting.text().into());
    }
    let settings = read.settings.iter();
    for setting in settings.filter(|one| one.key.name == "store") {
        store::keep_in(Place::parse(&setting.text()), false);
    }
    let settings = read.settings.iter();
    for setting in settings.filter(|one| one.key.name == "packs_dir") {
        packs::keep_in(setting.text().into());
    }
}

/// Uses the store of the command line.
pub(crate) fn use_store(given: Option<&str>) {
    if let Some(given) = given {
        store::keep_in(typed_place(given), true);
    }
}

/// A store of the command line.
pub(crate) fn typed_place(text: &str) -> Place {
    let place = Place::parse(text);
    if place.has_password() {
        output::message(format_args!(
            "warning: other users can see the password of {place} in the list of processes: use \
             ~/.pgpass or PGPASSFILE"
        ));
    }
    place
}

/// Sets the directory of stored runs that the configuration names, if it can be read.
pub(crate) fn use_data_dir() {
    if let Ok(read) = checked_file(&of_user(None, false), &arguments::command()) {
        keep_directories(&read);
    }
}

/// The command line as parsed. Help, versions and usage errors end the program here; a command
/// that does not exist, with one line.
fn matches(command: &Command) -> ArgMatches {
    command.clone().try_get_matches().unwrap_or_else(|error| {
        if error.kind() == ErrorKind::InvalidSubcommand
            && let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand)
        {
            output::message(unknown_command(command, name));
            std::process::exit(REFUSED.into());
        }
        output::end_with(&error)
    })
}

fn unknown_command(command: &Command, name: &str) -> String {
    let probes = catalogue::texts(&probes::catalogue());
    let is_row = selection::rows(&probes, &[name.to_owned()], Scale::Full).is_ok();
    let suggestion = match is_row {
        true => format!("; to measure rows: latlas run {name}"),
        false => near_commands(command, name),
    };
    format!("no command {name:?}{suggestion} (see `latlas --help`)")
}

/// Commands, wherever they stand, whose own name is near to this one; as they are typed.
fn near_commands(command: &Command, name: &str) -> String {
    let mut left = vec![("latlas".to_owned(), command)];
    let mut commands: Vec<(&str, String)> = Vec::new();
    while let Some((path, one)) = left.pop() {
        for below in one.get_subcommands() {
            let path = format!("{path} {}", below.get_name());
            commands.push((below.get_name(), path.clone()));
            left.push((path, below));
        }
    }
    let near = nearest(name, commands.iter().map(|(name, _)| *name));
    // Of several with one name, the one that stands highest.
    let path_of = |near: &&str| {
        let of = commands.iter().filter(|(name, _)| name == near);
        of.map(|(_, path)| path.as_str()).min_by_key(|p| p.len())
    };
    let paths: Vec<&str> = near.iter().filter_map(path_of).collect();
    match paths.is_empty() {
        true => String::new(),
        false => format!("; did you mean {}?", paths.join(" or ")),
    }
}

fn checked_file(location: &super::Location, command: &Command) -> Result<Read, ConfigError> {
    let read = Read::at(location, command)?;
    check(command, &read)?;
    Ok(read)
}

/// Prints the settings that change what is measured.
fn print_measuring(read: &Read, settings: &[&Setting]) {
    let measuring = settings.iter().filter(|setting| setting.key.measures);
    let texts: Vec<String> =
        measuring.map(|setting| format!("{} = {}", setting.key.name, setting.text())).collect();
    if let (Some(path), false) = (&read.path, texts.is_empty()) {
        let (path, texts) = (path.display(), texts.join(", "));
        output::message(format_args!("defaults from {path}: {texts}"));
    }
}

/// Refuses options of `latlas` before a command, where they would have no effect.
fn check_order(command: &Command, matches: &ArgMatches) {
    let Some((name, _)) = matches.subcommand() else {
        return;
    };
    let typed = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let misplaced = command.get_arguments().find(|arg| {
        let id = arg.get_id().as_str();
        !OF_ALL.contains(&id) && typed(id)
    });
    if let Some(misplaced) = misplaced.and_then(clap::Arg::get_long) {
        let message = format!("'--{misplaced}' must come after the subcommand '{name}'");
        let error = command.clone().error(ErrorKind::ArgumentConflict, message);
        output::end_with(&error);
    }
}

fn from(matches: &ArgMatches) -> Arguments {
    Arguments::from_arg_matches(matches).unwrap_or_else(|error| output::end_with(&error))
}

/// Commands that must work with a broken configuration, and need none.
fn ignores_configuration(arguments: &Arguments) -> bool {
    matches!(
        arguments.command,
        Some(Subcommand::Config(_) | Subcommand::Completions(_) | Subcommand::Man(_))
    )
}

/// Commands that must work with a broken configuration: they show or restore settings of the system.
fn works_without(arguments: &Arguments) -> bool {
    matches!(
        arguments.command,
        Some(Subcommand::Noise(NoiseCommand::Show(_) | NoiseCommand::Restore(_)))
    )
}

/// A key with the commands that take it, by their paths.
type Taken = (&'static Key, Vec<String>);

/// The settings of a file, checked, and the keys with the commands that take them.
///
/// # Errors
/// An error in the configuration.
pub(crate) fn checked(location: &super::Location) -> Result<(Read, Vec<Taken>), ConfigError> {
    let plain = arguments::command();
    let read = checked_file(location, &plain)?;
    keep_directories(&read);
    let commands = |key: &Key| key.taken_by(&plain).into_iter().map(|(path, _)| path).collect();
    let keys = KEYS.iter().map(|key| (key, commands(key)));
    Ok((read, keys.collect()))
}

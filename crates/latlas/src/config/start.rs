//! The command line, with the configuration as its defaults.

use super::apply::{check, followed, typed, with_defaults};
use super::{ConfigError, Location, Read, Setting, of_user};
use crate::arguments::noise::NoiseCommand;
use crate::arguments::{self, Arguments, Command as Subcommand};
use crate::{REFUSED, catalogue, output, selection};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, FromArgMatches};
use model::nearest::nearest;
use model::run::Scale;
use store::Place;

/// Options that change how something is printed, and nothing that is measured (but `exec --vs`, a command).
const LOOKS: &[&str] = &["color", "wide", "human", "frames", "vs", "all", "json", "listen", "pack"];

/// Options that may precede a command.
const OF_ALL: &[&str] = &["config_file", "no_config", "store"];

/// Parses the command line, with defaults of the configuration. Help, versions and usage errors end
/// the program here.
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
    say_earlier(&location, &read);
    use_store_of(&read);
    // Environment variables take precedence.
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let settings = read.settings.iter();
    let settings = settings
        .filter(|setting| setting.option != "store" && !(no_color && setting.option == "color"));
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

/// Says that the file of an earlier latlas is not read, until there is one of this.
fn say_earlier(location: &Location, read: &Read) {
    let (None, Location::Default(path)) = (&read.path, location) else { return };
    let earlier = path.with_extension("toml");
    if earlier.exists() {
        let (earlier, path) = (earlier.display(), path.display());
        output::message(format_args!(
            "warning: {earlier} is of an earlier latlas and is not read: write its keys as options to {path} \
             (latlas config init)"
        ));
    }
}

/// The file's store, unless the environment names one; the last line counts.
fn use_store_of(read: &Read) {
    let mut settings = read.settings.iter().rev();
    if let Some(setting) = settings.find(|setting| setting.option == "store") {
        store::keep_in(Place::parse(&setting.values.concat()), false);
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
             PGPASSWORD"
        ));
    }
    place
}

/// Uses the store that the configuration names, if it can be read.
pub(crate) fn use_store_of_file() {
    if let Ok(read) = checked_file(&of_user(None, false), &arguments::command()) {
        use_store_of(&read);
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

fn checked_file(location: &Location, command: &Command) -> Result<Read, ConfigError> {
    let read = Read::at(location, command)?;
    check(command, &read)?;
    Ok(read)
}

/// Prints the options that change what is measured.
fn print_measuring(read: &Read, settings: &[&Setting]) {
    let is_command =
        |setting: &Setting| setting.option == "vs" && setting.command.as_deref() == Some("exec");
    let looks = |setting: &Setting| LOOKS.contains(&&*setting.option) && !is_command(setting);
    let measuring = settings.iter().filter(|setting| !looks(setting));
    let texts: Vec<String> = measuring.map(|setting| setting.text()).collect();
    if let (Some(path), false) = (&read.path, texts.is_empty()) {
        let (path, texts) = (path.display(), texts.join(" "));
        output::message(output::harmless(&format!("defaults from {path}: {texts}")));
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

/// The options of a file, checked.
pub(crate) fn checked(location: &Location) -> Result<Read, ConfigError> {
    let read = checked_file(location, &arguments::command())?;
    say_earlier(location, &read);
    Ok(read)
}

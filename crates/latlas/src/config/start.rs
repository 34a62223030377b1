//! The command line, with the configuration as its defaults.

use super::apply::{check_values, followed, typed, with_defaults};
use super::lines::Known;
use super::{CommandLine, ConfigError, Location, Read, Setting, of_user};
use crate::{REFUSED, arguments, catalogue, output, programs, selection};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use model::nearest::nearest;
use model::run::Scale;
use std::ffi::OsString;
use store::Place;

/// Options that change how something is printed, and nothing that is measured (but `exec --vs`, a command).
const LOOKS: &[&str] =
    &["color", "wide", "human", "frames", "vs", "all", "json", "document", "listen", "pack"];

/// Options that may precede a command.
const OF_ALL: &[&str] = &["config_file", "no_config", "store"];

/// Parses the command line, with defaults of the configuration. Help, versions and usage errors end
/// the program here.
pub(crate) fn arguments<A: CommandLine>(words: Vec<OsString>) -> Result<A, ConfigError> {
    if let Some(arguments) = without_file(&words) {
        return Ok(arguments);
    }
    let plain = arguments::helpful(A::command(), output::columns());
    let known = Known { command: &plain, program: A::PROGRAM };
    let first = matches(&plain, &words);
    check_order(&plain, &first);
    let arguments: A = parsed(&first);
    if arguments.ignores_configuration() {
        return Ok(arguments);
    }
    let options = arguments.configuration();
    let location = of_user(options.file.as_ref(), options.none);
    let read = match checked_file(&location, &known) {
        Ok(read) => read,
        Err(error) if arguments.works_without() => {
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
    let defaults = with_defaults(plain.clone(), &path, &settings);
    let matches = defaults.try_get_matches_from(words);
    Ok(parsed(&matches.unwrap_or_else(|error| output::end_with(&error))))
}

/// The command line of one command, where no file has defaults of it: a file is checked with the options of all.
fn without_file<A: CommandLine>(words: &[OsString]) -> Option<A> {
    let arguments = A::of_one_command(words)?;
    let options = arguments.configuration();
    let location = of_user(options.file.as_ref(), options.none);
    match &location {
        Location::None => {}
        Location::Default(path) if !path.exists() => say_earlier(&location, &Read::default()),
        Location::Default(_) | Location::Given(_) => return None,
    }
    Some(arguments)
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
             PGPASSWORD or LATLAS_STORE"
        ));
    }
    place
}

/// Uses the store that the configuration names, if it can be read.
pub(crate) fn use_store_of_file() {
    let command = arguments::command();
    if let Ok(read) =
        checked_file(&of_user(None, false), &Known { command: &command, program: None })
    {
        use_store_of(&read);
    }
}

/// The command line as parsed. Help, versions and usage errors end the program here; a command
/// that does not exist, with one line.
fn matches(command: &Command, words: &[OsString]) -> ArgMatches {
    command.clone().try_get_matches_from(words).unwrap_or_else(|error| {
        if error.kind() == ErrorKind::InvalidSubcommand
            && let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand)
        {
            output::message(unknown_command(name));
            std::process::exit(REFUSED.into());
        }
        if error.kind() == ErrorKind::UnknownArgument
            && is_exec(words)
            && let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg)
        {
            output::message(arguments::exec::other_tools_option(unknown));
            std::process::exit(REFUSED.into());
        }
        output::end_with(&error)
    })
}

fn is_exec(words: &[OsString]) -> bool {
    let command = words.iter().skip(1).find(|word| !word.as_encoded_bytes().starts_with(b"-"));
    command.is_some_and(|word| word == "exec")
}

/// That there is no such command, with what may be meant.
pub(crate) fn unknown_command(name: &str) -> String {
    let command = &arguments::command();
    let probes = catalogue::texts(&probes::catalogue());
    let is_row = selection::selected_rows(&probes, &[name.to_owned()], Scale::Full).is_ok();
    let suggestion = match is_row {
        true => format!("; to measure rows: latlas run {name}"),
        false => near_commands(command, name),
    };
    format!("no command {name:?}{suggestion} (see `latlas --help`)")
}

/// What other tools call it, and what it is here.
const OTHER_NAMES: [(&str, &str); 12] = [
    ("bench", "latlas run"),
    ("benchmark", "latlas run"),
    ("measure", "latlas run"),
    ("stat", "latlas exec"),
    ("time", "latlas exec"),
    ("hyperfine", "latlas exec"),
    ("record", "latlas trace"),
    ("diff", "latlas compare"),
    ("ls", "latlas atlas list"),
    ("log", "latlas atlas list"),
    ("tune", "latlas noise tune"),
    ("describe", "latlas explain"),
];

/// Commands, wherever they stand, whose own name is near to this one; as they are typed.
fn near_commands(command: &Command, name: &str) -> String {
    let mut left = vec![("latlas".to_owned(), command)];
    let beside = programs::packaged_names().map(|name| (name, format!("latlas {name}")));
    let mut commands: Vec<(&str, String)> = beside.collect();
    while let Some((path, one)) = left.pop() {
        for below in one.get_subcommands() {
            let path = format!("{path} {}", below.get_name());
            commands.push((below.get_name(), path.clone()));
            left.push((path, below));
        }
    }
    commands.extend(OTHER_NAMES.map(|(other, path)| (other, path.to_owned())));
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

fn checked_file(location: &Location, known: &Known) -> Result<Read, ConfigError> {
    let read = Read::at(location, known)?;
    check_values(known.command, &read)?;
    Ok(read)
}

/// Prints the options that change what is measured.
fn print_measuring(read: &Read, settings: &[&Setting]) {
    let is_command =
        |setting: &Setting| setting.option == "vs" && setting.command.as_deref() == Some("exec");
    let looks = |setting: &Setting| LOOKS.contains(&&*setting.option) && !is_command(setting);
    let measuring = settings.iter().filter(|setting| !looks(setting));
    let texts: Vec<String> = measuring.map(|setting| setting.option_text()).collect();
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
    // What it is will be said.
    if command.find_subcommand(name).is_none() {
        return;
    }
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

fn parsed<A: CommandLine>(matches: &ArgMatches) -> A {
    A::from_arg_matches(matches).unwrap_or_else(|error| output::end_with(&error))
}

/// The options of a file, checked.
pub(crate) fn checked(location: &Location) -> Result<Read, ConfigError> {
    let command = arguments::command();
    let read = checked_file(location, &Known { command: &command, program: None })?;
    say_earlier(location, &read);
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, WHOLE};

    #[test]
    fn the_options_of_all_commands_are_built_only_where_they_are_needed() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let config = format!("--config={}", file.path().display());
        for (words, expected) in [
            (["latlas", "exec", "--no-config", "--", "true"], 0),
            (["latlas", "exec", &config, "--", "true"], 1),
            (["latlas", "list", "--no-config", "--json", "cpu.*"], 1),
        ] {
            let before = WHOLE.get();
            let words = words.map(OsString::from).to_vec();
            arguments::<Arguments>(words.clone()).expect("a command line");
            assert_eq!(WHOLE.get() - before, expected, "{words:?}");
        }
    }
}

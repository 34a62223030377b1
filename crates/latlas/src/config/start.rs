//! From the words of the command line to what is asked for.

use super::apply::{check, followed, taking, typed, with_defaults};
use super::{ConfigError, Key, Read, of_user};
use crate::arguments::noise::NoiseCommand;
use crate::arguments::{self, Arguments, Command as Asked};
use crate::output;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, FromArgMatches};

/// Options that may stand before a command.
const OF_ALL: &[&str] = &["config_file", "no_config"];

/// Parses the command line, with the user's configuration under it. Help,
/// versions and mistakes end the program here, as clap has it.
///
/// # Errors
/// A configuration that can't be followed.
pub(crate) fn arguments() -> Result<Arguments, ConfigError> {
    let plain = arguments::command();
    let first = plain.clone().get_matches();
    nothing_lost(&plain, &first);
    let asked = from(&first);
    if !follows(&asked) {
        return Ok(asked);
    }
    let place = of_user(asked.config.file.as_ref(), asked.config.none);
    let followed_file = Read::at(&place).and_then(|read| Ok((check(&plain, &read)?, read)));
    let (mut keys, read) = match followed_file {
        Ok(followed) => followed,
        Err(error) if works_without(&asked) => {
            output::tell(&format!(
                "latlas: warning: {}; going on without the configuration\n",
                output::harmless(error.what())
            ));
            return Ok(asked);
        }
        Err(error) => return Err(error),
    };
    if let Some(directory) = &read.configuration.data_dir {
        atlas::store::keep_below(directory.clone());
    }
    // The environment beats the file.
    let silent = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    keys.retain(|key| !(silent && key.name == "look.color"));
    let keys = followed(&plain, &keys, &first);
    if keys.is_empty() {
        return Ok(asked);
    }
    tell(&read, &keys);
    let (path, _) = typed(&first);
    Ok(from(&with_defaults(plain, &path, &keys).get_matches()))
}

/// Says which of these keys change what is measured: nobody typed them.
fn tell(read: &Read, keys: &[&Key]) {
    let told: Vec<String> = keys
        .iter()
        .filter(|key| key.measures)
        .filter_map(|key| Some(format!("{} = {}", key.name, key.told()?)))
        .collect();
    if let (Some(path), false) = (&read.path, told.is_empty()) {
        let (path, told) = (path.display(), told.join(", "));
        output::tell(&format!("latlas: as {path} has it: {told}\n"));
    }
}

/// Options of `latlas` alone mean nothing before a command, but for those that
/// all commands have: they are refused there, not forgotten.
fn nothing_lost(command: &Command, matches: &ArgMatches) {
    let Some((name, _)) = matches.subcommand() else {
        return;
    };
    let typed = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let lost = command.get_arguments().find(|arg| {
        let id = arg.get_id().as_str();
        !OF_ALL.contains(&id) && typed(id)
    });
    if let Some(lost) = lost.and_then(clap::Arg::get_long) {
        let message = format!(
            "the subcommand '{name}' cannot be used with '--{lost}' before it: write that behind it"
        );
        command
            .clone()
            .error(clap::error::ErrorKind::ArgumentConflict, message)
            .exit();
    }
}

fn from(matches: &ArgMatches) -> Arguments {
    Arguments::from_arg_matches(matches).unwrap_or_else(|error| error.exit())
}

/// What a broken configuration must not keep from working does not read it.
fn follows(asked: &Arguments) -> bool {
    !matches!(
        asked.command,
        Some(Asked::Config(_) | Asked::Completions(_) | Asked::Man(_))
    )
}

/// What must work whatever is wrong with the configuration, though it follows
/// one: it looks at values of the system that a tune set, or puts them back.
fn works_without(asked: &Arguments) -> bool {
    matches!(
        asked.command,
        Some(Asked::Noise(
            NoiseCommand::Show(_) | NoiseCommand::Restore(_)
        ))
    )
}

/// The keys with what this file and this environment make of them, for those
/// who look: each with the commands that take it.
pub(crate) fn checked(read: &Read) -> Result<Vec<(Key, Vec<String>)>, ConfigError> {
    let plain = arguments::command();
    let keys = check(&plain, read)?;
    Ok(keys
        .into_iter()
        .map(|key| {
            let commands = taking(&plain, &key).into_iter().map(|(path, _)| path);
            let commands = commands.collect();
            (key, commands)
        })
        .collect())
}

//! `latlas config`: the user's configuration.

use crate::arguments::config::{ConfigCommand, ConfigOptions};
use crate::config::{Key, Location, Read, checked, of_user, schema};
use crate::{arguments, output, packs};
use anyhow::{Context, bail};
use serde::Serialize;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use store::Place;

/// An example of every key, commented out.
const EXAMPLE: &str = include_str!("../config/example.toml");

/// Runs one of its commands.
pub(crate) fn config(what: &ConfigCommand, options: &ConfigOptions) -> anyhow::Result<ExitCode> {
    let location = of_user(options.file.as_ref(), options.none);
    match what {
        ConfigCommand::Show { json } => show(&location, *json)?,
        ConfigCommand::Path { json } => {
            let path = path(&location)?;
            output::print(&match json {
                true => {
                    serde_json::json!({ "path": path, "exists": path.exists() }).to_string() + "\n"
                }
                false => format!("{}\n", path.display()),
            })?;
        }
        ConfigCommand::Schema => {
            output::print(&(serde_json::to_string_pretty(&schema(&arguments::command()))? + "\n"))?;
        }
        ConfigCommand::Init => init(path(&location)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn path(location: &Location) -> anyhow::Result<&Path> {
    location.path().map(|path| path.as_path()).context(
        "no configuration file: LATLAS_CONFIG is empty, --no-config is given, or XDG_CONFIG_HOME \
         and HOME are not set; choose one with --config FILE",
    )
}

/// Writes the example, unless the file exists.
fn init(path: &Path) -> anyhow::Result<()> {
    if let Some(directory) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("can't create {}", directory.display()))?;
    }
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = match made {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{} exists: left unchanged", path.display())
        }
        made => made.with_context(|| format!("can't create {}", path.display()))?,
    };
    let written = file.write_all(EXAMPLE.as_bytes()).and_then(|()| file.sync_all());
    if let Err(error) = written {
        // An incomplete file would block the next attempt.
        let _ = std::fs::remove_file(path);
        return Err(error).with_context(|| format!("can't write {}", path.display()));
    }
    output::print(&format!("{}\n", path.display()))
}

/// A key as printed.
#[derive(Serialize)]
struct Shown {
    key: &'static str,
    /// `None` if it has no default.
    value: Option<String>,
    /// `file`, `environment`, `built in`.
    from: &'static str,
    /// The line of the file.
    line: Option<usize>,
    /// The file or variable that sets it.
    place: Option<String>,
    /// The commands that have the option.
    commands: Vec<String>,
}

fn show(location: &Location, json: bool) -> anyhow::Result<()> {
    let (read, keys) = checked(location)?;
    let all: Vec<Shown> =
        keys.into_iter().map(|(key, commands)| shown(&read, key, commands)).collect();
    output::print_json_or(json, &all, || text(location, &read, &all))
}

fn text(location: &Location, read: &Read, all: &[Shown]) -> String {
    let mut text = match (&read.path, location.path()) {
        (Some(path), _) => format!("{}\n", path.display()),
        (None, Some(path)) => {
            format!("{} does not exist (create it with `latlas config init`)\n", path.display())
        }
        (None, None) => "no configuration file\n".to_owned(),
    };
    let width = |of: fn(&Shown) -> usize| all.iter().map(of).max().unwrap_or(0);
    let key_width = width(|one| one.key.len());
    let value_width = width(|one| one.value.as_deref().unwrap_or("-").chars().count());
    for one in all {
        let from = match (one.line, &one.place) {
            (Some(line), _) => format!("line {line}"),
            (None, Some(place)) => place.clone(),
            (None, None) => one.from.to_owned(),
        };
        let value = output::harmless(one.value.as_deref().unwrap_or("-"));
        text.push_str(&format!("  {:key_width$}  {value:value_width$}  {from}\n", one.key));
    }
    text
}

fn shown(read: &Read, key: &Key, commands: Vec<String>) -> Shown {
    let by_environment = match key.name {
        "data_dir" => variable("LATLAS_DATA_DIR"),
        "store" => variable("LATLAS_STORE"),
        "look.color" => variable("NO_COLOR").map(|(name, _)| (name, "never".to_owned())),
        _ => None,
    };
    let (value, from, line, place) = match (by_environment, read.setting(key)) {
        (Some((name, value)), _) => (Some(value), "environment", None, Some(name.to_owned())),
        (None, Some(setting)) => (
            Some(setting.text()),
            "file",
            Some(setting.line),
            read.path.clone().map(|path| path.display().to_string()),
        ),
        (None, None) => (built_in(key, &commands), "built in", None, None),
    };
    let value = match key.name {
        // It may contain a password.
        "store" => value.map(|url| Place::parse(&url).to_string()),
        _ => value,
    };
    let commands = commands.into_iter().map(|path| match path.is_empty() {
        true => "latlas".to_owned(),
        false => format!("latlas {path}"),
    });
    Shown { key: key.name, value, from, line, place, commands: commands.collect() }
}

fn variable(name: &'static str) -> Option<(&'static str, String)> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
    Some((name, value.to_string_lossy().into_owned()))
}

/// The default of the option.
fn built_in(key: &Key, commands: &[String]) -> Option<String> {
    match key.name {
        "data_dir" => store::data_dir().ok().map(|path| path.display().to_string()),
        "packs_dir" => packs::directory().map(|path| path.display().to_string()),
        "store" => None,
        "run.scale" => Some("default".to_owned()),
        _ => {
            let mut command = arguments::command();
            let path = commands.first()?;
            let mut inner = &mut command;
            for name in path.split_whitespace() {
                inner = inner.find_subcommand_mut(name)?;
            }
            let option = key.option_of("")?;
            let arg = inner.get_arguments().find(|arg| arg.get_id() == option)?;
            let first = arg.get_default_values().first()?;
            Some(first.to_string_lossy().into_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::KEYS;

    fn parse(text: &str) -> Read {
        Read::parse(Path::new("example.toml"), text, &arguments::command()).expect("TOML")
    }

    #[test]
    fn the_example_is_commented_out_and_has_a_valid_value_of_every_key() {
        assert_eq!(parse(EXAMPLE).settings, []);
        let lines = EXAMPLE.lines().map(|line| {
            let key = line.strip_prefix("# ").filter(|rest| {
                let name = rest.split(" = ").next().unwrap_or_default();
                rest.contains(" = ") && !name.contains(' ')
            });
            key.unwrap_or(line)
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        let keys: Vec<&Key> = parse(&text).settings.iter().map(|one| one.key).collect();
        assert_eq!(keys, KEYS.iter().collect::<Vec<_>>());
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("config.toml");
        std::fs::write(&path, text).expect("written");
        let (_, keys) = checked(&Location::Given(path)).expect("valid");
        let taken = |(key, commands): &(&Key, Vec<String>)| {
            !commands.is_empty() || ["data_dir", "packs_dir", "store"].contains(&key.name)
        };
        assert!(keys.iter().all(taken), "{keys:?}");
    }
}

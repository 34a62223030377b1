//! `latlas config`: what the user's configuration is, and comes to.

use crate::arguments::config::{ConfigCommand, ConfigOptions};
use crate::config::{Key, Place, Read, checked, of_user, schema};
use crate::{arguments, output};
use anyhow::{Context, bail};
use serde::Serialize;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

/// An example of every key, all of it commented out.
const EXAMPLE: &str = include_str!("../config/example.toml");

/// Does what is asked.
pub(crate) fn config(what: &ConfigCommand, options: &ConfigOptions) -> anyhow::Result<ExitCode> {
    let place = of_user(options.file.as_ref(), options.none);
    match what {
        ConfigCommand::Show { json } => output::print(&show(&place, *json)?)?,
        ConfigCommand::Path { json } => {
            let path = path(&place)?;
            output::print(&match json {
                true => {
                    serde_json::json!({ "path": path, "exists": path.exists() }).to_string() + "\n"
                }
                false => format!("{}\n", path.display()),
            })?;
        }
        ConfigCommand::Schema => {
            output::print(&(serde_json::to_string_pretty(&schema())? + "\n"))?;
        }
        ConfigCommand::Init => init(path(&place)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn path(place: &Place) -> anyhow::Result<&Path> {
    place.path().map(|path| path.as_path()).context(
        "no configuration is looked for: LATLAS_CONFIG is empty, --no-config is given, or neither \
         XDG_CONFIG_HOME nor HOME is set; name a file with --config",
    )
}

/// Writes the example, unless something is there.
fn init(path: &Path) -> anyhow::Result<()> {
    if let Some(directory) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("can't create {}", directory.display()))?;
    }
    let made = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path);
    let mut file = match made {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{} is there already, and is kept as it is", path.display())
        }
        made => made.with_context(|| format!("can't create {}", path.display()))?,
    };
    let written = file
        .write_all(EXAMPLE.as_bytes())
        .and_then(|()| file.sync_all());
    if let Err(error) = written {
        // Half an example would be in the way of the next try.
        let _ = std::fs::remove_file(path);
        return Err(error).with_context(|| format!("can't write {}", path.display()));
    }
    output::print(&format!("{}\n", path.display()))
}

/// A key as it is shown.
#[derive(Serialize)]
struct Shown {
    key: &'static str,
    /// None where nothing stands for it.
    value: Option<String>,
    /// `file`, `environment`, `built in`.
    from: &'static str,
    /// The line of the file.
    line: Option<usize>,
    /// What names it: the file, or a variable.
    place: Option<String>,
    /// The commands that take it, without `latlas`.
    commands: Vec<String>,
}

fn show(place: &Place, json: bool) -> anyhow::Result<String> {
    let read = Read::at(place)?;
    let all: Vec<Shown> = checked(&read)?
        .into_iter()
        .map(|(key, commands)| shown(&read, &key, commands))
        .collect();
    if json {
        return Ok(serde_json::to_string_pretty(&all)? + "\n");
    }
    let mut text = match (&read.path, place.path()) {
        (Some(path), _) => format!("{}\n", path.display()),
        (None, Some(path)) => format!("{} is not there (latlas config init)\n", path.display()),
        (None, None) => "no configuration is looked for\n".to_owned(),
    };
    let width = |of: fn(&Shown) -> usize| all.iter().map(of).max().unwrap_or(0);
    let key_width = width(|one| one.key.len());
    let value_width = width(|one| one.value.as_deref().unwrap_or("-").chars().count());
    for one in &all {
        let from = match (one.line, &one.place) {
            (Some(line), _) => format!("line {line}"),
            (None, Some(place)) => place.clone(),
            (None, None) => one.from.to_owned(),
        };
        let value = output::harmless(one.value.as_deref().unwrap_or("-"));
        text.push_str(&format!(
            "  {:key_width$}  {value:value_width$}  {from}\n",
            one.key
        ));
    }
    Ok(text)
}

fn shown(read: &Read, key: &Key, commands: Vec<String>) -> Shown {
    let by_environment = match key.name {
        "data_dir" => variable("LATLAS_DATA_DIR"),
        "look.color" => variable("NO_COLOR").map(|(name, _)| (name, "never".to_owned())),
        _ => None,
    };
    let (value, from, line, place) = match (by_environment, key.told()) {
        (Some((name, value)), _) => (Some(value), "environment", None, Some(name.to_owned())),
        (None, Some(told)) => (
            Some(told),
            "file",
            read.line(key.name),
            read.path.clone().map(|path| path.display().to_string()),
        ),
        (None, None) => (built_in(key, &commands), "built in", None, None),
    };
    let commands = commands.into_iter().map(|path| match path.is_empty() {
        true => "latlas".to_owned(),
        false => format!("latlas {path}"),
    });
    Shown {
        key: key.name,
        value,
        from,
        line,
        place,
        commands: commands.collect(),
    }
}

fn variable(name: &'static str) -> Option<(&'static str, String)> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
    Some((name, value.to_string_lossy().into_owned()))
}

/// What stands where nothing else is said.
fn built_in(key: &Key, commands: &[String]) -> Option<String> {
    match key.name {
        "data_dir" => atlas::store::data_dir()
            .ok()
            .map(|path| path.display().to_string()),
        "run.scale" => Some("default".to_owned()),
        _ => {
            let mut command = arguments::command();
            let path = commands.first()?;
            let mut found = &mut command;
            for name in path.split_whitespace() {
                found = found.find_subcommand_mut(name)?;
            }
            let option = key.option?;
            let arg = found.get_arguments().find(|arg| arg.get_id() == option)?;
            let first = arg.get_default_values().first()?;
            Some(first.to_string_lossy().into_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Configuration, keys};

    /// The example as somebody has it who wants all of it.
    fn uncommented() -> String {
        let lines = EXAMPLE.lines().map(|line| {
            let key = line.strip_prefix("# ").filter(|rest| {
                let name = rest.split(" = ").next().unwrap_or_default();
                rest.contains(" = ") && !name.contains(' ')
            });
            key.unwrap_or(line)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_example_alone_changes_nothing() {
        let read = Read::parse(Path::new("example.toml"), EXAMPLE.into()).expect("TOML");
        assert_eq!(read.configuration, Configuration::default());
    }

    #[test]
    fn the_example_names_every_key_with_a_value_that_is_taken() {
        let read = Read::parse(Path::new("example.toml"), uncommented()).expect("TOML");
        for key in keys(&read.configuration) {
            assert!(key.values.is_some(), "{} is in no example", key.name);
            assert!(read.line(key.name).is_some(), "{}", key.name);
        }
        if let Err(error) = checked(&read) {
            panic!("{error}");
        }
    }

    #[test]
    fn every_key_is_a_default_of_some_option() {
        let read = Read::parse(Path::new("example.toml"), uncommented()).expect("TOML");
        for (key, commands) in checked(&read).expect("taken") {
            assert!(
                !commands.is_empty() || key.name == "data_dir",
                "{}",
                key.name
            );
        }
    }
}

//! `latlas config`: the user's configuration.

use crate::arguments::config::{ConfigCommand, ConfigOptions};
use crate::config::{Location, Read, checked, of_user};
use crate::output;
use anyhow::{Context, bail};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use store::Place;

/// An example, commented out.
const EXAMPLE: &str = include_str!("../config/example");

pub(crate) fn config(what: &ConfigCommand, options: &ConfigOptions) -> anyhow::Result<ExitCode> {
    let location = of_user(options.file.as_ref(), options.none);
    match what {
        ConfigCommand::Show { json } => show_location(&location, *json)?,
        ConfigCommand::Path { json } => {
            let path = config_path(&location)?;
            output::print(&match json {
                true => {
                    serde_json::json!({ "path": path, "exists": path.exists() }).to_string() + "\n"
                }
                false => format!("{}\n", path.display()),
            })?;
        }
        ConfigCommand::Init => init(config_path(&location)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn config_path(location: &Location) -> anyhow::Result<&Path> {
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

fn show_location(location: &Location, json: bool) -> anyhow::Result<()> {
    let mut read = checked(location)?;
    for setting in &mut read.settings {
        let is_store = setting.option == "store";
        setting.values.iter_mut().for_each(|value| {
            *value = match is_store {
                true => Place::parse(value).to_string(),
                false => without_passwords(value),
            }
        });
    }
    output::print_json_or(json, &read.settings, || config_text(location, &read))
}

/// What the name of a secret contains.
const SECRETS: [&str; 3] = ["passw", "secret", "token"];

/// A value, which may be a command line, without passwords: those of URLs, and what follows a name of
/// one (`password=`, `--token`).
fn without_passwords(value: &str) -> String {
    let names_one = |word: &str| SECRETS.iter().any(|name| word.to_lowercase().contains(name));
    let mut follows_name = false;
    let word = |word: &str| {
        let key = word.split_once('=').map(|(key, _)| key).filter(|key| names_one(key));
        let hidden = std::mem::replace(&mut follows_name, word.starts_with('-') && names_one(word));
        match (key, word.find("://")) {
            (Some(key), _) => {
                follows_name = false;
                format!("{key}=...")
            }
            _ if hidden => "...".into(),
            (None, Some(at)) => {
                let in_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
                let scheme = word[..at].trim_end_matches(in_scheme).len();
                format!("{}{}", &word[..scheme], Place::parse(&word[scheme..]))
            }
            (None, None) => word.to_owned(),
        }
    };
    value.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn config_text(location: &Location, read: &Read) -> String {
    let mut text = match (&read.path, location.path()) {
        (Some(path), _) => format!("{}\n", path.display()),
        (None, Some(path)) => {
            format!("{} does not exist (create it with `latlas config init`)\n", path.display())
        }
        (None, None) => "no configuration file\n".to_owned(),
    };
    for setting in &read.settings {
        let of = setting.command.as_deref().map_or(String::new(), |of| format!("{of} "));
        let option = setting.option_text();
        text.push_str(&format!("  line {:<3}  {of}{}\n", setting.line, output::harmless(&option)));
    }
    for (line, command) in &read.elsewhere {
        text.push_str(&format!("  line {line:<3}  {command}: read by latlas-{command}\n"));
    }
    for name in ["LATLAS_STORE", "LATLAS_DATA_DIR", "NO_COLOR"] {
        if let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) {
            let value = Place::parse(&value.to_string_lossy()).to_string();
            let value = output::harmless(&value);
            text.push_str(&format!("  {name}={value} takes precedence\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_is_shown_with_its_password() {
        for (value, shown) in [
            ("cpu.*", "cpu.*"),
            ("a  b=c d:e", "a  b=c d:e"),
            ("https://me:s3cret@lab/page", "https://me@lab/page"),
            ("curl --url=https://me:s3cret@lab/x -s", "curl --url=https://me@lab/x -s"),
            ("psql password=s3cret", "psql password=..."),
            ("run --api-token s3cret --quick", "run --api-token ... --quick"),
            ("run --PASSWORD=s3cret now", "run --PASSWORD=... now"),
        ] {
            assert_eq!(without_passwords(value), shown);
        }
    }

    #[test]
    fn the_example_is_commented_out_and_each_line_of_it_is_valid() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("config");
        let of = |text: &str| {
            std::fs::write(&path, text).expect("written");
            checked(&Location::Given(path.clone())).expect("valid")
        };
        assert_eq!(of(EXAMPLE).settings, []);
        let lines = EXAMPLE.lines().map(|line| line.strip_prefix("#: ").unwrap_or(line));
        let all = of(&lines.collect::<Vec<_>>().join("\n"));
        // One option stands in each line of another program.
        let options = all.settings.len() + all.elsewhere.len();
        assert_eq!(options, EXAMPLE.matches("--").count(), "{all:?}");
    }
}

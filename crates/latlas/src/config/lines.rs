//! Reading the file: each line is options, behind the command that gets them, or of all commands that have
//! them. Errors name the line.

use super::Location;
use crate::programs;
use clap::{Arg, ArgAction, Command};
use model::nearest::suggestion;
use model::phrases::cut;
use std::path::{Path, PathBuf};
use store::Place;
use sys::trust;

/// Limit of the file's size.
const MAX_BYTES: u64 = 1 << 20;
/// Options that choose the file: it can't.
const NOT_HERE: &[&str] = &["config_file", "no_config"];
/// Options that are not the same to each command that has them, though they look alike.
const OF_ONE: &[&str] = &[
    "budget",
    "connections",
    "cpus",
    "for",
    "force",
    "format",
    "full",
    "jobs",
    "keep",
    "last",
    "listen",
    "machine",
    "name",
    "out",
    "rounds",
    "rows",
];

/// The command line that lines are for.
pub(crate) struct Known<'c> {
    pub(crate) command: &'c Command,
    /// The program beside latlas whose it is; `None` of latlas.
    pub(crate) program: Option<&'static str>,
}

impl Known<'_> {
    /// Whether a line that begins with this word is another program's.
    fn is_elsewhere(&self, word: &str) -> bool {
        match self.program {
            Some(_) => self.command.find_subcommand(word).is_none(),
            None => self.command.find_subcommand(word).is_none() && programs::is_known(word),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Read {
    /// Its path; `None` if there is no file.
    pub(crate) path: Option<PathBuf>,
    /// Its options, in the order of the lines.
    pub(crate) settings: Vec<Setting>,
    /// Lines that another program reads, with the command that they begin with.
    pub(crate) elsewhere: Vec<(usize, String)>,
}

/// An option with its values in the file.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub(crate) struct Setting {
    /// The line in the file.
    pub(crate) line: usize,
    /// The command that gets it, as typed behind `latlas`; `None` for all that have it.
    pub(crate) command: Option<String>,
    /// Its name, without dashes.
    pub(crate) option: String,
    /// Its values; none of a flag.
    pub(crate) values: Vec<String>,
}

impl Setting {
    /// The option as typed.
    pub(crate) fn option_text(&self) -> String {
        let own = |value: &String| match shlex::try_quote(value) {
            Ok(value) => format!("--{} {value}", self.option),
            Err(_) => format!("--{} ?", self.option),
        };
        match self.values.is_empty() {
            true => format!("--{}", self.option),
            false => self.values.iter().map(own).collect::<Vec<_>>().join(" "),
        }
    }
}

/// An error in the configuration: one line with file and line number.
#[derive(Debug, thiserror::Error)]
#[error("{0} (fix it, or ignore it with --no-config)")]
pub(crate) struct ConfigError(String);

impl ConfigError {
    /// The error without what to do.
    pub(crate) fn what(&self) -> &str {
        &self.0
    }
}

/// Why a line is none.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum WrongLine {
    #[error("a quote is not closed")]
    Quote,
    #[error("no command {name:?}{near}")]
    NoCommand { name: String, near: String },
    #[error("{0:?} is not an option: write --NAME, --NAME VALUE or --NAME=VALUE")]
    NotAnOption(String),
    #[error("{0} without an option sets nothing")]
    Nothing(String),
    #[error("no option --{name}{of}{near}")]
    NoOption { name: String, of: String, near: String },
    #[error("--{0} can't be set here")]
    NotHere(String),
    #[error("--{0} must be typed: the command can't do without")]
    Required(String),
    #[error("--{0} needs a value")]
    NoValue(String),
    #[error("--{0} without a value can't be set here: write --{0}=VALUE")]
    NotBare(String),
    #[error("--{name} means different things: write it after a command, as `{example}`")]
    OfOne { name: String, example: String },
    #[error("--{0} has no value")]
    HasNoValue(String),
}

impl Read {
    /// Reads the file; a default file that does not exist is empty.
    pub(crate) fn at(location: &Location, known: &Known) -> Result<Read, ConfigError> {
        let Some(path) = location.path() else {
            return Ok(Read::default());
        };
        let path_text = path.display();
        match trust::read_text(path, MAX_BYTES) {
            Ok(text) => Read::parse(path, &text, known),
            // The home may be unreadable or not a directory: then there is no file.
            Err(_) if matches!(location, Location::Default(_)) && !path.exists() => {
                Ok(Read::default())
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(ConfigError(format!("no configuration file {path_text}")))
            }
            Err(error) => {
                Err(ConfigError(format!("can't read the configuration {path_text}: {error}")))
            }
        }
    }

    /// Parses the text of a file.
    pub(crate) fn parse(path: &Path, text: &str, known: &Known) -> Result<Read, ConfigError> {
        let mut read = Read { path: Some(path.to_owned()), ..Read::default() };
        for (line, text) in text.lines().enumerate().map(|(at, text)| (at + 1, text.trim())) {
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let first = text.split_whitespace().next().filter(|first| !first.starts_with('-'));
            if let Some(first) = first.filter(|first| known.is_elsewhere(first)) {
                read.elsewhere.push((line, first.to_owned()));
                continue;
            }
            match settings(line, text, known.command) {
                Ok(settings) => read.settings.extend(settings),
                // An option of all commands that have it, and none of these.
                Err(WrongLine::NoOption { of, .. }) if known.program.is_some() && of.is_empty() => {
                }
                Err(why) => return Err(read.wrong(line, why)),
            }
        }
        Ok(read)
    }

    pub(super) fn wrong(&self, line: usize, why: impl std::fmt::Display) -> ConfigError {
        let path = self.path.as_deref().unwrap_or(Path::new("-"));
        ConfigError(format!("{}:{line}: {why}", path.display()))
    }
}

fn settings(line: usize, text: &str, command: &Command) -> Result<Vec<Setting>, WrongLine> {
    let words = shlex::split(text).ok_or(WrongLine::Quote)?;
    let names = words.iter().position(|word| word.starts_with('-')).unwrap_or(words.len());
    let (names, options) = words.split_at(names);
    let mut own = command;
    for name in names {
        own = own.find_subcommand(name).ok_or_else(|| {
            let near = suggestion(name, own.get_subcommands().map(Command::get_name));
            WrongLine::NoCommand { name: shown(name), near }
        })?;
    }
    let path = (!names.is_empty()).then(|| names.join(" "));
    if options.is_empty() {
        return Err(WrongLine::Nothing(names.join(" ")));
    }
    let mut settings = Vec::new();
    let mut words = options.iter().peekable();
    while let Some(word) = words.next() {
        let option = word.strip_prefix("--").filter(|name| !name.is_empty());
        let option = option.ok_or_else(|| WrongLine::NotAnOption(shown(word)))?;
        let (name, inline) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option, None),
        };
        let of = if path.is_some() { vec![own] } else { with_option(command, name) };
        let found = of.iter().find_map(|of| Some((*of, long(of, name)?)));
        let (of, arg) = found.ok_or_else(|| no_option(option, path.as_deref(), own))?;
        let name = || name.to_owned();
        if NOT_HERE.contains(&arg.get_id().as_str()) {
            return Err(WrongLine::NotHere(name()));
        }
        // The typed words are parsed before the file is read.
        if arg.is_required_set() {
            return Err(WrongLine::Required(name()));
        }
        if path.is_none() && arg.get_long().is_some_and(|long| OF_ONE.contains(&long)) {
            return Err(WrongLine::OfOne { name: name(), example: example(command, &name()) });
        }
        let values = match (arg.get_action(), inline) {
            (ArgAction::SetTrue, None) => Vec::new(),
            (ArgAction::SetTrue, Some(_)) => return Err(WrongLine::HasNoValue(name())),
            (ArgAction::Set | ArgAction::Append, Some(value)) => vec![value],
            (ArgAction::Set | ArgAction::Append, None) => {
                let is_value =
                    |next: &&String| !arg.is_require_equals_set() && !next.starts_with("--");
                let bare = arg.get_num_args().is_some_and(|values| values.min_values() == 0);
                vec![match words.next_if(is_value) {
                    Some(value) => value.clone(),
                    None if bare => left_out(of, arg).ok_or_else(|| WrongLine::NotBare(name()))?,
                    None => return Err(WrongLine::NoValue(name())),
                }]
            }
            _ => return Err(WrongLine::NotHere(name())),
        };
        settings.push(Setting { line, command: path.clone(), option: name(), values });
    }
    Ok(settings)
}

/// The value of an option that is typed without one.
fn left_out(of: &Command, arg: &Arg) -> Option<String> {
    let words = [of.get_name().to_owned(), format!("--{}", arg.get_long()?)];
    let matches = of.clone().ignore_errors(true).try_get_matches_from(words).ok()?;
    let mut values = matches.try_get_raw(arg.get_id().as_str()).ok()??;
    values.next()?.to_str().map(str::to_owned)
}

/// How an option stands after the first command that has it.
fn example(command: &Command, name: &str) -> String {
    let found = commands_by_path(command).into_iter().find_map(|(path, of)| {
        let arg = long(of, name).filter(|_| !path.is_empty())?;
        let names = arg.get_value_names().filter(|_| arg.get_action().takes_values());
        let value = names.and_then(|names| names.first());
        let value = value.map_or(String::new(), |value| format!(" {value}"));
        Some(format!("{path} --{name}{value}"))
    });
    found.unwrap_or_else(|| format!("COMMAND --{name}"))
}

/// A word as errors show it, without what may be a password: that of a URL, also without its scheme, or
/// what follows a name.
pub(super) fn shown(word: &str) -> String {
    let place = Place::parse(word);
    let text = place.to_string();
    let may_hide = text.contains(['=', '@']) || text.contains("://");
    match place {
        Place::Directory(_) if may_hide => cut(text.split(['=', ':']).next().unwrap_or_default()),
        _ => cut(&text),
    }
}

fn no_option(option: &str, path: Option<&str>, own: &Command) -> WrongLine {
    let name = option.split('=').next().unwrap_or_default();
    let known = own.get_arguments().filter_map(Arg::get_long);
    let near = suggestion(name, known);
    let of = path.map_or(String::new(), |path| format!(" of latlas {path}"));
    WrongLine::NoOption { name: shown(option), of, near }
}

pub(super) fn long<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| {
        let mut aliases = arg.get_all_aliases().into_iter().flatten();
        arg.get_long() == Some(name) || aliases.any(|alias| alias == name)
    })
}

/// The commands with this option and one meaning of it, that of the first of them: to `exec`, `--vs` is a
/// command.
pub(super) fn with_option<'a>(command: &'a Command, name: &str) -> Vec<&'a Command> {
    let value = |of: &'a Command| long(of, name).map(Arg::get_value_names);
    let mut all = commands_by_path(command);
    all.retain(|(_, command)| value(command).is_some());
    let first = all.first().and_then(|(_, first)| value(first));
    let same = all.into_iter().filter(|(_, command)| value(command) == first);
    same.map(|(_, command)| command).collect()
}

/// Every command by its path, in the order of the help.
pub(super) fn commands_by_path(command: &Command) -> Vec<(String, &Command)> {
    fn into<'a>(command: &'a Command, path: &str, commands: &mut Vec<(String, &'a Command)>) {
        commands.push((path.to_owned(), command));
        for inner in command.get_subcommands() {
            into(inner, &below(path, inner.get_name()), commands);
        }
    }
    let mut commands = Vec::new();
    into(command, "", &mut commands);
    commands
}

/// The path of a command below another.
pub(super) fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path} {name}") }
}

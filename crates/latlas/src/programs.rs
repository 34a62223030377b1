//! Programs beside latlas: `latlas NAME` runs `latlas-NAME` from the directory of latlas or from PATH, as git and
//! cargo do. latlas knows nothing of them but, for messages, which of them have a package.

use crate::arguments::config::ConfigOptions;
use anyhow::bail;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use sys::programs::{NotFound, find};

/// Programs of packages of their own: the command, and what it does.
const PACKAGED: [(&str, &str); 2] = [
    ("fleet", "Measure the same rows on many hosts, and report them"),
    ("serve", "Serve stored runs over HTTP"),
];

/// What every program's name begins with.
const PREFIX: &str = "latlas-";
/// Programs that latlas runs for itself, and no command: stores.
const NOT_COMMANDS: &str = "store-";

/// Process and version of the latlas that runs a program, for it to compare with its own. A program takes the place of
/// the process that runs it; what it starts itself inherits this and is another one.
const CALLER: &str = "LATLAS_CALLER";
/// Makes a program write its manual pages to a directory: `latlas-fleet __man DIRECTORY`.
const MANUAL: &str = "__man";

/// Runs `latlas-NAME` in the place of this process, for `latlas NAME ARGUMENTS`; returns where there is no such command.
///
/// # Errors
/// That it is not there though a package has it, or that it can't be started.
pub(crate) fn run(
    name: &OsStr,
    arguments: &[OsString],
    options: &ConfigOptions,
) -> anyhow::Result<()> {
    let program = match find(&program_of(name)) {
        Ok(program) => program,
        Err(untrusted @ NotFound::Untrusted { .. }) => return Err(untrusted.into()),
        Err(missing) if is_packaged(&name.to_string_lossy()) => {
            let package = program_of(name);
            bail!("{missing}: install the package {package} (latlas help install)");
        }
        Err(NotFound::Missing(_)) => return Ok(()),
    };
    let mut command = Command::new(&program);
    if let Some(file) = &options.file {
        command.arg("--config").arg(file);
    }
    if options.none {
        command.arg("--no-config");
    }
    if let Some(store) = &options.store {
        command.arg("--store").arg(store);
    }
    command.args(arguments);
    Err(replaced_by(command, &program))
}

/// Becomes this program; why it can't.
fn replaced_by(mut command: Command, program: &Path) -> anyhow::Error {
    command.env(CALLER, format!("{} {}", std::process::id(), env!("CARGO_PKG_VERSION")));
    let why = std::os::unix::process::CommandExt::exec(&mut command);
    anyhow::Error::new(why).context(format!("can't start {}", program.display()))
}

fn program_of(name: &OsStr) -> String {
    format!("{PREFIX}{}", name.to_string_lossy())
}

/// The commands of programs that have a package.
pub(crate) fn packaged_names() -> impl Iterator<Item = &'static str> {
    PACKAGED.iter().map(|(name, _)| *name)
}

fn is_packaged(name: &str) -> bool {
    packaged_names().any(|own| own == name)
}

/// Whether a command is one of a program beside latlas: one that is there, or that a package brings.
pub(crate) fn is_known(name: &str) -> bool {
    is_packaged(name) || find(&program_of(name.as_ref())).is_ok()
}

/// Refuses to work for a latlas of another version: they share documents and an index.
///
/// # Errors
/// Both versions.
pub(crate) fn check_caller(program: Option<&str>) -> anyhow::Result<()> {
    let own = env!("CARGO_PKG_VERSION");
    let set = std::env::var(CALLER).unwrap_or_default();
    let caller = set.strip_prefix(&format!("{} ", std::process::id()));
    match (program, caller) {
        (Some(name), Some(caller)) if caller != own => bail!(
            "latlas is version {caller} and {PREFIX}{name} is version {own}: install one version of both"
        ),
        _ => Ok(()),
    }
}

/// The words of `latlas-NAME ARGUMENTS` as those of `latlas NAME ARGUMENTS`.
pub(crate) fn with_name(
    program: Option<&str>,
    words: impl Iterator<Item = OsString>,
) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    if let Some(name) = program.filter(|name| words.get(1).is_none_or(|first| first != name)) {
        words.insert(words.len().min(1), name.into());
    }
    words
}

/// The directory for manual pages, if the words of a program ask for them.
pub(crate) fn manual_asked(words: &[OsString]) -> Option<&Path> {
    match words {
        [_, _, asks, directory] if asks == MANUAL => Some(Path::new(directory)),
        _ => None,
    }
}

/// The program whose command line a shell asks completions for: of `latlas fleet sub`, that of `fleet`.
pub(crate) fn complete_by_program(own: &clap::Command) -> Option<anyhow::Error> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let typed = words.iter().position(|word| word == "--")?;
    let name = words.get(typed + 2)?;
    // The word that is being typed is the last one.
    if words.len() < typed + 4 || own.find_subcommand(name).is_some() {
        return None;
    }
    let program = find(&program_of(name)).ok()?;
    let mut command = Command::new(&program);
    command.args(&words[1..]);
    Some(replaced_by(command, &program))
}

/// Commands of programs for a list of commands: those of packages, each with whether it is there; and all others
/// that are next to latlas or on PATH.
pub(crate) fn listed() -> (Vec<(&'static str, &'static str, bool)>, Vec<String>) {
    let packaged =
        PACKAGED.map(|(name, about)| (name, about, find(&program_of(name.as_ref())).is_ok()));
    let names =
        sys::programs::directories().into_iter().filter_map(|directory| directory.read_dir().ok());
    let names = names.flatten().flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        Some(name.strip_prefix(PREFIX)?.to_owned())
    });
    let is_other = |name: &String| !is_packaged(name) && !name.starts_with(NOT_COMMANDS);
    let others: BTreeSet<String> = names.filter(is_other).collect();
    let there = |name: &String| find(&program_of(name.as_ref())).is_ok();
    (packaged.into(), others.into_iter().filter(there).collect())
}

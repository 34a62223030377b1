//! `latlas completions`: a script that makes a shell ask this program for completions, and the
//! answers.

use crate::arguments::completions::CompletionsOptions;
use crate::{catalogue, config, output, programs, selection};
use anyhow::Context;
use clap::builder::StyledStr;
use clap::{Arg, Command};
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::{CompleteEnv, Shells};
use compare::references::References;
use model::overview::OVERVIEW;
use model::phrases::short_id;
use references::reference_names;
use std::ffi::OsStr;
use std::io::Write;
use std::process::ExitCode;
use store::Store;

/// Set by the script to the shell's name when it asks.
const VARIABLE: &str = "LATLAS_COMPLETE";

/// Newest runs whose ids are offered; any other is found by its beginning too.
const NEWEST: usize = 10;

pub(crate) fn completions(options: &CompletionsOptions) -> anyhow::Result<ExitCode> {
    let name = options.shell.to_string();
    let shells = Shells::builtins();
    let shell = shells.completer(&name).context("unknown shell")?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "latlas", "latlas", "latlas", &mut script)?;
    output::print(&String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Answers a shell that asks, if one does.
pub(crate) fn answered(command: fn() -> Command) -> anyhow::Result<bool> {
    // A shell that asks says so; any other command is spared the rest.
    if std::env::var_os(VARIABLE).is_none() {
        return Ok(false);
    }
    if let Some(error) = programs::complete_by_program(&command()) {
        return Err(error);
    }
    let directory = std::env::current_dir().ok();
    let factory = || with_programs(with_values(command()));
    let asked = CompleteEnv::with_factory(factory).var(VARIABLE);
    let answered = asked.try_complete(std::env::args_os(), directory.as_deref())?;
    // Words without a line's end are still in the buffer.
    std::io::stdout().flush()?;
    Ok(answered)
}

/// The command line of latlas with the commands of programs beside it.
fn with_programs(command: Command) -> Command {
    if command.find_subcommand("run").is_none() {
        return command;
    }
    let (packaged, others) = programs::listed();
    let there = packaged.into_iter().filter(|(_, _, there)| *there);
    let command = there
        .fold(command, |all, (name, about, _)| all.subcommand(Command::new(name).about(about)));
    others.into_iter().fold(command, |all, name| all.subcommand(Command::new(name)))
}

/// The command line with the values that its arguments can have.
fn with_values(command: Command) -> Command {
    command.mut_args(with_values_of).mut_subcommands(with_values)
}

fn with_values_of(arg: Arg) -> Arg {
    let names = arg.get_value_names().unwrap_or_default();
    let value = names.first().map(|name| name.as_str()).unwrap_or_default();
    match (value, arg.get_id().as_str()) {
        ("ROW" | "PATTERN", _) | (_, "row") => arg.add(ArgValueCandidates::new(row_candidates)),
        ("TOPIC", _) => arg.add(ArgValueCandidates::new(topics)),
        ("TABLE", _) => arg.add(ArgValueCandidates::new(layouts)),
        ("NAME", "vs") => arg.add(ArgValueCompleter::new(references_beginning)),
        ("CONTROL", _) => arg.add(ArgValueCandidates::new(controls)),
        ("NAME", "only") => arg.add(ArgValueCandidates::new(tunable)),
        ("NAME", "name" | "remove") => arg.add(ArgValueCandidates::new(tags)),
        ("RUN" | "TAG|RUN", _) => {
            arg.add(ArgValueCompleter::new(|typed: &OsStr| or_file(run_candidates(), typed)))
        }
        ("A" | "B" | "RUN|TABLE", _) => arg.add(ArgValueCompleter::new(|typed: &OsStr| {
            let references = references_beginning(typed);
            or_file(run_candidates().into_iter().chain(references).collect(), typed)
        })),
        _ => arg,
    }
}

/// The candidates that begin as typed, and files.
fn or_file(candidates: Vec<CompletionCandidate>, typed: &OsStr) -> Vec<CompletionCandidate> {
    let beginning = typed.to_string_lossy();
    let begins = |one: &CompletionCandidate| {
        let value = one.get_value().to_string_lossy();
        value.starts_with(&*beginning)
    };
    let own = candidates.into_iter().filter(begins);
    own.chain(PathCompleter::file().complete(typed)).collect()
}

fn candidate(value: impl Into<String>, help: impl Into<String>) -> CompletionCandidate {
    let help: StyledStr = help.into().into();
    CompletionCandidate::new(value.into()).help(Some(help))
}

/// Groups, and names of rows, levels, points and probes, with their titles.
fn row_candidates() -> Vec<CompletionCandidate> {
    let groups = probes::GROUPS.iter();
    let mut all: Vec<(String, String)> = groups
        .map(|group| ((*group).to_owned(), format!("all rows of {group}")))
        .chain([(OVERVIEW.to_owned(), "the rows that `latlas` measures".to_owned())])
        .collect();
    for probe in catalogue::texts(&probes::catalogue()) {
        for name in selection::ids(&probe) {
            if !all.iter().any(|(known, _)| *known == name) {
                all.push((name, probe.title.clone()));
            }
        }
    }
    all.into_iter().map(|(name, title)| candidate(name, title)).collect()
}

/// Pages of `latlas help`.
fn topics() -> Vec<CompletionCandidate> {
    let pages = crate::pages::all_pages();
    pages.iter().map(|page| candidate(page.topic, page.title())).collect()
}

/// Published tables that can be filled in.
fn layouts() -> Vec<CompletionCandidate> {
    let references = References::embedded();
    let layouts = references.iter().flat_map(|all| &all.layouts);
    layouts.map(|table| candidate(&table.key, &table.title)).collect()
}

/// References that can be compared with: before anything is typed the published tables, then every cloud type,
/// board and CPU that begins so.
fn references_beginning(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Ok(tables) = References::embedded() else {
        return Vec::new();
    };
    let beginning = typed.to_string_lossy().to_lowercase();
    let names = match beginning.is_empty() {
        true => tables.keys().into_iter().map(str::to_owned).collect(),
        false => reference_names(&tables).unwrap_or_default(),
    };
    let begins = |name: &String| name.to_lowercase().starts_with(&beginning);
    names.into_iter().filter(begins).map(CompletionCandidate::new).collect()
}

/// Controls of `noise ab`.
fn controls() -> Vec<CompletionCandidate> {
    let all = noise::ab::control::ALL.iter();
    all.map(|control| CompletionCandidate::new(control.name)).collect()
}

/// Controls of `noise tune`.
fn tunable() -> Vec<CompletionCandidate> {
    let all = noise::control::tunable().into_iter();
    all.map(|(name, _)| CompletionCandidate::new(name)).collect()
}

fn store() -> Option<Store> {
    config::use_store_of_file();
    // A key press does not wait for a server.
    Store::of_user().ok().filter(|store| !store.is_database())
}

fn tags() -> Vec<CompletionCandidate> {
    store().map_or(Vec::new(), |store| tags_of(&store))
}

fn tags_of(store: &Store) -> Vec<CompletionCandidate> {
    let tags = store.tags().into_iter().flatten();
    tags.map(|tag| candidate(tag.name, format!("tag of {}", short_id(&tag.run)))).collect()
}

/// Names of stored runs: `last`, `last~1`, tags, and ids of the newest.
fn run_candidates() -> Vec<CompletionCandidate> {
    let Some(store) = store() else {
        return Vec::new();
    };
    let paths = store.paths().unwrap_or_default();
    let newest = paths.iter().rev().filter_map(|path| store.id_of(path));
    let ids: Vec<String> = newest.take(NEWEST).collect();
    let back = ids.iter().enumerate().map(|(back, id)| match back {
        0 => candidate("last", format!("the newest run, {}", short_id(id))),
        _ => candidate(format!("last~{back}"), short_id(id)),
    });
    let by_id = ids.iter().map(|id| candidate(short_id(id), "run"));
    back.chain(tags_of(&store)).chain(by_id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_levels_and_points_are_rows() {
        let rows = row_candidates();
        for name in ["cpu", "cpu.add_i32", "memory.latency", "memory.latency/L2"] {
            let same = rows.iter().filter(|row| row.get_value() == name);
            assert_eq!(same.count(), 1, "{name}");
        }
    }

    #[test]
    fn references_are_offered_by_their_beginning() {
        let offered = |typed: &str| -> Vec<String> {
            let all = references_beginning(OsStr::new(typed)).into_iter();
            all.map(|one| one.get_value().to_string_lossy().into_owned()).collect()
        };
        assert!(offered("").iter().any(|name| name == "iphone-x"));
        assert!(offered("").len() < 20, "a terminal holds what is offered before a letter");
        assert!(offered("m7i.").contains(&"m7i.large".to_owned()));
        assert_eq!(offered("rock-5b"), ["rock-5b"]);
        assert_eq!(offered("RYZEN-9-5900X"), ["ryzen-9-5900x"]);
    }

    #[test]
    fn arguments_that_name_something_have_its_names() {
        let named = ["ROW", "PATTERN", "RUN", "TAG|RUN", "RUN|TABLE", "TABLE", "CONTROL"];
        let mut command = with_values(crate::arguments::command());
        command.build();
        let mut left = vec![&command];
        let mut found = 0;
        while let Some(command) = left.pop() {
            left.extend(command.get_subcommands().filter(|it| it.get_name() != "help"));
            for arg in command.get_arguments() {
                let names = arg.get_value_names().unwrap_or_default();
                if names.iter().any(|name| named.contains(&name.as_str())) {
                    let completes = arg.get::<ArgValueCandidates>().is_some()
                        || arg.get::<ArgValueCompleter>().is_some();
                    assert!(completes, "{} {}", command.get_name(), arg.get_id());
                    found += 1;
                }
            }
        }
        assert!(found >= 20, "only {found}");
    }
}

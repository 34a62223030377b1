//! What can be set against each other: runs, machines and published tables,
//! each by its name.

mod error;
#[cfg(test)]
mod tests;

pub use error::OperandError;

use crate::index::Index;
use crate::{Store, StoreError};
use compare::operand::{FigureSource, Operand, USED, without_samples};
use compare::references::References;
use compare::{alike, files_alike};
use model::phrases::counted;
use model::run::Run;
use model::summary::{KeptRun, MachineKey};
use references::{ReferenceNameError, find_reference};
use std::path::PathBuf;

/// Kept runs that are looked through, the newest first, for those of a machine
/// or for what runs differ by.
pub const LOOKED_THROUGH: usize = 30;

/// The side that a name means: a file, a run of the store, all runs under a tag
/// that are like the newest of them, a published table, or a machine with all its
/// latest runs that are alike. What was left out or repaired is added to `messages`, a line each.
pub fn find_operand(
    name: &str,
    store: &Result<Store, StoreError>,
    references: &References,
    messages: &mut Vec<String>,
) -> Result<Operand, OperandError> {
    if !std::path::Path::new(name).is_file()
        && let Some(table) = references.find(name)
    {
        return Ok(Operand {
            name: name.to_owned(),
            source: FigureSource::Published(table.clone()),
        });
    }
    if let Some(host) = name.strip_prefix('@') {
        return machine_operand(name, host, in_store(store)?, messages);
    }
    // One run under a tag is found by its name below, as everywhere.
    if let Ok(store) = store
        && !std::path::Path::new(name).is_file()
    {
        let runs = tagged(name, store, messages)?;
        if runs.len() > 1 {
            return Ok(Operand::of_runs(name, runs));
        }
    }
    match crate::path_named(name, store) {
        Ok(path) => Ok(Operand::from_run(name, crate::read_run(&path)?)),
        // A machine may be called as an id begins, or as no file is.
        Err(StoreError::NoSuchFile { .. } | StoreError::NoSuchRun { .. }) => {
            let of_machine = in_store(store).map_err(OperandError::from);
            match of_machine.and_then(|store| machine_operand(name, name, store, messages)) {
                Err(
                    OperandError::NoMachine(_) | OperandError::Store(StoreError::NoDataDirectory),
                ) => recorded(name, references),
                found => found,
            }
        }
        Err(other) => Err(other.into()),
    }
}

/// Kept runs with this tag, the newest first, as far as they are like it.
pub(super) fn tagged(
    tag: &str,
    store: &Store,
    messages: &mut Vec<String>,
) -> Result<Vec<Run>, StoreError> {
    if store.runs_tagged(tag)?.is_empty() {
        return Ok(Vec::new());
    }
    let index = Index::open(store.clone())?;
    let kept = index.runs();
    messages.extend(index.messages());
    let kept = kept?.into_iter();
    let paths = kept.filter(|run| run.tags.iter().any(|own| own == tag));
    let mut runs: Vec<Run> = Vec::new();
    for kept in paths {
        let run = without_samples(crate::read_run(&kept.path)?);
        if runs.first().is_none_or(|newest| alike(newest, &run)) {
            runs.push(run);
        }
        if runs.len() == USED {
            break;
        }
    }
    Ok(runs)
}

fn in_store(store: &Result<Store, StoreError>) -> Result<&Store, StoreError> {
    store.as_ref().map_err(|_| StoreError::NoDataDirectory)
}

/// What is recorded of a machine of this name, which is no run or machine of the store.
fn recorded(name: &str, references: &References) -> Result<Operand, OperandError> {
    match find_reference(references, name) {
        Ok(table) => Ok(Operand { name: name.to_owned(), source: FigureSource::Published(table) }),
        Err(ReferenceNameError::Unknown { name, nearest, tables }) => {
            let suggestion = match nearest.is_empty() {
                true => String::new(),
                false => format!("; did you mean {}?", nearest.join(", ")),
            };
            Err(OperandError::Unknown { name, suggestion, tables })
        }
        Err(error) => Err(error.into()),
    }
}

/// The latest run of a machine and those kept before that are alike.
fn machine_operand(
    name: &str,
    host: &str,
    store: &Store,
    messages: &mut Vec<String>,
) -> Result<Operand, OperandError> {
    let of_host = |run: &Run| {
        let own = run.machine.hostname.get();
        own.is_some_and(|own| own.eq_ignore_ascii_case(host))
    };
    // What commands cost there, or another program measured, is not the machine.
    let of_machine = |run: &Run| run.imported.is_none() && run.is_of_rows();
    let kept_of_host = |kept: &KeptRun| {
        let own = kept.host.as_ref();
        let of_machine = !kept.imported && !kept.commands && kept.partial.is_none();
        of_machine && own.is_some_and(|own| own.eq_ignore_ascii_case(host))
    };
    let mut runs: Vec<Run> = newest(store, &[&kept_of_host], messages)?
        .into_iter()
        .filter(|run| of_host(run) && of_machine(run) && run.partial.is_none())
        .collect();
    match runs.first().cloned() {
        None => {
            Index::open(store.clone())?.check_readable()?;
            Err(OperandError::NoMachine(host.to_owned()))
        }
        Some(latest) => {
            // By its id: where too little is known it is not even like itself.
            runs.retain(|run| run.id == latest.id || alike(run, &latest));
            // The latest may have no files, and the others some on several
            // file systems.
            if let Some(with_files) = runs.iter().find(|run| run.files_on.is_some()).cloned() {
                runs.retain(|run| files_alike(run, &with_files));
            }
            runs.truncate(USED);
            Ok(Operand { name: name.to_owned(), source: FigureSource::Runs(runs) })
        }
    }
}

/// The last kept runs of each machine that a side of one run is of, the newest
/// first: those that [`kept_like`] may want. What was left out is added to `messages`, a line each.
///
/// # Errors
/// If neither index nor documents can be read.
pub fn recent_like(
    store: &Store,
    operands: &[&Operand],
    messages: &mut Vec<String>,
) -> Result<Vec<Run>, StoreError> {
    let alone = operands.iter().filter(|operand| operand.runs().len() == 1);
    let mut machines: Vec<MachineKey> = alone.map(|o| MachineKey::from_run(&o.runs()[0])).collect();
    machines.sort();
    machines.dedup();
    let of = |machine: MachineKey| move |kept: &KeptRun| kept.machine == machine;
    let wanted: Vec<_> = machines.into_iter().map(of).collect();
    let wanted: Vec<&dyn Fn(&KeptRun) -> bool> = wanted.iter().map(|of| of as _).collect();
    newest(store, &wanted, messages)
}

/// The newest runs of each kind that is wanted, by the index; where that can't
/// be had, of all.
fn newest(
    store: &Store,
    wanted: &[&dyn Fn(&KeptRun) -> bool],
    messages: &mut Vec<String>,
) -> Result<Vec<Run>, StoreError> {
    let Ok(kept) = Index::open(store.clone()).and_then(|index| index.runs()) else {
        return recent(store, messages);
    };
    let mut places: Vec<usize> = Vec::new();
    for wanted in wanted {
        let own = (0..kept.len()).filter(|&place| wanted(&kept[place]));
        places.extend(own.take(LOOKED_THROUGH));
    }
    places.sort_unstable();
    places.dedup();
    let paths = places.into_iter().map(|place| &kept[place].path);
    Ok(readable(paths, messages))
}

/// The last kept runs, the newest first.
fn recent(store: &Store, messages: &mut Vec<String>) -> Result<Vec<Run>, StoreError> {
    let paths = store.paths()?;
    let newest = paths.iter().rev().take(LOOKED_THROUGH);
    Ok(readable(newest, messages))
}

/// Runs without their samples. Documents that can't be read (of a newer latlas, or damaged) don't stop a
/// comparison that did not name them; they are counted.
fn readable<'p>(paths: impl Iterator<Item = &'p PathBuf>, messages: &mut Vec<String>) -> Vec<Run> {
    let mut unread = 0;
    let mut runs = Vec::new();
    for path in paths {
        match crate::read_run(path) {
            Ok(run) => runs.push(without_samples(run)),
            Err(_) => unread += 1,
        }
    }
    if unread > 0 {
        let runs = counted(unread, "stored run");
        let line =
            format!("{runs} can't be read and count for nothing (latlas atlas verify shows why)");
        if !messages.contains(&line) {
            messages.push(line);
        }
    }
    runs
}

//! The commands: `latlas NAME` is the file or folder of that name. What commands share is in `measured.rs`
//! (lock, measure, store), `recorded.rs` (print and store), `shielded.rs` (reserved CPUs) and `picture.rs`.
//! Options are in `arguments/`.

pub mod atlas;
mod build_label;
pub(crate) mod ci;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod config;
mod cpu_history;
pub(crate) mod echo;
pub(crate) mod exec;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod fit;
mod gate;
pub(crate) mod help;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod judge;
pub(crate) mod list;
pub(crate) mod machine;
pub(crate) mod man;
pub mod measured;
pub(crate) mod noise;
pub(crate) mod pack;
mod picture;
pub(crate) mod plot;
pub(crate) mod qos;
mod recorded;
pub mod report;
pub mod run;
pub(crate) mod selftest;
mod shielded;
pub(crate) mod show;
pub(crate) mod table;
pub(crate) mod trace;

use crate::arguments::Look;
use crate::output;
use ::compare::references::{Reference, References};
use ::references::{ReferenceNameError, find_reference};
use model::summary::MachineKey;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use store::{self, LastOf, Store, StoreError};
use view::render::Options;

/// The options of printing a run.
fn drawing(references: &References, look: &Look) -> anyhow::Result<Options> {
    let versus = look.vs.iter().map(|name| find_reference(references, name));
    Ok(Options {
        versus: versus.collect::<Result<_, _>>()?,
        all: look.all,
        wide: look.wide,
        human: look.human,
        frames: look.frames,
        program: crate::program::typed_name(),
        brief: output::is_roomy_terminal(),
        ..Options::default()
    })
}

/// What stands beside a run.
enum ReferenceOrRun {
    Reference(Reference),
    /// Its path.
    Run(PathBuf),
}

/// What a name means: a published table, a run, or records of a machine.
fn reference_or_run(
    name: &str,
    references: &References,
    store: &Result<Store, StoreError>,
    last_of: LastOf,
) -> anyhow::Result<ReferenceOrRun> {
    if let Some(table) = references.find(name).filter(|_| !Path::new(name).is_file()) {
        return Ok(ReferenceOrRun::Reference(table.clone()));
    }
    match run_path_named(name, store, last_of) {
        Ok(path) => Ok(ReferenceOrRun::Run(path)),
        Err(no_run @ (StoreError::NoSuchFile { .. } | StoreError::NoSuchRun { .. })) => {
            match find_reference(references, name) {
                Ok(found) => Ok(ReferenceOrRun::Reference(found)),
                Err(ReferenceNameError::Unknown { nearest, .. }) if nearest.is_empty() => {
                    Err(no_run.into())
                }
                Err(error) => Err(error.into()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// The key of this machine in a new run.
fn this_machine() -> MachineKey {
    let machine = sys::machine_facts(Path::new("/"));
    let emulator = machine.emulated.get().and_then(|by| by.present_name());
    MachineKey::of_machine(&machine, emulator)
}

/// Path of the run with this name, where `last` counts these runs. Newer ones that are not `last` are mentioned once.
fn run_path_named(
    name: &str,
    store: &Result<Store, StoreError>,
    last_of: LastOf,
) -> Result<PathBuf, StoreError> {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let (path, passed) = store::named_passing(name, store, last_of)?;
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    for line in passed.lines() {
        if printed.insert(line.clone()) {
            output::message(format_args!("{line}"));
        }
    }
    Ok(path)
}

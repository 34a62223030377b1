//! The commands, a file for each.

pub(crate) mod atlas;
pub(crate) mod ci;
pub(crate) mod compare;
mod compare_campaigns;
pub(crate) mod completions;
pub(crate) mod config;
mod cpu_history;
pub(crate) mod echo;
pub(crate) mod exec;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod fit;
pub(crate) mod fleet;
mod gate;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod list;
pub(crate) mod machine;
pub(crate) mod man;
mod measured;
pub(crate) mod noise;
pub(crate) mod pack;
mod picture;
pub(crate) mod plot;
pub(crate) mod qos;
mod recorded;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod selftest;
#[cfg(feature = "serve")]
pub(crate) mod serve;
mod shielded;
pub(crate) mod show;
pub(crate) mod table;
pub(crate) mod trace;

use crate::arguments::Look;
use crate::output;
use ::compare::references::References;
use anyhow::bail;
use model::nearest::suggestion;
use model::summary::MachineKey;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use store::{self, Store, StoreError};
use view::render::Options;

/// The options of printing a run.
fn drawing<'a>(references: &'a References, look: &Look) -> anyhow::Result<Options<'a>> {
    let mut versus = Vec::new();
    for key in &look.vs {
        match references.find(key) {
            Some(table) => versus.push(table),
            None => bail!("{}", unknown_reference(references, key)),
        }
    }
    Ok(Options {
        versus,
        all: look.all,
        wide: look.wide,
        human: look.human,
        frames: look.frames,
        ..Options::default()
    })
}

/// The key of this machine in a new run.
fn this_machine() -> MachineKey {
    let machine = sys::machine(Path::new("/"));
    let emulator = machine.emulated.get().and_then(|by| by.name());
    MachineKey::of_machine(&machine, emulator)
}

/// Path of the run with this name. Newer runs that are not `last` are mentioned once.
fn named(name: &str, store: &Result<Store, StoreError>) -> Result<PathBuf, StoreError> {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let (path, passed) = store::named_passing(name, store)?;
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    for line in passed.lines() {
        if printed.insert(line.clone()) {
            output::message(format_args!("{line}"));
        }
    }
    Ok(path)
}

fn unknown_reference(references: &References, key: &str) -> String {
    let suggestion = suggestion(key, references.keys());
    let keys = references.keys().join(", ");
    format!("no published table {key:?}{suggestion} (tables: {keys})")
}

//! `latlas atlas`: lists, tags, deletes, moves and verifies stored runs. A file for each command, but
//! `rebuild` and `verify` are both in `check.rs`, and `move` is in `transfer.rs`. The queries are in
//! `crates/store/src/index`.

mod check;
mod delete;
mod list;
mod percentiles;
mod show;
mod tag;
mod transfer;

use crate::arguments::atlas::AtlasCommand;
use crate::output;
use anyhow::bail;
use model::summary::KeptRun;
use std::path::PathBuf;
use std::process::ExitCode;
use store::index::Index;
use store::{self, LastOf, Store, StoreError};

pub fn atlas(what: &AtlasCommand) -> anyhow::Result<ExitCode> {
    // It names its stores: that of the user need not be there.
    if let AtlasCommand::Move(options) = what {
        return transfer::transfer(options);
    }
    let index = open_index()?;
    let done = match what {
        AtlasCommand::Move(options) => transfer::transfer(options),
        AtlasCommand::List(options) => list::list_runs(&index, options),
        AtlasCommand::Show(options) => show::show(&index, options),
        AtlasCommand::Percentiles(options) => percentiles::percentiles(&index, options),
        AtlasCommand::Tag(options) => tag::tag(&index, options),
        AtlasCommand::Delete(options) => delete::delete(&index, options),
        AtlasCommand::Rebuild(options) => check::rebuild(&index, options.json),
        AtlasCommand::Verify(options) => check::verify(&index, options.json),
    };
    print_messages(&index.messages());
    done
}

/// The user's index. Messages of opening it go to stderr.
pub fn open_index() -> anyhow::Result<Index> {
    let index = Index::open(Store::of_user()?)?;
    print_messages(&index.messages());
    Ok(index)
}

pub fn print_messages(messages: &[String]) {
    for line in messages {
        output::message(format_args!("{line}"));
    }
}

struct Named {
    id: String,
    path: PathBuf,
    /// Its entry in the index; `None` if the document can't be read.
    run: Option<KeptRun>,
}

/// The stored document with this name, readable or not.
fn document_named(index: &Index, name: &str) -> anyhow::Result<Named> {
    let store = index.store();
    let path = match super::run_path_named(name, &Ok(store.clone()), LastOf::All) {
        // The index knows which of them it is.
        Err(StoreError::Twice { id, .. }) => index.document_path(&id)?,
        other => other?,
    };
    let Some(id) = store.id_of(&path) else {
        bail!(
            "{} is not in the store {} (store it with `latlas import --format run`)",
            path.display(),
            store.location().display()
        );
    };
    let run = index.run(&id)?;
    Ok(Named { id, path, run })
}

fn kept_run(index: &Index, name: &str) -> anyhow::Result<KeptRun> {
    let Named { path, run, .. } = document_named(index, name)?;
    match run {
        Some(run) => Ok(run),
        // Its document can't be read: report why.
        None => match store::read_run(&path) {
            Err(error) => Err(error.into()),
            Ok(_) => bail!("{} is not in the index: run `latlas atlas verify`", path.display()),
        },
    }
}

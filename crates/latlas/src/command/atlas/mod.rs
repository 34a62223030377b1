//! `latlas atlas`: stored runs.

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
use store::{self, Store, StoreError};

pub(crate) fn atlas(what: &AtlasCommand) -> anyhow::Result<ExitCode> {
    // It names its stores: that of the user need not be there.
    if let AtlasCommand::Move(options) = what {
        return transfer::transfer(options);
    }
    let index = open()?;
    let done = match what {
        AtlasCommand::Move(options) => transfer::transfer(options),
        AtlasCommand::List(options) => list::list(&index, options),
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
pub(super) fn open() -> anyhow::Result<Index> {
    let index = Index::open(Store::of_user()?)?;
    print_messages(&index.messages());
    Ok(index)
}

pub(super) fn print_messages(messages: &[String]) {
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
fn named(index: &Index, name: &str) -> anyhow::Result<Named> {
    let store = index.store();
    let path = match super::named(name, &Ok(store.clone())) {
        // The index knows which of them it is.
        Err(StoreError::Twice { id, .. }) => index.document(&id)?,
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

fn kept(index: &Index, name: &str) -> anyhow::Result<KeptRun> {
    let Named { path, run, .. } = named(index, name)?;
    match run {
        Some(run) => Ok(run),
        // Its document can't be read: report why.
        None => match store::read(&path) {
            Err(error) => Err(error.into()),
            Ok(_) => bail!("{} is not in the index: run `latlas atlas verify`", path.display()),
        },
    }
}

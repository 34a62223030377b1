//! `latlas atlas`: the kept runs.

mod check;
mod delete;
mod list;
mod percentiles;
mod show;
mod tag;

use crate::arguments::atlas::AtlasCommand;
use crate::output;
use anyhow::bail;
use atlas::index::{Index, KeptRun};
use atlas::store::{self, Store, StoreError};
use std::path::PathBuf;
use std::process::ExitCode;

/// Carries out one of them.
pub(crate) fn atlas(what: &AtlasCommand) -> anyhow::Result<ExitCode> {
    let index = open()?;
    let done = match what {
        AtlasCommand::List(options) => list::list(&index, options),
        AtlasCommand::Show(options) => show::show(&index, options),
        AtlasCommand::Percentiles(options) => percentiles::percentiles(&index, options),
        AtlasCommand::Tag(options) => tag::tag(&index, options),
        AtlasCommand::Delete(options) => delete::delete(&index, options),
        AtlasCommand::Rebuild(options) => check::rebuild(&index, options.json),
        AtlasCommand::Verify(options) => check::verify(&index, options.json),
    };
    tell(&index.told());
    done
}

/// The user's index. What opening it came to is said on stderr.
pub(super) fn open() -> anyhow::Result<Index> {
    let index = Index::open(Store::of_user()?)?;
    tell(&index.told());
    Ok(index)
}

/// Says what the index had to do beside.
pub(super) fn tell(told: &[String]) {
    for line in told {
        output::tell(&format!("latlas: {line}\n"));
    }
}

/// A document that a name means.
struct Named {
    id: String,
    path: PathBuf,
    /// What the index knows of it: nothing of one that can't be read.
    run: Option<KeptRun>,
}

/// The kept document that a name means, whatever is in it.
fn named(index: &Index, name: &str) -> anyhow::Result<Named> {
    let store = index.store();
    let path = match super::named(name, &Ok(store.clone())) {
        // The index knows which of them it is.
        Err(StoreError::Twice { id, .. }) => index.document(&id)?,
        found => found?,
    };
    let Some(id) = store.id_of(&path) else {
        bail!(
            "{} is not kept in {} (latlas import --format run keeps it)",
            path.display(),
            store.runs_dir().display()
        );
    };
    let run = index.run(&id)?;
    Ok(Named { id, path, run })
}

/// The kept run that a name means.
fn kept(index: &Index, name: &str) -> anyhow::Result<KeptRun> {
    let Named { path, run, .. } = named(index, name)?;
    match run {
        Some(run) => Ok(run),
        // Its document can't be read: say why.
        None => match store::read(&path) {
            Err(error) => Err(error.into()),
            Ok(_) => bail!(
                "{} is not in the index: latlas atlas verify says why",
                path.display()
            ),
        },
    }
}

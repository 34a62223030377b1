//! The run that a name means.

use crate::{NotWhole, Store, StoreError, tags};
use model::nearest::suggestion;
use model::phrases::short_id;
use model::run::Run;
use std::path::{Path, PathBuf};

/// Which runs `last` counts: those of the kind that a command reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastOf {
    /// Every run, for what prints, compares and keeps runs.
    All,
    /// Runs of rows, for what is made of rows: not those of commands, nor recordings.
    Rows,
    /// Runs of rows, and every run where there is none, for what is made of rows but shows any run.
    RowsIfAny,
}

impl LastOf {
    /// Whether `last` counts it.
    pub(crate) fn includes(self, run: &Run) -> bool {
        match self {
            LastOf::All => true,
            LastOf::Rows | LastOf::RowsIfAny => run.is_of_rows(),
        }
    }
}

/// What is not among the newest runs, though its time says so.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PassedOver {
    /// Ids of newer runs that are not whole, with why, the newest first.
    pub not_whole: Vec<(String, NotWhole)>,
    /// Ids of newer runs of another kind than is read, the newest first.
    pub of_others: Vec<String>,
    /// Documents that hold no run that can be read, with why, the newest first.
    pub unreadable: Vec<(String, String)>,
    /// Ids of runs that say that they began in the future.
    pub in_future: Vec<String>,
}

impl PassedOver {
    /// What a reader must know, a line each.
    pub fn lines(&self) -> Vec<String> {
        let short = |id: &str| short_id(id).to_owned();
        let not_whole = self.not_whole.iter().map(|(id, why)| {
            let id = short(id);
            format!("the newer run {id} is not `last`: {why} (latlas show {id} prints it)")
        });
        let of_others = self.of_others.first().map(|id| {
            let id = short_id(id);
            format!(
                "`last` is the last run of rows here, not the newer {id} (a command or a \
                 recording): give its id to use that"
            )
        });
        let in_future = self.in_future.first().map(|id| {
            let (them, begin) = match self.in_future.len() {
                1 => (format!("the kept run {}", short(id)), "says that it began"),
                n => (format!("{n} kept runs, such as {},", short(id)), "say that they began"),
            };
            format!("{them} {begin} in the future: not taken for newer than the others")
        });
        let unreadable = self.unreadable.first().map(|(first, why)| match self.unreadable.len() {
            1 => format!("`last` skips {first}: {why}"),
            n => format!(
                "`last` skips {n} documents that can't be read, such as {first}: {why} \
                     (latlas atlas verify lists all)"
            ),
        });
        not_whole.chain(of_others).chain(in_future).chain(unreadable).collect()
    }
}

/// Path of the run that a name means: a file where there is one of that name,
/// else the last run (`last`), one before it (`last~1`), the one whose id
/// begins so, or that of a tag. No tag can be taken for one of the others
/// ([`check_tag`]). The store is asked only where it is needed.
pub fn path_named(name: &str, store: &Result<Store, StoreError>) -> Result<PathBuf, StoreError> {
    named_passing(name, store, LastOf::All).map(|(path, _)| path)
}

/// [`path_named`], where `last` counts these runs, with what was passed over.
pub fn named_passing(
    name: &str,
    store: &Result<Store, StoreError>,
    last_of: LastOf,
) -> Result<(PathBuf, PassedOver), StoreError> {
    let back = match name.strip_prefix("last") {
        Some("") => Some(0),
        Some(more) => more.strip_prefix('~').and_then(|back| back.parse().ok()),
        None => None,
    };
    match back.filter(|_| !Path::new(name).is_file()) {
        Some(back) => known(store)?.newest(back, last_of),
        None => by_name(name, store).map(|path| (path, PassedOver::default())),
    }
}

fn known(store: &Result<Store, StoreError>) -> Result<&Store, StoreError> {
    store.as_ref().map_err(|_| StoreError::NoDataDirectory)
}

fn by_name(name: &str, store: &Result<Store, StoreError>) -> Result<PathBuf, StoreError> {
    let store = || known(store);
    let path = Path::new(name);
    if path.is_file() {
        return Ok(path.to_owned());
    }
    if tags::looks_like_id(name) {
        return store()?.find(&name.to_ascii_lowercase());
    }
    if let Ok(store) = store()
        && let Some(run) = store.tagged(name)?
    {
        let name = name.to_owned();
        return match store.find(&run) {
            Err(StoreError::NoSuchRun { .. }) => Err(StoreError::LostTag { name, run }),
            found => found,
        };
    }
    match path.try_exists() {
        // A directory, a device, a loop of links: reading it says what is wrong.
        Ok(true) | Err(_) => Ok(path.to_owned()),
        Ok(false) => Err(StoreError::NoSuchFile {
            path: path.to_owned(),
            suggestion: {
                let tags = store().ok().and_then(|store| store.tags().ok());
                let tags = tags.iter().flatten().map(|tag| tag.name.as_str());
                suggestion(name, tags.chain(["last"]))
            },
        }),
    }
}

//! Everything read, everything compared.

use super::agree::{Beside, entry_of_document, for_each_read};
use super::entry::{self, IndexEntry, NotIndexed};
use super::questions;
use crate::{Store, StoreError, document, name_of};
use model::phrases::several;
use model::summary::{KeptResult, KeptRun};
use rusqlite::{Connection, OptionalExtension};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Results that are named one by one.
const NAMED: usize = 3;

/// What a look at everything found.
#[derive(Serialize, Clone, Debug, Default, PartialEq)]
pub struct Verified {
    pub documents: usize,
    /// Results in them, each of which was compared.
    pub results: usize,
    /// Documents that are none any more, or not what their names say.
    pub damaged: Vec<Damage>,
    /// Documents that can't be read here, by the system or since they are of a newer latlas: they may be as
    /// good as ever.
    pub unread: Vec<Damage>,
    /// Where the index differs from the documents, and what SQLite says of
    /// its file.
    pub index: Vec<Damage>,
    /// Tags that hold no id, or that of a run that is not kept.
    pub tags: Vec<String>,
    /// Files that killed writers left behind: no damage.
    pub left_over: Vec<PathBuf>,
}

#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Damage {
    pub path: PathBuf,
    /// What is wrong with it.
    pub what: String,
}

impl Verified {
    /// Whether all was read and no damage was found.
    pub fn is_whole(&self) -> bool {
        self.damaged.is_empty()
            && self.unread.is_empty()
            && self.index.is_empty()
            && self.tags.is_empty()
    }
}

pub(super) fn verify(db: &Connection, store: &Store) -> Result<Verified, StoreError> {
    let mut paths = store.paths()?;
    paths.sort();
    let beside = Beside::for_paths(store, &paths);
    let mut found = Verified { left_over: store.left_over()?, ..Verified::default() };
    let index = super::file::newest(store.data_dir());
    found.left_over.extend(super::file::older(&index));
    let mut wrong_index = |what: String| Damage { path: index.clone(), what };
    match sound(db) {
        Ok(faults) => found.index.extend(faults.into_iter().map(&mut wrong_index)),
        Err(error) => found.index.push(wrong_index(error.to_string())),
    }
    let read = |path: &Path| entry_of_document(store, path);
    for_each_read(&paths, read, |path, read| -> Result<(), StoreError> {
        let damage = |what| Damage { path: store.display_path(path).into(), what };
        match read {
            Ok(entry) => {
                found.documents += 1;
                found.results += entry.results.len();
                let difference = difference(db, store, &entry);
                let what = difference.unwrap_or_else(|e| Some(e.to_string()));
                found.index.extend(what.map(damage));
                if beside.take(path).is_some_and(|beside| beside != entry) {
                    let what = "its entry in the database is wrong (latlas atlas rebuild mends it)";
                    found.index.push(damage(what.to_owned()));
                }
            }
            // Deleted in between.
            Err(reason) if reason.is_gone() => {}
            Err(reason) => match reason.by_database()? {
                reason @ NotIndexed::Unread(_) if !is_damaged(store, path) => {
                    found.unread.push(damage(reason.to_string()));
                }
                reason => found.damaged.push(damage(reason.to_string())),
            },
        }
        Ok(())
    })?;
    found.damaged.extend(strays(store, &paths)?);
    found.tags.extend(tags(store)?);
    found.damaged.sort_by(|a, b| a.path.cmp(&b.path));
    found.unread.sort_by(|a, b| a.path.cmp(&b.path));
    found.index.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Whether what is kept can be had, and is no run.
fn is_damaged(store: &Store, path: &Path) -> bool {
    match store.documents.bytes_of(path) {
        Ok(bytes) => document::is_damaged(&bytes),
        Err(error) => error.is_damage(),
    }
}

/// What SQLite finds wrong with its file.
fn sound(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let said: Vec<String> = db
        .prepare("PRAGMA integrity_check(10)")?
        .query_and_then([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(said.into_iter().filter(|line| line != "ok").collect())
}

/// In what the index differs from a document.
fn difference(
    db: &Connection,
    store: &Store,
    entry: &IndexEntry,
) -> rusqlite::Result<Option<String>> {
    let dir = store.runs_dir();
    let file = name_of(&entry.kept.path);
    let line: Option<(String, bool)> = db
        .prepare_cached("SELECT line, counted FROM run WHERE file = ?1")?
        .query_row([&file], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((line, counted)) = line else {
        let other = questions::run_by_id(db, dir, &entry.kept.id)?;
        return Ok(Some(match other {
            Some(other) => format!("{} holds the same run", name_of(&other.path)),
            None => "missing from the index".into(),
        }));
    };
    let mut expected = entry.clone();
    expected.kept.path = dir.join(&file);
    let held = questions::results_of(db, &entry.kept.id)?;
    Ok(compared(&expected, &(entry::run_from_line(&line, dir)?, counted), &held))
}

/// In what a run's line, whether it counts, and its results differ from what its document says.
fn compared(entry: &IndexEntry, line: &(KeptRun, bool), held: &[KeptResult]) -> Option<String> {
    if line.0 != entry.kept || line.1 != entry.counted {
        return Some("the index disagrees with the document".into());
    }
    if held == entry.results {
        return None;
    }
    let name = |r: &KeptResult| match r.at.is_empty() {
        true => r.row.clone(),
        false => format!("{} {:?}", r.row, r.at),
    };
    let [expected, indexed] = [&entry.results[..], held].map(by_row);
    let missing = entry.results.iter().filter(|r| !has(&indexed, r));
    let added = held.iter().filter(|r| !has(&expected, r));
    let names: BTreeSet<String> = missing.chain(added).map(name).collect();
    let names: Vec<String> = names.into_iter().collect();
    Some(match names.is_empty() {
        true => "the index lists its results in another order".into(),
        false => format!("the index disagrees on {}", several(&names, NAMED)),
    })
}

/// Results by row and point.
type ByRow<'r> = HashMap<(&'r str, &'r [u64]), Vec<&'r KeptResult>>;

fn by_row(results: &[KeptResult]) -> ByRow<'_> {
    let mut by_row = ByRow::new();
    for result in results {
        let own = by_row.entry((&result.row, &result.at)).or_default();
        own.push(result);
    }
    by_row
}

fn has(results: &ByRow, result: &KeptResult) -> bool {
    let own = results.get(&(&result.row[..], &result.at[..]));
    own.is_some_and(|own| own.contains(&result))
}

/// Files among the runs that are called like none.
fn strays(store: &Store, known: &[PathBuf]) -> Result<Vec<Damage>, StoreError> {
    // Copies of what others deleted from a database are none.
    if store.is_database() {
        return Ok(Vec::new());
    }
    let known: BTreeSet<&Path> = known.iter().map(PathBuf::as_path).collect();
    let files = store.files()?;
    let documents = files
        .into_iter()
        .filter(|path| name_of(path).ends_with(".json.zst") && !name_of(path).starts_with('.'));
    Ok(documents
        .filter(|path| !known.contains(path.as_path()))
        .map(|path| Damage {
            path,
            what: "not named like a stored run (TIME-ID.json.zst): ignored; latlas import \
                   stores it"
                .into(),
        })
        .collect())
}

pub(super) fn tags(store: &Store) -> Result<Vec<String>, StoreError> {
    let mut wrong: Vec<String> = store.broken_tags()?.iter().map(ToString::to_string).collect();
    for tag in store.tags()? {
        if let Err(StoreError::NoSuchRun { .. }) = store.find(&tag.run) {
            let (name, run) = (tag.name, tag.run);
            wrong.push(StoreError::LostTag { name, run }.to_string());
        }
    }
    Ok(wrong)
}

//! The index brought to agree with the documents: what was copied in, or kept
//! by a process that was killed before it could say so, is found by its name;
//! what is gone goes.

use super::fault::Fault;
use super::fill::{self, Entry, NotIndexed, NotRead, Numbers};
use super::reading::{Reading, report_reading};
use crate::crash;
use crate::{Store, StoreError, name_of};
use model::run::SCHEMA_VERSION;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::Builder;
use std::time::UNIX_EPOCH;

/// Documents read ahead of what is written.
const AHEAD: usize = 8;

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Agreed {
    /// Documents that were put in.
    pub(super) added: usize,
    /// Documents that can't be read.
    pub(super) unread: usize,
    /// Runs whose documents are gone.
    pub(super) dropped: usize,
    /// Documents that the system failed to read.
    pub(super) not_read: Option<NotRead>,
}

/// In what the names differ.
#[derive(Debug, Default)]
pub(super) struct Differ {
    /// Documents that the index does not know.
    new: Vec<PathBuf>,
    /// Names of documents that are gone.
    gone: Vec<String>,
}

impl Differ {
    pub(super) fn is_empty(&self) -> bool {
        self.new.is_empty() && self.gone.is_empty()
    }
}

/// Compares the names only: a document never changes.
pub(super) fn differ(db: &Connection, store: &Store) -> Result<Differ, Fault> {
    let mut on_disk = BTreeMap::new();
    for path in store.paths()? {
        on_disk.insert(name_of(&path), path);
    }
    let mut gone = Vec::new();
    let mut known = db.prepare_cached("SELECT file FROM run")?;
    let mut rows = known.query([])?;
    while let Some(row) = rows.next()? {
        let file: String = row.get(0)?;
        if on_disk.remove(&file).is_none() {
            gone.push(file);
        }
    }
    // One that could not be read may be another by now, or this latlas one
    // that can read it.
    let mut unread = db.prepare_cached("SELECT file, bytes, changed_ms, schema FROM unread")?;
    let mut rows = unread.query([])?;
    while let Some(row) = rows.next()? {
        let file: String = row.get(0)?;
        match on_disk.get(&file) {
            None => gone.push(file),
            Some(path) => {
                let (bytes, changed) = stat(path);
                let as_it_was = (bytes, changed, SCHEMA_VERSION);
                if as_it_was == (row.get(1)?, row.get(2)?, row.get(3)?) {
                    on_disk.remove(&file);
                }
            }
        }
    }
    Ok(Differ { new: on_disk.into_values().collect(), gone })
}

/// Brings the index up to date, all of it or nothing.
pub(super) fn agree(db: &Connection, store: &Store) -> Result<Agreed, Fault> {
    if differ(db, store)?.is_empty() {
        return Ok(Agreed::default());
    }
    let change = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
    let done = agree_within(&change, store)?;
    crash::point("agreed");
    change.commit()?;
    Ok(done)
}

/// What making the content anew came to.
#[derive(Debug)]
pub(super) enum Refilled {
    Anew(Agreed),
    /// Nothing was changed: of some runs that the index holds the system failed to read the
    /// document.
    Unchanged {
        /// Documents that the index holds.
        documents: usize,
        unread: usize,
        not_read: NotRead,
    },
}

/// Makes the whole content anew from the documents; readers see the old one
/// until it is done.
pub(super) fn refill(db: &Connection, store: &Store) -> Result<Refilled, Fault> {
    let change = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
    let before = files(&change)?;
    super::schema::create(&change)?;
    crash::point("tables made anew");
    let done = agree_within(&change, store)?;
    if let Some(not_read) = &done.not_read {
        if done.added + done.unread == 0 {
            return Err(Fault::Store(none_readable(store, not_read)));
        }
        // What it still does not know.
        let new = differ(&change, store)?.new;
        if new.iter().any(|path| before.contains(&name_of(path))) {
            return Ok(Refilled::Unchanged {
                documents: before.len(),
                unread: done.unread,
                not_read: not_read.clone(),
            });
        }
    }
    change.commit()?;
    Ok(Refilled::Anew(done))
}

/// Names of the documents that the index holds.
fn files(db: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    let mut files = db.prepare_cached("SELECT file FROM run")?;
    files.query_map([], |row| row.get(0))?.collect()
}

/// Why there is no run, where the system failed to read the documents.
pub(super) fn none_readable(store: &Store, not_read: &NotRead) -> StoreError {
    StoreError::NoneReadable {
        path: store.location(),
        count: not_read.documents,
        why: not_read.why.clone(),
    }
}

/// Within a transaction: what the index holds was committed before its begin,
/// and the document of it was there before that. So a name that is not among
/// the files now is that of a document that is gone.
fn agree_within(db: &Connection, store: &Store) -> Result<Agreed, Fault> {
    let mut done = Agreed::default();
    for file in differ(db, store)?.gone {
        done.dropped += usize::from(fill::take_out(db, &file)?);
        forget_unread(db, &file)?;
    }
    // After that, since another document of a run that went may take its place.
    let new = differ(db, store)?.new;
    let mut numbers = Numbers::default();
    for_each_read(
        &new,
        |path| entry(store, path),
        |path, read| -> Result<(), Fault> {
            let file = name_of(path);
            forget_unread(db, &file)?;
            let reason = match read {
                Ok(entry) => match put(db, &entry, &mut numbers)? {
                    None => {
                        done.added += 1;
                        crash::point("document indexed");
                        return Ok(());
                    }
                    Some(other) => NotIndexed::SameRun(other),
                },
                // Deleted since its name was read.
                Err(reason) if reason.is_gone() => return Ok(()),
                Err(reason) => reason.by_database()?,
            };
            if let Some(error) = reason.by_system() {
                let first = || NotRead { documents: 0, why: error.to_string() };
                done.not_read.get_or_insert_with(first).documents += 1;
                return Ok(());
            }
            let (bytes, changed) = stat(path);
            db.prepare_cached("INSERT INTO unread VALUES (?1, ?2, ?3, ?4, ?5)")?
                .execute(params![file, bytes, changed, SCHEMA_VERSION, reason.to_string()])?;
            done.unread += 1;
            Ok(())
        },
    )?;
    Ok(done)
}

fn forget_unread(db: &Connection, file: &str) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM unread WHERE file = ?1")?.execute([file]).map(drop)
}

/// Puts a run in whose document has just been kept. What is there of it was
/// found by the process that opened the index in between, or is of a damaged
/// document whose place this one took.
pub(super) fn put_kept(db: &Connection, entry: &Entry) -> rusqlite::Result<()> {
    let before: Option<String> = db
        .prepare_cached("SELECT file FROM run WHERE id = ?1")?
        .query_row([&entry.kept.id], |row| row.get(0))
        .optional()?;
    if let Some(file) = before {
        fill::take_out(db, &file)?;
    }
    forget_unread(db, &name_of(&entry.kept.path))?;
    fill::put(db, entry, &mut Numbers::default())
}

/// Puts an entry in, or names the other document that holds the same run.
pub(super) fn put(
    db: &Connection,
    entry: &Entry,
    numbers: &mut Numbers,
) -> rusqlite::Result<Option<String>> {
    let other: Option<String> = db
        .prepare_cached("SELECT file FROM run WHERE id = ?1")?
        .query_row([&entry.kept.id], |row| row.get(0))
        .optional()?;
    match other {
        Some(other) => Ok(Some(other)),
        None => fill::put(db, entry, numbers).map(|()| None),
    }
}

/// Threads that read documents.
const MOST_READERS: usize = 8;

/// Reads documents on several CPUs and hands each over here, in whatever order
/// they come; those that the system failed to read once more by themselves, since readers that work
/// at once may use up all open files or memory that this process may have.
pub(super) fn for_each_read<'p, E>(
    paths: &'p [PathBuf],
    read: impl Fn(&Path) -> Result<Entry, NotIndexed> + Sync,
    mut each: impl FnMut(&Path, Result<Entry, NotIndexed>) -> Result<(), E>,
) -> Result<(), E> {
    // More would ask a database for more connections than are kept open.
    let readers = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_READERS);
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::sync_channel(AHEAD);
    let mut done = 0;
    let mut one = |path: &Path, read| {
        each(path, read)?;
        done += 1;
        report_reading(Reading { done, of: paths.len() });
        Ok(())
    };
    let mut again = Vec::new();
    let mut first = |path: &'p Path, read: Result<Entry, NotIndexed>| match &read {
        Err(reason) if reason.by_system().is_some() => {
            again.push(path);
            Ok(())
        }
        _ => one(path, read),
    };
    std::thread::scope(|scope| {
        let mut threads = 0;
        for _ in 0..readers.min(paths.len()) {
            let (sender, next, read) = (sender.clone(), &next, &read);
            let read = move || {
                while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send((path.as_path(), read(path))).is_err() {
                        return;
                    }
                }
            };
            // Fewer are slower, and no more than that.
            match sys::thread::spawn_scoped(scope, Builder::new(), read) {
                Ok(_) => threads += 1,
                Err(_) => break,
            }
        }
        drop(sender);
        if threads == 0 {
            return paths.iter().try_for_each(|path| first(path, read(path)));
        }
        let result = receiver.iter().try_for_each(|(path, read)| first(path, read));
        // Threads that wait to hand over an entry get an error and end.
        drop(receiver);
        result
    })?;
    again.sort();
    again.iter().try_for_each(|path| one(path, read(path)))
}

/// What the index holds of a document, or why nothing: as its keeper wrote it beside it, or read
/// from the document.
fn entry(store: &Store, path: &Path) -> Result<Entry, NotIndexed> {
    match store.documents.entry(path) {
        Some(entry) => Ok(entry),
        None => entry_of_document(store, path),
    }
}

/// The same from the document, whatever stands beside it.
pub(super) fn entry_of_document(store: &Store, path: &Path) -> Result<Entry, NotIndexed> {
    let run = crate::read_kept(store, path)?;
    fill::check(&run, crate::id_in_name(path).unwrap_or_default())?;
    Ok(Entry::of(&run, &name_of(path)))
}

/// Bytes and time of change, ms; zeros where there is no file.
fn stat(path: &Path) -> (i64, i64) {
    let Ok(metadata) = std::fs::metadata(path) else {
        return (0, 0);
    };
    let changed = metadata.modified().ok();
    let since = changed.and_then(|changed| changed.duration_since(UNIX_EPOCH).ok());
    let ms = since.map_or(0, |since| since.as_millis() as i64);
    (metadata.len() as i64, ms)
}

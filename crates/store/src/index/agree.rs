//! The index brought to agree with the documents: what was copied in, or kept
//! by a process that was killed before it could say so, is found by its name;
//! what is gone goes.

use super::entry::{self, IndexEntry, NotIndexed, NotRead, Numbers};
use super::fault::IndexFault;
use super::reading::{ReadingProgress, report_reading};
use super::schema::{self, Before};
use crate::{Store, StoreError, crash, name_of};
use model::run::SCHEMA_VERSION;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::slice::Chunks;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::thread::Builder;
use std::time::UNIX_EPOCH;

/// Documents read ahead of what is written.
const AHEAD: usize = 8;

/// Documents that one transaction puts in: a fill that fails is not begun anew.
const PART: usize = if cfg!(test) { 2 } else { 500 };

/// Entries that are fetched at once: each time costs a round trip, and may take no longer than a statement may.
const AT_ONCE: usize = if cfg!(test) { 2 } else { 50 };

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Agreed {
    pub(super) added: usize,
    pub(super) unread: usize,
    pub(super) dropped: usize,
    /// Documents that the system failed to read.
    pub(super) not_read: Option<NotRead>,
    /// Why what stands beside the documents could not be mended.
    pub(super) not_mended: Option<String>,
}

/// In what the names differ.
#[derive(Debug, Default)]
pub(super) struct Differ {
    /// Documents that the index does not know, by their names.
    new: Vec<PathBuf>,
    /// Their marks.
    marks: HashMap<String, Vec<u8>>,
    /// Names of documents that are gone.
    gone: Vec<String>,
}

impl Differ {
    pub(super) fn is_empty(&self) -> bool {
        self.new.is_empty() && self.gone.is_empty()
    }
}

/// Compares the names, and the marks: a document never changes, but in a database another may get its name.
pub(super) fn differ(db: &Connection, store: &Store) -> Result<Differ, IndexFault> {
    let mut on_disk = BTreeMap::new();
    for (path, mark) in store.documents.marked()? {
        on_disk.insert(name_of(&path), (path, mark));
    }
    let mut gone = Vec::new();
    let mut known = db.prepare_cached("SELECT file, mark FROM run")?;
    let mut rows = known.query([])?;
    while let Some(row) = rows.next()? {
        let file: String = row.get(0)?;
        let mark: Vec<u8> = row.get(1)?;
        // One with another mark is new as soon as what is known of it is gone.
        if on_disk.remove(&file).is_none_or(|(_, now)| now != mark) {
            gone.push(file);
        }
    }
    // One that could not be read may be another by now, or this latlas one
    // that can read it.
    let mut unread =
        db.prepare_cached("SELECT file, bytes, changed_ms, schema, mark FROM unread")?;
    let mut rows = unread.query([])?;
    while let Some(row) = rows.next()? {
        let file: String = row.get(0)?;
        match on_disk.get(&file) {
            None => gone.push(file),
            Some((path, mark)) => {
                let (bytes, changed) = stat(path);
                let as_it_was = (bytes, changed, SCHEMA_VERSION, mark.clone());
                if as_it_was == (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?) {
                    on_disk.remove(&file);
                }
            }
        }
    }
    let new = on_disk.into_iter().map(|(file, (path, mark))| (path, (file, mark)));
    let (new, marks) = new.unzip();
    Ok(Differ { new, marks, gone })
}

/// Brings the index up to date, in parts that are whole.
pub(super) fn agree(db: &Connection, store: &Store) -> Result<Agreed, IndexFault> {
    if differ(db, store)?.is_empty() {
        return Ok(Agreed::default());
    }
    let change = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
    let done = agree_within(&change, store, false)?;
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

/// Makes the whole content anew from the documents, and what stands beside these where it is not theirs;
/// readers see the old one until it is done.
pub(super) fn refill(db: &Connection, store: &Store) -> Result<Refilled, IndexFault> {
    let change = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
    let before = files(&change)?;
    schema::create(&change)?;
    crash::point("tables made anew");
    let done = agree_within(&change, store, true)?;
    if let Some(not_read) = &done.not_read {
        if done.added + done.unread == 0 {
            return Err(IndexFault::Store(none_readable(store, not_read)));
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
///
/// All is made `anew` in this one transaction, from the documents, and what is not theirs beside them mended.
fn agree_within(db: &Connection, store: &Store, anew: bool) -> Result<Agreed, IndexFault> {
    let mut done = Agreed::default();
    let mut differs = differ(db, store)?;
    if !differs.gone.is_empty() {
        for file in &differs.gone {
            done.dropped += usize::from(entry::take_out(db, file)?);
            forget_unread(db, file)?;
        }
        // After that, since another document of a run that went may take its place.
        differs = differ(db, store)?;
    }
    let Differ { new, marks, .. } = &differs;
    let beside = Beside::for_paths(store, new);
    let not_mended = OnceLock::new();
    let read = |path: &Path| -> Result<IndexEntry, NotIndexed> {
        let file = name_of(path);
        let mark = marks.get(&file).cloned().unwrap_or_default();
        let entry = match beside.take(path) {
            Some(known) if !anew && known.is_of(&file) => known,
            known => {
                let entry = entry_of_document(store, path)?;
                // One refusal is that of all.
                if anew
                    && known.as_ref() != Some(&entry)
                    && not_mended.get().is_none()
                    && let Err(error) = store.documents.put_entry(path, &mark, &entry)
                {
                    let _ = not_mended.set(error.to_string());
                }
                entry
            }
        };
        Ok(IndexEntry { mark, ..entry })
    };
    let mut numbers = Numbers::default();
    for_each_read(new, read, |path, read| -> Result<(), IndexFault> {
        let file = name_of(path);
        forget_unread(db, &file)?;
        let reason = match read {
            Ok(entry) => match put(db, &entry, &mut numbers)? {
                None => {
                    done.added += 1;
                    crash::point("document indexed");
                    if !anew && done.added.is_multiple_of(PART) {
                        next_part(db)?;
                        // Another process may give out others from here on.
                        numbers = Numbers::default();
                    }
                    return Ok(());
                }
                // Another process put it in between two parts.
                Some(other) if other == file => return Ok(()),
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
        // What a database keeps damaged may be mended there under its mark: it is tried each time.
        let is_damage = matches!(&reason, NotIndexed::Unread(error) if error.is_damage());
        let mark = marks.get(&file).filter(|_| !is_damage).cloned().unwrap_or_default();
        db.prepare_cached("INSERT INTO unread VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
            .execute(params![file, bytes, changed, SCHEMA_VERSION, reason.to_string(), mark])?;
        done.unread += 1;
        Ok(())
    })?;
    done.not_mended = not_mended.into_inner();
    Ok(done)
}

/// Ends a part of what is done within a transaction, and begins the next.
fn next_part(db: &Connection) -> Result<(), IndexFault> {
    db.execute_batch("COMMIT")?;
    crash::point("part committed");
    db.execute_batch("BEGIN IMMEDIATE")?;
    // A newer latlas may have made other tables in between.
    match schema::look(db)? {
        Before::Today => Ok(()),
        _ => Err(IndexFault::Stale),
    }
}

fn forget_unread(db: &Connection, file: &str) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM unread WHERE file = ?1")?.execute([file]).map(drop)
}

/// Puts a run in whose document has just been kept. What is there of it was
/// found by the process that opened the index in between, or is of a damaged
/// document whose place this one took.
pub(super) fn put_kept(db: &Connection, entry: &IndexEntry) -> rusqlite::Result<()> {
    let before: Option<String> = db
        .prepare_cached("SELECT file FROM run WHERE id = ?1")?
        .query_row([&entry.kept.id], |row| row.get(0))
        .optional()?;
    if let Some(file) = before {
        entry::take_out(db, &file)?;
    }
    forget_unread(db, &name_of(&entry.kept.path))?;
    entry::put(db, entry, &mut Numbers::default())
}

/// Puts an entry in, or names the other document that holds the same run.
pub(super) fn put(
    db: &Connection,
    entry: &IndexEntry,
    numbers: &mut Numbers,
) -> rusqlite::Result<Option<String>> {
    let other: Option<String> = db
        .prepare_cached("SELECT file FROM run WHERE id = ?1")?
        .query_row([&entry.kept.id], |row| row.get(0))
        .optional()?;
    match other {
        Some(other) => Ok(Some(other)),
        None => entry::put(db, entry, numbers).map(|()| None),
    }
}

const MOST_READERS: usize = 8;

/// Reads documents on several CPUs and hands each over here, in whatever order
/// they come; those that the system failed to read once more by themselves, since readers that work
/// at once may use up all open files or memory that this process may have.
pub(super) fn for_each_read<'p, E>(
    paths: &'p [PathBuf],
    read: impl Fn(&Path) -> Result<IndexEntry, NotIndexed> + Sync,
    mut each: impl FnMut(&Path, Result<IndexEntry, NotIndexed>) -> Result<(), E>,
) -> Result<(), E> {
    // More would ask a database for more connections than are kept open.
    let readers = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_READERS);
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::sync_channel(AHEAD);
    let mut done = 0;
    let mut one = |path: &Path, read| {
        each(path, read)?;
        done += 1;
        report_reading(ReadingProgress { done, of: paths.len() });
        Ok(())
    };
    let mut again = Vec::new();
    let mut first = |path: &'p Path, read: Result<IndexEntry, NotIndexed>| match &read {
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

type Batches<'p> = Peekable<Chunks<'p, PathBuf>>;

/// What the keepers of documents wrote beside them, fetched in batches.
pub(super) struct Beside<'p> {
    store: &'p Store,
    /// What was not fetched yet, and what was and is wanted still.
    ahead: Mutex<(Batches<'p>, HashMap<String, IndexEntry>)>,
}

impl<'p> Beside<'p> {
    /// Of documents that are in order, and will be asked for in about that order.
    pub(super) fn for_paths(store: &'p Store, paths: &'p [PathBuf]) -> Beside<'p> {
        let batches = paths.chunks(AT_ONCE).peekable();
        Beside { store, ahead: Mutex::new((batches, HashMap::new())) }
    }

    /// What stands beside one, once.
    pub(super) fn take(&self, path: &Path) -> Option<IndexEntry> {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let (batches, entries) = &mut *ahead;
        while let Some(batch) = batches.next_if(|batch| batch[0].as_path() <= path) {
            entries.extend(self.store.documents.entries(batch));
        }
        entries.remove(&name_of(path))
    }
}

/// What the index holds of a document, or why nothing, whatever stands beside it.
pub(super) fn entry_of_document(store: &Store, path: &Path) -> Result<IndexEntry, NotIndexed> {
    let run = crate::read_kept(store, path)?;
    entry::check_fits(&run, crate::id_in_name(path).unwrap_or_default())?;
    Ok(IndexEntry::from_run(&run, &name_of(path)))
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

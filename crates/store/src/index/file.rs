//! The index's file: found, opened, made anew where it is broken.
//!
//! It is called `index-N.sqlite`, and the largest N counts. A broken one is
//! never written over: others may have it open, and SQLite allows no change of
//! a file behind their backs (<https://sqlite.org/howtocorrupt.html>, 4). The
//! next N is begun and the broken file unlinked, so that a process that has it open
//! keeps to the old and a later one finds the new.

use super::agree::{self, Agreed};
use super::fault::{Fault, is_broken};
use super::schema::{self, Before};
use crate::Store;
use crate::crash;
use crate::write::directory;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use sys::input;
use sys::trust::{self, Distrust};

/// So long a writer waits for another. An insert takes some ms, a rebuild
/// longer: a process that can't wait for that finds its document indexed later.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Pages kept in memory, in KiB as `PRAGMA cache_size` counts: negative.
const CACHE: i32 = -16_000;

/// Broken and foreign files that are passed on the way to a good one.
const ATTEMPTS: usize = 4;

/// An index that agrees with the documents.
pub(super) struct Opened {
    pub(super) db: Connection,
    pub(super) path: PathBuf,
    /// Set if it may only be read, and is trusted as long as its file is as
    /// it was.
    pub(super) frozen: Option<Frozen>,
    /// What bringing it up to date came to.
    pub(super) agreed: Agreed,
}

/// The newest file of the index, whether or not it is there.
pub(super) fn newest(data_dir: &Path) -> PathBuf {
    let number = std::fs::read_dir(data_dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| number_of(&entry.path()))
        .max();
    data_dir.join(name(number.unwrap_or(1)))
}

fn name(number: u64) -> String {
    format!("index-{number}.sqlite")
}

fn number_of(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    let digits = name.strip_prefix("index-")?.strip_suffix(".sqlite")?;
    // One a broken file: whatever has more was not counted up to.
    let number = digits.parse::<u32>().ok().map(u64::from)?;
    (number.to_string() == digits).then_some(number)
}

fn next(path: &Path) -> PathBuf {
    let number = number_of(path).unwrap_or(0).saturating_add(1);
    path.with_file_name(name(number))
}

/// Opens the index for writing and brings it up to date; `broken` names one
/// that is known to be damaged, and why. Says what it had to do in `messages`.
pub(super) fn open(
    store: &Store,
    broken: Option<(PathBuf, String)>,
    messages: &mut Vec<String>,
) -> Result<Opened, Fault> {
    with(store, broken, messages, |db| agree::agree(db, store))
}

/// The same without bringing it up to date: for what only adds a run, or makes all anew.
pub(super) fn open_as_it_is(
    store: &Store,
    broken: Option<(PathBuf, String)>,
    messages: &mut Vec<String>,
) -> Result<Opened, Fault> {
    with(store, broken, messages, |_| Ok(Agreed::default()))
}

fn with(
    store: &Store,
    mut broken: Option<(PathBuf, String)>,
    messages: &mut Vec<String>,
    then: impl Fn(&Connection) -> Result<Agreed, Fault>,
) -> Result<Opened, Fault> {
    if store.is_database() {
        // Beside copies of which there may be none yet; why there can be none is said below.
        let _ = crate::write::make_directory(store.data_dir());
    }
    let mut path = newest(store.data_dir());
    if let Some((known, _)) = &broken
        && *known == path
    {
        path = next(&path);
    }
    for attempt in 1.. {
        let opened = |db: Option<Connection>| db.map(|db| Ok((then(&db)?, db))).transpose();
        match begin(&path).and_then(opened) {
            Ok(Some((agreed, db))) => {
                if let Some((old, why)) = broken {
                    crash::point("next index made");
                    remove(&old);
                    let documents = match agreed.added {
                        // The next question fills it.
                        0 => String::new(),
                        1 => " from 1 document".into(),
                        n => format!(" from {n} documents"),
                    };
                    messages.push(format!(
                        "the index {} was damaged ({why}): rebuilt{documents}",
                        old.display()
                    ));
                }
                return Ok(Opened { db, path, frozen: None, agreed });
            }
            Ok(None) if attempt >= ATTEMPTS => return Err(Fault::Foreign),
            Ok(None) => messages.push(format!(
                "{} is not a latlas index; left unchanged, creating a new one",
                path.display()
            )),
            Err(fault) if fault.is_broken() && attempt < ATTEMPTS => {
                broken = Some((path.clone(), fault.to_string()));
            }
            Err(fault) => return Err(fault),
        }
        path = next(&path);
    }
    unreachable!("the loop ends by returning")
}

/// Opens one file and makes its tables those of today; `None` if it is another
/// program's.
fn begin(path: &Path) -> Result<Option<Connection>, Fault> {
    let flags = OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let db = Connection::open_with_flags(trusted(path)?, flags)?;
    db.busy_timeout(PATIENCE)?;
    match schema::look(&db)? {
        Before::Foreign => return Ok(None),
        Before::Newer(version) => return Err(Fault::Newer(version)),
        Before::Today | Before::Nothing | Before::Older => {}
    }
    // Readers and one writer at once, and a kill at any moment undoes what was
    // not committed. Where a file system can't do that SQLite stays as it was.
    patiently(|| db.pragma_update(None, "journal_mode", "wal"))?;
    // A power cut may undo the last commits and no more: the documents are
    // the truth, and what is missing is found by its name.
    db.pragma_update(None, "synchronous", "normal")?;
    db.pragma_update(None, "cache_size", CACHE)?;
    if schema::look(&db)? != Before::Today {
        let change = Transaction::new_unchecked(&db, TransactionBehavior::Immediate)?;
        // Another process may have been first.
        match schema::look(&change)? {
            Before::Nothing | Before::Older => {
                schema::create(&change)?;
                crash::point("first tables made");
            }
            Before::Today => {}
            Before::Newer(version) => return Err(Fault::Newer(version)),
            Before::Foreign => return Ok(None),
        }
        change.commit()?;
    }
    Ok(Some(db))
}

/// The file's path without links, if only this user and root can change it and what SQLite
/// keeps next to it, and all are files: SQLite would wait for the other end of a pipe for good.
pub(super) fn trusted(path: &Path) -> Result<PathBuf, Fault> {
    let trusted = || {
        trust::check_name(path)?;
        let path = match path.symlink_metadata() {
            Ok(_) => {
                let path = path.canonicalize()?;
                check_file(&path)?;
                path
            }
            Err(_) => {
                let name = path.file_name().unwrap_or_default();
                directory(path).canonicalize()?.join(name)
            }
        };
        for end in LOGS {
            let log = with_end(&path, end);
            match trust::doubt(&log) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                doubt => {
                    let path = log.clone();
                    doubt?.map_or(Ok(()), |why| Err(Distrust { path, why }))?;
                    let named = |why| format!("{}: {why}", log.display());
                    check_file(&log).map_err(|why| std::io::Error::other(named(why)))?;
                }
            }
        }
        Ok(path)
    };
    trusted().map_err(Fault::Untrusted)
}

/// That it is a file, or gone by now: the SQLite of another process removes its logs, and a latlas
/// an index that it has replaced.
fn check_file(path: &Path) -> std::io::Result<()> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        found => input::check_kind(found?.file_type()),
    }
}

/// Ends of the names of SQLite's other files of a database.
const LOGS: [&str; 3] = ["-wal", "-shm", "-journal"];

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut file = path.as_os_str().to_owned();
    file.push(end);
    file.into()
}

/// What SQLite does not wait for by itself: of several that make a log at
/// once, one does and the others get the error that the file is locked.
fn patiently<T>(mut step: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let began = Instant::now();
    loop {
        match step() {
            Err(error) if is_busy(&error) && began.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(5));
            }
            done => return done,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// The files of an index that is not used any more. What can't be removed is
/// not a concern of a question.
fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
    for end in LOGS {
        let _ = std::fs::remove_file(with_end(path, end));
    }
}

/// Indexes older than this one, which the process that made the next was killed
/// before it could remove. Another program's file is none.
pub(super) fn older(newest: &Path) -> Vec<PathBuf> {
    let dir = newest.parent().unwrap_or(newest);
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    files
        .map(|entry| entry.path())
        .filter(|path| number_of(path) < number_of(newest) && number_of(path).is_some())
        .filter(|path| is_ours(path))
        .collect()
}

/// Whether an index of this or an older latlas, or what is left of one.
fn is_ours(path: &Path) -> bool {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let Ok(path) = trusted(path) else {
        return false;
    };
    let looked = Connection::open_with_flags(uri(&path), flags).and_then(|db| schema::look(&db));
    match looked {
        Ok(Before::Today | Before::Older | Before::Nothing) => true,
        Ok(Before::Newer(_) | Before::Foreign) => false,
        Err(error) => is_broken(&error),
    }
}

/// Removes them and says how many there were.
pub(super) fn clear_older(newest: &Path) -> usize {
    let files = older(newest);
    files.iter().for_each(|path| remove(path));
    files.len()
}

/// What a file was when it was opened without locks.
#[derive(Debug, PartialEq)]
pub(super) struct Frozen {
    changed: Option<SystemTime>,
    bytes: u64,
}

/// What the file is now.
pub(super) fn frozen(path: &Path) -> Option<Frozen> {
    let metadata = std::fs::metadata(path).ok()?;
    let log = with_end(path, "-wal");
    // With a write-ahead log the file alone is incomplete.
    if std::fs::metadata(log).is_ok_and(|log| log.len() > 0) {
        return None;
    }
    Some(Frozen { changed: metadata.modified().ok(), bytes: metadata.len() })
}

/// Opens the index where nothing can be written (a read-only file system, a
/// full disk): without locks, as long as its file does not change.
pub(super) fn open_frozen(store: &Store) -> Result<Opened, Fault> {
    let path = newest(store.data_dir());
    let before = frozen(&path).ok_or(Fault::Stale)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let db = Connection::open_with_flags(uri(&trusted(&path)?), flags)?;
    match schema::look(&db)? {
        Before::Today => {}
        Before::Newer(version) => return Err(Fault::Newer(version)),
        _ => return Err(Fault::Stale),
    }
    match agree::differ(&db, store)?.is_empty() {
        true => Ok(Opened { db, path, frozen: Some(before), agreed: Agreed::default() }),
        false => Err(Fault::Stale),
    }
}

/// The path as <https://sqlite.org/uri.html> wants it.
fn uri(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri + "?immutable=1"
}

/// An index in memory, of all documents.
pub(super) fn in_memory(store: &Store) -> Result<Opened, Fault> {
    let db = Connection::open_in_memory()?;
    schema::create(&db)?;
    let agreed = agree::agree(&db, store)?;
    Ok(Opened { db, path: newest(store.data_dir()), frozen: None, agreed })
}

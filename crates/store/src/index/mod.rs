//! What is kept, by machine, run and row: the questions that a look at many
//! runs asks. The documents of [`crate`] are the truth; everything here
//! can be made from them again, and is, by itself, where the index is missing,
//! old or broken. Where it can't be written the documents answer.

mod agree;
mod fault;
mod file;
mod fill;
mod questions;
mod quiet;
mod schema;
mod standing;
mod verify;

#[cfg(test)]
mod tests;

pub use quiet::kept_quiet_ratio;
pub use standing::{MachineStanding, Percentile, Quantile, RowStanding, quantile};
pub use verify::{Damage, Verified};

use crate::crash;
use crate::{Store, StoreError, Tag, Taken, shown};
use fault::Fault;
use file::Opened;
use fill::Entry;
use model::run::{Outcome, Row, Run};
use model::summary::{KeptResult, KeptRun, Machine, MachineKey};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The kept runs with their index. May be shared between threads, one of which
/// asks at a time; each other process or thread may open its own.
pub struct Index {
    store: Store,
    state: Mutex<State>,
    messages: Mutex<Vec<String>>,
}

struct State {
    opened: Opened,
    /// It is in memory, of all documents as they were then.
    in_memory: bool,
    /// Why its file can't be written, if so.
    why: Option<String>,
}

impl State {
    /// Whether what is asked comes of a file that may be written, too.
    fn is_writable(&self) -> bool {
        !self.in_memory && self.opened.frozen.is_none()
    }
}

/// How far the reading of documents is, which takes a while where many are new
/// to the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Documents that were read.
    pub done: usize,
    /// Of so many.
    pub of: usize,
}

/// Hears how far the reading is.
static WATCH: OnceLock<fn(Reading)> = OnceLock::new();

/// Has this called after each document that is read for the index. Only the
/// first call counts.
pub fn watch_reading(watch: fn(Reading)) {
    let _ = WATCH.set(watch);
}

fn report_reading(reading: Reading) {
    if let Some(watch) = WATCH.get() {
        watch(reading);
    }
}

/// What a rebuild came to.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// Documents that the index holds now.
    pub documents: usize,
    /// Documents that can't be read: [`Index::verify`] names them.
    pub unreadable: usize,
    /// Files removed that killed writers left behind.
    pub left_over: usize,
}

/// What was deleted.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Deleted {
    /// Id of the run.
    pub id: String,
    /// Its document, which is gone.
    pub path: PathBuf,
    /// Tags that went with it.
    pub tags: Vec<String>,
}

/// Keeps a run without asking anything of the index: the run is kept as soon
/// as its document is durable. Beside its path, in a line each, what went
/// wrong with the index, which is put right when it is asked the next time.
///
/// # Errors
/// If the document can't be written.
pub fn keep(store: &Store, run: &Run) -> Result<(PathBuf, Vec<String>), StoreError> {
    let path = store.save(run)?;
    crash::point("document kept");
    let mut messages = Vec::new();
    let put =
        file::open_as_it_is(store, &mut messages).and_then(|opened| put(&opened.db, run, &path));
    if let Err(fault) = put {
        messages.push(later(&fault));
    }
    Ok((path, messages))
}

fn put(db: &Connection, run: &Run, path: &Path) -> Result<(), Fault> {
    if fill::check(run, &run.id).is_err() {
        // Told, and by what, when the index is used again.
        return Ok(());
    }
    let entry = Entry::of(&shown(run), &agree::name_of(path));
    let change = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
    agree::put_kept(&change, &entry)?;
    crash::point("run put in");
    change.commit()?;
    crash::point("index committed");
    Ok(())
}

fn later(fault: &Fault) -> String {
    format!("the run is saved; the index will take it up on its next use: {fault}")
}

impl Index {
    /// The index of a store, brought up to date. Where nothing is kept yet,
    /// nothing is made.
    ///
    /// # Errors
    /// If the store can't be read.
    pub fn open(store: Store) -> Result<Index, StoreError> {
        let mut messages = Vec::new();
        let state = open(&store, None, &mut messages)?;
        Ok(Index {
            store,
            state: Mutex::new(state),
            messages: Mutex::new(messages),
        })
    }

    /// What opening and asking had to do beside, a line each; every line is
    /// handed out once.
    pub fn messages(&self) -> Vec<String> {
        std::mem::take(&mut *self.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The documents.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Whether the documents had to be read, since the index can't be used.
    pub fn in_memory(&self) -> bool {
        self.lock().in_memory
    }

    /// Finds what others have added or removed since it was opened: only for
    /// one who keeps it open.
    ///
    /// # Errors
    /// If the store can't be read.
    pub fn refresh(&self) -> Result<(), StoreError> {
        let mut state = self.lock();
        match agree::agree(&state.opened.db, &self.store) {
            Ok(_) => Ok(()),
            Err(fault) => self.reopen(&mut state, &fault),
        }
    }

    /// Keeps a run: durable when this returns. That the index could not take
    /// it is told, and no failure.
    ///
    /// # Errors
    /// If the document can't be written, or the run is kept already.
    pub fn keep(&self, run: &Run) -> Result<PathBuf, StoreError> {
        let path = self.store.save(run)?;
        let state = self.lock();
        if let Err(fault) = put(&state.opened.db, run, &path) {
            self.add_message(later(&fault));
        }
        Ok(path)
    }

    /// All kept runs, the newest first. Those that say that they began in the
    /// future come last: no time can be believed of them.
    ///
    /// # Errors
    /// If neither index nor documents can be read.
    pub fn runs(&self) -> Result<Vec<KeptRun>, StoreError> {
        let mut runs = self.by_time()?;
        let tags = self.store.tags()?;
        runs.iter_mut().for_each(|run| tag(run, &tags));
        Ok(runs)
    }

    fn by_time(&self) -> Result<Vec<KeptRun>, StoreError> {
        self.ask(|db| questions::runs(db, self.store.runs_dir()))
    }

    /// A kept run by its whole id.
    ///
    /// # Errors
    /// If neither index nor documents can be read.
    pub fn run(&self, id: &str) -> Result<Option<KeptRun>, StoreError> {
        let mut found = self.ask(|db| questions::run(db, self.store.runs_dir(), id))?;
        if let Some(run) = &mut found {
            tag(run, &self.store.tags()?);
        }
        Ok(found)
    }

    /// All machines with kept runs, the one with the newest run first.
    ///
    /// # Errors
    /// If neither index nor documents can be read.
    pub fn machines(&self) -> Result<Vec<Machine>, StoreError> {
        let mut all: Vec<Machine> = Vec::new();
        for kept in self.by_time()? {
            match all.iter_mut().find(|m| m.key == kept.machine) {
                Some(machine) => machine.runs += 1,
                None => all.push(Machine {
                    key: kept.machine,
                    host: kept.host,
                    line: kept.machine_line,
                    runs: 1,
                    newest_unix_ms: kept.started_unix_ms,
                }),
            }
        }
        Ok(all)
    }

    /// Every figure of a row (or one point of it) on a machine, the oldest
    /// first (those of runs of the future before them): whole runs and partial ones, not those of other programs.
    ///
    /// # Errors
    /// If neither index nor documents can be read.
    pub fn history(
        &self,
        machine: &MachineKey,
        row: &str,
        at: &[u64],
    ) -> Result<Vec<(KeptRun, KeptResult)>, StoreError> {
        let dir = self.store.runs_dir();
        let mut all = self.ask(|db| questions::history(db, dir, (machine, row, at)))?;
        let tags = self.store.tags()?;
        all.iter_mut().for_each(|(run, _)| tag(run, &tags));
        Ok(all)
    }

    /// The document of a kept run by its whole id: of several files that are
    /// called so, the one that the index has.
    ///
    /// # Errors
    /// If there is none, or several of which the index has none.
    pub fn document(&self, id: &str) -> Result<PathBuf, StoreError> {
        match self.store.find(id) {
            Err(StoreError::Twice { id, paths }) => match self.run(&id)? {
                Some(run) => Ok(run.path),
                None => Err(StoreError::Twice { id, paths }),
            },
            found => found,
        }
    }

    /// Every figure of a run by its whole id, in the order of its document;
    /// none of a run that is not kept.
    ///
    /// # Errors
    /// If neither index nor documents can be read.
    pub fn results_of(&self, id: &str) -> Result<Vec<KeptResult>, StoreError> {
        self.ask(|db| questions::results_of(db, id))
    }

    /// Every row, with the points of curves and maps, that any kept run of a
    /// machine has; without one, of all machines. Not those of other programs,
    /// which have no history.
    ///
    /// # Errors
    /// If neither index nor documents can be read.
    pub fn rows(
        &self,
        machine: Option<&MachineKey>,
    ) -> Result<Vec<(String, Vec<u64>)>, StoreError> {
        self.ask(|db| questions::quantities(db, machine))
    }

    /// Where a machine stands among all, for every row and point that it has a
    /// reliable figure of ([`standing`] says which count).
    ///
    /// # Errors
    /// If neither index nor documents can be read.
    pub fn percentiles(&self, machine: &MachineKey) -> Result<Vec<Percentile>, StoreError> {
        self.ask(|db| questions::percentiles(db, machine))
    }

    /// The figures of one row, or one point of it, over all machines.
    ///
    /// # Errors
    /// If neither index nor documents can be read.
    pub fn percentiles_of_row(&self, row: &str, at: &[u64]) -> Result<RowStanding, StoreError> {
        self.ask(|db| questions::standing(db, row, at))
    }

    /// Gives a kept run (by its whole id) a name; `taken` says what becomes of
    /// runs that have it. Those that lost it are returned.
    ///
    /// # Errors
    /// If the run is not kept, the name can't be a tag, is taken, or can't be
    /// written.
    pub fn tag(&self, id: &str, name: &str, taken: Taken) -> Result<Vec<String>, StoreError> {
        self.store.find(id)?;
        self.store.tag(name, id, taken)
    }

    /// Takes a tag away and says which runs had it.
    ///
    /// # Errors
    /// If there is no such tag, or it can't be removed.
    pub fn untag(&self, name: &str) -> Result<Vec<String>, StoreError> {
        self.store.untag(name)
    }

    /// Deletes a kept run by its whole id, with its tags: the document first,
    /// so that a kill in between leaves nothing that is half there. It need not
    /// be in the index: one that can't be read can be deleted.
    ///
    /// # Errors
    /// If the run is not kept or can't be removed.
    pub fn delete(&self, id: &str) -> Result<Deleted, StoreError> {
        let path = self.document(id)?;
        let mut tags = self.store.tags()?;
        tags.retain(|tag| tag.run == id);
        self.store.remove(&path)?;
        crash::point("document removed");
        let mut names = Vec::new();
        for tag in tags {
            match self.store.untag_run(&tag.name, id) {
                // Somebody took it away meanwhile.
                Ok(()) | Err(StoreError::NoSuchTag { .. }) => names.push(tag.name),
                Err(other) => return Err(other),
            }
        }
        crash::point("tags removed");
        let state = self.lock();
        if let Err(fault) = agree::agree(&state.opened.db, &self.store) {
            self.add_message(format!(
                "the run is deleted; the index will drop it on its next use: {fault}"
            ));
        }
        Ok(Deleted {
            id: id.to_owned(),
            path,
            tags: names,
        })
    }

    /// Makes the whole index anew from the documents, and removes what killed
    /// writers left behind. Where nothing is kept, nothing is made.
    ///
    /// # Errors
    /// If the documents can't be read or the index can't be written.
    pub fn rebuild(&self) -> Result<Rebuilt, StoreError> {
        let mut state = self.lock();
        if !state.is_writable() {
            // It may be writable by now, or the first run kept.
            *state = open(&self.store, None, &mut Vec::new())?;
        }
        if let Some(cause) = &state.why {
            return Err(StoreError::IndexUnwritable {
                path: state.opened.path.clone(),
                cause: cause.clone(),
            });
        }
        if state.in_memory {
            return Ok(Rebuilt {
                documents: 0,
                unreadable: 0,
                left_over: self.store.clear_left_over()?,
            });
        }
        let agreed = agree::refill(&state.opened.db, &self.store).or_else(|fault| {
            if !fault.is_broken() {
                return Err(fault);
            }
            let broken = Some((state.opened.path.clone(), fault.to_string()));
            state.opened = file::open(&self.store, broken, &mut Vec::new())?;
            Ok(state.opened.agreed)
        });
        match agreed {
            Ok(agreed) => Ok(Rebuilt {
                documents: agreed.added,
                unreadable: agreed.unread,
                left_over: self.store.clear_left_over()? + file::clear_older(&state.opened.path),
            }),
            Err(Fault::Store(error)) => Err(error),
            Err(other) => Err(StoreError::IndexUnwritable {
                path: state.opened.path.clone(),
                cause: other.to_string(),
            }),
        }
    }

    /// Reads every document wholly and compares the index with it, row by row.
    /// Deletes and mends nothing.
    ///
    /// # Errors
    /// If the directory of runs can't be read.
    pub fn verify(&self) -> Result<Verified, StoreError> {
        let state = self.lock();
        verify::verify(&state.opened.db, &self.store)
    }

    /// Where the index's file is, or would be.
    pub fn path(&self) -> PathBuf {
        self.lock().opened.path.clone()
    }

    /// Asks; an index that turns out to be broken is made anew, and the
    /// question asked once more.
    fn ask<T>(
        &self,
        question: impl Fn(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut state = self.lock();
        let answer = match question(&state.opened.db) {
            Ok(answer) if state.opened.is_as_it_was() => return Ok(answer),
            Ok(_) => Err(Fault::Stale),
            Err(error) => Err(Fault::Sql(error)),
        };
        match answer {
            Ok(answer) => Ok(answer),
            Err(fault) if state.in_memory => Err(self.unusable(&state, &fault.to_string())),
            Err(fault) => {
                self.reopen(&mut state, &fault)?;
                question(&state.opened.db).map_err(|e| self.unusable(&state, &e.to_string()))
            }
        }
    }

    /// After a fault: the index anew, or in memory.
    fn reopen(&self, state: &mut State, fault: &Fault) -> Result<(), StoreError> {
        let broken = fault.is_broken() && state.is_writable();
        let broken = broken.then(|| (state.opened.path.clone(), fault.to_string()));
        let mut messages = Vec::new();
        *state = open(&self.store, broken, &mut messages)?;
        messages.into_iter().for_each(|line| self.add_message(line));
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add_message(&self, line: String) {
        self.messages
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
    }

    fn unusable(&self, state: &State, cause: &str) -> StoreError {
        StoreError::Index {
            path: state.opened.path.clone(),
            cause: cause.to_owned(),
        }
    }
}

/// The index by the best way there is: its file; its file as it is, where
/// nothing can be written; all documents.
fn open(
    store: &Store,
    broken: Option<(PathBuf, String)>,
    messages: &mut Vec<String>,
) -> Result<State, StoreError> {
    if store.is_empty()? && !file::newest(store.data_dir()).exists() {
        return memory(store, None);
    }
    let known_broken = broken.is_some();
    let fault = match file::open(store, broken, messages) {
        Ok(opened) => {
            if opened.agreed.unread > 0 {
                messages.push(unreadable(opened.agreed.unread));
            }
            return Ok(State {
                opened,
                in_memory: false,
                why: None,
            });
        }
        Err(Fault::Store(error)) => return Err(error),
        Err(fault) => fault,
    };
    let why = Some(fault.to_string());
    if !known_broken
        && !matches!(fault, Fault::Newer(_))
        && let Ok(opened) = file::open_frozen(store)
    {
        return Ok(State {
            opened,
            in_memory: false,
            why,
        });
    }
    messages.push(format!(
        "the index {} can't be used; reading the documents instead, which is slower: {fault}",
        file::newest(store.data_dir()).display()
    ));
    memory(store, why)
}

fn memory(store: &Store, why: Option<String>) -> Result<State, StoreError> {
    match file::in_memory(store) {
        Ok(opened) => Ok(State {
            opened,
            in_memory: true,
            why,
        }),
        Err(Fault::Store(error)) => Err(error),
        Err(other) => Err(StoreError::Index {
            path: file::newest(store.data_dir()),
            cause: other.to_string(),
        }),
    }
}

fn unreadable(count: usize) -> String {
    let documents = match count {
        1 => "1 document".to_owned(),
        n => format!("{n} documents"),
    };
    format!("{documents} can't be read: latlas atlas verify says why")
}

fn tag(run: &mut KeptRun, tags: &[Tag]) {
    let own = tags.iter().filter(|tag| tag.run == run.id);
    run.tags = own.map(|tag| tag.name.clone()).collect();
}

impl Opened {
    /// Whether an answer counts: a file read without locks is as it was.
    fn is_as_it_was(&self) -> bool {
        self.frozen.is_none() || file::frozen(&self.path) == self.frozen
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

/// Every figure of a run: single figures, levels, points of curves and maps.
pub fn results(run: &Run) -> Vec<KeptResult> {
    run.rows.iter().flat_map(of_row).collect()
}

fn of_row(row: &Row) -> Vec<KeptResult> {
    if let Outcome::Unavailable { reason } = &row.outcome {
        return vec![KeptResult::unavailable(row, reason)];
    }
    let figures = row.figures().into_iter();
    figures.map(|(at, e)| KeptResult::of(row, at, e)).collect()
}

//! A run into the index and out of it.

use super::columns::{self, Columns, at_text};
use crate::{StoreError, crash, id_in_name};
use model::phrases::counted;
use model::run::Run;
use model::stats::Interval;
use model::summary::{KeptResult, KeptRun};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use sys::input;

/// What the index holds of one document.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub(crate) struct IndexEntry {
    pub(crate) kept: KeptRun,
    /// Whether its figures count among those of all machines.
    pub(crate) counted: bool,
    /// Each quantity once.
    pub(crate) results: Vec<KeptResult>,
    /// Of its document ([`crate::documents::Documents::marked`]).
    #[serde(skip)]
    pub(crate) mark: Vec<u8>,
}

impl IndexEntry {
    /// Of a run with its document's name.
    pub(crate) fn from_run(run: &Run, file: &str) -> IndexEntry {
        let mut seen = HashSet::new();
        // No document of latlas has a quantity twice; one that was made by
        // hand may.
        let mut results = super::results::results(run);
        results.retain(|result| seen.insert((result.row.clone(), result.at.clone())));
        let own = run.imported.is_none() && run.is_of_rows();
        IndexEntry {
            kept: KeptRun::from_run(run, PathBuf::from(file)),
            counted: own && run.emulator().is_none(),
            results,
            mark: Vec::new(),
        }
    }

    /// Whether it can be of the document of this name. Anything may stand beside one, and what does not fit
    /// into the tables would have the index called damaged.
    pub(super) fn is_of(&self, file: &str) -> bool {
        let mut seen = HashSet::new();
        self.file() == file
            && id_in_name(Path::new(file)) == Some(self.kept.id.as_str())
            && i64::try_from(self.kept.started_unix_ms).is_ok()
            && self.results.iter().all(|result| seen.insert((&result.row, &result.at)))
    }

    pub(crate) fn file(&self) -> std::borrow::Cow<'_, str> {
        self.kept.path.to_string_lossy()
    }
}

/// Why a document is not in the index.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotIndexed {
    #[error("{}", without_path(.0))]
    Unread(#[from] StoreError),
    #[error("its name says {name} and it holds {id}")]
    OtherId { name: String, id: String },
    #[error("it began {0} ms after 1970: that is not a valid time")]
    NoTime(u64),
    #[error("{0} holds the same run")]
    SameRun(String),
}

impl NotIndexed {
    /// Whether the document was deleted since its name was read.
    pub(super) fn is_gone(&self) -> bool {
        matches!(self, NotIndexed::Unread(StoreError::Io { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound)
    }

    /// The failure of a database that says nothing about the document: no other one can be had then either.
    pub(super) fn by_database(self) -> Result<NotIndexed, StoreError> {
        match self {
            NotIndexed::Unread(error @ StoreError::Database { .. }) if !error.is_damage() => {
                Err(error)
            }
            other => Ok(other),
        }
    }

    /// The error of the system, if that is why: it says nothing about the document, which may be
    /// as good as ever. That it is no file is known of it for good.
    pub(super) fn by_system(&self) -> Option<&StoreError> {
        match self {
            NotIndexed::Unread(error @ StoreError::Io { cause, .. }) => {
                Some(error).filter(|_| !input::is_not_a_file(cause))
            }
            _ => None,
        }
    }
}

/// Documents that the system failed to read now. They are left out, and tried again at each use.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct NotRead {
    pub documents: usize,
    /// Why the first of them can't be read, with its path.
    pub why: String,
}

impl fmt::Display for NotRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let are = if self.documents == 1 { "is" } else { "are" };
        let documents = counted(self.documents, "document");
        write!(f, "{documents} {are} left out for now: {}", self.why)
    }
}

/// Whether a run fits into the index, under the id in its document's name.
pub(crate) fn check_fits(run: &Run, id_in_name: &str) -> Result<(), NotIndexed> {
    if run.id != id_in_name {
        return Err(NotIndexed::OtherId { name: id_in_name.to_owned(), id: run.id.clone() });
    }
    let ms = run.started_unix_ms;
    i64::try_from(ms).map_err(|_| NotIndexed::NoTime(ms))?;
    Ok(())
}

/// Numbers of quantities and forms that were looked up or given out within one
/// transaction: the same thousand of them come with every run.
#[derive(Default)]
pub(super) struct Numbers {
    quantities: HashMap<String, HashMap<Vec<u64>, i64>>,
    /// By [`columns::form_text`].
    forms: HashMap<String, i64>,
}

/// Puts a run in, within a transaction of the caller.
pub(super) fn put(
    db: &Connection,
    entry: &IndexEntry,
    numbers: &mut Numbers,
) -> rusqlite::Result<()> {
    let kept = &entry.kept;
    let line = serde_json::to_string(kept).map_err(conversion)?;
    db.prepare_cached(
        "INSERT INTO run (id, file, started_ms, machine, host, imported, counted, line, mark)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        kept.id,
        entry.file(),
        i64::try_from(kept.started_unix_ms).map_err(conversion)?,
        kept.machine.0,
        kept.host,
        kept.imported,
        entry.counted,
        line,
        entry.mark
    ])?;
    let run = db.last_insert_rowid();
    crash::point("run begun");
    for (place, result) in entry.results.iter().enumerate() {
        put_result(db, run, place, result, numbers)?;
    }
    Ok(())
}

fn put_result(
    db: &Connection,
    run: i64,
    place: usize,
    result: &KeptResult,
    numbers: &mut Numbers,
) -> rusqlite::Result<()> {
    let quantity = numbers.quantity(db, result)?;
    let form = numbers.form(db, result)?;
    let end = |interval: Option<Interval>, end: fn(Interval) -> f64| interval.map(end);
    db.prepare_cached(
        "INSERT INTO result (run, quantity, place, form, verdict, reliable, value, low, high,
             cycles, cycles_low, cycles_high, below, reason)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?
    .execute(params![
        run,
        quantity,
        place as i64,
        form,
        result.verdict.map(columns::number_of),
        result.reliable(),
        end(result.value_ns, |v| v.value),
        end(result.value_ns, |v| v.low),
        end(result.value_ns, |v| v.high),
        end(result.cycles, |v| v.value),
        end(result.cycles, |v| v.low),
        end(result.cycles, |v| v.high),
        result.below_ns,
        Some(&result.reason).filter(|reason| !reason.is_empty())
    ])?;
    Ok(())
}

/// Number of a row or a point, if any run has it.
pub(super) fn quantity(db: &Connection, row: &str, at: &[u64]) -> rusqlite::Result<Option<i64>> {
    db.prepare_cached("SELECT quantity FROM quantity WHERE name = ?1 AND at = ?2")?
        .query_row(params![row, at_text(at)], |row| row.get(0))
        .optional()
}

pub(super) fn at_of(text: &str) -> rusqlite::Result<Vec<u64>> {
    columns::at_of(text).map_err(conversion)
}

impl Numbers {
    fn quantity(&mut self, db: &Connection, result: &KeptResult) -> rusqlite::Result<i64> {
        let known = self.quantities.get(&result.row);
        if let Some(&number) = known.and_then(|points| points.get(&result.at)) {
            return Ok(number);
        }
        let number = match quantity(db, &result.row, &result.at)? {
            Some(known) => known,
            None => {
                db.prepare_cached("INSERT INTO quantity (name, at) VALUES (?1, ?2)")?
                    .execute(params![result.row, at_text(&result.at)])?;
                db.last_insert_rowid()
            }
        };
        let points = self.quantities.entry(result.row.clone()).or_default();
        points.insert(result.at.clone(), number);
        Ok(number)
    }

    fn form(&mut self, db: &Connection, result: &KeptResult) -> rusqlite::Result<i64> {
        let text = columns::form_text(&columns::form(result)).map_err(conversion)?;
        if let Some(&number) = self.forms.get(&text) {
            return Ok(number);
        }
        let known = db
            .prepare_cached("SELECT form FROM form WHERE text = ?1")?
            .query_row([&text], |row| row.get(0))
            .optional()?;
        let number = match known {
            Some(number) => number,
            None => {
                db.prepare_cached("INSERT INTO form (text) VALUES (?1)")?.execute([&text])?;
                db.last_insert_rowid()
            }
        };
        self.forms.insert(text, number);
        Ok(number)
    }
}

/// The mode that figures of a form are of.
pub(super) fn mode_of(db: &Connection, form: i64) -> rusqlite::Result<Option<String>> {
    let text: String = db
        .prepare_cached("SELECT text FROM form WHERE form = ?1")?
        .query_row([form], |row| row.get(0))?;
    columns::mode_of(&text).map_err(conversion)
}

/// Columns of a [`KeptResult`], with `quantity` and `form` joined.
pub(super) const RESULT: &str = "quantity.name, quantity.at, form.text, verdict, value, low, high, \
     cycles, cycles_low, cycles_high, below, reason";

/// A result from [`RESULT`], which begin at a column.
pub(super) fn result(row: &Row, first: usize) -> rusqlite::Result<KeptResult> {
    let columns = Columns {
        row: row.get(first)?,
        at: row.get(first + 1)?,
        form: row.get(first + 2)?,
        verdict: row.get(first + 3)?,
        value: [row.get(first + 4)?, row.get(first + 5)?, row.get(first + 6)?],
        cycles: [row.get(first + 7)?, row.get(first + 8)?, row.get(first + 9)?],
        below_ns: row.get(first + 10)?,
        reason: row.get(first + 11)?,
    };
    columns.result().map_err(conversion)
}

/// A run from its line, where its document lies in `runs`.
pub(super) fn run_from_line(line: &str, runs: &Path) -> rusqlite::Result<KeptRun> {
    columns::run_from_line(line, runs).map_err(conversion)
}

/// Takes a document's run out, and says whether it was in.
pub(super) fn take_out(db: &Connection, file: &str) -> rusqlite::Result<bool> {
    let run: Option<i64> = db
        .prepare_cached("SELECT run FROM run WHERE file = ?1")?
        .query_row([file], |row| row.get(0))
        .optional()?;
    let Some(run) = run else {
        return Ok(false);
    };
    db.execute("DELETE FROM result WHERE run = ?1", [run])?;
    db.execute("DELETE FROM run WHERE run = ?1", [run])?;
    // Another document of the same id may have waited for this one to go.
    db.execute("DELETE FROM unread", [])?;
    Ok(true)
}

/// What the index holds can't be what this program wrote.
pub(super) fn conversion(
    why: impl Into<Box<dyn std::error::Error + Send + Sync + 'static>>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, why.into())
}

/// Why a document can't be read, without its path, which stands elsewhere.
fn without_path(error: &StoreError) -> String {
    match error {
        StoreError::Unreadable { reason, .. } => reason.clone(),
        StoreError::Io { cause, .. } => cause.to_string(),
        other => other.to_string(),
    }
}

//! The index's tables. Their version is apart from that of the documents.
//!
//! Everything of a run lies together (both tables are clustered by run, and
//! so is the index over figures), since a run comes and goes as a whole: to
//! insert one appends some twenty pages, however many are kept. A row's
//! history is one look-up a run; percentiles read the narrow index over
//! reliable figures from end to end.

use rusqlite::Connection;

/// `PRAGMA user_version` of the index that this program writes. One of another
/// version is made anew, since all that it holds stands in the documents:
///
/// - 2: a result says whether its figure is the quiet one.
/// - 3: figures are of the mode that is shown first, and say of which; texts are
///   without control characters; a run says what it teaches later ones.
/// - 4: separate sessions are called so in a run's controls.
/// - 5: a run says which job of a campaign made it.
/// - 6: a run has the facts in which hosts of a fleet may differ.
/// - 7: an invalid result has no figure; a run says what was run.
/// - 8: a run says its core clock.
/// - 9: documents that the system failed to read are not remembered as unreadable.
/// - 10: documents have marks.
pub(crate) const VERSION: i32 = 10;

/// `PRAGMA application_id`: "latl". A file without it is not ours.
pub(super) const APPLICATION: i32 = 0x6c61_746c;

/// Tables of version 10.
///
/// - `run`: one line a document; `line` is a [`model::summary::KeptRun`] as JSON.
///   `counted` says whether its figures count among those of all machines.
/// - `quantity`: a row, or one point of it (`at` as numbers with commas between).
/// - `form`: what a row's time follows, its unit, whether its figures are quiet
///   ones and of which mode, as JSON: figures of two forms are two quantities.
/// - `result`: a [`model::summary::KeptResult`]. `value` is the figure and its interval
///   `low` to `high`; `reliable` is set where it may be set against
///   others.
/// - `unread`: documents that can't be read, with what they were when that was
///   tried and by which schema.
///
/// In both, `mark` tells a document in a database from another one of its name.
const TABLES: &str = "
CREATE TABLE run (
    run INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    file TEXT NOT NULL UNIQUE,
    started_ms INTEGER NOT NULL,
    machine TEXT NOT NULL,
    host TEXT,
    imported INTEGER NOT NULL,
    counted INTEGER NOT NULL,
    line TEXT NOT NULL,
    mark BLOB NOT NULL
) STRICT;
CREATE INDEX run_by_time ON run (machine, started_ms);
CREATE TABLE quantity (
    quantity INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    at TEXT NOT NULL,
    UNIQUE (name, at)
) STRICT;
CREATE TABLE form (
    form INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE result (
    run INTEGER NOT NULL REFERENCES run,
    quantity INTEGER NOT NULL REFERENCES quantity,
    place INTEGER NOT NULL,
    form INTEGER NOT NULL REFERENCES form,
    verdict INTEGER,
    reliable REAL,
    value REAL, low REAL, high REAL,
    cycles REAL, cycles_low REAL, cycles_high REAL,
    below REAL,
    reason TEXT,
    PRIMARY KEY (run, quantity)
) STRICT, WITHOUT ROWID;
CREATE INDEX figure ON result (run, quantity, form, reliable) WHERE reliable IS NOT NULL;
CREATE TABLE unread (
    file TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL,
    changed_ms INTEGER NOT NULL,
    schema INTEGER NOT NULL,
    reason TEXT NOT NULL,
    mark BLOB NOT NULL
) STRICT, WITHOUT ROWID;
";

const DROP: &str = "
DROP TABLE IF EXISTS result;
DROP TABLE IF EXISTS run;
DROP TABLE IF EXISTS quantity;
DROP TABLE IF EXISTS form;
DROP TABLE IF EXISTS unread;
";

/// What an index was before this program touched it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// An empty file.
    Nothing,
    /// As it is made today.
    Today,
    /// Of an older version.
    Older,
    /// Of a newer one: not to be touched.
    Newer(i32),
    /// Of another program.
    Foreign,
}

/// What a file is, read in one transaction: another process may create the
/// tables between two separate reads, and a half of each is a foreign file.
pub(super) fn look(db: &Connection) -> rusqlite::Result<Before> {
    // A savepoint, since some callers are inside a transaction already.
    db.execute_batch("SAVEPOINT look")?;
    let before = look_within(db);
    let released = db.execute_batch("RELEASE look");
    // The first error counts: an I/O error ends the savepoint by itself, and
    // that it is gone is no fault of the file.
    before.and_then(|before| released.map(|()| before))
}

fn look_within(db: &Connection) -> rusqlite::Result<Before> {
    let application: i32 = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version: i32 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?;
    Ok(match (application, version) {
        (0, 0) if tables == 0 => Before::Nothing,
        (APPLICATION, VERSION) => Before::Today,
        (APPLICATION, newer) if newer > VERSION => Before::Newer(newer),
        (APPLICATION, older) if older > 0 => Before::Older,
        _ => Before::Foreign,
    })
}

/// Makes the tables anew, without any content.
pub(super) fn create(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(DROP)?;
    db.execute_batch(TABLES)?;
    db.pragma_update(None, "application_id", APPLICATION)?;
    db.pragma_update(None, "user_version", VERSION)
}

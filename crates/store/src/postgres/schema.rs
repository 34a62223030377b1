//! The tables, in a schema of their own: those of the index of a directory, and the documents.

use super::client::Client;
use super::rebuild;
use super::server::{Fault, Session};
use crate::DatabaseFailure;
use crate::index::schema::VERSION as CONTENT;

/// What makes the tables of each version of those before; the last one is that which this program
/// reads and writes. What is there is never changed: another version is another entry.
///
/// - `run`, `quantity`, `form`, `result`: as in the index of a directory. `kept_ms` says when the
///   run was kept, by the server's clock.
/// - `document`: a run's document as it is kept in a directory, and its SHA-256.
/// - `tag`: a tag, and the ids that have it, one a line.
const MIGRATIONS: &[&str] = &["
CREATE TABLE run (
    run bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE \"C\" NOT NULL UNIQUE,
    file text COLLATE \"C\" NOT NULL UNIQUE,
    started_ms bigint NOT NULL,
    kept_ms bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    machine text COLLATE \"C\" NOT NULL,
    host text,
    imported boolean NOT NULL,
    counted boolean NOT NULL,
    line text NOT NULL
);
CREATE INDEX run_by_time ON run (machine, started_ms);
CREATE TABLE document (
    run bigint PRIMARY KEY REFERENCES run ON DELETE CASCADE,
    digest bytea NOT NULL,
    bytes bytea NOT NULL
);
ALTER TABLE document ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE TABLE quantity (
    quantity integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE \"C\" NOT NULL,
    at text COLLATE \"C\" NOT NULL,
    UNIQUE (name, at)
);
CREATE TABLE form (
    form integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    text text COLLATE \"C\" NOT NULL UNIQUE
);
CREATE TABLE result (
    run bigint NOT NULL,
    quantity integer NOT NULL,
    place integer NOT NULL,
    form integer NOT NULL,
    verdict smallint,
    reliable double precision,
    value double precision, low double precision, high double precision,
    cycles double precision, cycles_low double precision, cycles_high double precision,
    below double precision,
    reason text,
    PRIMARY KEY (run, quantity)
);
CREATE INDEX figure ON result (quantity) INCLUDE (run, form, reliable) WHERE reliable IS NOT NULL;
CREATE TABLE tag (name text COLLATE \"C\" PRIMARY KEY, runs text NOT NULL);
"];

/// The version of the tables that this program knows.
pub(super) const VERSION: i32 = MIGRATIONS.len() as i32;

/// Which lock two programs take that make the tables or fill them: "latlas" as a number.
const LOCK: i64 = 0x6c61_746c_6173;

/// Begins a session: the tables are there afterwards, of today's version.
pub(super) fn begin(session: &mut Session) -> Result<(), Fault> {
    if version(&session.client)? != VERSION {
        migrate(session)?;
    }
    match content(session)? {
        CONTENT => Ok(()),
        found if found > CONTENT => Err(DatabaseFailure::Newer { found, known: CONTENT }.into()),
        _ => fill_anew(session),
    }
}

/// The version of the index whose content the tables have.
fn content(session: &mut Session) -> Result<i32, Fault> {
    let row = session.client.query_one("SELECT content FROM version", &[])?;
    Ok(row.try_get(0)?)
}

/// Makes anew from the documents what an older latlas put into the tables: all of it, or nothing.
fn fill_anew(session: &mut Session) -> Result<(), Fault> {
    session.client.begin()?;
    let filled = filled(session);
    let ended = session.client.end(filled.is_ok());
    filled.and(ended)
}

fn filled(session: &mut Session) -> Result<(), Fault> {
    let client = &session.client;
    client.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
    // Another program may have been first.
    if content(session)? < CONTENT {
        rebuild::each(session)?;
        session.client.execute("UPDATE version SET content = $1", &[&CONTENT])?;
    }
    Ok(())
}

fn migrate(session: &mut Session) -> Result<(), Fault> {
    let change = session.client.transaction()?;
    change.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
    // Another program may have been first.
    let before = version(&change)?;
    for (n, migration) in MIGRATIONS.iter().enumerate().skip(before as usize) {
        if n == 0 {
            change.batch_execute(
                "CREATE SCHEMA IF NOT EXISTS latlas;
                 CREATE TABLE version (version integer NOT NULL, content integer NOT NULL)",
            )?;
        }
        change.batch_execute(migration)?;
    }
    match before {
        0 => change.execute("INSERT INTO version VALUES ($1, $2)", &[&VERSION, &CONTENT])?,
        _ => change.execute("UPDATE version SET version = $1", &[&VERSION])?,
    };
    change.commit()?;
    Ok(())
}

/// The version of the tables; 0 without any.
fn version(client: &Client) -> Result<i32, Fault> {
    // Not to_regclass: within a transaction it may remember what was not there before the lock.
    let row = client.query_one(
        "SELECT EXISTS (SELECT FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
                        WHERE relname = 'version' AND nspname = 'latlas'),
                (SELECT has_schema_privilege(oid, 'USAGE') FROM pg_namespace WHERE nspname = 'latlas'),
                current_user::text",
        &[],
    )?;
    if row.try_get::<_, Option<bool>>(1)? == Some(false) {
        let role: String = row.try_get(2)?;
        let why = format!("role {role} has no USAGE on schema latlas");
        return Err(DatabaseFailure::Refused(why).into());
    }
    if !row.try_get::<_, bool>(0)? {
        return Ok(0);
    }
    let row = client.query_one("SELECT coalesce(max(version), 0) FROM version", &[])?;
    match row.try_get(0)? {
        found if found > VERSION => Err(DatabaseFailure::Newer { found, known: VERSION }.into()),
        found => Ok(found),
    }
}

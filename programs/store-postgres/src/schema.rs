//! The tables, in a schema of their own.

use crate::client::Client;
use crate::fault::Fault;
use crate::fault::failed;
use store_protocol::FailureKind;

/// The version of the tables that this program knows.
pub(crate) const VERSION: i32 = 2;

/// - `document`: a run's document as it is kept in a directory, its SHA-256, and the entry that an
///   index of version `content` has of it. `kept_ms` says when it was kept, by the server's clock.
/// - `tag`: a tag, and the ids that have it, one a line.
const DOCUMENT: &str = "
CREATE TABLE document (
    id text COLLATE \"C\" PRIMARY KEY,
    file text COLLATE \"C\" NOT NULL UNIQUE,
    kept_ms bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    digest bytea NOT NULL,
    bytes bytea NOT NULL,
    content integer NOT NULL,
    entry bytea NOT NULL
);
ALTER TABLE document ALTER COLUMN bytes SET STORAGE EXTERNAL;
";

const NEW: &str = "
CREATE SCHEMA IF NOT EXISTS latlas;
CREATE TABLE version (version integer NOT NULL);
CREATE TABLE tag (name text COLLATE \"C\" PRIMARY KEY, runs text NOT NULL);
";

/// Of version 1, which kept an index in the database: it goes, the documents stay where they are. The entries
/// are read from these.
const TAKE_OVER: &str = "
ALTER TABLE document ADD id text COLLATE \"C\", ADD file text COLLATE \"C\", ADD kept_ms bigint,
    ADD content integer NOT NULL DEFAULT 0, ADD entry bytea NOT NULL DEFAULT '';
UPDATE document SET id = run.id, file = run.file, kept_ms = run.kept_ms FROM run WHERE run.run = document.run;
ALTER TABLE document DROP run;
ALTER TABLE document ADD PRIMARY KEY (id), ADD UNIQUE (file), ALTER file SET NOT NULL,
    ALTER kept_ms SET NOT NULL,
    ALTER kept_ms SET DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    ALTER content DROP DEFAULT, ALTER entry DROP DEFAULT;
DROP TABLE result, form, quantity, run;
ALTER TABLE version DROP COLUMN content;
";

/// Which lock two programs take that make the tables: "latlas" as a number.
const LOCK: i64 = 0x6c61_746c_6173;

/// Begins a client: the tables are there afterwards, of today's version.
pub(crate) fn begin(client: &mut Client) -> Result<(), Fault> {
    if version(client)? != VERSION {
        migrate(client)?;
    }
    Ok(())
}

fn migrate(client: &mut Client) -> Result<(), Fault> {
    let change = client.transaction()?;
    change.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
    // Another program may have been first.
    let before = version(&change)?;
    match before {
        0 => {
            change.batch_execute(&format!("{NEW}{DOCUMENT}"))?;
            change.execute("INSERT INTO version VALUES ($1)", &[&VERSION])?;
        }
        VERSION => {}
        _ => {
            change.batch_execute(TAKE_OVER)?;
            change.execute("UPDATE version SET version = $1", &[&VERSION])?;
        }
    }
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
        return Err(failed(FailureKind::Refused, why));
    }
    if !row.try_get::<_, bool>(0)? {
        return Ok(0);
    }
    let row = client.query_one("SELECT coalesce(max(version), 0) FROM version", &[])?;
    match row.try_get(0)? {
        found if found > VERSION => {
            let why =
                format!("its tables have version {found}, this program knows up to {VERSION}");
            Err(failed(FailureKind::Newer, why))
        }
        found => Ok(found),
    }
}

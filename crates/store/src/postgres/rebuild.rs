//! What the tables hold of documents, made anew from these.

use super::documents::Database;
use super::keep::Columns;
use super::server::{Fault, Session, damaged};
use super::verify::next;
use crate::StoreError;
use crate::index::Rebuilt;

const RUN: &str = "
UPDATE run SET started_ms = $2, machine = $3, host = $4, imported = $5, counted = $6, line = $7
WHERE run = $1";

/// Makes the results of each run anew, and what the list of runs says of it; of a run whose
/// document can't be read both stay.
pub(super) fn rebuild(database: &Database) -> Result<Rebuilt, StoreError> {
    database.server.with(|session, _| each(session))
}

/// The same on a connection.
pub(super) fn each(session: &mut Session) -> Result<Rebuilt, Fault> {
    let mut done = Rebuilt::default();
    let mut after = 0;
    loop {
        let documents = next(&session.client, after)?;
        let Some(last) = documents.last() else {
            return Ok(done);
        };
        after = last.run;
        for kept in &documents {
            let Ok(entry) = kept.entry() else {
                done.unreadable += 1;
                continue;
            };
            let columns = Columns::of(session, &entry.results)?;
            let line = serde_json::to_string(&entry.kept).map_err(damaged)?;
            let started = i64::try_from(entry.kept.started_unix_ms).map_err(damaged)?;
            let change = session.client.transaction()?;
            let (run, of) = (kept.run, &entry.kept);
            let changed = change.execute(
                RUN,
                &[&run, &started, &of.machine.0, &of.host, &of.imported, &entry.counted, &line],
            )?;
            // Deleted in between.
            if changed > 0 {
                change.execute("DELETE FROM result WHERE run = $1", &[&run])?;
                columns.insert(&change, run)?;
                change.commit()?;
                done.documents += 1;
            }
        }
    }
}

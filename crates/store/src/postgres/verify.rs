//! Every document read, everything compared.

use super::answers::{results_of, run_of};
use super::cache::digest;
use super::client::Client;
use super::documents::Database;
use super::server::{Fault, Session};
use crate::index::fill::{Entry, check};
use crate::index::verify::{compared, tags};
use crate::index::{Damage, Reading, Verified, report_reading};
use crate::{StoreError, document, id_in_name};
use std::path::Path;
use std::sync::Arc;

/// Documents that are asked for at once.
const AT_ONCE: i64 = 20;

/// A document as it is kept.
pub(super) struct Kept {
    pub(super) run: i64,
    pub(super) file: String,
    bytes: Vec<u8>,
    digest: Vec<u8>,
}

impl Kept {
    /// What the index should hold of it, or what is wrong with it.
    pub(super) fn entry(&self) -> Result<Entry, String> {
        if digest(&self.bytes) != self.digest {
            return Err("its digest is not that of its bytes".into());
        }
        let run = document::shown_from(&self.bytes).map_err(|refused| refused.to_string())?;
        let id = id_in_name(Path::new(&self.file)).unwrap_or_default();
        check(&run, id).map_err(|why| why.to_string())?;
        Ok(Entry::of(&run, &self.file))
    }
}

/// The next documents after that of a run.
pub(super) fn next(client: &Client, after: i64) -> Result<Vec<Kept>, Fault> {
    let sql = "SELECT run, file, bytes, digest FROM run LEFT JOIN document USING (run)
               WHERE run > $1 ORDER BY run LIMIT $2";
    let rows = client.query(sql, &[&after, &AT_ONCE])?;
    let of = |row: &tokio_postgres::Row| {
        Ok(Kept {
            run: row.try_get(0)?,
            file: row.try_get(1)?,
            bytes: row.try_get::<_, Option<_>>(2)?.unwrap_or_default(),
            digest: row.try_get::<_, Option<_>>(3)?.unwrap_or_default(),
        })
    };
    rows.iter().map(of).collect()
}

/// Calls this with every document, the first that was kept first.
pub(super) fn verify(database: &Arc<Database>) -> Result<Verified, StoreError> {
    let mut found = database.server.with(|session, _| {
        let count = session.client.query_one("SELECT count(*) FROM run", &[])?;
        let of = count.try_get::<_, i64>(0)? as usize;
        let (mut found, mut after, mut done) = (Verified::default(), 0, 0);
        loop {
            let documents = next(&session.client, after)?;
            let Some(last) = documents.last() else {
                return Ok(found);
            };
            after = last.run;
            for kept in &documents {
                look(session, kept, &mut found, database)?;
                done += 1;
                report_reading(Reading { done, of: of.max(done) });
            }
        }
    })?;
    found.tags.extend(tags(&database.store())?);
    Ok(found)
}

fn look(
    session: &mut Session,
    kept: &Kept,
    found: &mut Verified,
    database: &Arc<Database>,
) -> Result<(), Fault> {
    let store = database.store();
    let damage =
        |what| Damage { path: store.shown(&store.runs_dir().join(&kept.file)).into(), what };
    let mut entry = match kept.entry() {
        Ok(entry) => entry,
        Err(what) => {
            found.damaged.push(damage(what));
            return Ok(());
        }
    };
    let sql = "SELECT line, counted FROM run WHERE run = $1";
    let Some(row) = session.client.query_opt(sql, &[&kept.run])? else {
        // Deleted in between.
        return Ok(());
    };
    found.documents += 1;
    found.results += entry.results.len();
    let held = results_of(session, &entry.kept.id)?;
    entry.kept.path = database.runs.join(&kept.file);
    let line = (run_of(&row, &database.runs)?, row.try_get(1)?);
    found.index.extend(compared(&entry, &line, &held).map(damage));
    Ok(())
}

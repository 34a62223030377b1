//! A shelf in a database: documents, and beside each what the index holds of it, so that whoever
//! brings an index up to date reads that and not the document. Tags are lines of text.

use super::cache::{self, digest};
use super::client::Client;
use super::fault::Fault;
use super::server::Server;
use super::settings::Settings;
use super::values::Values;
use crate::documents::Documents;
use crate::error::{FileAction, io};
use crate::horizon::Horizon;
use crate::index::schema::VERSION as CONTENT;
use crate::index::{Entry, check};
use crate::{Place, Store, StoreError, file_of, id_in_name, kept_already, name_of, shown, tags};
use model::run::Run;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio_postgres::Row;

/// A database with kept runs.
#[derive(Debug)]
pub(crate) struct Database {
    place: Place,
    pub(super) server: Server,
    /// Where the copies of its documents lie.
    pub(super) runs: PathBuf,
}

impl Database {
    pub(super) fn of(url: &str, settings: Settings) -> Database {
        Database {
            place: Place::Database(url.to_owned()),
            runs: cache::directory(&settings.identity).join("runs"),
            server: Server::new(settings),
        }
    }

    pub(super) fn store(self: &Arc<Database>) -> Store {
        Store { runs: self.runs.clone(), documents: self.clone() }
    }

    /// The copies of documents, those of the oldest runs first.
    fn listed(&self, now: SystemTime, prefix: &str) -> Result<Vec<PathBuf>, StoreError> {
        let kept = self.server.with(|client, _| {
            let sql = "SELECT file, kept_ms FROM document WHERE starts_with(id, $1)";
            let rows = client.query(sql, &[&prefix])?;
            let of = |row: &Row| {
                let kept_ms: i64 = row.try_get(1)?;
                let kept = UNIX_EPOCH + Duration::from_millis(kept_ms.max(0) as u64);
                Ok((self.runs.join(row.try_get::<_, String>(0)?), kept))
            };
            rows.iter().map(of).collect::<Result<HashMap<_, _>, _>>()
        })?;
        let mut paths: Vec<PathBuf> = kept.keys().cloned().collect();
        paths.retain(|path| id_in_name(path).is_some());
        Horizon::at(now).sort(&mut paths, |path| kept.get(path).copied());
        Ok(paths)
    }

    /// Changes something, and says whether anything changed.
    fn changed(&self, sql: &str, values: Values) -> Result<bool, StoreError> {
        self.server.with(|client, _| Ok(client.execute(sql, values)? > 0))
    }
}

/// Whether this very document is kept under the id.
fn holds(client: &mut Client, id: &str, bytes: &[u8]) -> Result<bool, Fault> {
    let row = client.query_opt("SELECT digest FROM document WHERE id = $1", &[&id])?;
    let kept = row.map(|row| row.try_get::<_, Vec<u8>>(0));
    Ok(kept.transpose()?.is_some_and(|kept| kept == digest(bytes)))
}

impl Documents for Database {
    fn place(&self) -> Place {
        self.place.clone()
    }

    /// Durable when this returns. A run of the same id is kept already, and stays; if it is this
    /// very one, kept by an attempt whose answer was lost, that was this.
    fn save_bytes(&self, run: &Run, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let file = file_of(run)?;
        let unwritable = |why: &dyn std::fmt::Display| StoreError::Unwritable(why.to_string());
        check(run, &run.id).map_err(|why| unwritable(&why))?;
        let entry =
            serde_json::to_vec(&Entry::of(&shown(run), &file)).map_err(|e| unwritable(&e))?;
        let digest = digest(bytes);
        let sql = "INSERT INTO document (id, file, digest, bytes, content, entry)
                   VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING";
        let kept = self.server.with(|client, again| {
            let values: Values = &[&run.id, &file, &digest, &bytes, &CONTENT, &entry];
            Ok(client.execute(sql, values)? > 0 || again && holds(client, &run.id, bytes)?)
        })?;
        match kept {
            true => Ok(self.runs.join(file)),
            false => Err(kept_already(&self.server.document(&file))),
        }
    }

    fn marked(&self) -> Result<Vec<(PathBuf, Vec<u8>)>, StoreError> {
        let mut kept = self.server.with(|client, _| {
            let rows = client.query("SELECT file, digest FROM document", &[])?;
            let of = |row: &Row| {
                let file: String = row.try_get(0)?;
                Ok((self.runs.join(file), row.try_get::<_, Vec<u8>>(1)?))
            };
            rows.iter().map(of).collect::<Result<Vec<_>, _>>()
        })?;
        kept.retain(|(path, _)| id_in_name(path).is_some());
        Ok(kept)
    }

    fn mark_of(&self, bytes: &[u8]) -> Vec<u8> {
        digest(bytes)
    }

    fn entries(&self, paths: &[PathBuf]) -> HashMap<String, Entry> {
        let files: Vec<String> = paths.iter().map(|path| name_of(path)).collect();
        let sql = "SELECT file, entry FROM document WHERE file = ANY($1) AND content = $2";
        let found = self.server.with(|client, _| {
            let rows = client.query(sql, &[&files, &CONTENT])?;
            let of = |row: &Row| {
                let file: String = row.try_get(0)?;
                Ok((file, row.try_get::<_, Vec<u8>>(1)?))
            };
            rows.iter().map(of).collect::<Result<Vec<_>, _>>()
        });
        // Why there are none is said when the documents are read.
        let read = |(file, entry): (String, Vec<u8>)| {
            let entry: Entry = serde_json::from_slice(&entry).ok()?;
            Some((file, entry))
        };
        found.unwrap_or_default().into_iter().filter_map(read).collect()
    }

    fn put_entry(&self, path: &Path, mark: &[u8], entry: &Entry) -> Result<(), StoreError> {
        let entry = serde_json::to_vec(entry).map_err(|e| StoreError::Unwritable(e.to_string()))?;
        // What a newer latlas wrote stays.
        let sql = "UPDATE document SET content = $3, entry = $4
                   WHERE file = $1 AND digest = $2 AND content <= $3";
        self.changed(sql, &[&name_of(path), &mark, &CONTENT, &entry]).map(drop)
    }

    fn bytes_of(&self, path: &Path) -> Result<Vec<u8>, StoreError> {
        cache::from_server(&self.server, path)
    }

    fn copied_bytes(&self, path: &Path) -> Result<Vec<u8>, StoreError> {
        cache::bytes(&self.server, path)
    }

    fn check_keepable(&self) -> Result<(), StoreError> {
        // The right to insert; room shows only when it is missing.
        let sql = "INSERT INTO document (id, file, digest, bytes, content, entry)
                   SELECT '', '', '', '', 0, '' WHERE false";
        self.changed(sql, &[]).map(drop)
    }

    fn paths_at(&self, now: SystemTime) -> Result<Vec<PathBuf>, StoreError> {
        self.listed(now, "")
    }

    fn paths_of(&self, prefix: &str) -> Result<Vec<PathBuf>, StoreError> {
        self.listed(SystemTime::now(), prefix)
    }

    fn remove(&self, path: &Path) -> Result<(), StoreError> {
        if !self.changed("DELETE FROM document WHERE file = $1", &[&name_of(path)])? {
            let gone = std::io::ErrorKind::NotFound.into();
            return Err(io(FileAction::Remove, &self.server.document(&name_of(path)))(gone));
        }
        // A copy that stays does no harm.
        let _ = std::fs::remove_file(path);
        Ok(())
    }

    fn tag_names(&self) -> Result<Vec<String>, StoreError> {
        let names: Vec<String> = self.server.with(|client, _| {
            let rows = client.query("SELECT name FROM tag ORDER BY name", &[])?;
            let names = rows.iter().map(|row| row.try_get(0));
            Ok(names.collect::<Result<_, _>>()?)
        })?;
        Ok(names.into_iter().filter(|name| tags::is_word(name)).collect())
    }

    fn read_tag(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.server.with(|client, _| {
            let sql = "SELECT runs FROM tag WHERE name = $1";
            let row = client.query_opt(sql, &[&name])?;
            Ok(row.map(|row| row.try_get(0)).transpose()?)
        })
    }

    fn create_tag(&self, name: &str, text: &str) -> Result<bool, StoreError> {
        let sql = "INSERT INTO tag VALUES ($1, $2) ON CONFLICT DO NOTHING";
        self.changed(sql, &[&name, &text])
    }

    fn write_tag(&self, name: &str, text: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO tag VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET runs = $2";
        self.changed(sql, &[&name, &text]).map(drop)
    }

    fn remove_tag(&self, name: &str) -> Result<bool, StoreError> {
        self.changed("DELETE FROM tag WHERE name = $1", &[&name])
    }
}

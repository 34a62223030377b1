//! Documents and tags in a database.

use super::cache;
use super::server::Server;
use super::settings::Settings;
use super::values::Values;
use crate::documents::Documents;
use crate::error::{FileAction, io};
use crate::horizon::Horizon;
use crate::{Place, Store, StoreError, id_in_name, name_of, tags};
use model::run::Run;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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

    /// The store that it is.
    pub(super) fn store(self: &Arc<Database>) -> Store {
        Store { runs: self.runs.clone(), documents: self.clone() }
    }

    /// The copies of documents, those of the oldest runs first.
    fn listed(&self, now: SystemTime, prefix: &str) -> Result<Vec<PathBuf>, StoreError> {
        let kept = self.server.with(|session, _| {
            let sql = "SELECT file, kept_ms FROM run WHERE starts_with(id, $1)";
            let rows = session.client.query(sql, &[&prefix])?;
            let of = |row: &tokio_postgres::Row| {
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
}

impl Documents for Database {
    fn place(&self) -> Place {
        self.place.clone()
    }

    fn save_bytes(&self, run: &Run, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        self.keep_run(run, bytes)
    }

    fn bytes_of(&self, path: &Path) -> Result<Vec<u8>, StoreError> {
        cache::from_server(self, path)
    }

    fn copied_bytes(&self, path: &Path) -> Result<Vec<u8>, StoreError> {
        cache::bytes(self, path)
    }

    fn check_keepable(&self) -> Result<(), StoreError> {
        // The right to insert; room shows only when it is missing.
        self.server.with(|session, _| {
            session.client.batch_execute("INSERT INTO run (id, file, started_ms, machine, imported, counted, line) SELECT '', '', 0, '', false, false, '' WHERE false")?;
            Ok(())
        })
    }

    fn paths_at(&self, now: SystemTime) -> Result<Vec<PathBuf>, StoreError> {
        self.listed(now, "")
    }

    fn paths_of(&self, prefix: &str) -> Result<Vec<PathBuf>, StoreError> {
        self.listed(SystemTime::now(), prefix)
    }

    fn remove(&self, path: &Path) -> Result<(), StoreError> {
        let file = name_of(path);
        let found = self.server.with(|session, _| {
            let change = session.client.transaction()?;
            let run =
                change.query_opt("SELECT run FROM run WHERE file = $1 FOR UPDATE", &[&file])?;
            let Some(run) = run else {
                return Ok(false);
            };
            let run: i64 = run.try_get(0)?;
            change.execute("DELETE FROM result WHERE run = $1", &[&run])?;
            change.execute("DELETE FROM run WHERE run = $1", &[&run])?;
            change.commit()?;
            Ok(true)
        })?;
        match found {
            true => {
                // A copy that stays does no harm.
                let _ = std::fs::remove_file(path);
                Ok(())
            }
            false => Err(io(FileAction::Remove, path)(std::io::ErrorKind::NotFound.into())),
        }
    }

    fn tag_names(&self) -> Result<Vec<String>, StoreError> {
        let names: Vec<String> = self.server.with(|session, _| {
            let rows = session.client.query("SELECT name FROM tag ORDER BY name", &[])?;
            Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
        })?;
        Ok(names.into_iter().filter(|name| tags::is_word(name)).collect())
    }

    fn read_tag(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.server.with(|session, _| {
            let sql = "SELECT runs FROM tag WHERE name = $1";
            let row = session.client.query_opt(sql, &[&name])?;
            Ok(row.map(|row| row.try_get(0)).transpose()?)
        })
    }

    fn create_tag(&self, name: &str, text: &str) -> Result<bool, StoreError> {
        self.changed("INSERT INTO tag VALUES ($1, $2) ON CONFLICT DO NOTHING", &[&name, &text])
    }

    fn write_tag(&self, name: &str, text: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO tag VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET runs = $2";
        self.changed(sql, &[&name, &text]).map(drop)
    }

    fn remove_tag(&self, name: &str) -> Result<bool, StoreError> {
        self.changed("DELETE FROM tag WHERE name = $1", &[&name])
    }

    fn server(&self) -> Option<&Server> {
        Some(&self.server)
    }
}

impl Database {
    /// Changes tags, and says whether anything changed.
    fn changed(&self, sql: &str, parameters: Values) -> Result<bool, StoreError> {
        self.server.with(|session, _| Ok(session.client.execute(sql, parameters)? > 0))
    }
}

//! Copies of documents, as files, which are good as long as they have the database's SHA-256.

use super::documents::Database;
use super::server::damaged;
use crate::error::{FileAction, io};
use crate::{StoreError, name_of, write};
use model::text::hexadecimal;
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where copies of the documents of a database lie, by what identifies it.
pub(super) fn directory(identity: &str) -> Result<PathBuf, StoreError> {
    let base = below(|name| std::env::var_os(name)).ok_or(StoreError::NoDataDirectory)?;
    Ok(base.join(format!(
        "postgres-{}",
        hexadecimal(&digest(identity.as_bytes())[..8])
    )))
}

fn below(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let under_home = if cfg!(target_os = "macos") {
        "Library/Caches"
    } else {
        ".cache"
    };
    let cache = path("XDG_CACHE_HOME").or_else(|| Some(path("HOME")?.join(under_home)));
    Some(cache?.join("latlas"))
}

/// The SHA-256 of bytes.
pub(super) fn digest(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

/// A document, from the server.
pub(super) fn bytes_of(database: &Database, path: &Path) -> Result<Vec<u8>, StoreError> {
    let file = name_of(path);
    let bytes: Option<Vec<u8>> = database.server.with(|session, _| {
        let sql = "SELECT bytes, digest FROM run JOIN document USING (run) WHERE file = $1";
        let statement = session.prepared(sql)?;
        let Some(row) = session.client.query_opt(&statement, &[&file])? else {
            return Ok(None);
        };
        let bytes: Vec<u8> = row.try_get(0)?;
        match digest(&bytes) == row.try_get::<_, Vec<u8>>(1)? {
            true => Ok(Some(bytes)),
            false => Err(damaged(format!("the document {file} has another digest"))),
        }
    })?;
    // It was deleted since.
    bytes.ok_or_else(|| io(FileAction::Read, path)(std::io::ErrorKind::NotFound.into()))
}

/// Makes the copy at a path, unless it is there. Another document may have got the name since, and
/// a file be damaged.
pub(super) fn fetch(database: &Database, path: &Path) -> Result<(), StoreError> {
    if let Ok(copy) = std::fs::read(path) {
        let file = name_of(path);
        let kept: Option<Vec<u8>> = database.server.with(|session, _| {
            let sql = "SELECT digest FROM run JOIN document USING (run) WHERE file = $1";
            let statement = session.prepared(sql)?;
            let row = session.client.query_opt(&statement, &[&file])?;
            Ok(row.map(|row| row.try_get(0)).transpose()?)
        })?;
        if kept.is_some_and(|kept| kept == digest(&copy)) {
            return Ok(());
        }
    }
    let bytes = bytes_of(database, path)?;
    write::make_directory(&database.runs)?;
    write::write_bytes(&bytes, path)
}

//! Copies of documents, as files, which are good as long as they have the database's SHA-256. They
//! spare the way from the server, and nothing needs them.

use super::fault::damaged;
use super::server::Server;
use crate::error::{FileAction, io};
use crate::{MAX_DOCUMENT_BYTES, StoreError, name_of, write};
use model::text::hexadecimal;
use model::user_dir::UserDir;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use sys::input;

/// Below it nothing can be made, by root neither: for users without a cache directory.
const NOWHERE: &str = "/dev/null/latlas";

/// Where copies of the documents of a database and their index lie, by what identifies it, and the host: hosts
/// may share a home directory, and the log of SQLite is for one.
pub(super) fn directory(identity: &str) -> PathBuf {
    let base = UserDir::Cache.path(|name| std::env::var_os(name));
    let host = whoami::hostname().unwrap_or_default();
    let digest = digest(format!("{identity} {host}").as_bytes());
    base.unwrap_or_else(|| NOWHERE.into()).join(format!("postgres-{}", hexadecimal(&digest[..8])))
}

pub(super) fn digest(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

pub(super) fn from_server(server: &Server, path: &Path) -> Result<Vec<u8>, StoreError> {
    let file = name_of(path);
    let bytes: Option<Vec<u8>> = server.with(|client, _| {
        let sql = "SELECT bytes, digest FROM document WHERE file = $1";
        let Some(row) = client.query_opt(sql, &[&file])? else {
            return Ok(None);
        };
        let bytes: Vec<u8> = row.try_get(0)?;
        match digest(&bytes) == row.try_get::<_, Vec<u8>>(1)? {
            true => Ok(Some(bytes)),
            false => Err(damaged(format!("the document {file} has another digest"))),
        }
    })?;
    // It was deleted since.
    let gone = std::io::ErrorKind::NotFound.into();
    bytes.ok_or_else(|| io(FileAction::Read, &server.document(&file))(gone))
}

/// A document: its copy if that is good, since another document may have got the name, and a file
/// be damaged; else from the server, with a copy for the next time if one can be written.
pub(super) fn bytes(server: &Server, path: &Path) -> Result<Vec<u8>, StoreError> {
    if let Ok(copy) = input::read_file(path, MAX_DOCUMENT_BYTES) {
        let file = name_of(path);
        let kept: Option<Vec<u8>> = server.with(|client, _| {
            let sql = "SELECT digest FROM document WHERE file = $1";
            let row = client.query_opt(sql, &[&file])?;
            Ok(row.map(|row| row.try_get(0)).transpose()?)
        })?;
        if kept.is_some_and(|kept| kept == digest(&copy)) {
            return Ok(copy);
        }
    }
    let bytes = from_server(server, path)?;
    let directory = path.parent().unwrap_or(path);
    let _ = write::make_directory(directory).and_then(|()| write::replace(&bytes, path));
    Ok(bytes)
}

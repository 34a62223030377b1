//! Copies of documents, as files, which are good as long as they have the SHA-256 that the helper names. They
//! spare the way from the store, and nothing needs them.

use crate::{MAX_DOCUMENT_BYTES, write};
use model::phrases::hexadecimal;
use model::user_dir::UserDir;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use store_protocol::url::{UrlParts, scheme_of};
use sys::input;

/// Below it nothing can be made, by root neither: for users without a cache directory.
const NOWHERE: &str = "/dev/null/latlas";

/// Where copies of the documents of a store and their index lie, by its URL without the password, and the host: hosts
/// may share a home directory, and the log of SQLite is for one.
pub(super) fn directory(url: &str) -> PathBuf {
    let base = UserDir::Cache.resolve(|name| std::env::var_os(name));
    let scheme = scheme_of(url).map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
    let identity = UrlParts::split(url).map_or_else(String::new, |parts| {
        let UrlParts { user, hosts, database, parameters, .. } = parts;
        let is_open = |pair: &&str| !pair.to_ascii_lowercase().contains("pass");
        let parameters: Vec<&str> = parameters.split('&').filter(is_open).collect();
        format!("{user}@{hosts}/{database}?{}", parameters.join("&"))
    });
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy();
    let digest = Sha256::digest(format!("{scheme}://{identity} {host}").as_bytes());
    base.unwrap_or_else(|| NOWHERE.into()).join(format!("{scheme}-{}", hexadecimal(&digest[..8])))
}

/// A document's mark: its SHA-256 in hexadecimal digits.
pub(super) fn digest(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

pub(super) fn kept_at(path: &Path) -> Option<Vec<u8>> {
    input::read_file(path, MAX_DOCUMENT_BYTES).ok()
}

/// Writes a copy, if one can be written.
pub(super) fn keep(path: &Path, bytes: &[u8]) {
    let directory = path.parent().unwrap_or(path);
    let _ = write::make_directory(directory).and_then(|()| write::replace(bytes, path));
}

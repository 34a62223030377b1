//! Which place runs are kept in: a directory or a database, by the command line, the environment or the
//! configuration. `data_dir.rs` finds the platform's data directory, `url.rs` recognises URLs and hides
//! passwords. Nothing here opens a directory or connects to a database.

mod data_dir;
#[cfg(test)]
mod tests;

pub use data_dir::data_dir;

use super::StoreError;
use data_dir::OWN;
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;
use store_protocol::url::{UrlParts, scheme_of, url_without_password};

/// Where runs are kept.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    Directory(PathBuf),
    /// What a helper keeps, such as a PostgreSQL database, by its URL. It may contain a password, which `Display` and `Debug`
    /// leave out.
    Database(String),
}

/// Names in a connection string of libpq, `host=lab password=...`.
const KEYS: [&str; 6] = ["host", "hostaddr", "dbname", "user", "password", "service"];

/// Schemes of the helper that comes with latlas, and its name.
const OWN_HELPERS: [(&str, &str); 2] = [("postgres", "postgres"), ("postgresql", "postgres")];

/// The name of the helper for a scheme, where it comes with latlas.
pub(crate) fn comes_with_latlas(scheme: &str) -> Option<&'static str> {
    let known = OWN_HELPERS.iter().find(|(known, _)| scheme.eq_ignore_ascii_case(known));
    known.map(|(_, name)| *name)
}

impl Place {
    /// The place that a text names: the URL of a database, or a directory. What looks like the name
    /// of a database is never a directory, but may be refused when it is used.
    pub fn parse(text: &str) -> Place {
        let is_key = |word: &str| word.split_once('=').is_some_and(|(key, _)| KEYS.contains(&key));
        let (scheme, rest) = scheme_of(text).unwrap_or_default();
        match comes_with_latlas(scheme).is_some()
            || rest.starts_with("//")
            || text.split_whitespace().any(is_key)
        {
            true => Place::Database(text.to_owned()),
            false => Place::Directory(text.into()),
        }
    }

    /// The place that [`keep_in`] names, then `LATLAS_STORE`, then the data directory of the
    /// environment, then the configuration's.
    pub(crate) fn of_user() -> Result<Place, StoreError> {
        if let Some(given) = GIVEN.get() {
            return Ok(given.clone());
        }
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        if let Some(own) = variable("LATLAS_STORE") {
            return Ok(Place::parse(&own.to_string_lossy()));
        }
        match CONFIGURED.get().filter(|_| variable(OWN).is_none()) {
            Some(configured) => Ok(configured.clone()),
            None => data_dir().map(Place::Directory),
        }
    }

    /// Whether it is a URL with a password in it, or may be one.
    pub fn has_password(&self) -> bool {
        let Place::Database(url) = self else {
            return false;
        };
        let is_secret = |pair: &str| {
            let key = pair.split('=').next().unwrap_or_default();
            key.contains('%') || key.to_ascii_lowercase().contains("pass")
        };
        match UrlParts::split(url) {
            Some(parts) => {
                !parts.password.is_empty()
                    || !parts.is_plain()
                    || parts.parameters.split('&').any(is_secret)
            }
            None => url.contains('@') || url.contains("pass"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Directory(path) => write!(f, "{}", path.display()),
            Place::Database(url) => f.write_str(&url_without_password(url)),
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({self})")
    }
}

/// The store that the command line names.
static GIVEN: OnceLock<Place> = OnceLock::new();
/// The store that the user's configuration names.
static CONFIGURED: OnceLock<Place> = OnceLock::new();

/// Has [`Store::of_user`](crate::Store::of_user) answer this. Only the first call counts; `given`
/// is what the command line names, which precedes the environment.
pub fn keep_in(place: Place, given: bool) {
    let _ = if given { GIVEN.set(place) } else { CONFIGURED.set(place) };
}

//! Documents and tags in a PostgreSQL database; the index is a SQLite file in the cache directory,
//! as of any other store. A document is named by the path of its copy in the cache directory,
//! which need not be there: what is read is the copy if it is the database's document, else that.

mod cache;
mod client;
mod documents;
mod fault;
#[cfg(test)]
mod kills;
mod schema;
mod server;
mod settings;
#[cfg(test)]
mod tests;
mod tls;
mod values;

use crate::documents::know_copies;
use crate::{Store, StoreError};
use documents::Database;
use settings::Settings;
use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};

/// The databases that this process uses, by their URLs: all stores of one share its connections.
static OPEN: Mutex<Option<HashMap<String, Arc<Database>>>> = Mutex::new(None);

/// The store of a URL, which is not connected to yet.
pub(crate) fn store(url: &str) -> Result<Store, StoreError> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let open = open.get_or_insert_default();
    let database = match open.get(url) {
        Some(known) => Arc::clone(known),
        None => {
            let settings = Settings::of(url, &variables())?;
            let database = Arc::new(Database::of(url, settings));
            open.insert(url.to_owned(), Arc::clone(&database));
            know_copies(&database.runs, database.clone());
            database
        }
    };
    Ok(database.store())
}

/// The environment, as far as it is text.
fn variables() -> Vec<(String, String)> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

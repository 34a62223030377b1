//! Documents, tags and index in a PostgreSQL database.
//!
//! A run, its document and its results come and go in one transaction, so the index agrees with
//! the documents at any moment. A document is named by the path of its copy in the cache directory,
//! which need not be there: what is read is the copy if it is the database's document, else that.

mod answers;
mod cache;
mod client;
mod documents;
mod keep;
#[cfg(test)]
mod kills;
mod rebuild;
mod schema;
mod server;
mod settings;
#[cfg(test)]
mod tests;
mod tls;
mod values;
mod verify;

pub(crate) use server::Server;

use crate::index::answers::Answers;
use crate::{Store, StoreError};
use documents::Database;
use settings::{Settings, System};
use std::collections::HashMap;
use std::path::Path;
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
            let settings = Settings::of(url, &System::this())?;
            let database = Arc::new(Database::of(url, settings));
            open.insert(url.to_owned(), Arc::clone(&database));
            database
        }
    };
    Ok(database.store())
}

/// The index of a store, if that is a database; connects to it.
pub(crate) fn answers(store: &Store) -> Result<Option<Arc<dyn Answers>>, StoreError> {
    let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = open.iter().flatten();
    let own = known.map(|(_, database)| database).find(|database| {
        let server = store.documents.server();
        server.is_some_and(|server| std::ptr::eq(server, &database.server))
    });
    let Some(database) = own.cloned() else {
        return Ok(None);
    };
    drop(open);
    database.server.with(|_, _| Ok(()))?;
    Ok(Some(Arc::new(database)))
}

/// The bytes of a document by the path of its copy; `None` for any other path.
pub(crate) fn document_at(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut known = open.iter().flatten().map(|(_, database)| database);
    let own = known.find(|database| path.parent() == Some(&database.runs)).cloned();
    drop(open);
    own.map(|database| cache::bytes(&database, path)).transpose()
}

//! Documents and tags that another program keeps: `--store SCHEME://...` starts `latlas-store-SCHEME` and
//! asks it (docs/store-protocol.md). The index is a SQLite file in the cache directory, as of any other store. A document
//! is named by the path of its copy in the cache directory, which need not be there: what is read is the copy if it
//! has the document's SHA-256, else what the helper gives.

mod copies;
mod documents;
mod helper;
#[cfg(test)]
pub(crate) mod tests;

use crate::documents::know_copies;
use crate::{Place, Store, StoreError};
use documents::Remote;
use helper::Helper;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The stores that this process uses, by their URLs: all of one URL share its helpers.
static OPEN: Mutex<Option<HashMap<String, Store>>> = Mutex::new(None);

/// The store of a URL, whose helper is not started yet.
pub(crate) fn store(url: &str) -> Result<Store, StoreError> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let open = open.get_or_insert_default();
    if let Some(known) = open.get(url) {
        return Ok(known.clone());
    }
    let store = fresh(url)?;
    open.insert(url.to_owned(), store.clone());
    Ok(store)
}

/// The same with helpers of its own.
pub(crate) fn fresh(url: &str) -> Result<Store, StoreError> {
    let place = Place::Database(url.to_owned());
    let wrong = |why: &str| StoreError::Settings { place: place.to_string(), why: why.to_owned() };
    Ok(by(url, Helper::of(url).map_err(wrong)?))
}

fn by(url: &str, helper: Helper) -> Store {
    let remote = Arc::new(Remote::new(url, helper));
    know_copies(remote.runs(), remote.clone());
    Store { runs: remote.runs().to_owned(), documents: remote }
}

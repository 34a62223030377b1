//! All runs of a store into another, document by document.

use crate::index::Index;
use crate::{Store, StoreError, Taken, document, id_in_name};
use serde::Serialize;
use std::path::Path;

#[derive(Serialize, Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Documents that were copied and read back.
    pub copied: usize,
    /// Documents that the other store had already.
    pub there_before: usize,
    /// Tags of runs that the other store has now too.
    pub tags: usize,
    /// Documents that were removed here, after the other store had them and their tags.
    pub removed: usize,
    /// Documents that stay, with why.
    pub stayed: Vec<Stayed>,
}

/// A document that stays where it is.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct Stayed {
    pub document: String,
    pub why: String,
}

/// How a copy went.
enum Copied {
    New,
    Before,
    Not(String),
}

/// Copies every document and tag to another store, byte by byte, reads it back, and removes it
/// here, unless it is to be kept. Done again after it was interrupted it goes on. `report` hears
/// how many of how many documents are done.
///
/// # Errors
/// If a store can't be read or written. What is not in the other store by then is still here.
pub fn transfer(
    from: &Store,
    to: &Store,
    keep: bool,
    report: impl Fn(usize, usize),
) -> Result<Moved, StoreError> {
    // Names tables or directory, and refuses what can't be used before anything is done.
    to.check_keepable()?;
    let paths = from.paths()?;
    let tags = from.tags()?;
    let mut moved = Moved::default();
    for (done, path) in paths.iter().enumerate() {
        match copy(from, to, path)? {
            Copied::Not(why) => {
                let document = from.display_path(path);
                moved.stayed.push(Stayed { document, why });
                report(done + 1, paths.len());
                continue;
            }
            Copied::New => moved.copied += 1,
            Copied::Before => moved.there_before += 1,
        }
        let id = id_in_name(path).unwrap_or_default();
        for tag in tags.iter().filter(|tag| tag.run == id) {
            to.tag(&tag.name, id, Taken::Shared)?;
            moved.tags += 1;
        }
        if !keep {
            from.remove(path)?;
            for tag in tags.iter().filter(|tag| tag.run == id) {
                match from.untag_run(&tag.name, id) {
                    Ok(()) | Err(StoreError::NoSuchTag { .. }) => {}
                    Err(other) => return Err(other),
                }
            }
            moved.removed += 1;
        }
        report(done + 1, paths.len());
    }
    // Each index takes up what came, and drops what went.
    for store in [from, to] {
        Index::open(store.clone())?.refresh()?;
    }
    Ok(moved)
}

/// Copies a document and reads it back.
fn copy(from: &Store, to: &Store, path: &Path) -> Result<Copied, StoreError> {
    let bytes = match from.documents.bytes_of(path) {
        Ok(bytes) => bytes,
        // The others need not wait for it.
        Err(StoreError::Io { cause, .. }) => return Ok(Copied::Not(cause.to_string())),
        Err(other) => return Err(other),
    };
    let run = match document::from_bytes(&bytes) {
        Ok(run) => run,
        Err(refused) => return Ok(Copied::Not(refused.to_string())),
    };
    let id = id_in_name(path).unwrap_or_default();
    if run.id != id {
        return Ok(Copied::Not(format!("its name says {id} and it holds {}", run.id)));
    }
    let (there, copied) = match to.documents.save_bytes(&run, &bytes) {
        Ok(there) => (there, Copied::New),
        Err(StoreError::Io { cause, .. }) if cause.kind() == std::io::ErrorKind::AlreadyExists => {
            (to.find(id)?, Copied::Before)
        }
        Err(StoreError::Unwritable(why)) => return Ok(Copied::Not(why)),
        Err(other) => return Err(other),
    };
    let arrived = match to.documents.bytes_of(&there) {
        Ok(arrived) => arrived,
        // What is there of it is no file.
        Err(error @ StoreError::Io { .. }) => return Ok(Copied::Not(error.to_string())),
        Err(other) => return Err(other),
    };
    // It may have been stored there from its run, in other bytes.
    let same = |arrived: &[u8]| document::from_bytes(arrived).is_ok_and(|there| there == run);
    Ok(match arrived == bytes || same(&arrived) {
        true => copied,
        false => Copied::Not(format!("another document of this run is in {}", to.place())),
    })
}

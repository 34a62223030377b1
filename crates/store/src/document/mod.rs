//! From bytes to a run and back. The bytes may be anything: `bytes.rs` checks sizes, version and syntax,
//! `numbers.rs` refuses numbers that no measurement has. How files get to disk is in `write/`.

mod bytes;
mod numbers;
#[cfg(test)]
mod tests;

pub(super) use bytes::is_id;
pub use bytes::{Refused, from_bytes, from_bytes_within, is_packed};
pub use model::limits::MOST_BYTES as MAX_DOCUMENT_BYTES;

use super::{Store, StoreError, io};
use crate::error::FileAction;
use bytes::run_in;
use model::printable::{escaped_json, visible_json};
use model::run::Run;
use std::borrow::Cow;
use std::path::Path;
use sys::input;

/// Reads a run, compressed or not, whatever its name is, to be shown: what a
/// terminal would obey or not show stands spelled out in its texts.
pub fn read_run(path: &Path) -> Result<Run, StoreError> {
    read_with_bytes(path).map(|(run, _)| run)
}

/// The same, and the file's bytes: a pipe gives them once.
pub fn read_with_bytes(path: &Path) -> Result<(Run, Vec<u8>), StoreError> {
    let bytes = bytes_at(path)?;
    Ok((shown_in(path, &bytes)?, bytes))
}

/// The bytes of a file, or of the document in a database whose copy would lie there.
fn bytes_at(path: &Path) -> Result<Vec<u8>, StoreError> {
    if let Some(bytes) = crate::documents::copied_at(path) {
        return bytes;
    }
    input::read_limited(path, MAX_DOCUMENT_BYTES).map_err(io(FileAction::Read, path))
}

/// The same of a document in the store: a pipe there is refused.
pub(crate) fn read_kept(store: &Store, path: &Path) -> Result<Run, StoreError> {
    shown_in(path, &store.documents.bytes_of(path)?)
}

/// The run in a file's bytes, as [`read_run`] would give it.
fn shown_from(bytes: &[u8]) -> Result<Run, Refused> {
    run_in(bytes, MAX_DOCUMENT_BYTES, visible_json)
}

fn shown_in(path: &Path, bytes: &[u8]) -> Result<Run, StoreError> {
    shown_from(bytes).map_err(|refused| unreadable(path, refused.to_string()))
}

/// Reads a run with every character as it is, to be handed on to programs.
pub fn read_as_it_is(path: &Path) -> Result<Run, StoreError> {
    let bytes = bytes_at(path)?;
    from_bytes(&bytes).map_err(|refused| unreadable(path, refused.to_string()))
}

/// A run as [`read_run`] would give it.
pub(crate) fn as_shown(run: &Run) -> Cow<'_, Run> {
    let json = serde_json::to_vec(run).unwrap_or_default();
    match visible_json(&json) {
        Cow::Borrowed(_) => Cow::Borrowed(run),
        Cow::Owned(json) => match serde_json::from_slice(&json) {
            Ok(shown) => Cow::Owned(shown),
            Err(_) => Cow::Borrowed(run),
        },
    }
}

/// Whether what is in a file is no run and never was one of a newer latlas: nothing that could still be
/// read is lost with it.
pub(super) fn is_damaged(bytes: &[u8]) -> bool {
    let read = from_bytes_within(bytes, MAX_DOCUMENT_BYTES);
    matches!(read, Err(Refused::Damaged(_) | Refused::NotARun(_)))
}

/// The same of a file that can be opened.
pub(super) fn is_damaged_file(path: &Path) -> bool {
    input::read_file(path, MAX_DOCUMENT_BYTES).is_ok_and(|bytes| is_damaged(&bytes))
}

fn unreadable(path: &Path, reason: impl Into<String>) -> StoreError {
    StoreError::Unreadable { path: path.to_owned(), reason: reason.into() }
}

/// A run may have begun so much later than now: clocks differ.
const AHEAD_MS: u64 = 86_400_000;

/// Whether a run says that it began more than a day from now.
pub fn is_in_future(run: &Run, now_unix_ms: u64) -> bool {
    run.started_unix_ms > now_unix_ms.saturating_add(AHEAD_MS)
}

/// The run as JSON, in which every hidden character is written as an escape: it
/// may go to a terminal. What could not be read again (JSON has no word for
/// infinity, and no measurement has a share above 1) is refused here, where it is known what it was.
pub fn to_json(run: &Run) -> Result<Vec<u8>, StoreError> {
    let bytes = serde_json::to_vec(run).map_err(|e| StoreError::Unwritable(e.to_string()))?;
    let bytes = escaped_json(bytes);
    from_bytes(&bytes).map_err(|refused| StoreError::Unwritable(refused.to_string()))?;
    Ok(bytes)
}

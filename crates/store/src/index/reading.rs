//! How far the reading of documents is.

use std::sync::OnceLock;

/// How far the reading of documents is, which takes a while where many are new
/// to the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingProgress {
    pub done: usize,
    /// Of so many.
    pub of: usize,
}

/// Hears how far the reading is.
static WATCH: OnceLock<fn(ReadingProgress)> = OnceLock::new();

/// Has this called after each document that is read for the index. Only the
/// first call counts.
pub fn watch_reading(watch: fn(ReadingProgress)) {
    let _ = WATCH.set(watch);
}

pub(crate) fn report_reading(reading: ReadingProgress) {
    if let Some(watch) = WATCH.get() {
        watch(reading);
    }
}

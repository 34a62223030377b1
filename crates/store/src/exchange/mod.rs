//! Runs in the formats of other tools, and other tools' results as runs.
//! Pure functions over bytes and documents, but for [`import::files`], which
//! finds and reads what the user named.

pub mod export;
pub mod import;

/// What Bencher strips from the end of a name, and raises no alert for.
const IGNORED_BY_BENCHER: &str = "-bencher-ignore";

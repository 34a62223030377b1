//! Why a run could not be kept or read.

use model::phrases::counted;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

model::words! {
    /// What is done with a file or directory.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FileAction: word {
        Read = "read",
        Write = "write",
        Create = "create",
        Remove = "remove",
    }
}

/// Why a run could not be kept or read. Every message is one line that names
/// the path and says what to do where that is not plain.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(
        "no directory for runs: set LATLAS_DATA_DIR, XDG_DATA_HOME or HOME, or write --store into the \
         configuration"
    )]
    NoDataDirectory,
    #[error("can't use the store {place}: {why}")]
    Settings {
        /// Its URL, without a password.
        place: String,
        why: String,
    },
    #[error("the store {place} {failure}")]
    Database {
        /// Its URL, without a password.
        place: String,
        failure: DatabaseFailure,
    },
    #[error("can't {} {}: {cause}", action.word(), path.display())]
    Io { action: FileAction, path: PathBuf, cause: std::io::Error },
    #[error("can't write {}: {reason}", path.display())]
    NotAFile {
        path: PathBuf,
        /// What it is instead.
        reason: &'static str,
    },
    #[error("{} is not a run this latlas can read: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("this run can't be written: {0} (this is a bug in latlas)")]
    Unwritable(String),
    #[error("no run in {} yet: run `latlas run`", .0.display())]
    Empty(PathBuf),
    #[error(
        "no run of rows in {} yet, only runs of commands and recordings: run `latlas` first",
        .0.display()
    )]
    NoneOfRows(PathBuf),
    #[error(
        "no complete run in {}, only {count} interrupted or empty (latlas atlas list shows \
         them, latlas show ID prints one){}",
        path.display(),
        more_unreadable(*unreadable)
    )]
    NoneWhole { path: PathBuf, count: usize, unreadable: usize },
    #[error(
        "no run in {} can be read ({}): {why}",
        path.display(),
        counted(*count, "document")
    )]
    NoneReadable { path: PathBuf, count: usize, why: String },
    /// Fewer runs are kept than `last~N` counts back.
    #[error("last~{back} goes back too far: {count} {} stored in {} (not counting interrupted, empty and unreadable ones)", if *count == 1 { "run is" } else { "runs are" }, path.display())]
    TooFarBack { back: usize, path: PathBuf, count: usize },
    #[error("can't read {}: no such file, and not `last`, `last~1`, a tag or the start of a run's id{suggestion}{}", path.display(), of_sign(path))]
    NoSuchFile { path: PathBuf, suggestion: String },
    #[error("no run in {} has an id that begins with {prefix:?}", path.display())]
    NoSuchRun { prefix: String, path: PathBuf },
    #[error("several files hold the run {id}: {} (delete or move all but one)", listed(paths))]
    Twice { id: String, paths: Vec<PathBuf> },
    #[error("{count} runs in {} have an id that begins with {prefix:?}: give more of it", path.display())]
    Ambiguous { prefix: String, path: PathBuf, count: usize },
    #[error("{name:?} can't be a tag: {why}")]
    BadTag { name: String, why: String },
    #[error("the tag {name} is on run {run}: --move moves it, --add puts it on both")]
    TagTaken { name: String, run: String },
    #[error("no tag {name:?} (latlas atlas list --tag lists them)")]
    NoSuchTag { name: String },
    #[error("the tag {name} is on run {run}, which was deleted (latlas atlas tag --remove {name})")]
    LostTag { name: String, run: String },
    /// The index can't be made anew: there is no permission, or no room.
    #[error("can't rebuild the index {}: {cause}", path.display())]
    IndexUnwritable { path: PathBuf, cause: String },
    #[error("can't use the index {}: {cause} (latlas atlas rebuild recreates it)", path.display())]
    Index { path: PathBuf, cause: String },
}

/// What a database could not do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseFailure {
    #[error("can't be reached: {0}")]
    Unreachable(String),
    #[error("went away: {0}")]
    WentAway(String),
    #[error("was made by a newer latlas: {0}")]
    Newer(String),
    #[error("refused: {0}")]
    Refused(String),
    #[error("holds what latlas did not write: {0}")]
    Damaged(String),
}

impl StoreError {
    /// Whether a run of this id is stored already.
    pub fn is_kept_already(&self) -> bool {
        matches!(self, StoreError::Io { cause, .. } if cause.kind() == ErrorKind::AlreadyExists)
    }

    /// Whether a database holds something else than what was kept in it.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(self, StoreError::Database { failure: DatabaseFailure::Damaged(_), .. })
    }
}

fn more_unreadable(count: usize) -> String {
    match count {
        0 => String::new(),
        n => format!("; {n} more can't be read (latlas atlas verify shows why)"),
    }
}

fn listed(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    names.join(", ")
}

/// Attaches what was tried, on what, to an error of the operating system.
pub(super) fn io(action: FileAction, path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
    move |cause| StoreError::Io {
        action,
        path: path.to_owned(),
        cause: match cause.kind() {
            std::io::ErrorKind::FileTooLarge => std::io::Error::new(
                cause.kind(),
                "the file would be larger than this process may write (ulimit -f)",
            ),
            _ => cause,
        },
    }
}

/// What a name with the sign of machines and campaigns is good for.
fn of_sign(path: &std::path::Path) -> &'static str {
    match path.as_os_str().as_encoded_bytes().first() {
        Some(b'@') => "; @HOST and @CAMPAIGN are for `latlas compare`",
        _ => "",
    }
}

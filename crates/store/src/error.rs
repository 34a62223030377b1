//! Why a run could not be kept or read.

use model::text::counted;
use std::fmt;
use std::path::{Path, PathBuf};

/// What is done with a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAction {
    /// To read it.
    Read,
    /// To write it.
    Write,
    /// To create it.
    Create,
    /// To remove it.
    Remove,
}

impl fmt::Display for FileAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileAction::Read => "read",
            FileAction::Write => "write",
            FileAction::Create => "create",
            FileAction::Remove => "remove",
        })
    }
}

/// Why a run could not be kept or read. Every message is one line that names
/// the path and says what to do where that is not plain.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No place to keep runs is known.
    #[error(
        "no directory for runs: set LATLAS_DATA_DIR, XDG_DATA_HOME or HOME, or write --store into the \
         configuration"
    )]
    NoDataDirectory,
    /// This build has no PostgreSQL.
    #[error("this build of latlas can't use databases (feature `postgres` is off)")]
    NoDatabases,
    /// The settings of a database can't be used.
    #[error("can't use the store {place}: {why}")]
    Settings {
        /// Its URL, without a password.
        place: String,
        /// Why not.
        why: String,
    },
    /// A database refuses, or can't be reached.
    #[error("the store {place} {failure}")]
    Database {
        /// Its URL, without a password.
        place: String,
        /// What went wrong.
        failure: DatabaseFailure,
    },
    /// A file or directory refuses.
    #[error("can't {action} {}: {cause}", path.display())]
    Io {
        /// What was tried.
        action: FileAction,
        /// On what.
        path: PathBuf,
        /// Why not.
        cause: std::io::Error,
    },
    /// The path leads to something that can't hold a run.
    #[error("can't write {}: {reason}", path.display())]
    NotAFile {
        /// Which.
        path: PathBuf,
        /// What it is instead.
        reason: &'static str,
    },
    /// The file is not a run that this program can read.
    #[error("{} is not a run this latlas can read: {reason}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The run can't be written so that it can be read again.
    #[error("this run can't be written: {0} (this is a bug in latlas)")]
    Unwritable(String),
    /// Nothing is kept yet.
    #[error("no run in {} yet: run `latlas run`", .0.display())]
    Empty(PathBuf),
    /// None of the kept runs can be the last one.
    #[error(
        "no complete run in {}, only {count} interrupted or empty (latlas atlas list shows \
         them, latlas show ID prints one){}",
        path.display(),
        more_unreadable(*unreadable)
    )]
    NoneWhole {
        /// Where.
        path: PathBuf,
        /// How many are kept.
        count: usize,
        /// Documents that can't be read.
        unreadable: usize,
    },
    /// Documents are kept, and none of them can be read.
    #[error(
        "no run in {} can be read ({}): {why}",
        path.display(),
        counted(*count, "document")
    )]
    NoneReadable {
        /// Where.
        path: PathBuf,
        /// How many documents.
        count: usize,
        /// Why not.
        why: String,
    },
    /// Fewer runs are kept than `last~N` counts back.
    #[error("last~{back} goes back too far: {count} {} stored in {} (not counting interrupted, empty and unreadable ones)", if *count == 1 { "run is" } else { "runs are" }, path.display())]
    TooFarBack {
        /// How far back.
        back: usize,
        /// Where.
        path: PathBuf,
        /// How many are kept.
        count: usize,
    },
    /// A name that is neither a file nor of a kept run.
    #[error("can't read {}: there is no such file (nor is it `last`, `last~1`, a tag or the beginning of a run's id){suggestion}{}", path.display(), of_sign(path))]
    NoSuchFile {
        /// The name.
        path: PathBuf,
        /// What was probably meant.
        suggestion: String,
    },
    /// No kept run has this id.
    #[error("no run in {} has an id that begins with {prefix:?}", path.display())]
    NoSuchRun {
        /// What was asked for.
        prefix: String,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// Several documents say in their names that they are of this run.
    #[error("several files hold the run {id}: {} (delete or move all but one)", listed(paths))]
    Twice {
        /// The whole id.
        id: String,
        /// The files.
        paths: Vec<PathBuf>,
    },
    /// Several kept runs begin so.
    #[error("{count} runs in {} have an id that begins with {prefix:?}: give more of it", path.display())]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// Where it was looked for.
        path: PathBuf,
        /// How many.
        count: usize,
    },
    /// The text can't be a tag, or the tag's file is broken.
    #[error("{name:?} can't be a tag: {why}")]
    BadTag {
        /// What was given.
        name: String,
        /// Why not.
        why: String,
    },
    /// Another run has the tag.
    #[error("the tag {name} is on run {run}: --move moves it, --add puts it on both")]
    TagTaken {
        /// The tag.
        name: String,
        /// The run that has it.
        run: String,
    },
    /// There is no such tag.
    #[error("no tag {name:?} (latlas atlas list --tag lists them)")]
    NoSuchTag {
        /// What was given.
        name: String,
    },
    /// The run that a tag names is gone.
    #[error("the tag {name} is on run {run}, which was deleted (latlas atlas tag --remove {name})")]
    LostTag {
        /// The tag.
        name: String,
        /// The run that it names.
        run: String,
    },
    /// The index can't be made anew: there is no permission, or no room.
    #[error("can't rebuild the index {}: {cause}", path.display())]
    IndexUnwritable {
        /// The index, or where it would be.
        path: PathBuf,
        /// Why not.
        cause: String,
    },
    /// Neither the index nor one made in memory answers.
    #[error("can't use the index {}: {cause} (latlas atlas rebuild recreates it)", path.display())]
    Index {
        /// The index, or where it would be.
        path: PathBuf,
        /// Why not.
        cause: String,
    },
}

/// What a database could not do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseFailure {
    /// It does not answer, or does not let this user in.
    #[error("can't be reached: {0}")]
    Unreachable(String),
    /// The connection was lost.
    #[error("went away: {0}")]
    WentAway(String),
    /// Its tables are of a newer latlas.
    #[error("was made by a newer latlas (its version is {found}, this latlas knows up to {known})")]
    Newer {
        /// Version of the tables.
        found: i32,
        /// The newest version that is known.
        known: i32,
    },
    /// It refuses what it was asked.
    #[error("refused: {0}")]
    Refused(String),
    /// It holds what can't be what latlas wrote.
    #[error("holds what latlas did not write: {0}")]
    Damaged(String),
}

impl StoreError {
    /// Whether a database holds something else than what was kept in it.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(self, StoreError::Database { failure: DatabaseFailure::Damaged(_), .. })
    }
}

fn more_unreadable(count: usize) -> String {
    match count {
        0 => String::new(),
        n => format!("; {n} more can't be read (latlas atlas verify says why)"),
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

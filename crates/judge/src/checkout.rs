//! Two revisions, or two directories, as two trees of equal path length that may be built in: the user's checkout stays
//! as it is. They go on every way out; those of a process that was killed go when the next one begins.

mod copy;
mod differing;
mod git;
mod work;

pub use copy::CopyError;
pub(crate) use differing::differing_files;

use crate::process::{ProcessError, Processes};
use git::Repository;
use model::phrases::counted;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use work::WorkFolder;

/// What one side is, as the user named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Revision(String),
    Directory(PathBuf),
}

impl Source {
    /// A directory that is there, else a revision.
    pub fn from_text(text: &str) -> Source {
        match Path::new(text).is_dir() {
            true => Source::Directory(text.into()),
            false => Source::Revision(text.to_owned()),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Revision(revision) => f.write_str(revision),
            Source::Directory(directory) => write!(f, "{}", directory.display()),
        }
    }
}

/// Why there are no two trees.
#[derive(thiserror::Error, Debug)]
pub enum CheckoutError {
    #[error("can't check out {0}: git is not installed (install it, or give two directories)")]
    NoGit(String),
    #[error(
        "{0} is not a directory, and this is not a git repository that could have such a revision \
         (start latlas judge in the repository, or give two directories)"
    )]
    NoRepository(String),
    #[error("{revision} is neither a directory nor a revision of {repository}")]
    NoRevision { revision: String, repository: String },
    #[error("git can't check out {revision}: {said}")]
    NotCheckedOut { revision: String, said: String },
    #[error("can't copy {directory}: {error}")]
    NotCopied { directory: String, error: CopyError },
    #[error(
        "no room for two builds in {folder}: {free_mb} MB are free and {needed_mb} MB are needed \
         (LATLAS_DATA_DIR names another place)"
    )]
    NoRoom { folder: String, free_mb: u64, needed_mb: u64 },
    #[error("can't use {folder}: {error}")]
    Folder { folder: String, error: io::Error },
    #[error(transparent)]
    Process(#[from] ProcessError),
}

/// One tree.
#[derive(Clone, Debug)]
pub struct BuildSide {
    /// As the user named it.
    pub label: String,
    /// Its commit, where it is a revision.
    pub commit: Option<String>,
    /// Its files: what is to be judged lies here or below.
    pub tree: PathBuf,
    /// The folder in it that stands for the one the user was in.
    pub root: PathBuf,
    /// Where it is built.
    pub target: PathBuf,
    /// Files of the runs.
    pub scratch: PathBuf,
}

impl BuildSide {
    /// The script that keeps links, in the place of the linker.
    pub fn link_keeper(&self) -> PathBuf {
        self.target.join("keep-links.sh")
    }
}

/// Both trees. Dropped, they are removed.
#[derive(Debug)]
pub struct Checkouts {
    /// Base and head.
    pub sides: [BuildSide; 2],
    /// What the user should know of them.
    pub remarks: Vec<String>,
    /// Held for its end.
    _work: WorkFolder,
}

/// What a build takes at least, bytes.
const BUILD_BYTES: u64 = 128 << 20;

impl Checkouts {
    /// Trees of their own for both sides, in a folder of `data_dir`. Revisions are those of the repository that `here`
    /// lies in. With `in_place`, directories are used as they are: of commands, which are built already.
    ///
    /// # Errors
    /// Each in one line; nothing is left then.
    pub fn check_out(
        sources: [&Source; 2],
        here: &Path,
        data_dir: &Path,
        in_place: bool,
        processes: &mut Processes,
    ) -> Result<Checkouts, CheckoutError> {
        let mut work = WorkFolder::make(data_dir)?;
        let mut remarks = Vec::new();
        let mut side = |source: &Source, name| {
            let label = source.to_string();
            let own = work.folder().join(name);
            let [tree, target, scratch] = ["tree", "build", "slot"].map(|part| own.join(part));
            for folder in [&target, &scratch] {
                let made = std::fs::create_dir_all(folder);
                made.map_err(|error| folder_error(folder, error))?;
            }
            let side = BuildSide { label, commit: None, root: tree.clone(), tree, target, scratch };
            match source {
                Source::Revision(revision) => {
                    of_revision(side, revision, here, &mut work, processes, &mut remarks)
                }
                Source::Directory(directory) if in_place => {
                    let found = directory.canonicalize();
                    let found = found.map_err(|error| folder_error(directory, error))?;
                    Ok(BuildSide { tree: found.clone(), root: found, ..side })
                }
                Source::Directory(directory) => of_directory(side, directory, processes),
            }
        };
        // Names of equal length: so are the paths of what is built.
        let sides = [side(sources[0], "base")?, side(sources[1], "head")?];
        Ok(Checkouts { sides, remarks, _work: work })
    }
}

fn folder_error(folder: &Path, error: io::Error) -> CheckoutError {
    CheckoutError::Folder { folder: folder.display().to_string(), error }
}

/// Whether there is room for so many bytes of files, twice, and for building them.
fn check_room(folder: &Path, bytes: u64) -> Result<(), CheckoutError> {
    let needed = 2 * (bytes + BUILD_BYTES);
    let room = sys::filesystem::room(folder).map_err(|error| folder_error(folder, error))?;
    if room.bytes >= needed {
        return Ok(());
    }
    Err(CheckoutError::NoRoom {
        folder: folder.display().to_string(),
        free_mb: room.bytes / 1_000_000,
        needed_mb: needed.div_ceil(1_000_000),
    })
}

fn of_revision(
    side: BuildSide,
    revision: &str,
    here: &Path,
    work: &mut WorkFolder,
    processes: &mut Processes,
    remarks: &mut Vec<String>,
) -> Result<BuildSide, CheckoutError> {
    let repository = Repository::around(here, revision, processes)?;
    let commit = repository.commit(revision, processes)?;
    check_room(work.folder(), repository.file_bytes(&commit, processes)?)?;
    let changed = repository.changed_files(&commit, processes)?;
    if changed > 0 {
        remarks.push(format!(
            "{revision} doesn't have the uncommitted changes of {} (to judge these, give the \
             directory instead)",
            counted(changed, "file")
        ));
    }
    // Known to the next one before it is there.
    work.note_repository(repository.top()).map_err(|error| folder_error(work.folder(), error))?;
    repository.add_worktree(&side.tree, &commit, revision, processes)?;
    if side.tree.join(".gitmodules").is_file() {
        remarks.push(format!("the submodules of {revision} are not checked out"));
    }
    let root = side.tree.join(repository.prefix());
    match root.is_dir() {
        true => Ok(BuildSide { root, commit: Some(commit), ..side }),
        false => Err(CheckoutError::NotCheckedOut {
            revision: revision.to_owned(),
            said: format!("it has no folder {}", repository.prefix().display()),
        }),
    }
}

fn of_directory(
    side: BuildSide,
    directory: &Path,
    processes: &mut Processes,
) -> Result<BuildSide, CheckoutError> {
    let failed = |error| CheckoutError::NotCopied { directory: side.label.clone(), error };
    // Without what git ignores, and with what a workspace around it has.
    let (from, prefix, files) = match Repository::around(directory, "", processes) {
        Ok(repository) => {
            let files = repository.files(processes)?;
            (repository.top().to_owned(), repository.prefix().to_owned(), files)
        }
        Err(CheckoutError::Process(ProcessError::Interrupted)) => {
            return Err(ProcessError::Interrupted.into());
        }
        Err(_) => {
            let files = copy::files_below(directory).map_err(failed)?;
            (directory.to_owned(), PathBuf::new(), files)
        }
    };
    std::fs::create_dir_all(&side.tree).map_err(|error| folder_error(&side.tree, error))?;
    check_room(&side.tree, copy::total_bytes(&from, &files))?;
    copy::copy_files(&from, &files, &side.tree).map_err(failed)?;
    Ok(BuildSide { root: side.tree.join(prefix), ..side })
}

#[cfg(test)]
mod tests;

//! What is asked of git. It takes no optional locks and runs no hooks, so that the user's checkout stays as it is.

use super::CheckoutError;
use crate::process::{Child, EndedChild, ProcessError, Processes, Variables, own_variables};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A large repository on a slow disk takes minutes to check out.
const LIMIT: Duration = Duration::from_secs(1800);

/// A repository with its files.
#[derive(Debug)]
pub(super) struct Repository {
    top: PathBuf,
    /// From there to where the user is.
    prefix: PathBuf,
}

impl Repository {
    /// The one that a directory lies in, which is to have a revision.
    pub(super) fn around(
        directory: &Path,
        revision: &str,
        processes: &mut Processes,
    ) -> Result<Repository, CheckoutError> {
        let asked = git(directory, &["rev-parse", "--show-toplevel", "--show-prefix"], processes);
        let ended = match asked {
            Err(ProcessError::NotFound(_)) => {
                return Err(CheckoutError::NoGit(revision.to_owned()));
            }
            other => other?,
        };
        let mut lines = ended.out.split(|&byte| byte == b'\n').map(OsStr::from_bytes);
        match lines.next().filter(|top| ended.is_success() && !top.is_empty()) {
            Some(top) => {
                Ok(Repository { top: top.into(), prefix: lines.next().unwrap_or_default().into() })
            }
            None => Err(CheckoutError::NoRepository(revision.to_owned())),
        }
    }

    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    pub(super) fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// The commit that a revision means.
    pub(super) fn commit(
        &self,
        revision: &str,
        processes: &mut Processes,
    ) -> Result<String, CheckoutError> {
        let commit = format!("{revision}^{{commit}}");
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
        let ended = git(&self.top, &words, processes)?;
        match ended.is_success() {
            true => Ok(ended.out_text().trim().to_owned()),
            false => Err(CheckoutError::NoRevision {
                revision: revision.to_owned(),
                repository: self.top.display().to_string(),
            }),
        }
    }

    /// Bytes of all files of a commit.
    pub(super) fn file_bytes(
        &self,
        commit: &str,
        processes: &mut Processes,
    ) -> Result<u64, CheckoutError> {
        let ended = git(&self.top, &["ls-tree", "-r", "-l", commit], processes)?;
        // MODE blob HASH BYTES<tab>NAME
        let text = ended.out_text();
        let sizes =
            text.lines().filter_map(|line| line.split_whitespace().nth(3)?.parse::<u64>().ok());
        Ok(sizes.sum::<u64>())
    }

    /// Files of the checkout that differ from this commit, if it is the one that is checked out.
    pub(super) fn changed_files(
        &self,
        commit: &str,
        processes: &mut Processes,
    ) -> Result<usize, CheckoutError> {
        let head = git(&self.top, &["rev-parse", "--verify", "--quiet", "HEAD"], processes)?;
        if head.out_text().trim() != commit {
            return Ok(0);
        }
        let ended = git(&self.top, &["status", "--porcelain", "-z"], processes)?;
        Ok(ended.out.split(|&byte| byte == 0).filter(|entry| !entry.is_empty()).count())
    }

    /// Files of the checkout, but for those that git ignores.
    pub(super) fn files(&self, processes: &mut Processes) -> Result<Vec<PathBuf>, CheckoutError> {
        let words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let ended = git(&self.top, &words, processes)?;
        let names = ended.out.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        let mut files: Vec<PathBuf> = names.map(|name| OsStr::from_bytes(name).into()).collect();
        // A file in conflict is there once a side.
        files.dedup();
        Ok(files)
    }

    /// Checks a commit out at a path of its own.
    pub(super) fn add_worktree(
        &self,
        at: &Path,
        commit: &str,
        revision: &str,
        processes: &mut Processes,
    ) -> Result<(), CheckoutError> {
        let at = at.display().to_string();
        let words = ["worktree", "add", "--detach", "--force", &at, commit];
        let ended = git(&self.top, &words, processes)?;
        if ended.is_success() {
            return Ok(());
        }
        Err(CheckoutError::NotCheckedOut {
            revision: revision.to_owned(),
            said: ended.last_words(),
        })
    }
}

/// Removes a tree from its repository, also one that git had not finished.
pub(super) fn remove_worktree(repository: &Path, tree: &Path) {
    // Not by `Processes`: it works while latlas is asked to end.
    let removed = std::process::Command::new("git")
        .args(BEFORE)
        .arg("-C")
        .arg(repository)
        .args(["worktree", "remove", "--force", "--force"])
        .arg(tree)
        .env_clear()
        .envs(git_variables())
        .output();
    // What git leaves, the caller removes.
    drop(removed);
}

const BEFORE: [&str; 2] = ["-c", "core.hooksPath=/dev/null"];

fn git(
    directory: &Path,
    words: &[&str],
    processes: &mut Processes,
) -> Result<EndedChild, ProcessError> {
    let words: Vec<String> =
        ["git"].iter().chain(&BEFORE).chain(words).map(ToString::to_string).collect();
    let variables = git_variables();
    processes.run(&Child { words: &words, variables: &variables, directory, limit: LIMIT })
}

/// Of the caller, which may be a hook of git itself.
fn git_variables() -> Variables {
    let mut variables = own_variables(&[
        ("GIT_OPTIONAL_LOCKS", "0".into()),
        ("GIT_TERMINAL_PROMPT", "0".into()),
        ("LC_ALL", "C".into()),
    ]);
    let of_a_hook =
        ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"].map(OsString::from);
    variables.retain(|(name, _)| !of_a_hook.contains(name));
    variables
}

//! What a build is called in a comment: its commit, where its directory is a checkout of Git.

use std::path::Path;
use std::process::Command;

/// The commit that is checked out there, else the directory.
pub(super) fn build_label(directory: &Path) -> String {
    match commit(directory) {
        Some(commit) => commit,
        None => format!("`{}`", directory.display()),
    }
}

fn commit(directory: &Path) -> Option<String> {
    let mut git = Command::new("git");
    git.arg("-C").arg(directory).args(["rev-parse", "--show-toplevel", "HEAD"]);
    let done = git.output().ok().filter(|done| done.status.success())?;
    let printed = String::from_utf8(done.stdout).ok()?;
    let (root, commit) = printed.trim_end().split_once('\n')?;
    // Two directories within one checkout would have one commit.
    let is_root = Path::new(root).canonicalize().ok()? == directory.canonicalize().ok()?;
    is_root.then(|| commit.chars().take(10).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_is_no_checkout_is_called_by_its_name() {
        let directory = tempfile::tempdir().expect("a directory");
        let label = build_label(directory.path());
        assert_eq!(label, format!("`{}`", directory.path().display()));
    }
}

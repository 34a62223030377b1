//! A copy of latlas for another user or another root directory.

use std::path::Path;
use std::process::Command;

/// Copies latlas to this path, by another process: a file that this one writes
/// may be in the hands of a child that another thread forks, and can't be
/// executed then.
pub(crate) fn latlas_to(path: &Path) {
    let copied = Command::new("cp")
        .arg(env!("CARGO_BIN_EXE_latlas"))
        .arg(path)
        .status();
    assert!(copied.expect("cp is there").success());
}

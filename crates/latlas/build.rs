//! Facts of the build that every Run document names.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=LATLAS_COMMIT");
    let git = Path::new("../../.git");
    for file in ["HEAD", "logs/HEAD"] {
        let path = git.join(file);
        // A path that is not there would make every build run this again.
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    if let Some(commit) = commit() {
        println!("cargo::rustc-env=LATLAS_COMMIT={commit}");
    }
    for (name, from) in [("LATLAS_TARGET", "TARGET"), ("LATLAS_PROFILE", "PROFILE")] {
        let value = std::env::var(from).unwrap_or_else(|_| "unknown".into());
        println!("cargo::rustc-env={name}={value}");
    }
}

/// The commit, where it is known: a source archive has no repository.
fn commit() -> Option<String> {
    if let Ok(given) = std::env::var("LATLAS_COMMIT") {
        return Some(given).filter(|commit| !commit.is_empty());
    }
    let output = Command::new("git").args(["rev-parse", "HEAD"]).output();
    let output = output.ok().filter(|output| output.status.success())?;
    let commit = String::from_utf8(output.stdout).ok()?;
    Some(commit.trim().to_owned())
}

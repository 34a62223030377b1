//! Facts of the build that every Run document names.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=LATLAS_COMMIT");
    for file in ["HEAD", "logs/HEAD"] {
        // In a work tree of its own these are elsewhere.
        let path = git(&["rev-parse", "--git-path", file]).filter(|path| Path::new(path).exists());
        // A path that is not there would make every build run this again.
        if let Some(path) = path {
            println!("cargo::rerun-if-changed={path}");
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
    git(&["rev-parse", "HEAD"])
}

/// What git prints, on one line.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output();
    let output = output.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

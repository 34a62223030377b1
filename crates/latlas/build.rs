//! Facts of the build that every Run document names; the pages of docs/, packed.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    pack_pages();
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

/// Writes all pages of docs/ as one deflated text, and a table with the name and length of each: a page of a folder
/// has the folder's name before its own.
fn pack_pages() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut files: Vec<PathBuf> =
        [docs.clone(), docs.join("noise")].iter().flat_map(files_of).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "md"));
    files.sort();
    let (mut table, mut texts) = (String::from("["), String::new());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a page can be read");
        let topic = file.strip_prefix(&docs).unwrap_or(&file).with_extension("");
        let topic = topic.to_string_lossy().replace('/', "-");
        table += &format!("({topic:?}, {}),", text.len());
        texts += &text;
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let packed = miniz_oxide::deflate::compress_to_vec(texts.as_bytes(), 9);
    std::fs::write(out.join("pages.deflate"), packed).expect("OUT_DIR can be written");
    std::fs::write(out.join("pages.rs"), table + "]").expect("OUT_DIR can be written");
}

fn files_of(folder: &PathBuf) -> Vec<PathBuf> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}

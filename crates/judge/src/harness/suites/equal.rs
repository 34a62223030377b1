//! Whether both sides run the same program: then nothing is to be measured.

use crate::checkout::{BuildSide, differing_files};
use crate::harness::programs::Program;
use crate::sections::is_same_program;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What differs between both trees.
#[derive(Clone, Debug)]
pub(super) struct Differing {
    /// None where it is not known.
    files: Option<Vec<PathBuf>>,
    /// Whether the libraries of both builds are equal, once that was asked.
    libraries_equal: OnceCell<bool>,
}

/// Files that nothing runs or reads: by their ending.
const TEXTS: [&str; 4] = ["md", "rst", "adoc", "markdown"];
/// And by their name.
const TEXT_NAMES: [&str; 7] =
    ["LICENSE", "NOTICE", "AUTHORS", "CHANGELOG", "CODEOWNERS", ".gitignore", ".mailmap"];

/// Files that are compiled or say what is: what they do is in the executable.
const COMPILED: [&str; 16] = [
    "go", "rs", "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "hxx", "s", "S", "inc", "asm", "toml",
    "cmake",
];
const COMPILED_NAMES: [&str; 5] = ["Cargo.lock", "go.mod", "go.sum", "CMakeLists.txt", "Makefile"];

impl Differing {
    pub(super) fn between(base: &BuildSide, head: &BuildSide) -> Differing {
        Differing {
            files: differing_files(&base.tree, &head.tree),
            libraries_equal: OnceCell::new(),
        }
    }

    pub(super) fn unknown() -> Differing {
        Differing { files: None, libraries_equal: OnceCell::new() }
    }

    /// Whether a program does the same on both sides: its machine code and data are equal, and no file differs that it
    /// could read. Without an executable, no file may differ but texts for people.
    pub(super) fn is_equal(
        &self,
        base: (&BuildSide, &Program),
        head: (&BuildSide, &Program),
    ) -> bool {
        let Some(files) = &self.files else { return false };
        if files.iter().all(|file| is_text(file)) {
            return true;
        }
        let are_compiled = || files.iter().all(|file| is_text(file) || is_compiled(file));
        match (&base.1.exe, &head.1.exe) {
            (Some(own), Some(its)) if own.extension().is_none_or(|ending| ending != "jar") => {
                are_compiled()
                    && is_same_program(own, its).is_ok_and(|same| same)
                    && *self
                        .libraries_equal
                        .get_or_init(|| are_libraries_equal(&base.0.target, &head.0.target))
            }
            _ => false,
        }
    }
}

fn is_text(file: &Path) -> bool {
    has(file, &TEXTS, &TEXT_NAMES) || file.starts_with(".github")
}

fn is_compiled(file: &Path) -> bool {
    has(file, &COMPILED, &COMPILED_NAMES)
}

fn has(file: &Path, endings: &[&str], names: &[&str]) -> bool {
    let is = |all: &[&str], part: Option<&std::ffi::OsStr>| {
        part.is_some_and(|part| all.iter().any(|one| part == *one))
    };
    is(endings, file.extension()) || is(names, file.file_name()) || is(names, file.file_stem())
}

/// Whether the shared libraries that were built are equal, which a program may load.
fn are_libraries_equal(base: &Path, head: &Path) -> bool {
    let [own, its] = [base, head].map(libraries);
    own.keys().eq(its.keys())
        && own
            .iter()
            .zip(its.values())
            .all(|((_, own), its)| is_same_program(own, its).is_ok_and(|same| same))
}

/// By their name: those of Rust's own macros have a hash in theirs that tells nothing of what a program loads.
fn libraries(target: &Path) -> BTreeMap<PathBuf, PathBuf> {
    let mut found = BTreeMap::new();
    let mut folders = vec![target.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name().to_string_lossy().into_owned();
            if kind.is_dir() && !["deps", "links", "CMakeFiles"].contains(&&*name) {
                folders.push(path);
            } else if kind.is_file() && (name.ends_with(".so") || name.contains(".so.")) {
                let below = path.strip_prefix(target).unwrap_or(&path).to_owned();
                found.insert(below, path);
            }
        }
    }
    found
}

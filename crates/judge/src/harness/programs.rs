//! The programs of a built side.

use super::adapter::{Adapter, ProgramKind};
use super::detect::{contains, first_bytes};
use super::fill::Filling;
use crate::checkout::BuildSide;
use crate::sections::is_elf;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Bytes of an executable that are searched.
const MOST_BYTES: u64 = 1 << 30;
const MOST_DEPTH: usize = 8;

/// What runs benchmarks on one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// Tells it from the others, on both sides.
    pub(super) key: String,
    /// Its harness, by place.
    pub(super) adapter: usize,
    /// None where an interpreter reads files.
    pub(super) exe: Option<PathBuf>,
    pub(super) package: String,
    /// Where it runs.
    pub(super) directory: PathBuf,
}

impl Program {
    /// That of an interpreter.
    pub(super) fn without_exe(adapter: usize, side: &BuildSide) -> Program {
        Program {
            key: String::new(),
            adapter,
            exe: None,
            package: String::new(),
            directory: side.root.clone(),
        }
    }

    pub(super) fn filling(&self, side: &BuildSide, python: &str) -> Filling {
        let filling = side_filling(side, python).put("package", self.package.clone());
        let filling = filling.put("directory", text(&self.directory));
        match &self.exe {
            Some(exe) => filling.put("exe", text(exe)),
            None => filling,
        }
    }
}

pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// What is known of a side.
pub(super) fn side_filling(side: &BuildSide, python: &str) -> Filling {
    Filling::default()
        .put("root", text(&side.root))
        .put("target", text(&side.target))
        .put("scratch", text(&side.scratch))
        .put("keep_links", text(&side.link_keeper()))
        .put("python", python)
}

/// The first harness among these whose texts an executable holds.
pub(super) fn adapter_of(file: &Path, adapters: &[Adapter], among: &[usize]) -> Option<usize> {
    let bytes = first_bytes(file, MOST_BYTES).ok()?;
    among
        .iter()
        .copied()
        .find(|&at| adapters[at].holds.iter().any(|text| contains(&bytes, text.as_bytes())))
}

/// Executables of benchmarks that Cargo's messages name: their name, file and folder.
pub(super) fn of_cargo(messages: &str) -> Vec<(String, PathBuf, PathBuf)> {
    let mut found = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        let target = &message["target"];
        let is_bench =
            target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|k| k == "bench"));
        let (Some(exe), true) = (message["executable"].as_str(), is_bench) else { continue };
        let manifest = Path::new(message["manifest_path"].as_str().unwrap_or_default());
        let directory = manifest.parent().unwrap_or(Path::new("/"));
        let name = target["name"].as_str().unwrap_or_default();
        found.push((name.to_owned(), exe.into(), directory.to_owned()));
    }
    found
}

/// Files that may be programs of such a kind, in order.
pub(super) fn files_of(kind: ProgramKind, side: &BuildSide) -> Vec<PathBuf> {
    let mut found = Vec::new();
    match kind {
        ProgramKind::Executables => collect(&side.target, 0, &is_executable, &mut found),
        ProgramKind::Jars => collect(&side.root, 0, &is_jar, &mut found),
        ProgramKind::None | ProgramKind::Packages | ProgramKind::Cargo => {}
    }
    found.sort_unstable();
    found
}

fn is_jar(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "jar")
}

fn is_executable(file: &Path) -> bool {
    let may_run = fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o100 != 0);
    may_run && is_elf(file)
}

fn collect(folder: &Path, depth: usize, is_one: &dyn Fn(&Path) -> bool, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        let name = entry.file_name();
        if kind.is_dir() && depth < MOST_DEPTH && name != ".git" && name != "CMakeFiles" {
            collect(&path, depth + 1, is_one, found);
        } else if kind.is_file() && is_one(&path) {
            found.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_names_what_it_built() {
        let messages = concat!(
            "   Compiling tiny v0.1.0\n",
            r#"{"reason":"compiler-artifact","manifest_path":"/t/Cargo.toml","target":{"kind":["lib"],"name":"tiny"},"executable":"/t/lib"}"#,
            "\n",
            r#"{"reason":"compiler-artifact","manifest_path":"/t/Cargo.toml","target":{"kind":["bench"],"name":"b"},"executable":"/t/deps/b-1"}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        assert_eq!(of_cargo(messages), [("b".into(), "/t/deps/b-1".into(), "/t".into())]);
    }
}

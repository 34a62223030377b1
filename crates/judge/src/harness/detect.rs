//! Which harnesses a folder uses.

use super::adapter::{Adapter, Detect};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes of a file that are looked at.
const LOOKED_AT: u64 = 1 << 20;
/// Files that are looked at, and folders within folders.
const MOST_FILES: usize = 50_000;
const MOST_DEPTH: usize = 12;

/// Folders of other people's files and of built ones.
const NOT_OURS: [&str; 6] = ["target", "node_modules", "vendor", "venv", "build", "__pycache__"];

/// The file that tells that a folder uses a harness, relative to the folder.
pub(super) fn sign_of(adapter: &Adapter, root: &Path) -> Option<PathBuf> {
    let detect = adapter.detect.as_ref()?;
    if detect.root.as_ref().is_some_and(|name| !root.join(name).is_file()) {
        return None;
    }
    let mut left = MOST_FILES;
    find(root, Path::new(""), detect, 0, &mut left)
}

fn find(
    root: &Path,
    below: &Path,
    detect: &Detect,
    depth: usize,
    left: &mut usize,
) -> Option<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(root.join(below)).ok()?.flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut folders = Vec::new();
    for entry in entries {
        *left = left.checked_sub(1)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let kind = entry.file_type().ok()?;
        if kind.is_dir() && !name.starts_with('.') && !NOT_OURS.contains(&&*name) {
            folders.push(below.join(&*name));
        } else if kind.is_file() && is_like(&name, &detect.files) {
            let bytes = first_bytes(&entry.path(), LOOKED_AT).unwrap_or_default();
            if detect.contain.iter().any(|text| contains(&bytes, text.as_bytes())) {
                return Some(below.join(&*name));
            }
        }
    }
    if depth == MOST_DEPTH {
        return None;
    }
    folders.into_iter().find_map(|folder| find(root, &folder, detect, depth + 1, left))
}

/// Whether a name is as a pattern, in which `*` stands for anything.
pub(super) fn is_like(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            let mut ends = (0..=name.len()).filter(|&at| name.is_char_boundary(at));
            ends.any(|at| is_like(&name[at..], rest))
        }),
    }
}

/// The first bytes of a file.
pub(super) fn first_bytes(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn contains(bytes: &[u8], text: &[u8]) -> bool {
    let Some((&first, rest)) = text.split_first() else { return true };
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|&byte| byte == first) {
        from += at + 1;
        if bytes[from..].starts_with(rest) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_names() {
        assert!(is_like("a_test.go", "*_test.go") && !is_like("a_test.gone", "*_test.go"));
        assert!(is_like("x/a/y", "x*a*y") && is_like("BM_Parse<ä>", "BM_*"));
        assert!(!is_like("b", "a*"));
    }

    #[test]
    fn bytes_in_bytes() {
        assert!(contains(b"aaab", b"aab") && !contains(b"aa", b"ab") && !contains(b"a", b"ab"));
    }
}

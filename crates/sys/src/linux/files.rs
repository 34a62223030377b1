//! Reading small text files below a root that tests may choose.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use model::machine::Fact;

/// A file tree: `/`, or a fixture. Paths are always written as they are on a
/// real system, `/proc/...`.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    root: PathBuf,
}

impl Tree {
    pub(crate) fn new(root: &Path) -> Tree {
        Tree {
            root: root.to_path_buf(),
        }
    }

    /// Where `path` lies in this tree.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.at(path).exists()
    }

    /// Content without the white space around it, or why there is none.
    pub(crate) fn read(&self, path: &str) -> Result<String, String> {
        let bytes = std::fs::read(self.at(path)).map_err(|error| reason(path, &error))?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// The first bytes of a file that may be large.
    pub(crate) fn bytes_at_most(&self, path: &str, most: u64) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        File::open(self.at(path))
            .and_then(|file| file.take(most).read_to_end(&mut bytes))
            .map_err(|error| reason(path, &error))?;
        Ok(bytes)
    }

    /// [`read`](Tree::read) where the reason does not matter. Device-tree
    /// strings end in a zero byte, which goes too.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let text = self.read(path).ok()?;
        let text = text.trim_matches('\0').trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// The decimal number in a file.
    pub(crate) fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// The target of a symbolic link.
    pub(crate) fn link(&self, path: &str) -> Option<String> {
        let target = std::fs::read_link(self.at(path)).ok()?;
        Some(target.to_string_lossy().into_owned())
    }

    /// Names in a directory, sorted; none if it can't be read.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.at(path)) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            .collect();
        names.sort();
        names
    }

    /// The fact that `path` holds, with its reason and its source.
    pub(crate) fn fact<T>(&self, path: &str, parse: impl FnOnce(&str) -> Option<T>) -> Fact<T> {
        match self.read(path) {
            Ok(text) => match parse(&text) {
                Some(value) => Fact::known(value).from_source(path),
                None => Fact::unknown(format!("{path} holds `{text}`, which latlas can't read")),
            },
            Err(why) => Fact::unknown(why),
        }
    }
}

fn reason(path: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("there is no {path}"),
        io::ErrorKind::PermissionDenied => format!("{path} may not be read without more privilege"),
        _ => format!("{path} can't be read: {error}"),
    }
}

/// A kernel list like `0-3,8,10-11`; an empty text is an empty list.
pub(crate) fn cpu_list(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        match part.split_once('-') {
            Some((first, last)) => cpus.extend(first.parse::<u32>().ok()?..=last.parse().ok()?),
            None => cpus.push(part.parse().ok()?),
        }
    }
    Some(cpus)
}

/// The chosen word of a list like `always [madvise] never`.
pub(crate) fn bracketed(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    let (word, _) = rest.split_once(']')?;
    Some(word.to_owned())
}

/// The number of `key:   1234 kB` in /proc/meminfo or /proc/self/status, in bytes.
pub(crate) fn kib_field(text: &str, key: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists() {
        assert_eq!(cpu_list("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(cpu_list(""), Some(vec![]));
        assert_eq!(cpu_list("0-x"), None);
    }

    #[test]
    fn small_formats() {
        assert_eq!(
            bracketed("always [madvise] never").as_deref(),
            Some("madvise")
        );
        assert_eq!(bracketed("always"), None);
        assert_eq!(
            kib_field("MemTotal:  12 kB\nMemFree: 4 kB", "MemFree"),
            Some(4096)
        );
        assert_eq!(
            kib_field("MemTotal:  12 kB", "Mem"),
            None,
            "only whole keys"
        );
    }

    #[test]
    fn reasons_are_words() {
        let tree = Tree::new(Path::new("/"));
        let fact = tree.fact("/proc/no-such-file", |text| Some(text.to_owned()));
        assert_eq!(fact, Fact::unknown("there is no /proc/no-such-file"));
    }
}

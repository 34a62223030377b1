//! Small text files of the kernel below a root that tests may choose: read,
//! and written as the kernel wants it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use model::machine::Fact;
use rustix::fs::{Access, CWD};

use crate::platform;

/// Whether a file may be written by this process, as its effective user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Writing {
    /// It may.
    Allowed,
    /// Another user may.
    NoPrivilege,
    /// The file system is mounted for reading only.
    ReadOnlyMount,
    /// Nobody may: the kernel offers the file for reading.
    Never,
    /// There is no such file.
    Missing,
    /// Anything else, in words.
    Refused(String),
}

impl Writing {
    fn of(error: &io::Error) -> Writing {
        match error.kind() {
            io::ErrorKind::NotFound => Writing::Missing,
            io::ErrorKind::PermissionDenied => Writing::NoPrivilege,
            io::ErrorKind::ReadOnlyFilesystem => Writing::ReadOnlyMount,
            _ => Writing::Refused(error.to_string()),
        }
    }
}

/// A file tree: `/`, or a fixture. Paths are always written as they are on a
/// real system, `/proc/...`.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
}

impl Tree {
    /// The tree below `root`.
    pub fn new(root: &Path) -> Tree {
        Tree {
            root: root.to_path_buf(),
        }
    }

    /// Whether this is the system's own tree and no copy or fixture.
    pub fn is_the_systems(&self) -> bool {
        self.root == Path::new("/")
    }

    /// Where `path` lies in this tree.
    pub fn at(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Whether there is such a file or directory.
    pub fn exists(&self, path: &str) -> bool {
        self.at(path).exists()
    }

    /// Content without the white space around it, or why there is none.
    ///
    /// # Errors
    /// The reason, in words.
    pub fn read(&self, path: &str) -> Result<String, String> {
        self.contents(path).map_err(|error| reason(path, &error))
    }

    /// Content without the white space around it.
    ///
    /// # Errors
    /// What opening and reading say.
    pub fn contents(&self, path: &str) -> io::Result<String> {
        let bytes = std::fs::read(self.at(path))?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// Writes into a file that is there, in one `write(2)`: what the kernel
    /// takes for one value. Nothing is created; a kernel's file cuts itself,
    /// an ordinary one is cut.
    ///
    /// # Errors
    /// What opening and writing say.
    pub fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(self.at(path))?;
        match file.write(text.as_bytes())? {
            all if all == text.len() => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }

    /// Whether this process may write `path`. Nothing is opened: for some
    /// files that alone has an effect.
    pub fn writing(&self, path: &str) -> Writing {
        let at = self.at(path);
        let mode = match std::fs::metadata(&at) {
            Ok(metadata) => metadata.permissions().mode(),
            Err(error) => return Writing::of(&error),
        };
        // Root passes access(2) here, and then finds no way to write.
        if mode & 0o222 == 0 {
            return Writing::Never;
        }
        match rustix::fs::accessat(CWD, &at, Access::WRITE_OK, platform::AS_EFFECTIVE_USER) {
            Ok(()) => Writing::Allowed,
            Err(errno) => Writing::of(&errno.into()),
        }
    }

    /// The first bytes of a file that may be large.
    ///
    /// # Errors
    /// Why there are none, in words.
    pub fn bytes_at_most(&self, path: &str, most: u64) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        File::open(self.at(path))
            .and_then(|file| file.take(most).read_to_end(&mut bytes))
            .map_err(|error| reason(path, &error))?;
        Ok(bytes)
    }

    /// [`read`](Tree::read) where the reason does not matter. Device-tree
    /// strings end in a zero byte, which goes too.
    pub fn text(&self, path: &str) -> Option<String> {
        let text = self.read(path).ok()?;
        let text = text.trim_matches('\0').trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// The decimal number in a file.
    pub fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// The target of a symbolic link.
    pub fn link(&self, path: &str) -> Option<String> {
        let target = std::fs::read_link(self.at(path)).ok()?;
        Some(target.to_string_lossy().into_owned())
    }

    /// Names in a directory, sorted; none if it can't be read.
    pub fn names(&self, path: &str) -> Vec<String> {
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
    pub fn fact<T>(&self, path: &str, parse: impl FnOnce(&str) -> Option<T>) -> Fact<T> {
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
pub fn cpu_list(text: &str) -> Option<Vec<u32>> {
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
pub fn bracketed(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    let (word, _) = rest.split_once(']')?;
    Some(word.to_owned())
}

/// The number of `key:   1234 kB` in /proc/meminfo or /proc/self/status, in bytes.
pub fn kib_field(text: &str, key: &str) -> Option<u64> {
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
    fn what_nobody_may_write_is_told_from_what_is_missing() {
        let root = tempfile::tempdir().expect("a directory");
        let tree = Tree::new(root.path());
        std::fs::write(tree.at("/open"), "1").expect("a file");
        std::fs::write(tree.at("/fixed"), "1").expect("a file");
        std::fs::set_permissions(tree.at("/fixed"), std::fs::Permissions::from_mode(0o444))
            .expect("a mode");
        assert_eq!(tree.writing("/open"), Writing::Allowed);
        assert_eq!(tree.writing("/fixed"), Writing::Never, "for root too");
        assert_eq!(tree.writing("/none"), Writing::Missing);
    }

    #[test]
    fn reasons_are_words() {
        let tree = Tree::new(Path::new("/"));
        let fact = tree.fact("/proc/no-such-file", |text| Some(text.to_owned()));
        assert_eq!(fact, Fact::unknown("there is no /proc/no-such-file"));
    }
}

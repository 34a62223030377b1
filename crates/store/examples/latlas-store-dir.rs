//! A store helper in Rust that keeps runs in a directory, for `latlas --store dir:///srv/latlas`, with index entries:
//! an example for authors, and what the tests of the protocol talk to. With `?slow` at its end it waits for 5 ms before and
//! after it stores a document, so that a kill hits it there.
#![forbid(unsafe_code)]

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};
use store_protocol::{Document, Failure, FailureKind, Listed, Named, NewDocument, Shelf};

struct Directory {
    root: PathBuf,
    waits: Duration,
}

fn main() -> std::io::Result<()> {
    store_protocol::serve(|url| {
        let path = url.split_once("://").map_or(url, |(_, path)| path);
        Ok(match path.strip_suffix("?slow") {
            Some(path) => Directory { root: path.into(), waits: Duration::from_millis(5) },
            None => Directory { root: path.into(), waits: Duration::ZERO },
        })
    })
}

fn refused(error: std::io::Error) -> Failure {
    Failure::new(FailureKind::Refused, error.to_string())
}

/// What is done with a file, without one of its name.
fn unless_missing<T>(done: std::io::Result<T>) -> Result<Option<T>, Failure> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        done => done.map(Some).map_err(refused),
    }
}

/// A first line, and what comes after it.
fn divided(bytes: &[u8]) -> (String, Vec<u8>) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    (String::from_utf8_lossy(&bytes[..end]).into_owned(), bytes[end + 1..].to_vec())
}

impl Directory {
    fn path(&self, folder: &str, name: &str) -> PathBuf {
        self.root.join(folder).join(name)
    }

    fn files(&self, folder: &str) -> Result<Vec<String>, Failure> {
        let Some(entries) = unless_missing(fs::read_dir(self.root.join(folder)))? else {
            return Ok(Vec::new());
        };
        let name = |entry: fs::DirEntry| entry.file_name().into_string().ok();
        let mut names: Vec<String> = entries.filter_map(|entry| name(entry.ok()?)).collect();
        names.retain(|name| !name.starts_with('.'));
        Ok(names)
    }

    fn read(&self, folder: &str, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        unless_missing(fs::read(self.path(folder, name)))
    }

    /// Writes a file wholly, and to the disk; false if there is one of its name that is not to be replaced.
    fn write(
        &self,
        folder: &str,
        name: &str,
        parts: &[&[u8]],
        replace: bool,
    ) -> Result<bool, Failure> {
        let written = || -> std::io::Result<bool> {
            let (path, new) = (self.path(folder, name), format!(".new-{}", std::process::id()));
            let new = self.path(folder, &new);
            fs::create_dir_all(self.root.join(folder))?;
            let mut file = File::create(&new)?;
            file.write_all(&parts.concat())?;
            file.sync_all()?;
            if replace {
                fs::rename(&new, &path)?;
            } else {
                let linked = fs::hard_link(&new, &path);
                fs::remove_file(&new)?;
                match linked {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
                    linked => linked?,
                }
            }
            File::open(self.root.join(folder))?.sync_all()?;
            Ok(true)
        };
        written().map_err(refused)
    }

    fn remove(&self, folder: &str, name: &str) -> Result<bool, Failure> {
        Ok(unless_missing(fs::remove_file(self.path(folder, name)))?.is_some())
    }
}

fn id_of(name: &str) -> &str {
    name.split_once('-').map_or("", |(_, id)| id)
}

fn kept_ms(path: &Path) -> Option<u64> {
    let since = path.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}

impl Shelf for Directory {
    fn check(&mut self) -> Result<(), Failure> {
        self.write("runs", ".check", &[], true).map(drop)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<Listed>, Failure> {
        let mut listed = Vec::new();
        for name in self.files("runs")?.into_iter().filter(|name| id_of(name).starts_with(prefix)) {
            // It may have been deleted since.
            if let Some(bytes) = self.read("runs", &name)? {
                let kept_ms = kept_ms(&self.path("runs", &name)).unwrap_or(0);
                listed.push(Listed { mark: divided(&bytes).0, name, kept_ms });
            }
        }
        Ok(listed)
    }

    fn get(&mut self, names: &[String]) -> Result<Vec<Option<Document>>, Failure> {
        let document = |bytes: Vec<u8>| {
            let (mark, bytes) = divided(&bytes);
            Document { mark, bytes }
        };
        names.iter().map(|name| Ok(self.read("runs", name)?.map(document))).collect()
    }

    fn put(&mut self, document: &NewDocument) -> Result<bool, Failure> {
        let NewDocument { name, mark, bytes, entry } = document;
        if self.files("runs")?.iter().any(|known| id_of(known) == id_of(name)) {
            return Ok(false);
        }
        std::thread::sleep(self.waits);
        let is_new = self.write("runs", name, &[mark.as_bytes(), b"\n", bytes], false)?;
        if let Some((version, entry)) = entry.as_ref().filter(|_| is_new) {
            self.put_entry(mark, *version, &Named { name: name.clone(), bytes: entry.clone() })?;
        }
        std::thread::sleep(self.waits);
        Ok(is_new)
    }

    fn delete(&mut self, name: &str) -> Result<bool, Failure> {
        self.remove("entries", name)?;
        self.remove("runs", name)
    }

    fn tags(&mut self, name: Option<&str>) -> Result<Vec<Named>, Failure> {
        let mut tags = Vec::new();
        for known in
            self.files("tags")?.into_iter().filter(|tag| name.is_none_or(|name| name == tag))
        {
            let bytes = self.read("tags", &known)?;
            tags.extend(bytes.map(|bytes| Named { name: known, bytes }));
        }
        Ok(tags)
    }

    fn create_tag(&mut self, tag: &Named) -> Result<bool, Failure> {
        self.write("tags", &tag.name, &[&tag.bytes], false)
    }

    fn set_tag(&mut self, tag: &Named) -> Result<(), Failure> {
        self.write("tags", &tag.name, &[&tag.bytes], true).map(drop)
    }

    fn delete_tag(&mut self, name: &str) -> Result<bool, Failure> {
        self.remove("tags", name)
    }

    fn keeps_entries(&self) -> bool {
        true
    }

    fn entries(&mut self, version: u32, names: &[String]) -> Result<Vec<Named>, Failure> {
        let mut entries = Vec::new();
        for name in names {
            let kept = self.read("entries", name)?.map(|bytes| divided(&bytes));
            let kept = kept.filter(|(known, _)| *known == version.to_string());
            entries.extend(kept.map(|(_, bytes)| Named { name: name.clone(), bytes }));
        }
        Ok(entries)
    }

    fn put_entry(&mut self, mark: &str, version: u32, entry: &Named) -> Result<(), Failure> {
        let document = self.read("runs", &entry.name)?;
        let before = self.read("entries", &entry.name)?.map(|bytes| divided(&bytes).0);
        let is_newer =
            before.and_then(|known| known.parse().ok()).is_some_and(|known: u32| known > version);
        if document.is_none_or(|bytes| divided(&bytes).0 != mark) || is_newer {
            return Ok(());
        }
        let line = format!("{version}\n");
        self.write("entries", &entry.name, &[line.as_bytes(), &entry.bytes], true).map(drop)
    }
}

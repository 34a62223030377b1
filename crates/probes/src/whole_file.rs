//! A file of the scratch directory that many workers read and the first one
//! makes: there whole, or not at all.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The file of this path and length, opened by `open`; if it is not there,
/// `fill` makes it first, and syncs it. `said` puts an error into words, with
/// what was being done.
///
/// It is filled under another name: a worker that is killed meanwhile leaves
/// no half file to the others.
///
/// # Errors
/// Why there is none, as a row's reason.
pub(crate) fn open_or_make(
    path: &Path,
    bytes: u64,
    open: impl Fn(&Path) -> io::Result<File>,
    fill: impl FnOnce(&Path) -> io::Result<()>,
    said: impl Fn(&io::Error, &str) -> String,
) -> Result<File, String> {
    let file = match open(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            make(path, fill).map_err(|e| said(&e, "making"))?;
            open(path)
        }
        opened => opened,
    };
    let file = file.map_err(|e| said(&e, "opening"))?;
    let there = file.metadata().map_err(|e| said(&e, "opening"))?.len();
    if there != bytes {
        return Err(format!(
            "{} has {there} bytes instead of {bytes}: somebody else wrote to it",
            path.display()
        ));
    }
    Ok(file)
}

fn make(path: &Path, fill: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let unfinished = unfinished(path);
    let done = remove(&unfinished)
        .and_then(|()| fill(&unfinished))
        .and_then(|()| std::fs::rename(&unfinished, path));
    if done.is_err() {
        // Its room is wanted by other rows.
        let _ = remove(&unfinished);
    }
    done
}

fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".unfinished");
    name.into()
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(path: &Path, bytes: u64, content: &str) -> Result<File, String> {
        open_or_make(
            path,
            bytes,
            |path| File::open(path),
            |path| {
                assert!(!path.exists(), "what was left of another is gone");
                std::fs::write(path, content)
            },
            |e, doing| format!("{doing}: {e}"),
        )
    }

    #[test]
    fn it_is_made_once_and_what_is_unfinished_is_made_anew() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("read.10");
        std::fs::write(dir.path().join("read.10.unfinished"), "half").expect("room");
        wanted(&path, 3, "one").expect("made");
        wanted(&path, 3, "two").expect("found");
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "one");
        let why = wanted(&path, 4, "more").expect_err("another length");
        assert!(why.contains("3 bytes instead of 4"), "{why}");
        let entries = std::fs::read_dir(dir.path()).expect("there");
        assert_eq!(entries.count(), 1);
    }

    #[test]
    fn what_cant_be_finished_leaves_its_room_to_others() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("file");
        let why = open_or_make(
            &path,
            3,
            |path| File::open(path),
            |path| {
                std::fs::write(path, "half")?;
                Err(ErrorKind::StorageFull.into())
            },
            |e, doing| format!("{doing}: {:?}", e.kind()),
        );
        assert_eq!(why.expect_err("no room"), "making: StorageFull");
        let entries = std::fs::read_dir(dir.path()).expect("there");
        assert_eq!(entries.count(), 0);
    }
}

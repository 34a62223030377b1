//! The file that disk rows read: written once a run, by the first worker that
//! wants it, and found by the others.

use crate::whole_file;
use meter::bench::Bench;
use meter::scratch::reason;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use sys::direct_io;
use sys::pages::{Buffer, PageKind};

/// Bytes of the file. More is more honest (a device's own cache may hold the
/// rest), and costs every run disk writes and time.
pub(super) const BYTES: u64 = 256 << 20;

/// Bytes written at once.
const PIECE: usize = 1 << 20;

/// Its name in the scratch directory.
pub(super) const NAME: &str = "disk.data";

/// The file, there and complete, opened for reading past the page cache.
#[derive(Debug)]
pub(super) struct LaidOut {
    pub(super) file: File,
    pub(super) bytes: u64,
    pub(super) path: PathBuf,
}

impl LaidOut {
    /// The run's own, made if it is not there.
    pub(super) fn of(bench: &mut Bench) -> Result<LaidOut, String> {
        let scratch = crate::file::scratch(bench)?.to_path_buf();
        let seed = bench.rng.u64(..);
        LaidOut::in_directory(&scratch, BYTES, seed)
    }

    /// One of this many bytes in this directory.
    pub(super) fn in_directory(scratch: &Path, bytes: u64, seed: u64) -> Result<LaidOut, String> {
        let path = scratch.join(NAME);
        let file = whole_file::open_or_make(
            &path,
            bytes,
            direct_io::open,
            |path| write(path, bytes, seed),
            |e, doing| refused(e, doing, bytes, scratch),
        )?;
        Ok(LaidOut { file, bytes, path })
    }
}

/// Random bytes, so that a disk that compresses has nothing to gain; synced.
fn write(path: &Path, bytes: u64, seed: u64) -> io::Result<()> {
    let mut file = direct_io::create(path)?;
    let mut buffer = Buffer::new(PIECE, PageKind::Base)?;
    let piece = buffer.as_mut_slice();
    let mut rng = fastrand::Rng::with_seed(seed);
    for _ in 0..bytes / PIECE as u64 {
        rng.fill(piece);
        file.write_all(piece)?;
    }
    file.sync_all()
}

fn refused(error: &io::Error, doing: &str, bytes: u64, scratch: &Path) -> String {
    match error.kind() {
        ErrorKind::InvalidInput => format!(
            "the file system of {} has no reads past the page cache (O_DIRECT is refused); name a directory on a disk with --dir",
            scratch.display()
        ),
        _ => {
            let size = model::size::text(bytes);
            reason(error, &format!("{doing} a file of {size}"), scratch)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: u64 = 2 << 20;

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).expect("readable");
        let names = entries.map(|e| e.expect("an entry").file_name().into_string());
        names.collect::<Result<_, _>>().expect("a name")
    }

    #[test]
    fn it_is_written_once_and_what_is_unfinished_is_made_anew() {
        let scratch = tempfile::tempdir().expect("a directory");
        let scratch = scratch.path();
        std::fs::write(scratch.join("disk.data.unfinished"), b"half").expect("room");
        let laid_out = match LaidOut::in_directory(scratch, SMALL, 1) {
            Err(e) if e.contains("O_DIRECT is refused") => {
                eprintln!("no direct reads on this file system: nothing is tested");
                return;
            }
            laid_out => laid_out.expect("room"),
        };
        assert_eq!(names(scratch), ["disk.data"]);
        let content = std::fs::read(&laid_out.path).expect("there");
        assert_eq!(content.len() as u64, SMALL);
        // Random: no piece is like another, and none is zeros.
        let (first, second) = content.split_at(PIECE);
        assert!(first != second && first.iter().any(|&byte| byte != 0));
        // Another worker, with a seed of its own, finds it.
        LaidOut::in_directory(scratch, SMALL, 2).expect("there");
        assert!(std::fs::read(&laid_out.path).expect("there") == content);
    }

    #[test]
    fn one_of_another_length_is_refused() {
        let scratch = tempfile::tempdir().expect("a directory");
        std::fs::write(scratch.path().join(NAME), "short").expect("room");
        let why = LaidOut::in_directory(scratch.path(), SMALL, 1).expect_err("short");
        let expected = ["5 bytes instead of 2097152", "O_DIRECT is refused"];
        assert!(expected.iter().any(|e| why.contains(e)), "{why}");
    }

    #[test]
    fn where_it_can_not_be_is_said() {
        let scratch = tempfile::tempdir().expect("a directory");
        let gone = scratch.path().join("gone");
        let why = LaidOut::in_directory(&gone, SMALL, 1).expect_err("not there");
        assert!(why.contains("gone"), "{why}");
        let full = refused(
            &ErrorKind::StorageFull.into(),
            "making",
            BYTES,
            scratch.path(),
        );
        assert!(
            full.starts_with("the disk is full (making a file of 256MiB"),
            "{full}"
        );
    }
}

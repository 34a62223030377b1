//! The file that disk rows read: written once a run, by the first worker that
//! wants it, and found by the others.

use crate::engine::files::{open_or_make, scratch};
use meter::probe::WorkError;
use meter::scratch::ScratchError;
use meter::worker_memory::WorkerMemory;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::direct_io;
use sys::pages::{Buffer, PageKind};

/// Bytes of the file. More is more honest (a device's own cache may hold the
/// rest), and costs every run disk writes and time.
pub(super) const BYTES: u64 = 256 << 20;

/// Bytes written at once.
const PIECE: usize = 1 << 20;

/// How long writing it may take: other rows wait for it, and a worker that
/// sends nothing for a minute is taken for stuck.
const WRITING_AT_MOST: Duration = Duration::from_secs(10);

/// Its name in the scratch directory.
pub(super) const NAME: &str = "disk.data";

/// Name of the file in its place where the disk is too slow for it: the
/// reason, so that one worker alone waits to find out.
const TOO_SLOW: &str = "disk.too_slow";

/// The file, there and complete, opened for reading past the page cache.
#[derive(Debug)]
pub(super) struct LaidOut {
    pub(super) file: File,
    pub(super) bytes: u64,
    pub(super) path: PathBuf,
}

impl LaidOut {
    /// The run's own, made if it is not there.
    pub(super) fn for_worker(worker: &mut WorkerMemory) -> Result<LaidOut, WorkError> {
        let scratch = scratch(worker)?.to_path_buf();
        let seed = worker.rng.u64(..);
        LaidOut::in_directory(&scratch, BYTES, seed, WRITING_AT_MOST)
    }

    /// One of this many bytes in this directory. That the disk is too slow for
    /// it is found out once.
    pub(super) fn in_directory(
        scratch: &Path,
        bytes: u64,
        seed: u64,
        at_most: Duration,
    ) -> Result<LaidOut, WorkError> {
        let path = scratch.join(NAME);
        let known = scratch.join(TOO_SLOW);
        if let (false, Ok(why)) = (path.exists(), std::fs::read_to_string(&known)) {
            return Err(why.into());
        }
        let said = |e: &io::Error, doing: &str| {
            let why = disk_refusal(e, doing, bytes, scratch);
            if is_too_slow(e) {
                // Unwritten, the next worker finds out for itself.
                let _ = std::fs::write(&known, &why);
            }
            why
        };
        let file = open_or_make(
            &path,
            bytes,
            direct_io::open_direct,
            |path| write_random(path, bytes, seed, at_most),
            said,
        )?;
        Ok(LaidOut { file, bytes, path })
    }
}

/// Random bytes, so that a disk that compresses has nothing to gain; synced.
/// Given up where they take too long.
fn write_random(path: &Path, bytes: u64, seed: u64, at_most: Duration) -> io::Result<()> {
    let mut file = direct_io::create(path)?;
    let mut buffer = Buffer::new(PIECE, PageKind::Base)?;
    let piece = buffer.as_mut_slice();
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut took = Duration::ZERO;
    let pieces = bytes / PIECE as u64;
    for written in 1..=pieces {
        rng.fill(piece);
        let began = Instant::now();
        file.write_all(piece)?;
        took += began.elapsed();
        if took > at_most && written < pieces {
            let mb_per_s = (written * PIECE as u64) as f64 / 1e6 / took.as_secs_f64();
            let size = model::size::format_size(bytes);
            return Err(io::Error::new(
                ErrorKind::TimedOut,
                format!(
                    "this disk writes {mb_per_s:.1} MB/s: a file of {size} would take longer than {} s",
                    at_most.as_secs()
                ),
            ));
        }
    }
    file.sync_all()
}

/// Whether [`write_random`] gave up, rather than the system.
fn is_too_slow(error: &io::Error) -> bool {
    error.kind() == ErrorKind::TimedOut && error.raw_os_error().is_none()
}

fn disk_refusal(error: &io::Error, doing: &str, bytes: u64, scratch: &Path) -> String {
    match error.kind() {
        _ if is_too_slow(error) => error.to_string(),
        ErrorKind::InvalidInput => format!(
            "the file system of {} has no reads past the page cache (O_DIRECT is refused); name a directory on a disk with --dir",
            scratch.display()
        ),
        _ => {
            let size = model::size::format_size(bytes);
            ScratchError::file(error, &format!("{doing} a file of {size}"), scratch).to_string()
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
        let laid_out = match LaidOut::in_directory(scratch, SMALL, 1, WRITING_AT_MOST) {
            Err(e) if e.to_string().contains("O_DIRECT is refused") => {
                println!("SKIPPED: no direct reads on this file system");
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
        // Another worker, with another seed, finds it.
        LaidOut::in_directory(scratch, SMALL, 2, WRITING_AT_MOST).expect("there");
        assert!(std::fs::read(&laid_out.path).expect("there") == content);
    }

    #[test]
    fn a_disk_that_is_too_slow_is_found_out_once() {
        let scratch = tempfile::tempdir().expect("a directory");
        let scratch = scratch.path();
        // Nothing writes a piece in no time.
        let why = LaidOut::in_directory(scratch, SMALL, 1, Duration::ZERO).expect_err("slow");
        if why.to_string().contains("O_DIRECT is refused") {
            println!("SKIPPED: no direct reads on this file system");
            return;
        }
        assert!(
            why.to_string().starts_with("this disk writes ")
                && why.to_string().ends_with(" MB/s: a file of 2MiB would take longer than 0 s"),
            "{why}"
        );
        assert_eq!(names(scratch), [TOO_SLOW], "its room is given back");
        // The next worker does not try, whatever its patience.
        let again = LaidOut::in_directory(scratch, SMALL, 2, WRITING_AT_MOST);
        assert_eq!(again.expect_err("known"), why);
    }

    #[test]
    fn one_of_another_length_is_refused() {
        let scratch = tempfile::tempdir().expect("a directory");
        std::fs::write(scratch.path().join(NAME), "short").expect("room");
        let why =
            LaidOut::in_directory(scratch.path(), SMALL, 1, WRITING_AT_MOST).expect_err("short");
        let expected = ["5 bytes instead of 2097152", "O_DIRECT is refused"];
        assert!(expected.iter().any(|e| why.to_string().contains(e)), "{why}");
    }

    #[test]
    fn a_missing_directory_and_a_full_disk_are_reported() {
        let scratch = tempfile::tempdir().expect("a directory");
        let gone = scratch.path().join("gone");
        let why = LaidOut::in_directory(&gone, SMALL, 1, WRITING_AT_MOST).expect_err("not there");
        assert!(why.to_string().contains("gone"), "{why}");
        let full = disk_refusal(&ErrorKind::StorageFull.into(), "making", BYTES, scratch.path());
        assert!(full.starts_with("the disk is full (making a file of 256MiB"), "{full}");
    }
}

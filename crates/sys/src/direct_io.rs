//! Files whose reads and writes go past the page cache.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// What offset, length and memory address of a direct read or write must be
/// a multiple of, bytes: the block of today's disks and the page of most
/// machines. (`statx` may report a smaller one.)
pub const ALIGNMENT_BYTES: usize = 4096;

/// Opens a file for reading past the page cache: O_DIRECT on Linux, F_NOCACHE
/// on Apple systems.
///
/// A file system may accept that and serve the reads from memory all the
/// same (tmpfs does since Linux 6.6, and ext4 with data=journal): what
/// [`cached_bytes`](crate::page_cache::cached_bytes) and
/// [`read_from_storage_bytes`](crate::filesystem::read_from_storage_bytes)
/// say shows it.
///
/// # Errors
/// What opening says; `InvalidInput` where the file system has no such reads.
pub fn open_direct(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path)
}

/// Creates a file, which must not exist, for writing past the page cache: a
/// page that is in the cache would be read from there on Apple systems.
///
/// # Errors
/// As [`open_direct`].
pub fn create(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().write(true).create_new(true), path)
}

fn open_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(not(target_vendor = "apple"))]
    options.custom_flags(libc::O_DIRECT);
    let file = options.mode(0o600).open(path)?;
    #[cfg(target_vendor = "apple")]
    for (command, value) in [(libc::F_NOCACHE, 1), (libc::F_RDAHEAD, 0)] {
        let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
        // SAFETY: both commands take an int and touch no memory of ours.
        if unsafe { libc::fcntl(fd, command, value) } == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::{Buffer, PageKind};
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    #[test]
    fn what_is_written_past_the_cache_is_read_past_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("file");
        let mut buffer = Buffer::new(4 * ALIGNMENT_BYTES, PageKind::Base).expect("memory");
        buffer.as_mut_slice().fill(7);
        let mut file = match create(&path) {
            Err(e) if e.kind() == io::ErrorKind::InvalidInput => {
                println!("SKIPPED: no direct reads on this file system");
                return;
            }
            file => file.expect("a file"),
        };
        file.write_all(buffer.as_mut_slice()).expect("room");
        assert!(create(&path).is_err(), "it exists");
        let file = open_direct(&path).expect("there");
        let page = &mut buffer.as_mut_slice()[..ALIGNMENT_BYTES];
        page.fill(0);
        file.read_exact_at(page, 2 * ALIGNMENT_BYTES as u64).expect("four pages");
        assert!(page.iter().all(|&byte| byte == 7));
        // What is not aligned must not be served by other means unseen.
        #[cfg(target_os = "linux")]
        file.read_exact_at(&mut page[..100], 1).expect_err("not aligned");
    }
}

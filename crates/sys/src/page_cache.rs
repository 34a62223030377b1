//! The page cache, emptied on purpose: for a command that is to find its files
//! on the disk.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::platform;

/// Writes back what is dirty in the whole system and drops the page cache,
/// with the kernel's directory entries and inodes: `sync(2)`, then 3 into
/// `/proc/sys/vm/drop_caches`. In that order, since dirty pages can't be
/// dropped.
///
/// # Errors
/// `PermissionDenied` without root; what writing there says, such as
/// `ReadOnlyFilesystem` in a container.
pub fn drop_all() -> io::Result<()> {
    platform::page_cache::drop_all()
}

/// What is left of a file in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resident {
    /// Pages that are in the page cache.
    pub pages: u64,
    /// Pages that the file has.
    pub of_pages: u64,
}

/// Writes one file back and drops its pages from the page cache
/// (`posix_fadvise(2)`, POSIX_FADV_DONTNEED), then looks what is left
/// (`mincore(2)`): pages that others have mapped stay, and those of a tmpfs
/// are the file itself. Needs no right but to read the file.
///
/// # Errors
/// What opening, syncing or mapping says.
pub fn drop_file(path: &Path) -> io::Result<Resident> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ));
    }
    file.sync_all()?;
    platform::page_cache::drop_pages(&file)?;
    resident(&file)
}

/// How much of a file is in the page cache.
///
/// # Errors
/// What `mmap(2)` and `mincore(2)` say.
pub fn resident(file: &File) -> io::Result<Resident> {
    let bytes = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    if bytes == 0 {
        return Ok(Resident::default());
    }
    let pages = platform::page_cache::pages_in_memory(file, bytes)?;
    Ok(Resident {
        pages: pages.iter().filter(|&&page| page & 1 == 1).count() as u64,
        of_pages: pages.len() as u64,
    })
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use super::*;

    #[test]
    fn a_file_just_written_is_in_memory() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        std::fs::write(&path, vec![1; 100_000]).expect("written");
        let all = resident(&File::open(&path).expect("there")).expect("known");
        assert_eq!((all.pages, all.of_pages), (25, 25));
        // What is left depends on the file system; that it says so, does not.
        let left = drop_file(&path).expect("allowed");
        assert_eq!(left.of_pages, 25);
        assert!(left.pages <= 25);
        assert!(drop_file(directory.path()).is_err(), "a directory");
        assert!(drop_file(&directory.path().join("none")).is_err());
    }
}

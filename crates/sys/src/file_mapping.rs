//! A temporary file in the page cache, mapped shared: for the cost of a page
//! fault that finds its page in memory.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::ptr;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::{page_cache, platform};

/// A file without a name, filled (so that its pages are in the page cache)
/// and mapped MAP_SHARED, readable and writable. The file is gone when the
/// process is, by whatever end.
///
/// The kernel may serve many pages with one fault. A *read* maps up to 16
/// neighbours too (`/sys/kernel/debug/fault_around_bytes`, 64 KiB by
/// default); any fault may map a whole large folio of the page cache (seen
/// on Linux 6.18 with ext4), which is why the file is written page by page:
/// then a *write* is one fault a page. Compare the faults that a
/// [`ThreadWatch`](crate::ThreadWatch) counts with the pages touched.
#[derive(Debug)]
pub struct FileMapping {
    file: File,
    /// Null while unmapped.
    start: *mut u8,
    len: usize,
}

// SAFETY: the mapping belongs to the process, and to this value alone.
unsafe impl Send for FileMapping {}
// SAFETY: shared references only read.
unsafe impl Sync for FileMapping {}

impl FileMapping {
    /// Creates the file in `dir`, fills it with `bytes` bytes that are not
    /// zero, and maps it. What kind of file system that is decides what is
    /// measured: on tmpfs the page cache is all there is.
    ///
    /// # Errors
    /// `InvalidInput` for 0 bytes; what opening, writing or mapping says.
    pub fn create(dir: &Path, bytes: usize) -> io::Result<FileMapping> {
        if bytes == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a file mapping of 0 bytes"));
        }
        let mut file = platform::pages::nameless_file(dir).or_else(|_| unlinked_file(dir))?;
        // Longer writes would make large folios.
        let block = vec![0xa5; crate::pages::base_page_bytes()];
        let mut left = bytes;
        while left > 0 {
            let now = left.min(block.len());
            file.write_all(&block[..now])?;
            left -= now;
        }
        let mut mapping = FileMapping { file, start: ptr::null_mut(), len: bytes };
        mapping.map()?;
        Ok(mapping)
    }

    /// Maps the file if it is not: no page of it is in the page table then.
    pub fn map(&mut self) -> io::Result<()> {
        if self.start.is_null() {
            // SAFETY: a new mapping at an address of the kernel's choice
            // touches no existing memory. No other process can open, and so
            // truncate, a file that has no name.
            let start = unsafe {
                mmap(
                    ptr::null_mut(),
                    self.len,
                    ProtFlags::READ | ProtFlags::WRITE,
                    MapFlags::SHARED,
                    &self.file,
                    0,
                )?
            };
            self.start = start.cast();
        }
        Ok(())
    }

    /// Unmaps the file; its pages stay in the page cache.
    pub fn unmap(&mut self) -> io::Result<()> {
        let start = std::mem::replace(&mut self.start, ptr::null_mut());
        if !start.is_null() {
            // SAFETY: exactly the range that was mapped; slices of it borrow
            // `self`, so none is left.
            unsafe { munmap(start.cast(), self.len)? };
        }
        Ok(())
    }

    /// [`unmap`](FileMapping::unmap) and [`map`](FileMapping::map): the next
    /// access to each page faults again. The address may change.
    pub fn remap(&mut self) -> io::Result<()> {
        self.unmap()?;
        self.map()
    }

    /// Bytes of the file.
    #[allow(clippy::len_without_is_empty)] // a mapping is never empty
    pub fn len(&self) -> usize {
        self.len
    }

    /// The first byte; null while unmapped.
    pub fn as_ptr(&self) -> *const u8 {
        self.start
    }

    /// The first byte, to write; null while unmapped.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start
    }

    /// All bytes; empty while unmapped.
    pub fn as_slice(&self) -> &[u8] {
        if self.start.is_null() {
            return &[];
        }
        // SAFETY: mapped for as long as `self` is not changed, backed by a
        // file of that length that no other process can reach.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    /// All bytes, to write; empty while unmapped.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        if self.start.is_null() {
            return &mut [];
        }
        // SAFETY: as in `as_slice`, and `&mut self` is the only way to it.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }

    /// How many bytes of the file are in the page cache now (`mincore(2)`),
    /// in whole pages; 0 while unmapped.
    pub fn cached_bytes(&self) -> io::Result<usize> {
        if self.start.is_null() {
            return Ok(0);
        }
        // SAFETY: the file is mapped there for as long as `self` is borrowed.
        let resident = unsafe { page_cache::resident_in(self.start.cast(), self.len) }?;
        Ok(resident.pages as usize * crate::pages::base_page_bytes())
    }
}

impl Drop for FileMapping {
    fn drop(&mut self) {
        // An error would leave it mapped, which does no harm.
        let _ = self.unmap();
    }
}

/// For file systems without O_TMPFILE: a file that loses its name at once. A
/// kill in the few microseconds between leaves it behind, empty.
fn unlinked_file(dir: &Path) -> io::Result<File> {
    let unique = crate::clock::monotonic_raw_ns();
    let path = dir.join(format!(".latlas-{}-{unique}", std::process::id()));
    let file =
        OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fallback_leaves_no_name() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut file = unlinked_file(dir.path()).expect("a file");
        file.write_all(b"x").expect("writable");
        assert_eq!(std::fs::read_dir(dir.path()).expect("readable").count(), 0);
    }
}

//! Memory and files mapped as plainly as can be: one `mmap(2)`, one `munmap(2)`.

use std::io;
use std::os::fd::AsFd;
use std::ptr;

use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

/// A private anonymous mapping, without the guards and the advice of a
/// [`Buffer`](crate::Buffer), so that making one is one system call.
#[derive(Debug)]
pub struct Mapping {
    start: *mut u8,
    len: usize,
}

impl Mapping {
    /// Maps `bytes` bytes; none of them is in memory yet.
    ///
    /// # Errors
    /// What `mmap(2)` says: `InvalidInput` for 0 bytes.
    #[inline]
    pub fn new(bytes: usize) -> io::Result<Mapping> {
        // SAFETY: a new mapping at an address of the kernel's choice touches
        // no existing memory.
        let start = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )?
        };
        Ok(Mapping { start: start.cast(), len: bytes })
    }

    /// All bytes, to write.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: mapped readable and writable, zeros where never written, and
        // `&mut self` is the only way to it.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

impl Drop for Mapping {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: exactly the range that was mapped; `self` is the last to
        // refer to it. An error would leave it mapped, which does no harm.
        let _ = unsafe { munmap(self.start.cast(), self.len) };
    }
}

/// The first bytes of a file, mapped shared for reading (MAP_SHARED,
/// PROT_READ). No page of it is in the page table yet.
///
/// For files that no process shortens during it, such as the run's own in a
/// directory of its own: reading where no file is any more ends the process
/// (SIGBUS).
#[derive(Debug)]
pub struct FileView {
    start: *const u8,
    len: usize,
}

impl FileView {
    /// Maps the first `bytes` bytes.
    ///
    /// # Errors
    /// What `mmap(2)` says: `InvalidInput` for 0 bytes.
    #[inline]
    pub fn new(file: impl AsFd, bytes: usize) -> io::Result<FileView> {
        // SAFETY: a new mapping at an address of the kernel's choice touches
        // no existing memory.
        let start =
            unsafe { mmap(ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, file, 0)? };
        Ok(FileView { start: start.cast(), len: bytes })
    }

    /// All bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: mapped readable for as long as `self` lives; that the file
        // is not changed during that time is what the type is documented to be for.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl Drop for FileView {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: exactly the range that was mapped; `self` is the last to
        // refer to it. An error would leave it mapped, which does no harm.
        let _ = unsafe { munmap(self.start.cast_mut().cast(), self.len) };
    }
}

// The list of mappings is a file of Linux.
#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use super::*;

    #[test]
    fn what_is_mapped_can_be_written_and_is_gone_afterwards() {
        // Of an odd size, so that no other mapping is as long.
        let bytes = 977 << 20;
        let listed = || {
            let maps = std::fs::read_to_string("/proc/self/maps").expect("readable");
            maps.lines().filter_map(|line| line.split(' ').next()?.split_once('-')).any(
                |(first, last)| {
                    let number = |text| usize::from_str_radix(text, 16).expect("hexadecimal");
                    number(last) - number(first) >= bytes
                },
            )
        };
        let mut mapping = Mapping::new(bytes).expect("address space");
        assert_eq!(mapping.as_mut_slice().len(), bytes);
        mapping.as_mut_slice()[bytes - 1] = 1;
        assert_eq!(mapping.as_mut_slice()[0], 0);
        assert!(listed());
        drop(mapping);
        assert!(!listed());
        let none = Mapping::new(0).expect_err("no bytes");
        assert_eq!(none.kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_file_is_seen_through_its_mapping() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("file");
        std::fs::write(&path, b"hello").expect("written");
        let file = std::fs::File::open(&path).expect("there");
        let view = FileView::new(&file, 5).expect("mapped");
        drop(file);
        assert_eq!(view.as_slice(), b"hello");
        let file = std::fs::File::open(&path).expect("there");
        let none = FileView::new(&file, 0).expect_err("no bytes");
        assert_eq!(none.kind(), io::ErrorKind::InvalidInput);
    }
}

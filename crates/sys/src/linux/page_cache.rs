//! `drop_caches`, `posix_fadvise(2)`, `mincore(2)`.

use std::fs::File;
use std::io;
use std::ptr;

use rustix::fs::{Advice, fadvise};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::pages::base_page_bytes;

pub(crate) fn drop_all() -> io::Result<()> {
    rustix::fs::sync();
    std::fs::write("/proc/sys/vm/drop_caches", "3")
}

pub(crate) fn drop_pages(file: &File) -> io::Result<()> {
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

/// A byte for each page, whose lowest bit says whether it is in memory.
pub(crate) fn pages_in_memory(file: &File, bytes: usize) -> io::Result<Vec<u8>> {
    let mut pages = vec![0; bytes.div_ceil(base_page_bytes())];
    // SAFETY: a new mapping at an address of the kernel's choice, which is
    // never read; `mincore` writes a byte for each of its pages into a list as
    // long; then it is unmapped.
    unsafe {
        let start = mmap(
            ptr::null_mut(),
            bytes,
            ProtFlags::READ,
            MapFlags::SHARED,
            file,
            0,
        )?;
        let status = libc::mincore(start, bytes, pages.as_mut_ptr());
        let error = io::Error::last_os_error();
        munmap(start, bytes)?;
        if status != 0 {
            return Err(error);
        }
    }
    Ok(pages)
}

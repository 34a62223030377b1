//! `drop_caches`, `posix_fadvise(2)`.

use std::fs::File;
use std::io;

use rustix::fs::{Advice, fadvise};

pub(crate) fn drop_all() -> io::Result<()> {
    rustix::fs::sync();
    std::fs::write("/proc/sys/vm/drop_caches", "3")
}

pub(crate) fn drop_pages(file: &File) -> io::Result<()> {
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

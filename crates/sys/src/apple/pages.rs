//! Apple systems have one page size and no advice about it.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::mm::{Advice, madvise};

use crate::pages::{Backing, PageKind};
use crate::platform::unsupported;

pub(crate) fn huge_page_bytes() -> Option<usize> {
    None
}

pub(crate) fn advise(_start: *mut u8, _len: usize, _kind: PageKind) {}

unsafe extern "C" {
    /// <sys/mman.h>; libc does not declare it for Apple systems.
    fn minherit(start: *mut libc::c_void, len: libc::size_t, inherit: libc::c_int) -> libc::c_int;
}

/// `minherit(2)` with VM_INHERIT_NONE is the same here.
pub(crate) fn keep_from_children(start: *mut u8, len: usize) {
    // SAFETY: changes no content of the range, which the caller owns; that
    // children don't have it is stated in its documentation.
    unsafe {
        minherit(start.cast(), len, libc::VM_INHERIT_NONE);
    }
}

pub(crate) fn copied_by_fork_bytes() -> io::Result<u64> {
    Err(unsupported("an account of what a fork copies"))
}

pub(crate) fn collapse(_start: *mut u8, _len: usize) {}

pub(crate) fn release(start: *mut u8, len: usize) -> io::Result<()> {
    // SAFETY: private anonymous memory stays initialised, with its old
    // content or zeros; the caller owns it and holds it mutably.
    Ok(unsafe { madvise(start.cast(), len, Advice::DontNeed) }?)
}

pub(crate) fn backing(_start: usize, _len: usize) -> io::Result<Backing> {
    Err(unsupported("an account of the pages behind a mapping"))
}

/// There is no O_TMPFILE; the caller unlinks a file instead.
pub(crate) fn nameless_file(_dir: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

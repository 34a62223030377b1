//! Memory whose pages are known: base or huge, touched or not, and verified.

use std::ffi::c_void;
use std::io;
use std::ptr;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

use crate::platform;

#[cfg(target_os = "linux")]
#[doc(hidden)]
pub use crate::platform::pages::smaps_anything;

/// Which pages a buffer should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PageKind {
    /// Ordinary pages only; the kernel is asked not to merge them.
    Base,
    /// Transparent huge pages, where the kernel gives them.
    Huge,
}

/// What stands behind a buffer, as the kernel says (`/proc/self/smaps`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backing {
    /// Size of an ordinary page.
    pub page_bytes: u64,
    /// Size of a transparent huge page; `None` where the kernel has none.
    pub huge_page_bytes: Option<u64>,
    /// Bytes of the buffer that are in memory.
    pub resident_bytes: u64,
    /// Bytes of those in huge pages.
    pub huge_bytes: u64,
}

/// Size of an ordinary page in bytes.
pub fn base_page_bytes() -> usize {
    rustix::param::page_size()
}

/// Size of a transparent huge page in bytes; `None` where the kernel has none.
pub fn huge_page_bytes() -> Option<usize> {
    platform::pages::huge_page_bytes()
}

/// Huge pages larger than this are no longer a unit that small buffers are
/// rounded up to: with 64 KiB base pages one huge page is 512 MiB.
const LARGEST_GRANULE: usize = 32 << 20;
/// Buffers begin on such a boundary even where there are no huge pages, so
/// that cache sets and pages fall alike on all machines.
const LEAST_ALIGNMENT: usize = 2 << 20;

/// A private anonymous mapping of zero bytes. It lies between inaccessible
/// pages: the kernel can't merge it with a neighbour, so what it says about
/// the mapping is about this buffer only.
///
/// A forked child does not have it (MADV_DONTFORK, Linux): a process that
/// measures forking must not copy the page tables of what it measures other
/// rows with. Only the child of a bare `fork` could tell, by a fault.
#[derive(Debug)]
pub struct Buffer {
    /// All address space taken, guards and alignment included.
    reserved: *mut c_void,
    reserved_len: usize,
    /// The accessible part.
    start: *mut u8,
    mapped: usize,
    /// What was asked for, at most `mapped`.
    len: usize,
}

// SAFETY: a buffer owns its mapping, which belongs to the process and not to
// a thread; shared references only read.
unsafe impl Send for Buffer {}
// SAFETY: as above: there is no way to write through a shared reference
// without `unsafe` of the caller's own.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Maps `bytes` bytes, asks for pages of `kind`, and touches every page.
    /// Whether huge pages were given is for [`backing`](Buffer::backing) to
    /// say; their absence is no error.
    ///
    /// # Errors
    /// `InvalidInput` for 0 bytes; what `mmap(2)` says, mostly `OutOfMemory`.
    /// Beyond what is available, touching may get the process killed instead:
    /// see [`available_memory`](crate::memory::available_memory).
    pub fn new(bytes: usize, kind: PageKind) -> io::Result<Buffer> {
        Buffer::prepared(bytes, kind, |_, _| Ok(()))
    }

    /// [`new`](Buffer::new) with something done to the mapping before its
    /// pages are touched.
    pub(crate) fn prepared(
        bytes: usize,
        kind: PageKind,
        prepare: impl FnOnce(*mut u8, usize) -> io::Result<()>,
    ) -> io::Result<Buffer> {
        let mut buffer = Buffer::untouched(bytes, kind)?;
        prepare(buffer.start, buffer.mapped)?;
        buffer.touch();
        if kind == PageKind::Huge {
            platform::pages::collapse(buffer.start, buffer.mapped);
        }
        Ok(buffer)
    }

    /// Maps `bytes` bytes without touching them: the first access to each
    /// page faults.
    ///
    /// # Errors
    /// As [`new`](Buffer::new).
    pub fn untouched(bytes: usize, kind: PageKind) -> io::Result<Buffer> {
        if bytes == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a buffer of 0 bytes"));
        }
        let page = base_page_bytes();
        let huge = huge_page_bytes();
        let granule = match kind {
            PageKind::Base => page,
            PageKind::Huge => huge.filter(|&h| h <= LARGEST_GRANULE).unwrap_or(page),
        };
        let align = match huge {
            Some(huge) if huge <= LARGEST_GRANULE || bytes >= huge => huge.max(LEAST_ALIGNMENT),
            _ => LEAST_ALIGNMENT.max(page),
        };
        let too_large = || io::Error::from(io::ErrorKind::OutOfMemory);
        let mapped = bytes.checked_next_multiple_of(granule).ok_or_else(too_large)?;
        // A guard page before, and room to move the start to its boundary
        // (of which at least a page is left as the guard behind).
        let reserved_len = mapped.checked_add(align + 2 * page).ok_or_else(too_large)?;
        // SAFETY: a new mapping at an address of the kernel's choice touches
        // no existing memory.
        let reserved = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                reserved_len,
                ProtFlags::empty(),
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )?
        };
        let first = reserved.addr() + page;
        let offset = page + (first.next_multiple_of(align) - first);
        let buffer = Buffer {
            reserved,
            reserved_len,
            // `offset` is below `page + align`, so the accessible part and a
            // page behind it lie within the reservation.
            start: reserved.wrapping_byte_add(offset).cast(),
            mapped,
            len: bytes,
        };
        // SAFETY: the range lies within the mapping just made, to which
        // nothing refers yet. On error `buffer` unmaps it.
        unsafe {
            mprotect(buffer.start.cast(), mapped, MprotectFlags::READ | MprotectFlags::WRITE)?;
        }
        platform::pages::advise(buffer.start, mapped, kind);
        platform::pages::keep_from_children(reserved.cast(), reserved_len);
        Ok(buffer)
    }

    /// Bytes asked for.
    #[allow(clippy::len_without_is_empty)] // a buffer is never empty
    pub fn len(&self) -> usize {
        self.len
    }

    /// The first byte, on a boundary of at least 2 MiB.
    pub fn as_ptr(&self) -> *const u8 {
        self.start
    }

    /// The first byte, to write.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start
    }

    /// All bytes asked for.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the range is mapped readable for as long as `self` lives,
        // and anonymous memory is always initialised.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    /// All bytes asked for, to write.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, mapped writable, and `&mut self` is the
        // only way to it during that time.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }

    /// What stands behind the buffer now. Reads `/proc/self/smaps`, which
    /// takes milliseconds with gigabytes mapped: not for a measured loop.
    ///
    /// # Errors
    /// `smaps` can't be read, or does not list the buffer; `Unsupported` on
    /// Apple systems.
    pub fn backing(&self) -> io::Result<Backing> {
        platform::pages::backing(self.start.addr(), self.mapped)
    }

    /// Gives all pages back: the next access to each faults, and finds zero.
    pub fn release(&mut self) -> io::Result<()> {
        platform::pages::release(self.start, self.mapped)
    }

    /// Writes one byte of every page, so that all of them are in memory.
    pub fn touch(&mut self) {
        for offset in (0..self.mapped).step_by(base_page_bytes()) {
            // SAFETY: inside the mapping. A volatile write of the value that
            // was read is not removed and changes nothing.
            unsafe {
                let byte = self.start.add(offset);
                byte.write_volatile(byte.read_volatile());
            }
        }
    }
}

/// What a `fork` of this process copies page by page: the resident bytes of
/// all mappings with pages of its own, but for those that children don't
/// get. Reads `/proc/self/smaps`.
///
/// # Errors
/// `smaps` can't be read; `Unsupported` on Apple systems.
pub fn copied_by_fork_bytes() -> io::Result<u64> {
    platform::pages::copied_by_fork_bytes()
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: exactly the range that was mapped; `self` is the last to
        // refer to it. An error would leave it mapped, which does no harm.
        let _ = unsafe { munmap(self.reserved, self.reserved_len) };
    }
}

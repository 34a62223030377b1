//! Page advice, and what really stands behind an address range.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::ops::Range;
use std::path::Path;

use rustix::fs::{Mode, OFlags, open};
use rustix::mm::{Advice, madvise};

use crate::files::kib_field;
use crate::pages::{Backing, PageKind, base_page_bytes};

/// `include/uapi/asm-generic/mman-common.h`; libc lacks it for Android.
const MADV_COLLAPSE: libc::c_int = 25;

const HUGE_PAGE_SIZE: &str = "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size";

pub(crate) fn huge_page_bytes() -> Option<usize> {
    // Read once: each buffer asks.
    static BYTES: std::sync::OnceLock<Option<usize>> = std::sync::OnceLock::new();
    *BYTES.get_or_init(|| std::fs::read_to_string(HUGE_PAGE_SIZE).ok()?.trim().parse().ok())
}

pub(crate) fn advise(start: *mut u8, len: usize, kind: PageKind) {
    let advice = match kind {
        PageKind::Base => Advice::LinuxNoHugepage,
        PageKind::Huge => Advice::LinuxHugepage,
    };
    // SAFETY: this advice changes no content of the range, which the caller
    // owns. A kernel without huge pages refuses it (EINVAL), and then there
    // is nothing to advise.
    let _ = unsafe { madvise(start.cast(), len, advice) };
}

/// Best effort: without it a child gets the range, as it always did.
pub(crate) fn keep_from_children(start: *mut u8, len: usize) {
    // SAFETY: this advice changes no content of the range, which the caller
    // owns; that children don't have it is stated in its documentation.
    let _ = unsafe { madvise(start.cast(), len, Advice::LinuxDontFork) };
}

/// Turns a touched range into huge pages where faulting did not (no free one
/// at that moment). Best effort: needs Linux 6.1.
pub(crate) fn collapse(start: *mut u8, len: usize) {
    let complete = backing(start.addr(), len).is_ok_and(|b| b.huge_bytes >= len as u64);
    if complete || huge_page_bytes().is_none() {
        return;
    }
    // SAFETY: keeps the content of the range, which the caller owns; an
    // older kernel refuses the number.
    unsafe {
        libc::madvise(start.cast(), len, MADV_COLLAPSE);
    }
}

pub(crate) fn release(start: *mut u8, len: usize) -> io::Result<()> {
    // SAFETY: replaces the content of the range by zeros. The caller owns it
    // and holds it mutably; bytes stay initialised.
    Ok(unsafe { madvise(start.cast(), len, Advice::LinuxDontNeed) }?)
}

pub(crate) fn backing(start: usize, len: usize) -> io::Result<Backing> {
    let smaps = BufReader::new(File::open("/proc/self/smaps")?);
    let (resident_bytes, huge_bytes) = sum_range(smaps, start, start + len)?.ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            format!("/proc/self/smaps does not list the buffer at {start:#x}"),
        )
    })?;
    Ok(Backing {
        page_bytes: base_page_bytes() as u64,
        huge_page_bytes: huge_page_bytes().map(|bytes| bytes as u64),
        resident_bytes,
        huge_bytes,
    })
}

pub(crate) fn copied_by_fork_bytes() -> io::Result<u64> {
    sum_copied(BufReader::new(File::open("/proc/self/smaps")?))
}

/// Reads any bytes as `/proc/self/smaps`, for the fuzzer.
#[cfg(target_os = "linux")]
#[doc(hidden)]
pub fn smaps_anything(smaps: &[u8]) {
    let _ = sum_copied(smaps);
    let _ = sum_range(smaps, 0, usize::MAX);
}

/// Resident bytes of the mappings whose page tables a fork copies: those that
/// hold anonymous pages and are not kept from children (`dc` among their
/// flags). Mappings of files alone are left to faults (dup_mmap in
/// kernel/fork.c, vma_needs_copy in mm/memory.c).
fn sum_copied(smaps: impl BufRead) -> io::Result<u64> {
    let mut sum = None;
    let (mut resident, mut anonymous) = (0, 0);
    for line in smaps.lines() {
        let line = line?;
        if let Some(bytes) = kib_field(&line, "Rss") {
            resident = bytes;
        } else if let Some(bytes) = kib_field(&line, "Anonymous") {
            anonymous = bytes;
        } else if let Some(flags) = line.strip_prefix("VmFlags:") {
            // The last line of each mapping.
            let copied = anonymous > 0 && !flags.split_whitespace().any(|flag| flag == "dc");
            *sum.get_or_insert(0) += if copied { resident } else { 0 };
        }
    }
    sum.ok_or_else(|| io::Error::other("/proc/self/smaps lists no mapping with its flags"))
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Copied {
    pub(super) bytes: Range<usize>,
    /// All bytes before it.
    pub(super) offset: usize,
    pub(super) is_writable: bool,
}

/// The private mappings with anonymous pages in them, without those that are
/// executed: a file's, which are the linker's and the debugger's work.
pub(super) fn copied_by_fork(smaps: impl BufRead) -> io::Result<Vec<Copied>> {
    let (mut copied, mut offset) = (Vec::new(), 0);
    let mut mapping = None;
    for line in smaps.lines() {
        let line = line?;
        if let Some((first, last)) = address_range(&line) {
            let flags = line.split_whitespace().nth(1).unwrap_or_default();
            mapping = ["rw-p", "r--p"].contains(&flags).then_some((first..last, flags == "rw-p"));
        } else if kib_field(&line, "Anonymous").is_some_and(|bytes| bytes > 0)
            && let Some((bytes, is_writable)) = mapping.take()
        {
            let length = bytes.len();
            copied.push(Copied { bytes, offset, is_writable });
            offset += length;
        }
    }
    Ok(copied)
}

/// Resident and huge bytes of the mappings that lie within `start..end`.
fn sum_range(smaps: impl BufRead, start: usize, end: usize) -> io::Result<Option<(u64, u64)>> {
    let mut found = None;
    let mut inside = false;
    for line in smaps.lines() {
        let line = line?;
        if let Some((first, last)) = address_range(&line) {
            inside = start <= first && last <= end;
            if inside && found.is_none() {
                found = Some((0, 0));
            }
        } else if let (true, Some((resident, huge))) = (inside, found.as_mut()) {
            *resident += kib_field(&line, "Rss").unwrap_or(0);
            *huge += kib_field(&line, "AnonHugePages").unwrap_or(0);
        }
    }
    Ok(found)
}

/// `7f00-7f10 rw-p ...` begins a mapping; field lines begin with a name.
fn address_range(line: &str) -> Option<(usize, usize)> {
    let (first, last) = line.split_whitespace().next()?.split_once('-')?;
    Some((usize::from_str_radix(first, 16).ok()?, usize::from_str_radix(last, 16).ok()?))
}

/// A file of no name in `dir`: nothing is left behind however this ends.
pub(crate) fn nameless_file(dir: &Path) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC;
    Ok(File::from(open(dir, flags, Mode::RUSR | Mode::WUSR)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
7f0000000000-7f0000200000 ---p 00000000 00:00 0
Rss:                   0 kB
AnonHugePages:         0 kB
7f0000200000-7f0000800000 rw-p 00000000 00:00 0
Rss:                6144 kB
AnonHugePages:      4096 kB
VmFlags: rd wr mr mw me ac sd hg
7f0000800000-7f0000a00000 rw-p 00000000 00:00 0          [heap]
Rss:                 100 kB
AnonHugePages:      2048 kB
";

    #[test]
    fn only_the_asked_range_counts() {
        let sum = |start, end| sum_range(SMAPS.as_bytes(), start, end).expect("readable");
        assert_eq!(sum(0x7f00_0020_0000, 0x7f00_0080_0000), Some((6144 << 10, 4096 << 10)));
        assert_eq!(
            sum(0x7f00_0020_0000, 0x7f00_00a0_0000),
            Some((6244 << 10, 6144 << 10)),
            "a split mapping is added up"
        );
        assert_eq!(sum(0x1000, 0x2000), None);
    }

    #[test]
    fn private_mappings_with_anonymous_pages_are_copied() {
        let smaps = "\
1000-3000 r-xp 00000000 00:00 0 /bin/x
Anonymous:             4 kB
3000-5000 r--p 00002000 00:00 0 /bin/x
Anonymous:             4 kB
5000-6000 rw-p 00000000 00:00 0
Anonymous:             0 kB
6000-9000 rw-p 00000000 00:00 0 [heap]
Anonymous:             8 kB
9000-a000 rw-s 00000000 00:00 0 /memfd:x
Anonymous:             4 kB
";
        let copied = |bytes, offset, is_writable| Copied { bytes, offset, is_writable };
        assert_eq!(
            copied_by_fork(smaps.as_bytes()).expect("readable"),
            [copied(0x3000..0x5000, 0, false), copied(0x6000..0x9000, 0x2000, true),]
        );
    }

    #[test]
    fn a_fork_copies_what_is_anonymous_and_not_kept_back() {
        let mapping = |rss, anonymous, flags| {
            format!("Rss:  {rss} kB\nAnonymous: {anonymous} kB\nVmFlags: {flags}\n")
        };
        let smaps = [
            mapping(400, 0, "rd ex mr mw me"),
            mapping(100, 4, "rd wr mr mw me ac"),
            mapping(6144, 6144, "rd wr mr mw me dc ac hg"),
            mapping(32, 32, "rd wr mr mw me gd ac"),
        ]
        .concat();
        assert_eq!(sum_copied(smaps.as_bytes()).expect("readable"), 132 << 10);
    }
}

//! The page cache: what it holds of a file, and how it is emptied on purpose,
//! for a command that is to find its files on the disk.

use std::ffi::c_void;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::ptr;

use rustix::fs::Access;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::filesystem::is_ours;
use crate::input;
use crate::pages::base_page_bytes;
use crate::platform;

/// Writes back what is dirty in the whole system and drops the page cache,
/// dentries and inodes: `sync(2)`, then 3 into `/proc/sys/vm/drop_caches`. In
/// that order, since dirty pages can't be dropped.
///
/// # Errors
/// `PermissionDenied` without root; what writing there says, such as
/// `ReadOnlyFilesystem` in a container; `Unsupported` on Apple systems.
pub fn drop_all() -> io::Result<()> {
    #[cfg(target_vendor = "apple")]
    return Err(platform::unsupported(NO_DROP));
    #[cfg(not(target_vendor = "apple"))]
    {
        rustix::fs::sync();
        std::fs::write("/proc/sys/vm/drop_caches", "3")
    }
}

/// Whether [`drop_all`] is allowed, without doing it.
pub fn may_drop_all() -> io::Result<()> {
    #[cfg(target_vendor = "apple")]
    return Err(platform::unsupported(NO_DROP));
    #[cfg(not(target_vendor = "apple"))]
    {
        let file = "/proc/sys/vm/drop_caches";
        std::fs::OpenOptions::new().write(true).open(file).map(drop)
    }
}

#[cfg(target_vendor = "apple")]
const NO_DROP: &str = "a call that drops pages from the page cache (there is purge(8))";

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
/// `None` where what is left can't be known: of a file that this process
/// neither owns nor may write, the kernel says that all is there (Linux 5.2).
pub fn drop_file(path: &Path) -> io::Result<Option<Resident>> {
    let file = input::open_file(path)?;
    let found = file.metadata()?;
    file.sync_all()?;
    drop_pages(&file)?;
    if may_query(path, &found) { resident(&file).map(Some) } else { Ok(None) }
}

#[cfg(target_vendor = "apple")]
fn drop_pages(_file: &File) -> io::Result<()> {
    Err(platform::unsupported(NO_DROP))
}

#[cfg(not(target_vendor = "apple"))]
fn drop_pages(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)?)
}

/// Whether the kernel tells this process what is in memory of the file.
fn may_query(path: &Path, found: &Metadata) -> bool {
    let may_write = || {
        rustix::fs::accessat(
            rustix::fs::CWD,
            path,
            Access::WRITE_OK,
            // As the user whose rights mincore goes by.
            platform::AS_EFFECTIVE_USER,
        )
    };
    found.len() == 0 || is_ours(found) || may_write().is_ok()
}

/// How much of a file is in the page cache, by `mincore(2)` on a mapping that
/// no process touches. See [`drop_file`] for whose files the kernel tells it of.
pub(crate) fn resident(file: &File) -> io::Result<Resident> {
    let bytes = usize::try_from(file.metadata()?.len())
        .map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    if bytes == 0 {
        return Ok(Resident::default());
    }
    // SAFETY: a new mapping at an address of the kernel's choice touches no
    // existing memory; it is not read through, only asked about while it is
    // there, and it ends here.
    unsafe {
        let start = mmap(ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, file, 0)?;
        let asked = resident_in(start, bytes);
        munmap(start, bytes)?;
        asked
    }
}

/// How many of a mapping's pages are in the page cache (`mincore(2)`).
///
/// # Safety
/// The range must be mapped, and begin with a page.
pub(crate) unsafe fn resident_in(start: *mut c_void, bytes: usize) -> io::Result<Resident> {
    // A byte for each page, whose lowest bit says whether it is in memory.
    let mut pages = vec![0_u8; bytes.div_ceil(base_page_bytes())];
    // SAFETY: the caller's range; the vector has a byte for each of its pages.
    let status = unsafe { libc::mincore(start, bytes, pages.as_mut_ptr().cast()) };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Resident {
        pages: pages.iter().filter(|&&page| page & 1 == 1).count() as u64,
        of_pages: pages.len() as u64,
    })
}

/// How much of a file is in memory: the bytes of it, and those of them that
/// the page cache holds, in whole pages (`mincore(2)` on a mapping that no code
/// touches).
///
/// The kernel tells it of files that the process owns or may write (Linux
/// 5.2); of others it says that all is there.
pub fn cached_bytes(file: &File) -> io::Result<(u64, u64)> {
    let bytes = file.metadata()?.len();
    let pages = resident(file)?.pages;
    Ok((bytes, bytes.min(pages * base_page_bytes() as u64)))
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_just_written_is_in_memory() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        std::fs::write(&path, vec![1; 100_000]).expect("written");
        let pages = 100_000_usize.div_ceil(base_page_bytes()) as u64;
        let all = resident(&File::open(&path).expect("there")).expect("known");
        assert_eq!((all.pages, all.of_pages), (pages, pages));
        // What is left depends on the file system; that it says so, does not.
        let left = drop_file(&path).expect("allowed").expect("our own file");
        assert_eq!(left.of_pages, pages);
        assert!(left.pages <= pages);
        assert!(drop_file(directory.path()).is_err(), "a directory");
        assert!(drop_file(&directory.path().join("none")).is_err());
    }

    #[test]
    fn residency_of_a_foreign_file_is_unknown() {
        let directory = tempfile::tempdir().expect("a directory");
        let mode = |path: &Path, mode| {
            std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("ours");
        };
        mode(directory.path(), 0o755);
        let [readable, writable, empty] =
            ["readable", "writable", "empty"].map(|name| directory.path().join(name));
        for (path, bytes, bits) in
            [(&readable, 100_000, 0o644), (&writable, 100_000, 0o666), (&empty, 0, 0o644)]
        {
            std::fs::write(path, vec![1; bytes]).expect("written");
            mode(path, bits);
        }
        let known = |path: &Path| drop_file(path).expect("readable").is_some();
        assert!(known(&readable), "its owner asks");
        if !rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED: only root can query as another user");
            return;
        }
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let [same, other]: [libc::c_long; 2] = [-1, 65_534];
                // SAFETY: the call itself, and not libc's, changes the user of
                // this thread alone, and the thread ends with its test.
                let status = unsafe { libc::syscall(libc::SYS_setresuid, same, other, same) };
                if status != 0 {
                    eprintln!("SKIPPED: this user namespace has no other user");
                    return;
                }
                assert!(!known(&readable));
                assert!(known(&writable), "writing users may query");
                assert!(known(&empty), "an empty file has no pages");
            });
        });
    }

    #[test]
    fn a_file_just_written_is_in_the_page_cache() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("file");
        let mut file =
            File::options().read(true).write(true).create_new(true).open(&path).expect("a file");
        assert_eq!(cached_bytes(&file).expect("asked"), (0, 0));
        file.write_all(&[1; 10_000]).expect("room");
        assert_eq!(cached_bytes(&file).expect("asked"), (10_000, 10_000));
        // A hole was never read: nothing of it is in memory.
        let page = base_page_bytes() as u64;
        file.set_len(64 * page).expect("a hole");
        let (all, cached) = cached_bytes(&file).expect("asked");
        assert_eq!(all, 64 * page);
        assert!(cached < 8 * page, "{cached}");
    }
}

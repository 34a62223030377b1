//! Memory that other processes map too, as words that any of them may change
//! at any time.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::AtomicU64;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Zeros at first, and no page of it in memory. It has no name in any file
/// system, and is gone with the last process that maps it. Its length can't
/// change, so that no access fails, whatever other processes do.
#[derive(Debug)]
pub struct SharedWords {
    file: OwnedFd,
    start: *mut u8,
    words: usize,
}

// SAFETY: the mapping belongs to the process, and its words are atomic.
unsafe impl Send for SharedWords {}
// SAFETY: as above.
unsafe impl Sync for SharedWords {}

impl SharedWords {
    /// As many words, under a name that is shown in `/proc/PID/maps` only.
    ///
    /// # Errors
    /// What `memfd_create(2)`, `ftruncate(2)` and `mmap(2)` say;
    /// `Unsupported` on Apple systems.
    pub fn new(name: &str, words: usize) -> io::Result<SharedWords> {
        let bytes = words * size_of::<u64>();
        let file = sealed(name, bytes as u64)?;
        // SAFETY: a new mapping at an address of the kernel's choice touches no
        // existing memory.
        let start = unsafe {
            mmap(
                ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &file,
                0,
            )?
        };
        Ok(SharedWords { file, start: start.cast(), words })
    }

    /// Where other processes of this user find it while this one has it.
    pub fn shared_path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }
}

impl std::ops::Deref for SharedWords {
    type Target = [AtomicU64];

    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: so many words are mapped at a page's boundary for as long as
        // `self` lives, and the file's length is sealed. What other processes
        // write is seen as by atomics.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.words) }
    }
}

impl Drop for SharedWords {
    fn drop(&mut self) {
        // SAFETY: exactly the range that was mapped, of which no borrow is left.
        let _ = unsafe { munmap(self.start.cast(), self.words * size_of::<u64>()) };
    }
}

#[cfg(not(target_vendor = "apple"))]
fn sealed(name: &str, bytes: u64) -> io::Result<OwnedFd> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = memfd_create(name, flags)?;
    ftruncate(&file, bytes)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

#[cfg(target_vendor = "apple")]
fn sealed(_name: &str, _bytes: u64) -> io::Result<OwnedFd> {
    Err(crate::platform::unsupported("memfd_create"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::unix::fs::FileExt;
    use std::sync::atomic::Ordering;

    #[test]
    fn another_writes_and_can_t_shorten_it() {
        let words = SharedWords::new("test", 1024).expect("made");
        assert_eq!(words.len(), 1024);
        let other = File::options().read(true).write(true).open(words.shared_path());
        let other = other.expect("opened");
        let at = 1023 * 8;
        other.write_all_at(&77_u64.to_ne_bytes(), at).expect("written");
        assert_eq!(words[1023].load(Ordering::Relaxed), 77);
        words[1023].store(78, Ordering::Relaxed);
        let mut bytes = [0; 8];
        other.read_exact_at(&mut bytes, at).expect("read");
        assert_eq!(u64::from_ne_bytes(bytes), 78);
        assert!(other.set_len(8).is_err());
        let path = words.shared_path();
        drop((words, other));
        assert!(File::open(path).is_err());
    }
}

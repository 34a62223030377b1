//! What the system is asked for: the shared memory, the time, the number of the
//! thread. All `unsafe` of this crate.

use crate::layout::{CLOCK_COUNTER, CLOCK_RAW, MAGIC, VARIABLE, VERSION, WORDS, header};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) type MemoryWords = [AtomicU64; WORDS];

/// The memory that the environment names, mapped for as long as the process
/// lives.
pub(crate) fn shared_memory() -> Option<&'static MemoryWords> {
    // SAFETY: asks for a number that the kernel passed at the start.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        // Set-user-ID: the environment is another user's.
        return None;
    }
    let path = std::env::var_os(VARIABLE)?;
    let file = File::options().read(true).write(true).open(path).ok()?;
    let bytes = size_of::<MemoryWords>();
    if file.metadata().ok()?.len() < bytes as u64 {
        return None;
    }
    // SAFETY: a new mapping at an address of the kernel's choice touches no
    // existing memory.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    if start == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: `bytes` bytes are mapped for reading and writing at a page's
    // boundary and are never unmapped. Other processes write there, which
    // atomics allow.
    let words = unsafe { &*start.cast::<MemoryWords>() };
    let is_ours = words[header::MAGIC].load(Ordering::Acquire) == MAGIC
        && words[header::VERSION].load(Ordering::Relaxed) == VERSION;
    let is_known =
        [CLOCK_RAW, CLOCK_COUNTER].contains(&words[header::CLOCK].load(Ordering::Relaxed));
    (is_ours && is_known).then_some(words)
}

/// The CPU's counter. Not ordered with the instructions around it.
#[inline]
pub(crate) fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: latlas asks for the counter only where it reads it itself.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: reads a register, and latlas asks for it only where it reads
        // it itself.
        unsafe {
            std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags));
        }
        ticks
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    raw_ns()
}

/// CLOCK_MONOTONIC_RAW.
pub(crate) fn raw_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel fills in the record that it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

pub(crate) fn thread_id() -> u32 {
    // SAFETY: takes nothing and can't fail.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

/// Calls this in each process that is forked from here, on its thread.
pub(crate) fn after_fork(child: extern "C" fn()) {
    // SAFETY: the function lives as long as the process; it is called on a
    // thread of Rust's with its thread-local values.
    unsafe { pthread_atfork(None, None, Some(child)) };
}

// The libc crate does not have it for Android.
type Handler = Option<extern "C" fn()>;
unsafe extern "C" {
    fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> libc::c_int;
}

//! Memory bounds on Apple systems.

use super::sysctl;
use crate::memory::MemoryLimits;

#[cfg(target_os = "ios")]
unsafe extern "C" {
    /// <os/proc.h>: what this app may still allocate before the system ends it. Since iOS 13.
    fn os_proc_available_memory() -> libc::size_t;
}

/// What an app may still allocate; others have no such limit.
fn of_app() -> Option<u64> {
    #[cfg(target_os = "ios")]
    // SAFETY: takes nothing and returns a number.
    return Some(unsafe { os_proc_available_memory() } as u64).filter(|&bytes| bytes > 0);
    #[cfg(not(target_os = "ios"))]
    None
}

pub fn available_memory() -> MemoryLimits {
    let physical_bytes = sysctl::sysctl_number("hw.memsize").unwrap_or(0);
    // Pages that are free at this moment; what can be reclaimed is more.
    let free = sysctl::sysctl_number("vm.page_free_count")
        .zip(sysctl::sysctl_number("hw.pagesize"))
        .map(|(pages, bytes)| pages * bytes);
    MemoryLimits {
        physical_bytes,
        // Without a figure, half of what there is leaves room for the rest.
        available_bytes: of_app().or(free).unwrap_or(physical_bytes / 2),
        ..MemoryLimits::default()
    }
}

pub fn peak_resident_bytes() -> Option<u64> {
    // Bytes here; Linux counts KiB.
    u64::try_from(crate::child::usage_of(libc::RUSAGE_SELF)?.ru_maxrss).ok()
}

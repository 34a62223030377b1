//! Memory bounds on Apple systems.

use super::sysctl;
use crate::memory::MemoryLimits;

pub(crate) fn available_memory() -> MemoryLimits {
    let physical_bytes = sysctl::number("hw.memsize").unwrap_or(0);
    // Pages that are free at this moment; what can be reclaimed is more.
    let free = sysctl::number("vm.page_free_count")
        .zip(sysctl::number("hw.pagesize"))
        .map(|(pages, bytes)| pages * bytes);
    MemoryLimits {
        physical_bytes,
        // Without a figure, half of what there is leaves room for the rest.
        available_bytes: free.unwrap_or(physical_bytes / 2),
        ..MemoryLimits::default()
    }
}

pub(crate) fn peak_resident_bytes() -> Option<u64> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes one `rusage` to the pointer it gets.
    let status = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    if status != 0 {
        return None;
    }
    // SAFETY: `rusage` holds only integers, and the call has filled it in.
    let usage = unsafe { usage.assume_init() };
    // Bytes here; Linux counts KiB.
    u64::try_from(usage.ru_maxrss).ok()
}

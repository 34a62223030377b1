//! Memory bounds from /proc, the control groups and the resource limits.

use super::cgroup;
use crate::files::{Tree, kernel_text, kib_field};
use crate::limits::{Resource, limit};
use crate::memory::MemoryLimits;

/// Reads all limits as they are now.
pub fn available_memory() -> MemoryLimits {
    let tree = Tree::system();
    let meminfo = tree.text("/proc/meminfo").unwrap_or_default();
    let status = tree.text("/proc/self/status").unwrap_or_default();
    let group = cgroup::memory(&tree).ok();
    let kernel = rustix::system::sysinfo();
    let unit = u64::from(kernel.mem_unit);
    MemoryLimits {
        physical_bytes: kib_field(&meminfo, "MemTotal").unwrap_or(kernel.totalram as u64 * unit),
        // Kernels before 3.14 have no MemAvailable; what is free is a lower bound.
        available_bytes: kib_field(&meminfo, "MemAvailable")
            .unwrap_or(kernel.freeram as u64 * unit),
        cgroup_limit_bytes: group.and_then(|group| group.limit.as_option()),
        cgroup_usage_bytes: group.and_then(|group| group.used),
        cgroup_headroom_bytes: group.and_then(|group| group.headroom),
        rlimit_as_bytes: limit(Resource::AddressSpace).ok().and_then(|limit| limit.soft),
        address_space_bytes: kib_field(&status, "VmSize"),
    }
}

/// Peak resident memory of this process, bytes (VmHWM).
pub fn peak_resident_bytes() -> Option<u64> {
    peak_of(None)
}

/// The same of another process; `None` is this one.
pub(super) fn peak_of(process: Option<u32>) -> Option<u64> {
    let process = process.map_or_else(|| "self".into(), |process| process.to_string());
    let status = kernel_text(format!("/proc/{process}/status")).ok()?;
    kib_field(&status, "VmHWM")
}

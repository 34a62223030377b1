//! `perf_event_open(2)`: its argument, and the call.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// `struct perf_event_attr` up to `clockid`, as the kernel knows it since 4.1
/// (PERF_ATTR_SIZE_VER3).
#[repr(C)]
#[derive(Default)]
pub(super) struct Attributes {
    pub(super) kind: u32,
    pub(super) size: u32,
    pub(super) config: u64,
    pub(super) sample_period: u64,
    pub(super) sample_type: u64,
    pub(super) read_format: u64,
    pub(super) flags: u64,
    pub(super) wakeup_watermark: u32,
    pub(super) bp_type: u32,
    pub(super) config1: u64,
    pub(super) config2: u64,
    pub(super) branch_sample_type: u64,
    pub(super) sample_regs_user: u64,
    pub(super) sample_stack_user: u32,
    pub(super) clock: i32,
}

pub(super) const PERF_TYPE_HARDWARE: u32 = 0;
pub(super) const PERF_TYPE_SOFTWARE: u32 = 1;
pub(super) const PERF_COUNT_SW_PAGE_FAULTS: u64 = 2;
pub(super) const PERF_COUNT_SW_CONTEXT_SWITCHES: u64 = 3;
pub(super) const PERF_COUNT_SW_PAGE_FAULTS_MIN: u64 = 5;
pub(super) const PERF_COUNT_SW_PAGE_FAULTS_MAJ: u64 = 6;
pub(super) const PERF_COUNT_SW_DUMMY: u64 = 9;
const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 1 << 3;

// Bits of `flags`, in the order of the structure's bit field.
pub(super) const DISABLED: u64 = 1;
pub(super) const INHERIT: u64 = 1 << 1;
pub(super) const EXCLUDE_KERNEL: u64 = 1 << 5;
pub(super) const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
pub(super) const MMAP: u64 = 1 << 8;
pub(super) const COMM: u64 = 1 << 9;
pub(super) const ENABLE_ON_EXEC: u64 = 1 << 12;
pub(super) const TASK: u64 = 1 << 13;
pub(super) const WATERMARK: u64 = 1 << 14;
pub(super) const MMAP_DATA: u64 = 1 << 17;
pub(super) const SAMPLE_ID_ALL: u64 = 1 << 18;
pub(super) const EXCLUDE_CALLCHAIN_KERNEL: u64 = 1 << 21;
pub(super) const MMAP2: u64 = 1 << 23;
pub(super) const USE_CLOCK: u64 = 1 << 25;
pub(super) const CONTEXT_SWITCH: u64 = 1 << 26;

// Bits of `sample_type`.
pub(super) const SAMPLE_TID: u64 = 1 << 1;
pub(super) const SAMPLE_TIME: u64 = 1 << 2;
pub(super) const SAMPLE_ADDR: u64 = 1 << 3;
pub(super) const SAMPLE_CALLCHAIN: u64 = 1 << 5;
pub(super) const SAMPLE_CPU: u64 = 1 << 7;
pub(super) const SAMPLE_PERIOD: u64 = 1 << 8;
pub(super) const SAMPLE_REGS_USER: u64 = 1 << 12;
pub(super) const SAMPLE_STACK_USER: u64 = 1 << 13;

/// Opens an event of a thread (0: the calling one; -1: all) on a CPU (-1:
/// any).
pub(super) fn open_event(
    attributes: Attributes,
    thread: libc::pid_t,
    cpu: libc::c_int,
) -> io::Result<OwnedFd> {
    let attributes = Attributes { size: size_of::<Attributes>() as u32, ..attributes };
    // SAFETY: the kernel reads `size` bytes of the attributes; the other
    // arguments are numbers.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            thread,
            cpu,
            -1,
            PERF_FLAG_FD_CLOEXEC,
        )
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    let fd = libc::c_int::try_from(fd).map_err(io::Error::other)?;
    // SAFETY: a descriptor that the call has just given us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attributes_have_the_kernels_size() {
        // PERF_ATTR_SIZE_VER3 in linux/perf_event.h.
        assert_eq!(size_of::<Attributes>(), 96);
    }
}

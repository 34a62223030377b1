//! CPU time of this process and its children.

use std::ffi::c_int;

/// CPU time of this process and of all children it has waited for, in ns. In a
/// process with one thread that is pinned to one CPU, the rest of the elapsed
/// time went to others.
pub fn family_cpu_ns() -> Option<u64> {
    Some(cpu_ns(libc::RUSAGE_SELF)? + cpu_ns(libc::RUSAGE_CHILDREN)?)
}

pub(super) fn cpu_ns(whose: c_int) -> Option<u64> {
    let usage = usage_of(whose)?;
    Some(timeval_ns(usage.ru_utime)? + timeval_ns(usage.ru_stime)?)
}

/// `getrusage(2)`.
pub(crate) fn usage_of(whose: c_int) -> Option<libc::rusage> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes one `rusage` to the pointer it gets.
    let status = unsafe { libc::getrusage(whose, usage.as_mut_ptr()) };
    // SAFETY: `rusage` holds only integers, for which zero bytes are valid
    // too, and the call has filled it in.
    (status == 0).then(|| unsafe { usage.assume_init() })
}

/// A time of the kernel's in ns; `None` below 0.
pub(crate) fn timeval_ns(time: libc::timeval) -> Option<u64> {
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let micros = u64::try_from(time.tv_usec).ok()?;
    Some((seconds * 1_000_000 + micros) * 1000)
}

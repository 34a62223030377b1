//! A call into the code that the kernel maps into every process (the vDSO): an
//! answer of the kernel without entering it. Apple's kernel maps data, and no
//! code.

use std::io;

/// Whether this process has a vDSO and its coarse clock can be read.
///
/// # Errors
/// `Unsupported` where there is none; what `clock_gettime(2)` says.
pub fn check_coarse_clock() -> io::Result<()> {
    #[cfg(target_vendor = "apple")]
    return Err(crate::platform::unsupported("a vDSO"));
    #[cfg(not(target_vendor = "apple"))]
    {
        // SAFETY: reads what the kernel passed to this process when it began.
        if unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } == 0 {
            let why = "the kernel gives this process no vDSO";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        read_coarse().map(drop).ok_or_else(io::Error::last_os_error)
    }
}

/// Reads CLOCK_MONOTONIC_COARSE through the C library: the time of the last
/// scheduler tick, for which the vDSO reads memory and no counter. The
/// nanoseconds within its second; 0 where [`check_coarse_clock`] fails.
#[inline]
pub fn coarse_clock() -> i64 {
    #[cfg(target_vendor = "apple")]
    return 0;
    #[cfg(not(target_vendor = "apple"))]
    read_coarse().unwrap_or(0)
}

#[cfg(not(target_vendor = "apple"))]
#[inline]
fn read_coarse() -> Option<i64> {
    let mut now = std::mem::MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: writes to `now` only, and fills it when it returns 0.
    unsafe {
        match libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, now.as_mut_ptr()) {
            0 => Some(now.assume_init().tv_nsec),
            _ => None,
        }
    }
}

#[cfg(all(test, not(target_vendor = "apple")))]
mod tests {
    use super::*;

    /// Runs `body` in a child that the kernel kills at the first system call
    /// but read, write, exit and the return from a signal. Whether it lived.
    fn survives_without_system_calls(body: impl FnOnce()) -> bool {
        // SAFETY: the child calls nothing that a lock of another thread could
        // block: no allocation, no panic, and it ends by a system call.
        unsafe {
            let child = libc::fork();
            assert!(child >= 0, "{}", io::Error::last_os_error());
            if child == 0 {
                let strict = libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_STRICT);
                if strict == 0 {
                    body();
                }
                // Not `_exit`, which is another call.
                libc::syscall(libc::SYS_exit, strict);
            }
            let mut status = 0;
            loop {
                let reaped = libc::waitpid(child, &raw mut status, 0);
                let why = io::Error::last_os_error();
                if reaped == child {
                    break;
                }
                assert_eq!(why.kind(), io::ErrorKind::Interrupted, "{why}");
            }
            if libc::WIFEXITED(status) {
                assert_eq!(
                    libc::WEXITSTATUS(status),
                    0,
                    "this system has no strict seccomp, so nothing is shown"
                );
                return true;
            }
            assert!(libc::WIFSIGNALED(status), "status {status:x}");
            assert_eq!(libc::WTERMSIG(status), libc::SIGKILL);
            false
        }
    }

    #[test]
    fn the_clock_is_read_without_entering_the_kernel() {
        check_coarse_clock().expect("a vDSO");
        assert!(survives_without_system_calls(|| {
            for _ in 0..1000 {
                coarse_clock();
            }
        }));
        // The control: one call that enters it.
        assert!(!survives_without_system_calls(|| {
            let _ = crate::system_calls::parent_id();
        }));
    }

    #[test]
    fn the_clock_goes() {
        let before = coarse_clock();
        // A tick is 10 ms at most, and two equal readings a second apart are
        // no clock.
        let began = std::time::Instant::now();
        while coarse_clock() == before {
            assert!(began.elapsed().as_secs() < 10, "it stands still");
        }
    }
}

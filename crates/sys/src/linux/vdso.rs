//! The vDSO of Linux, through the C library.

use std::io;
use std::mem::MaybeUninit;

use libc::{CLOCK_MONOTONIC_COARSE, timespec};

pub(crate) fn check() -> io::Result<()> {
    // SAFETY: reads what the kernel told this process when it began.
    if unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } == 0 {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "the kernel gives this process no vDSO",
        ));
    }
    let mut now = MaybeUninit::<timespec>::uninit();
    // SAFETY: writes to `now` only.
    match unsafe { libc::clock_gettime(CLOCK_MONOTONIC_COARSE, now.as_mut_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[inline]
pub(crate) fn coarse_clock() -> i64 {
    let mut now = MaybeUninit::<timespec>::uninit();
    // SAFETY: writes to `now` only, and fills it when it returns 0.
    unsafe {
        match libc::clock_gettime(CLOCK_MONOTONIC_COARSE, now.as_mut_ptr()) {
            0 => now.assume_init().tv_nsec,
            _ => 0,
        }
    }
}

#[cfg(test)]
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
        check().expect("a vDSO");
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

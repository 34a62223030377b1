//! The vDSO of Linux, through the C library.

use std::io;

use libc::{CLOCK_MONOTONIC_COARSE, timespec};

pub(crate) fn check() -> io::Result<()> {
    // SAFETY: reads what the kernel told this process when it began.
    if unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } == 0 {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "the kernel gives this process no vDSO",
        ));
    }
    let mut now = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to `now` only.
    match unsafe { libc::clock_gettime(CLOCK_MONOTONIC_COARSE, &raw mut now) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The call, 16 times.
macro_rules! sixteen {
    ($call:expr) => {
        sixteen!(@ $call; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $call:expr; $($time:literal)*) => {
        $(let _ = $time; $call;)*
    };
}

pub(crate) fn read_coarse_clock(turns: u64, double: bool) {
    let mut now = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // Two loops, and no test inside them.
    if double {
        for _ in 0..turns {
            sixteen!(read(&mut now));
            sixteen!(read(&mut now));
        }
    } else {
        for _ in 0..turns {
            sixteen!(read(&mut now));
        }
    }
}

#[inline(always)]
fn read(now: &mut timespec) {
    // SAFETY: writes to `now` only.
    unsafe { libc::clock_gettime(CLOCK_MONOTONIC_COARSE, now) };
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
            assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
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
            read_coarse_clock(1000, false);
            read_coarse_clock(1000, true);
        }));
        // The control: one call that enters it.
        assert!(!survives_without_system_calls(|| {
            let _ = crate::system_calls::parent_id();
        }));
    }

    #[test]
    fn the_clock_goes() {
        let mut first = timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        read(&mut first);
        assert!(first.tv_sec > 0 || first.tv_nsec > 0);
    }
}

//! Starting processes: by `fork`, `execve` and `posix_spawn` for the rows that
//! measure them, and as a forked copy of this process that goes on by itself.
//! Commands under control are in [`crate::command`].
//!
//! A forked child is a copy of a process that may have other threads, whose
//! locks stay locked in it: it must not allocate or lock.

mod fork;
mod forked;
mod program;
pub(crate) mod usage;

pub(crate) use forked::Forked;
pub use program::{Environment, Program};
pub use usage::family_cpu_ns;
pub(crate) use usage::usage_of;

use fork::fork;
use rustix::io::retry_on_intr;
use rustix::process::{Pid, WaitOptions, waitpid};
use std::ffi::{c_char, c_int, c_void};
use std::{io, ptr};

/// Exit code of a child whose program could not be started, as of a shell.
pub const NOT_STARTED: i32 = 127;

/// Forks a child that exits at once, and waits for it. Returns its exit
/// status, which is 0.
///
/// # Errors
/// What `fork(2)` says: `WouldBlock` at a limit of processes
/// ([`process_limits`](crate::process::process_limits)), `OutOfMemory`, or
/// `PermissionDenied` where a container forbids it. `Other` if a signal killed
/// the child.
pub fn fork_exit_wait() -> io::Result<i32> {
    // SAFETY: the child does nothing.
    wait_for(unsafe { fork(|| 0) }?)
}

/// Forks a child that executes the program, and waits for it. Returns the
/// program's exit status, [`NOT_STARTED`] where it could not be started.
///
/// # Errors
/// As [`fork_exit_wait`].
pub fn fork_exec_wait(program: &Program) -> io::Result<i32> {
    // SAFETY: `execve` may be called in the copy of a process with threads.
    let child = unsafe {
        fork(|| {
            program.execute();
            NOT_STARTED
        })
    };
    wait_for(child?)
}

unsafe extern "C" {
    /// POSIX; libc does not declare it for Android.
    fn posix_spawn(
        child: *mut libc::pid_t,
        path: *const c_char,
        actions: *const c_void,
        attributes: *const c_void,
        arguments: *const *const c_char,
        environment: *const *const c_char,
    ) -> c_int;
}

/// Starts the program by `posix_spawn`, and waits for it. Returns its
/// exit status.
///
/// # Errors
/// As [`fork_exit_wait`], and what `execve(2)` says.
pub fn spawn_wait(program: &Program) -> io::Result<i32> {
    let mut child = 0;
    // SAFETY: the path ends in a zero byte, the lists in a null pointer, null
    // stands for no actions and default attributes, and the call writes one
    // process id.
    let error = unsafe {
        posix_spawn(
            &mut child,
            program.path.as_ptr(),
            ptr::null(),
            ptr::null(),
            program.arguments.as_ptr(),
            program.environment.as_ptr(),
        )
    };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    wait_for(Pid::from_raw(child).ok_or(io::ErrorKind::Other)?)
}

fn wait_for(child: Pid) -> io::Result<i32> {
    let status = retry_on_intr(|| waitpid(Some(child), WaitOptions::empty()))?;
    let (_, status) = status.ok_or(io::ErrorKind::Other)?;
    status.exit_status().ok_or_else(|| {
        let signal = status.terminating_signal().unwrap_or_default();
        io::Error::other(format!("signal {signal} killed the child"))
    })
}

/// Sets SIGCHLD to its default, so that children can be waited for. A parent
/// that ignored SIGCHLD passes that on, and then a child leaves no status.
pub fn hear_of_children() -> io::Result<()> {
    // SAFETY: installs no handler, only the default one.
    if unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) } == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

#[cfg(test)]
mod tests;

//! This process: its parent, limits, session and signals.

use std::io;
use std::os::unix::process::{CommandExt, parent_id};
use std::process::{Child, Command};

use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, kill_process_group, setsid, waitid,
};

use crate::limits::{Limit, Resource, limit};

/// Asks the kernel to kill this process (SIGKILL) when its parent ends, then
/// checks that the parent is still there.
///
/// The kernel means the *thread* that started this process: a parent must
/// start its workers from a thread that outlives them.
///
/// # Errors
/// `NotConnected` if the parent has ended, or has another id; what `prctl(2)`
/// says; `Unsupported` on Apple systems.
pub(crate) fn die_with_parent_id(parent: u32) -> io::Result<()> {
    check_parent(parent)?;
    set_death_signal()?;
    // It may have ended between the two.
    check_parent(parent)
}

fn check_parent(parent: u32) -> io::Result<()> {
    let now = parent_id();
    if now == parent {
        return Ok(());
    }
    let why = format!("the parent process {parent} has ended (the parent is {now} now)");
    Err(io::Error::new(io::ErrorKind::NotConnected, why))
}

/// The same between fork and exec, where system calls alone are allowed; Apple systems have no such signal, so that
/// there the end of a parent is noticed only before.
///
/// # Errors
/// `ESRCH` if the parent has ended.
pub(crate) fn end_with_parent(parent: u32) -> io::Result<()> {
    let _ = set_death_signal();
    // It may have ended before that.
    match parent_id() == parent {
        true => Ok(()),
        false => Err(rustix::io::Errno::SRCH.into()),
    }
}

/// `prctl(PR_SET_PDEATHSIG)`: SIGKILL when the parent ends.
pub(crate) fn set_death_signal() -> io::Result<()> {
    #[cfg(target_vendor = "apple")]
    return Err(crate::platform::unsupported("a death signal"));
    #[cfg(not(target_vendor = "apple"))]
    Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// `/dev/null`, open for reading and writing. A chroot or a container may have
/// none.
///
/// # Errors
/// What opening it says, with its name.
pub fn null_device() -> io::Result<std::fs::File> {
    let path = "/dev/null";
    let opened = std::fs::File::options().read(true).write(true).open(path);
    opened.map_err(|e| io::Error::new(e.kind(), format!("can't open {path}: {e}")))
}

/// Makes /dev/null the standard input.
pub(crate) fn stdin_from_null() -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdin(null_device()?)?)
}

/// Limits on the number of processes; a thread counts as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessLimits {
    /// For all processes of this user (`ulimit -u`); `None` where none is set.
    pub of_user: Option<u64>,
    /// Of the control group this process is in, or an ancestor's tighter one
    /// (`pids.max`); `None` where none is set.
    pub of_group: Option<u64>,
}

/// Reads the bounds as they are now.
pub fn process_limits() -> ProcessLimits {
    ProcessLimits {
        of_user: limit(Resource::Processes).ok().and_then(|limit| limit.soft),
        #[cfg(target_vendor = "apple")]
        of_group: None,
        #[cfg(not(target_vendor = "apple"))]
        of_group: crate::platform::cgroup::most_processes(&crate::files::Tree::system()),
    }
}

/// Raises the limit on open files to `wanted`, at most to the hard limit (`RLIMIT_NOFILE`, getrlimit(2)). Returns how many it may have then,
/// which is never fewer than before.
///
/// # Errors
/// What `getrlimit(2)` and `setrlimit(2)` say.
pub fn allow_open_files(wanted: u64) -> io::Result<u64> {
    use rustix::process::{Rlimit, setrlimit};
    let Limit { soft: current, hard: maximum } = limit(Resource::OpenFiles)?;
    let Some(current) = current.filter(|&current| current < wanted) else {
        return Ok(current.unwrap_or(u64::MAX));
    };
    let raised = maximum.map_or(wanted, |maximum| maximum.min(wanted));
    if raised > current {
        let current = Some(raised);
        let raised = Rlimit { current, maximum };
        setrlimit(rustix::process::Resource::Nofile, raised)?;
    }
    Ok(raised.max(current))
}

/// Kills (SIGKILL) all processes of the group that this process leads.
pub(crate) fn kill_group(leader: u32) -> io::Result<()> {
    Ok(kill_process_group(pid(leader)?, Signal::KILL)?)
}

fn pid(id: u32) -> io::Result<Pid> {
    Ok(Pid::from_raw(id.cast_signed()).ok_or(io::ErrorKind::InvalidInput)?)
}

/// Whether a child has ended; it is not reaped.
pub(crate) fn has_ended(child: &Child) -> io::Result<bool> {
    let id = pid(child.id())?;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    Ok(retry_on_intr(|| waitid(WaitId::Pid(id), options))?.is_some())
}

/// Makes a command start in its own session (`setsid(2)`): with a process
/// group, and where the kernel has autogroups, one of these.
pub(crate) fn in_own_session(command: &mut Command) -> &mut Command {
    // SAFETY: the closure runs in the copy of a process that may have threads,
    // and makes one system call.
    unsafe { command.pre_exec(leave_session) }
}

/// Moves this process to its own session: the end of its terminal or of the
/// shell's job does not end it.
///
/// # Errors
/// What `setsid(2)` says: a process that leads a group can't.
pub fn leave_session() -> io::Result<()> {
    setsid()?;
    Ok(())
}

/// Ignores SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGPIPE from now on, in a
/// process that must finish its work.
pub fn ignore_requests_to_end() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE] {
        // SAFETY: installs no handler; the numbers are valid.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Ends this process at once, as `kill -9` would: for crash tests.
pub fn kill_self() -> ! {
    let _ = kill_process(getpid(), Signal::KILL);
    std::process::abort()
}

/// Writes a message to standard error and ends the process at once: nothing is
/// allocated, no lock waited for, and nothing done that is usually done at its end.
pub fn end_with(message: &[u8], code: u8) -> ! {
    // SAFETY: `write` reads the message's bytes; `_exit` takes a number.
    unsafe {
        libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len());
        libc::_exit(code.into())
    }
}

/// A command that starts this program again, without arguments. Under an
/// emulator in user mode it goes through the emulator, since the kernel could
/// not start the program itself.
///
/// # Errors
/// Where the system does not say what program this is.
pub fn this_program() -> io::Result<Command> {
    let program = std::env::current_exe()?;
    // A user-mode emulator answers `/proc/self/exe` itself with the program's
    // name, while the kernel's `/proc/thread-self/exe` leads to the emulator.
    // Rosetta needs no help, and has neither.
    let as_seen = |by: &str| std::fs::read_link(by).ok();
    let own = as_seen("/proc/self/exe");
    let emulator =
        as_seen("/proc/thread-self/exe").filter(|exe| own.is_some_and(|own| own != *exe));
    Ok(match emulator {
        Some(emulator) => {
            let mut command = Command::new(emulator);
            command.arg(program);
            command
        }
        None => Command::new(program),
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_program_is_this_program() {
        let command = super::this_program().expect("it has a name");
        let listed = command.get_program().to_owned();
        let ours = std::env::current_exe().expect("it has a name");
        let through = command.get_args().next().map(std::ffi::OsStr::to_owned);
        assert_eq!(through.unwrap_or(listed), ours.into_os_string());
    }
}

//! The life of this process.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::limits::{Limit, Resource, limit};
use crate::platform;

/// Asks the kernel to kill this process (SIGKILL) when its parent ends, then
/// checks that the parent is still there.
///
/// The kernel means the *thread* that started this process: a parent must
/// start its workers from a thread that outlives them. If the parent ended
/// before the first line of this function nobody can see that from here; a
/// worker that was told its parent's id uses [`die_with_parent_id`].
///
/// # Errors
/// `NotConnected` if the parent ended meanwhile; what `prctl(2)` says;
/// `Unsupported` on Apple systems.
pub fn die_with_parent() -> io::Result<()> {
    die_with_parent_id(std::os::unix::process::parent_id())
}

/// [`die_with_parent`] for a process that knows the id its parent must have.
///
/// # Errors
/// As [`die_with_parent`]; `NotConnected` also if the parent has another id.
pub fn die_with_parent_id(parent: u32) -> io::Result<()> {
    check_parent(parent)?;
    platform::process::set_death_signal()?;
    // It may have ended between the two.
    check_parent(parent)
}

fn check_parent(parent: u32) -> io::Result<()> {
    let now = std::os::unix::process::parent_id();
    if now == parent {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::NotConnected,
            format!("the parent process {parent} has ended (the parent is {now} now)"),
        ))
    }
}

/// `/dev/null`, open for reading and writing. A chroot or a container may have
/// none, and what fails then must say so.
///
/// # Errors
/// What opening it says, with its name.
pub fn null_device() -> io::Result<std::fs::File> {
    let path = "/dev/null";
    let opened = std::fs::File::options().read(true).write(true).open(path);
    opened.map_err(|e| io::Error::new(e.kind(), format!("can't open {path}: {e}")))
}

/// Puts /dev/null in the place of standard input. A process whose standard
/// input was a socket, and that holds the socket by another descriptor, starts
/// no child with it then.
///
/// # Errors
/// /dev/null can't be opened.
pub fn stdin_from_null() -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdin(null_device()?)?)
}

/// What bounds the number of processes; a thread counts as one.
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
        of_group: platform::process::group_limit(),
    }
}

/// Lets this process have so many files open at once, as far as the hard limit
/// goes (`RLIMIT_NOFILE`, getrlimit(2)). Returns how many it may have then,
/// which is never fewer than before.
///
/// # Errors
/// What `getrlimit(2)` and `setrlimit(2)` say.
pub fn allow_open_files(wanted: u64) -> io::Result<u64> {
    use rustix::process::{Rlimit, setrlimit};
    let Limit {
        soft: current,
        hard: maximum,
    } = limit(Resource::OpenFiles)?;
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
///
/// # Errors
/// What `kill(2)` says, such as that there is no such group any more.
pub fn kill_group(leader: u32) -> io::Result<()> {
    let leader = i32::try_from(leader)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
        .ok_or(io::ErrorKind::InvalidInput)?;
    Ok(rustix::process::kill_process_group(
        leader,
        rustix::process::Signal::KILL,
    )?)
}

/// Makes a command begin a session of its own (`setsid(2)`) before its program:
/// with a process group, and where the kernel has autogroups, one of these.
pub fn in_own_session(command: &mut Command) -> &mut Command {
    let begin = || {
        rustix::process::setsid()?;
        Ok(())
    };
    // SAFETY: the closure runs in the copy of a process that may have threads,
    // and makes one system call.
    unsafe { command.pre_exec(begin) }
}

/// Puts this process into a session of its own: what ends its terminal or the
/// shell's job does not end it.
///
/// # Errors
/// What `setsid(2)` says: a process that leads a group can't.
pub fn leave_session() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(())
}

/// From now on SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGPIPE do nothing to this
/// process, which has something to finish.
pub fn ignore_requests_to_end() {
    for signal in [
        libc::SIGINT,
        libc::SIGTERM,
        libc::SIGHUP,
        libc::SIGQUIT,
        libc::SIGPIPE,
    ] {
        // SAFETY: no handler of ours comes into being; the numbers are valid.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Ends this process at once, as `kill -9` would: for tests of crashes.
pub fn kill_self() -> ! {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort()
}

/// A command that starts this very program again, without arguments. Under an
/// emulator in user mode it goes through the emulator: the kernel could not
/// start the program itself.
///
/// # Errors
/// Where the system does not say what program this is.
pub fn this_program() -> io::Result<Command> {
    let program = std::env::current_exe()?;
    Ok(match platform::process::emulator() {
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

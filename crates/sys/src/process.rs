//! The life of this process.

use std::io;
use std::process::Command;

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

/// Puts /dev/null in the place of standard input. A process whose standard
/// input was a socket, and that holds the socket by another descriptor, starts
/// no child with it then.
///
/// # Errors
/// /dev/null can't be opened.
pub fn stdin_from_null() -> io::Result<()> {
    let null = std::fs::File::open("/dev/null")?;
    Ok(rustix::stdio::dup2_stdin(null)?)
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
        of_user: rustix::process::getrlimit(rustix::process::Resource::Nproc).current,
        of_group: platform::process::group_limit(),
    }
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

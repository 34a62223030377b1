//! The life of this process.

use std::io;

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

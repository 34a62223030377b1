//! Runs a command and returns what it printed, within limits of time and size, also if it leaves a process
//! that holds its pipes: ssh, sbatch, a loader, getprop. Timed commands are started in `command.rs`, children
//! that are latlas itself in `role.rs`.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What a command may take.
#[derive(Clone, Copy, Debug)]
pub struct CaptureLimits {
    /// Time.
    pub time: Duration,
    /// What it may print.
    pub bytes: u64,
}

/// How a captured command ended.
#[derive(Debug)]
pub enum Captured {
    /// By itself.
    Exited {
        /// How.
        status: ExitStatus,
        /// What it printed.
        out: Vec<u8>,
        /// Its messages, as far as they are kept.
        err: Vec<u8>,
    },
    /// Killed at the limit of time.
    TimedOut,
    /// It printed more than the limit. Killed if it had not ended.
    TooMuch,
}

/// What a program of the system may take that says something of the machine.
const OF_SYSTEM: CaptureLimits = CaptureLimits { time: Duration::from_secs(10), bytes: 1 << 20 };

/// Most that is kept of a command's messages.
const MAX_MESSAGES: u64 = 1 << 20;

/// How long the ends of its pipes are waited for after a command has ended.
const AFTER_ITS_END: Duration = Duration::from_secs(2);

/// Most that is read from one pipe before anything else is looked at: as much as a pipe may hold.
const AT_ONCE: usize = 1 << 20;

/// Between two looks at a command that prints nothing.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(100)];

/// Runs a command to its end, or kills it. Its standard input is the caller's to set.
///
/// A command that has ended may leave a process that holds its pipes open (the master of a shared connection of
/// ssh, a daemon of a wrapper script). What the command itself printed is in the pipes when it ends, and what comes
/// from processes that it did not wait for may still come: the ends of the pipes are waited for, but only for two
/// seconds and never beyond the limit. Then what was read is the output.
pub fn capture_output(command: &mut Command, limits: CaptureLimits) -> io::Result<Captured> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Running(command.spawn()?).captured(limits)
}

/// What a program of the system prints, which answers at once.
pub(crate) fn program_output(command: &mut Command) -> io::Result<String> {
    match capture_output(command.stdin(Stdio::null()), OF_SYSTEM)? {
        Captured::Exited { out, .. } => Ok(String::from_utf8_lossy(&out).into_owned()),
        Captured::TimedOut => Err(io::ErrorKind::TimedOut.into()),
        Captured::TooMuch => Err(io::Error::other("it printed more than 1 MiB")),
    }
}

/// Killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Gone already is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    fn captured(mut self, limits: CaptureLimits) -> io::Result<Captured> {
        let mut out = Pipe::new(self.0.stdout.take(), limits.bytes)?;
        let mut err = Pipe::new(self.0.stderr.take(), MAX_MESSAGES)?;
        let (began, mut ended) = (Instant::now(), None);
        let mut pause = PAUSES[0];
        loop {
            // Before the pipes: what it printed is read then.
            let status = self.0.try_wait()?;
            let has_read = out.read_available() | err.read_available();
            if out.has_more {
                return Ok(Captured::TooMuch);
            }
            let is_late = began.elapsed() >= limits.time;
            match status {
                Some(status) => {
                    let ended = *ended.get_or_insert_with(Instant::now);
                    let is_over = is_late || ended.elapsed() >= AFTER_ITS_END;
                    if is_over || (out.from.is_none() && err.from.is_none()) {
                        let (out, err) = (out.bytes, err.bytes);
                        return Ok(Captured::Exited { status, out, err });
                    }
                }
                None if is_late => return Ok(Captured::TimedOut),
                None => {}
            }
            if has_read {
                pause = PAUSES[0];
            }
            let left = limits.time.saturating_sub(began.elapsed());
            wait_readable(&out, &err, pause.min(left))?;
            pause = (pause * 2).min(PAUSES[1]);
        }
    }
}

struct Pipe<R> {
    /// Until it ends.
    from: Option<R>,
    bytes: Vec<u8>,
    /// Most that is kept.
    most: u64,
    /// Whether more came.
    has_more: bool,
}

impl<R: Read + AsFd> Pipe<R> {
    fn new(from: Option<R>, most: u64) -> io::Result<Pipe<R>> {
        if let Some(from) = &from {
            ioctl_fionbio(from, true)?;
        }
        Ok(Pipe { from, bytes: Vec::new(), most, has_more: false })
    }

    /// Reads what is there; whether there was anything, its end included.
    fn read_available(&mut self) -> bool {
        let (mut buffer, was_open) = ([0; 16 << 10], self.from.is_some());
        let mut read = 0;
        while read < AT_ONCE
            && let Some(from) = &mut self.from
        {
            match from.read(&mut buffer) {
                Ok(0) => self.from = None,
                Ok(length) => {
                    let room = self.most.saturating_sub(self.bytes.len() as u64);
                    let kept = usize::try_from(room).map_or(length, |room| room.min(length));
                    self.bytes.extend_from_slice(&buffer[..kept]);
                    self.has_more |= kept < length;
                    read += length;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // What was read before an error counts all the same.
                Err(_) => self.from = None,
            }
        }
        read > 0 || was_open && self.from.is_none()
    }
}

/// Waits until there is something to read, or for that long.
fn wait_readable(out: &Pipe<impl AsFd>, err: &Pipe<impl AsFd>, time: Duration) -> io::Result<()> {
    let time = Timespec::try_from(time).map_err(io::Error::other)?;
    let out = out.from.iter().map(|from| from.as_fd());
    let open = out.chain(err.from.iter().map(|from| from.as_fd()));
    let open = open.map(|from| PollFd::from_borrowed_fd(from, PollFlags::IN));
    match poll(&mut open.collect::<Vec<_>>(), Some(&time)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;

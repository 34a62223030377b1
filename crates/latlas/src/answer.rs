//! The answer of a child that runs code of a pack: what that code prints must not be taken for it, so it
//! goes through the child's standard input.

use meter::wire;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::Builder;
use std::time::Duration;

/// How long the answer of a child that has ended is waited for. It sent all of it before, and a pipe holds little.
const AFTER_ITS_END: Duration = Duration::from_secs(5);

/// The answer of a child, to come.
pub(crate) struct Answer(Receiver<io::Result<Option<Vec<u8>>>>);

/// Gives a command a pipe for its answer; its output is dropped. The command holds the other end until it
/// is dropped.
///
/// # Errors
/// What the system says of pipes and threads.
pub(crate) fn of(command: &mut Command) -> io::Result<Answer> {
    let (mut from, to) = io::pipe()?;
    command.stdin(Stdio::from(OwnedFd::from(to))).stdout(sys::process::null_device()?);
    let (sender, receiver) = mpsc::channel();
    sys::thread::spawn(Builder::new(), move || {
        // Nothing may wait for it any more.
        let _ = sender.send(wire::receive_frame(&mut from));
    })?;
    Ok(Answer(receiver))
}

impl Answer {
    /// The body of its frame; `None` if the pipe was closed before there was one.
    ///
    /// # Errors
    /// Half a frame; `None` if it does not come within that time.
    pub(crate) fn within(&self, time: Duration) -> Option<io::Result<Option<Vec<u8>>>> {
        match self.0.recv_timeout(time) {
            Ok(answer) => Some(answer),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Ok(None)),
        }
    }

    /// The same of a child that has ended. A process that its pack started may hold the pipe open for as long as it
    /// lives, but nothing more comes from the child: it is not waited for.
    ///
    /// # Errors
    /// Half a frame.
    pub(crate) fn of_ended(&self) -> io::Result<Option<Vec<u8>>> {
        self.within(AFTER_ITS_END).unwrap_or(Ok(None))
    }
}

/// Where the child writes its answer. Its standard input is empty from then on.
///
/// # Errors
/// If standard input can't be replaced.
pub(crate) fn end() -> io::Result<File> {
    let to = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    sys::process::stdin_from_null()?;
    Ok(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a script sends that leaves a process which holds the pipe.
    fn sent(frame: &str) -> Option<Vec<u8>> {
        let directory = tempfile::tempdir().expect("a directory");
        let left = directory.path().join("left");
        let mut command = Command::new("sh");
        let script =
            format!("exec 3>&0; printf '{frame}' >&3; sleep 600 2>/dev/null & echo $! >$0");
        let answer = of(command.args(["-c", &script]).arg(&left)).expect("a pipe");
        let ended = command.status().expect("started");
        drop(command);
        assert!(ended.success());
        let body = answer.of_ended().expect("no half of a frame");
        let left = std::fs::read_to_string(left).expect("its number");
        let kill = format!("kill {left}");
        let killed = Command::new("sh").args(["-c", &kill]).status();
        assert!(killed.expect("started").success(), "it was waited for to its end");
        body
    }

    #[test]
    fn a_process_that_holds_the_pipe_of_an_ended_child_is_not_waited_for() {
        assert_eq!(sent(""), None);
        assert_eq!(sent("\\002\\000\\000\\000{}").as_deref(), Some(&b"{}"[..]));
    }
}

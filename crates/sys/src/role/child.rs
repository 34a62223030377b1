//! A child from its parent's side. None outlives its handle, and what it started ends with it, unless
//! it is meant to.

mod program;

use super::connection::{Connection, LOOK_EVERY, SENDING, is_timeout};
use super::{Loss, Lost, Role, frame, role_command};
use crate::patience::Patience;
use crate::process::{has_ended, in_own_session, kill_group, this_program};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Serialize, de::DeserializeOwned};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long the end of a child that closed its connection is waited for, and how often is looked.
const AFTER_CLOSING: Duration = Duration::from_secs(2);
const CLOSED_LOOK: Duration = Duration::from_millis(5);

/// How long an answer is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Wait<'a> {
    /// The child's time, not counting what it waits for a CPU.
    pub patience: Duration,
    /// Set when it is not wanted any more.
    pub stop: &'a AtomicBool,
    /// Its time after that.
    pub grace: Duration,
}

impl<'a> Wait<'a> {
    /// So long and no longer.
    pub fn at_most(patience: Duration) -> Wait<'a> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Wait { patience, ..Wait::until(&NEVER) }
    }

    /// Until this is set.
    pub fn until(stop: &'a AtomicBool) -> Wait<'a> {
        Wait { patience: Duration::MAX, stop, grace: Duration::ZERO }
    }
}

/// Where a child is: what a terminal sends to its parent is the parent's to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildSession {
    /// In a process group of its own.
    Group,
    /// In a session of its own, from before its program is there.
    Own,
    /// It leaves its parent's itself, before it is ready: one that leads a group could not, and what
    /// runs before its program would cost a fork of all that is here.
    Left,
}

impl ChildSession {
    /// Of a child that makes a session of its own, or none.
    pub fn under(own_session: bool) -> ChildSession {
        if own_session { ChildSession::Left } else { ChildSession::Group }
    }
}

/// A child of this program. It is killed when this is dropped.
#[derive(Debug)]
pub struct Child {
    /// What messages call it.
    pub who: String,
    process: std::process::Child,
    connection: Connection,
    is_reaped: bool,
    outlives: bool,
}

impl Child {
    /// Starts this program in a role. The calling thread must outlive the child.
    ///
    /// # Errors
    /// Why it could not be started.
    pub fn start(
        role: Role,
        who: &str,
        order: &impl Serialize,
        session: ChildSession,
    ) -> Result<Child, Lost> {
        let command = this_program().and_then(|program| role_command(program, role, order));
        Child::spawn(who, command, session)
    }

    /// Starts a [`role_command`].
    ///
    /// # Errors
    /// Why it could not be started.
    pub fn spawn(
        who: &str,
        command: io::Result<(Command, Connection)>,
        session: ChildSession,
    ) -> Result<Child, Lost> {
        Child::spawn_by(who, command, session, |mut command| command.spawn())
    }

    fn spawn_by(
        who: &str,
        command: io::Result<(Command, Connection)>,
        session: ChildSession,
        spawn: impl FnOnce(Command) -> io::Result<std::process::Child>,
    ) -> Result<Child, Lost> {
        let spawned = command.and_then(|(mut command, connection)| {
            match session {
                ChildSession::Group => command.process_group(0),
                ChildSession::Own => in_own_session(&mut command),
                ChildSession::Left => &mut command,
            };
            Ok((spawn(command)?, connection))
        });
        let who = who.to_owned();
        match spawned {
            Ok((process, connection)) => {
                Ok(Child { who, process, connection, is_reaped: false, outlives: false })
            }
            Err(error) => Err(Lost { who, how: Loss::NotStarted(Arc::new(error)) }),
        }
    }

    /// Its process id.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Sends it a message.
    ///
    /// # Errors
    /// How it was lost.
    pub fn send(&mut self, message: &impl Serialize) -> Result<(), Lost> {
        let sent = frame::send(&mut self.connection.to, message);
        sent.map_err(|error| self.after(error, Loss::TimedOut(SENDING)))
    }

    /// Waits for its next message.
    ///
    /// # Errors
    /// How it was lost.
    pub fn receive<T: DeserializeOwned>(&mut self, wait: Wait<'_>) -> Result<T, Lost> {
        self.read_rest(wait, |mut from| frame::receive(&mut from)?.ok_or_else(closed))
    }

    /// The same, unopened: opening takes CPU time, which the child's next work may want.
    ///
    /// # Errors
    /// How it was lost.
    pub fn receive_frame(&mut self, wait: Wait<'_>) -> Result<Vec<u8>, Lost> {
        self.read_rest(wait, |mut from| frame::receive_frame(&mut from)?.ok_or_else(closed))
    }

    /// Reads what else it sends.
    ///
    /// # Errors
    /// How it was lost.
    pub fn read_rest<T>(
        &mut self,
        wait: Wait<'_>,
        read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
    ) -> Result<T, Lost> {
        self.read_while(wait, || false, read)
    }

    /// The same, where the child's time begins anew whenever that is `renewed`.
    fn read_while<T>(
        &mut self,
        wait: Wait<'_>,
        mut renewed: impl FnMut() -> bool,
        read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
    ) -> Result<T, Lost> {
        let (process, begun) =
            (&self.process, || Patience::for_child(self.process.id(), wait.patience));
        let mut own = begun();
        let mut stopped: Option<Instant> = None;
        let read = read(&mut self.connection.reading(|| {
            if renewed() {
                own = begun();
            }
            let is_over = match wait.stop.load(Ordering::Relaxed) {
                true => stopped.get_or_insert_with(Instant::now).elapsed() >= wait.grace,
                false => own.is_over(),
            };
            match has_ended(process)? {
                false if is_over => Err(io::ErrorKind::TimedOut.into()),
                has_ended => Ok(has_ended),
            }
        }));
        let late = stopped.map_or(Loss::TimedOut(wait.patience), |_| Loss::Stopped);
        read.map_err(|error| self.after(error, late))
    }

    /// That it has not ended.
    ///
    /// # Errors
    /// How it was lost.
    pub fn check_running(&mut self) -> Result<(), Lost> {
        match has_ended(&self.process) {
            Ok(false) => Ok(()),
            Ok(true) => Err(self.lost(Loss::Closed)),
            Err(error) => Err(self.lost(error.into())),
        }
    }

    /// Leaves it to itself when this is dropped.
    pub fn let_outlive(&mut self) {
        self.outlives = true;
    }

    /// Waits for its end, which it was asked for.
    pub fn wait(mut self) {
        let _ = self.process.wait();
        self.is_reaped = true;
    }

    /// What an error on its connection means.
    fn after(&mut self, error: io::Error, late: Loss) -> Lost {
        self.lost(match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset => Loss::Closed,
            _ if is_timeout(&error) => late,
            _ => error.into(),
        })
    }

    /// Lost so; one that closed its connection is about to end.
    fn lost(&mut self, how: Loss) -> Lost {
        let how = match how {
            Loss::Closed => self.how_ended().unwrap_or_else(Loss::from),
            how => how,
        };
        Lost { who: self.who.clone(), how }
    }

    /// How it ended after it closed its connection; what it left in its group ends with it.
    fn how_ended(&mut self) -> io::Result<Loss> {
        let patience = Patience::for_child(self.process_id(), AFTER_CLOSING);
        while !has_ended(&self.process)? {
            if patience.is_over() {
                return Ok(Loss::Closed);
            }
            std::thread::sleep(CLOSED_LOOK);
        }
        // Until it is reaped its number is its group's, and no other's.
        let _ = kill_group(self.process_id());
        self.is_reaped = true;
        Ok(Loss::Ended(self.process.wait()?.to_string()))
    }
}

fn closed() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.outlives {
            return;
        }
        // Nothing in a child wants an orderly end; a zombie is of no use. Nor do children of its own
        // that hang: it leads a group, whose number is no other process's until it is reaped.
        // SIGKILL ends stopped ones too.
        if !self.is_reaped {
            let _ = kill_group(self.process_id());
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits for a while until any of these has sent something or ended; which have.
///
/// # Errors
/// What `poll(2)` and `waitid(2)` say.
pub fn ready(children: &[&Child]) -> io::Result<Vec<bool>> {
    let sockets = children.iter().map(|child| PollFd::new(&child.connection.to, PollFlags::IN));
    let mut sockets: Vec<PollFd<'_>> = sockets.collect();
    let time = Timespec { tv_sec: 0, tv_nsec: LOOK_EVERY.subsec_nanos().into() };
    match poll(&mut sockets, Some(&time)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let each = children.iter().zip(&sockets);
    each.map(|(child, socket)| Ok(!socket.revents().is_empty() || has_ended(&child.process)?))
        .collect()
}

#[cfg(test)]
mod tests;

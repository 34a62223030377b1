//! Programs that talk over standard input and output, which others may have written: store helpers.

use super::{Child, Lost, Wait};
use crate::process::{end_with_parent, null_device};
use crate::role::connection::{Connection, SENDING};
use crate::role::{ChildSession, Loss};
use std::cell::Cell;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

/// Descriptors that are looked at where the kernel can't mark all at once (Linux before 5.11, Apple).
const DESCRIPTORS: i32 = 1024;

/// What the thread that starts programs is asked for.
type Order = (Command, Sender<io::Result<process::Child>>);

impl Child {
    /// Starts a program without arguments, whose standard input and output are the connection, in a session of its
    /// own: it has no terminal to ask at. What it prints to standard error is dropped. It gets no other descriptor of
    /// this process, and on Linux it is killed when this process ends, however that ends.
    ///
    /// # Errors
    /// Why it could not be started.
    pub fn start_program(who: &str, program: &Path) -> Result<Child, Lost> {
        let command = talking(program);
        Child::spawn_by(who, command, ChildSession::Own, start_lasting)
    }

    /// Sends bytes that are not a frame.
    ///
    /// # Errors
    /// How it was lost.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), Lost> {
        let sent = self.connection.to.write_all(bytes);
        sent.map_err(|error| self.after(error, Loss::TimedOut(SENDING)))
    }

    /// Reads what is not a frame: the time of `wait` begins anew with each piece that comes.
    ///
    /// # Errors
    /// How it was lost.
    pub fn read_pieces<T>(
        &mut self,
        wait: Wait<'_>,
        read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
    ) -> Result<T, Lost> {
        let came = Cell::new(false);
        self.read_while(wait, || came.take(), |from| read(&mut Pieces { from, came: &came }))
    }
}

/// Notes that something came.
struct Pieces<'a> {
    from: &'a mut dyn Read,
    came: &'a Cell<bool>,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer);
        self.came.set(true);
        read
    }
}

fn talking(program: &Path) -> io::Result<(Command, Connection)> {
    let mut command = Command::new(program);
    let (connection, theirs) = Connection::pair()?;
    let also = theirs.try_clone()?;
    command.stdin(Stdio::from(theirs)).stdout(Stdio::from(also)).stderr(null_device()?);
    let parent = process::id();
    // SAFETY: the closure runs in the copy of a process that has threads, and makes system calls alone.
    unsafe {
        command.pre_exec(move || {
            close_others();
            // Apple has no such signal; there the end of the connection tells.
            end_with_parent(parent)
        })
    };
    Ok((command, connection))
}

/// Has all descriptors but the standard ones closed when a program is executed: what latlas itself opened is, and
/// what it was started with may not be.
fn close_others() {
    // SAFETY: the calls change flags of descriptors of this process.
    unsafe {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            const CLOSE_RANGE_CLOEXEC: libc::c_uint = 1 << 2;
            if libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, CLOSE_RANGE_CLOEXEC) == 0
            {
                return;
            }
        }
        for descriptor in 3..DESCRIPTORS {
            libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}

/// Starts a command from a thread that lasts as long as this process: the death signal comes when the thread ends that
/// started the child.
fn start_lasting(command: Command) -> io::Result<process::Child> {
    static STARTER: Mutex<Option<Sender<Order>>> = Mutex::new(None);
    let (sender, started) = channel();
    let mut starter = STARTER.lock().unwrap_or_else(PoisonError::into_inner);
    let orders = match starter.take() {
        Some(orders) => orders,
        None => {
            let (orders, work) = channel::<Order>();
            let work = move || {
                block_signals();
                for (mut command, started) in work {
                    let _ = started.send(command.spawn());
                }
            };
            crate::thread::spawn(Builder::new().name("starter".into()), work)?;
            orders
        }
    };
    let ended = |_| io::Error::other("the thread that starts programs has ended");
    starter.insert(orders).send((command, sender)).map_err(|_| ended(()))?;
    started.recv().map_err(|_| ended(()))?
}

/// Leaves all signals to other threads, which may hold them back.
fn block_signals() {
    // SAFETY: the set is filled before it is used; the old mask is not wanted.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut());
    }
}

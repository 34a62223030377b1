//! A small process that starts one command.
//!
//! The kernel counts in a process's peak memory (`ru_maxrss`) what it had before
//! it executed its program. A command that borrows latlas's memory until then
//! would have latlas's peak at least. This process is a fork of latlas that has
//! moved its copy of latlas's memory to a file in memory: only pages that it
//! uses are resident. CLONE_PARENT makes the command latlas's own child.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::{self, BufReader};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::OnceLock;
use std::{ptr, slice};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use rustix::net::{recv, send, socketpair};
use rustix::process::Pid;

use crate::child::{Forked, NOT_STARTED};
use crate::command::Command;
use crate::mapping::Mapping;

use super::blocked::{Blocked, caught_signals};
use super::group::pidfd_open;
use super::memory::peak_of;
use super::pages::{Copied, copied_by_fork};
use super::settings::write_value;
use super::start::{Cloned, Start, StartRequest};

/// For the starter, and as much for its child: a few system calls.
const STACK_BYTES: usize = 64 << 10;

/// Latlas's own memory while it runs commands is a few MiB. With more, the copy
/// would take longer than a better figure is worth.
const MOST_COPIED: usize = 256 << 20;

/// What the starter says once it is small.
const READY: [u8; 1] = [1];

/// The process that starts one command, killed when this is dropped. Ends with
/// the thread that made it.
#[derive(Debug)]
pub(crate) struct Starter {
    process: Forked,
    /// Readable once it has ended.
    ended: OwnedFd,
    socket: OwnedFd,
    /// Its end, kept open here: it has no descriptors of its own.
    _its: OwnedFd,
    /// Its peak memory once it has started a command; the next ones don't change it.
    peak_bytes: OnceLock<u64>,
}

impl Starter {
    /// Forks it. Its children inherit what the calling thread has now: counters,
    /// signal mask, priority, CPUs.
    ///
    /// # Errors
    /// What the system says; `OutOfMemory` if there is too much to copy.
    pub(super) fn new(command: &Command) -> io::Result<Starter> {
        let copied = copied_by_fork(BufReader::new(File::open("/proc/self/smaps")?))?;
        if copied.iter().map(|copied| copied.bytes.len()).sum::<usize>() > MOST_COPIED {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let memory = memfd_create("latlas-starter", MemfdFlags::CLOEXEC)?;
        let (socket, its) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        // Not of the heap: this range alone keeps its pages.
        let mut stacks = Mapping::new(2 * STACK_BYTES)?;
        let stacks = stacks.as_mut_slice().as_mut_ptr_range();
        let signals = Blocked::all_signals()?;
        let order = StartOrder {
            command,
            copied: &copied,
            memory: memory.as_raw_fd(),
            socket: its.as_raw_fd(),
            parent: std::process::id() as libc::pid_t,
            caught: &caught_signals(),
            mask: signals.before,
            stacks: stacks.start as usize..stacks.end as usize,
        };
        // SAFETY: without CLONE_VM the child has its own copy of the stack and of
        // `order`; `serve` makes system calls only. The descriptors are shared
        // (CLONE_FILES): it needs those that are opened for later runs, and must
        // keep none open that this process closes.
        let pid = unsafe {
            libc::clone(
                serve,
                stacks.end.cast::<c_void>(),
                libc::CLONE_FILES | libc::SIGCHLD,
                (&raw const order).cast_mut().cast::<c_void>(),
            )
        };
        let error = io::Error::last_os_error();
        drop(signals);
        let process = Forked::from_pid(Pid::from_raw(pid.max(0)).ok_or(error)?);
        let starter = Starter {
            ended: pidfd_open(pid)?,
            process,
            socket,
            _its: its,
            peak_bytes: OnceLock::new(),
        };
        let mut ready = [0];
        starter.receive(&mut ready)?;
        if ready == READY { Ok(starter) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    pub(super) fn process_id(&self) -> u32 {
        self.process.process_id()
    }

    /// Its peak memory, asked for after its first command: reading it costs as much as a command's start.
    pub(super) fn peak_bytes(&self) -> u64 {
        *self.peak_bytes.get_or_init(|| peak_of(Some(self.process_id())).unwrap_or(0))
    }

    pub(super) fn has_ended(&self) -> bool {
        let mut ended = [PollFd::new(&self.ended, PollFlags::IN)];
        poll(&mut ended, Some(&Timespec::default())) != Ok(0)
    }

    /// Starts the command.
    ///
    /// # Errors
    /// `BrokenPipe` if this process has ended before it answered.
    pub(super) fn start_command(&self, request: StartRequest) -> io::Result<Cloned> {
        send(&self.socket, bytes_of(&request), SendFlags::NOSIGNAL)?;
        let mut cloned = [0; size_of::<Cloned>()];
        self.receive(&mut cloned)?;
        // SAFETY: numbers only, of any value, as many bytes as there are.
        Ok(unsafe { ptr::read_unaligned(cloned.as_ptr().cast()) })
    }

    fn receive(&self, into: &mut [u8]) -> io::Result<()> {
        loop {
            let mut fds =
                [PollFd::new(&self.socket, PollFlags::IN), PollFd::new(&self.ended, PollFlags::IN)];
            match poll(&mut fds, None) {
                Err(Errno::INTR) => continue,
                other => other?,
            };
            if fds[0].revents().is_empty() {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            let (_, received) = recv(&self.socket, &mut *into, RecvFlags::empty())?;
            return match received == into.len() {
                true => Ok(()),
                false => Err(io::ErrorKind::InvalidData.into()),
            };
        }
    }
}

fn bytes_of(request: &StartRequest) -> &[u8] {
    // SAFETY: numbers without padding between them.
    unsafe { slice::from_raw_parts((&raw const *request).cast(), size_of::<StartRequest>()) }
}

/// What the starter finds in its copy of latlas's memory.
struct StartOrder<'a> {
    command: &'a Command,
    copied: &'a [Copied],
    /// The file that its memory moves to.
    memory: RawFd,
    socket: RawFd,
    parent: libc::pid_t,
    caught: &'a [i32],
    mask: libc::sigset_t,
    /// Its own stack, the upper half, and the one of its children.
    stacks: Range<usize>,
}

/// The starter: becomes small, then starts the command as often as asked to.
extern "C" fn serve(order: *mut c_void) -> c_int {
    // SAFETY: what `Starter::new` passes, in this process's own copy of it.
    let order = unsafe { &*order.cast::<StartOrder>() };
    // SAFETY: system calls on numbers.
    unsafe {
        if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0
            || libc::getppid() != order.parent
        {
            return NOT_STARTED;
        }
    }
    for copied in order.copied {
        move_to_file(order, copied);
    }
    // The peak so far was that of the fork. Where it can't be set back, what
    // latlas reads of this process says so.
    let _ = write_value(c"/proc/self/clear_refs", c"5");
    if !send_all(order.socket, &READY) {
        return NOT_STARTED;
    }
    let stack = (order.stacks.start + STACK_BYTES) as *mut c_void;
    loop {
        let mut request = MaybeUninit::<StartRequest>::zeroed();
        // SAFETY: the kernel writes as many bytes as there are.
        let received = unsafe {
            libc::recv(order.socket, request.as_mut_ptr().cast(), size_of::<StartRequest>(), 0)
        };
        if received != size_of::<StartRequest>() as isize {
            return NOT_STARTED;
        }
        // SAFETY: numbers, all of them received.
        let request = unsafe { request.assume_init() };
        let start = Start::new(order.command, request, order.caught, order.mask);
        // SAFETY: the lower half of the stacks is for this, all signals of this
        // process are blocked, and it waits.
        let cloned = unsafe { start.clone_child(stack, libc::CLONE_PARENT) };
        // SAFETY: numbers without padding between them.
        let cloned =
            unsafe { slice::from_raw_parts((&raw const cloned).cast::<u8>(), size_of::<Cloned>()) };
        if !send_all(order.socket, cloned) {
            return NOT_STARTED;
        }
    }
}

fn send_all(socket: RawFd, bytes: &[u8]) -> bool {
    // SAFETY: the kernel reads as many bytes as there are.
    let sent =
        unsafe { libc::send(socket, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
    sent == bytes.len() as isize
}

/// Replaces a range of this memory, but for the stacks, by a private mapping of
/// a file with the same content. A range that can't be moved stays.
fn move_to_file(order: &StartOrder, copied: &Copied) {
    let (bytes, stacks) = (&copied.bytes, &order.stacks);
    let parts = [bytes.start..bytes.end.min(stacks.start), bytes.start.max(stacks.end)..bytes.end];
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        let (start, length) = (ptr::with_exposed_provenance_mut::<c_void>(part.start), part.len());
        let offset = copied.offset.wrapping_add(part.start - bytes.start);
        let Ok(offset) = libc::off_t::try_from(offset) else {
            continue;
        };
        let protection = match copied.is_writable {
            true => libc::PROT_READ | libc::PROT_WRITE,
            false => libc::PROT_READ,
        };
        // SAFETY: the kernel reads the range, whatever it is by now, and fails
        // where there is nothing. What replaces it has the same content: nothing
        // but this thread changes this memory, and its stack is not part of it.
        unsafe {
            if libc::pwrite(order.memory, start, length, offset) == length as isize {
                let flags = libc::MAP_PRIVATE | libc::MAP_FIXED;
                libc::mmap(start, length, protection, flags, order.memory, offset);
            }
        }
    }
}

//! Starting a command: `clone(2)` as `posix_spawn` uses it. The child borrows
//! the memory of the process that clones it until it executes its program, so
//! nothing is copied. That process is a [`Starter`], or else this one.

use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use model::setting::Setting;

use crate::child::NOT_STARTED;
use crate::clock::monotonic_raw_ns;
use crate::command::{Action, Command, NotStarted, Streams};
use crate::settings::Patience;

use super::blocked::{Blocked, caught_signals};
use super::controls::OwnMemory;
use super::settings::errno;
use super::starter::Starter;

/// What the child needs until it executes its program: a few system calls.
const STACK_WORDS: usize = (64 << 10) / size_of::<u128>();

/// Pause and attempts where the kernel refuses to change an autogroup: without
/// privilege it takes one change in 100 ms.
const AUTOGROUP_AGAIN: Duration = Duration::from_millis(110);
const AUTOGROUP_TRIES: u32 = 50;

/// The stack that children use until they execute their program.
#[derive(Debug)]
pub(super) struct Stack(Vec<u128>);

/// A command that was started. Times of CLOCK_MONOTONIC_RAW, ns.
pub(super) struct Started {
    pub(super) child: libc::pid_t,
    /// Just before its process was made.
    pub(super) began_ns: u64,
    /// When its program was loaded.
    pub(super) loaded_ns: u64,
    /// The process whose memory it borrowed until then; `None` is this one.
    pub(super) lender: Option<u32>,
}

impl Stack {
    pub(super) fn new() -> Stack {
        Stack(vec![0; STACK_WORDS])
    }

    /// Starts the command in the process group of `leader`, or in a session
    /// that it writes to `watcher`.
    pub(super) fn start_command(
        &mut self,
        command: &Command,
        streams: &Streams,
        leader: libc::pid_t,
        watcher: BorrowedFd,
    ) -> Result<Started, NotStarted> {
        let request = StartRequest {
            group: leader,
            parent: std::process::id() as libc::pid_t,
            watcher: watcher.as_raw_fd(),
            streams: [streams.input, streams.output, streams.error].map(|fd| fd.as_raw_fd()),
        };
        for _ in 1..AUTOGROUP_TRIES {
            match self.clone_once(command, request, watcher) {
                Err(no)
                    if no.action == Action::Control(Setting::Autogroup(0).row())
                        && no.error.kind() == io::ErrorKind::WouldBlock => {}
                other => return other,
            }
            std::thread::sleep(AUTOGROUP_AGAIN);
        }
        self.clone_once(command, request, watcher)
    }

    fn clone_once(
        &mut self,
        command: &Command,
        request: StartRequest,
        watcher: BorrowedFd,
    ) -> Result<Started, NotStarted> {
        let starter = command.starter.get_or_init(|| Starter::new(command).ok());
        let (cloned, lender) = match starter.as_ref().filter(|starter| !starter.has_ended()) {
            Some(starter) => {
                let cloned = starter.start_command(request);
                let id = Some(starter.process_id());
                (cloned.map_err(|e| Action::Clone.failed(e))?, id)
            }
            None => {
                let signals = Blocked::all_signals().map_err(|e| Action::BlockSignals.failed(e))?;
                let caught = caught_signals();
                let start = Start::new(command, request, &caught, signals.before);
                let stack = self.0.as_mut_ptr_range().end.cast::<c_void>();
                // SAFETY: the stack is the child's alone and large enough, all
                // signals are blocked, and this thread waits.
                let cloned = unsafe { start.clone_child(stack, 0) };
                drop(signals);
                (cloned, None)
            }
        };
        if cloned.child < 0 {
            let error = io::Error::from_raw_os_error(cloned.error);
            return Err(Action::Clone.failed(error));
        }
        if cloned.step == 0 {
            return Ok(Started {
                child: cloned.child,
                began_ns: cloned.began_ns,
                loaded_ns: cloned.loaded_ns,
                lender,
            });
        }
        let _ = wait4(cloned.child);
        // It may have informed the watcher of its session already.
        if command.laid.own_session() && cloned.step < CONTROLS {
            let written = rustix::io::write(watcher, &(-cloned.child).to_ne_bytes());
            written.map_err(|e| Action::TrackSession.failed(e.into()))?;
        }
        let error = io::Error::from_raw_os_error(cloned.error);
        Err(action_of(command, cloned.step).failed(error))
    }
}

/// Where a command is to run.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct StartRequest {
    group: libc::pid_t,
    parent: libc::pid_t,
    /// Where the watcher reads of sessions.
    watcher: RawFd,
    streams: [RawFd; 3],
}

/// What came of it. Times of CLOCK_MONOTONIC_RAW, ns.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Cloned {
    began_ns: u64,
    loaded_ns: u64,
    /// -1: there is no child.
    child: libc::pid_t,
    /// Where it failed; 0 if it did not.
    step: i32,
    /// With which error.
    error: i32,
    _padding: i32,
}

/// What the child finds in the memory that it borrows.
pub(super) struct Start<'a> {
    command: &'a Command,
    request: StartRequest,
    /// Signals that this process handles: their handlers must not run in the
    /// child.
    caught: &'a [i32],
    mask: libc::sigset_t,
    step: AtomicI32,
    error: AtomicI32,
}

impl<'a> Start<'a> {
    pub(super) fn new(
        command: &'a Command,
        request: StartRequest,
        caught: &'a [i32],
        mask: libc::sigset_t,
    ) -> Start<'a> {
        Start { command, request, caught, mask, step: AtomicI32::new(0), error: AtomicI32::new(0) }
    }

    /// Makes the child, and returns once it has executed its program or ended.
    /// Makes system calls only.
    ///
    /// # Safety
    /// `stack` is the end of memory that the child alone uses, large enough for
    /// the system calls of [`child_main`], and all signals are blocked, so that no
    /// handler runs in the child.
    pub(super) unsafe fn clone_child(&self, stack: *mut c_void, flags: i32) -> Cloned {
        let own_memory = OwnMemory::keep(&self.command.laid);
        let began_ns = monotonic_raw_ns();
        // SAFETY: the caller answers for stack and signals; CLONE_VFORK keeps
        // this thread from running until the child has left this memory.
        let child = unsafe {
            libc::clone(
                child_main,
                stack,
                libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD | flags,
                (&raw const *self).cast_mut().cast::<c_void>(),
            )
        };
        let clone_error = errno();
        let loaded_ns = monotonic_raw_ns();
        drop(own_memory);
        Cloned {
            began_ns,
            loaded_ns,
            child,
            step: self.step.load(Ordering::Acquire),
            error: if child < 0 { clone_error } else { self.error.load(Ordering::Acquire) },
            _padding: 0,
        }
    }
}

/// What the child does apart from its controls, by its number less one.
const STEPS: [Action; 5] = [
    Action::JoinGroup,
    Action::SetDeathSignal,
    Action::ReportSession,
    Action::SetStreams,
    Action::Execute,
];

/// Steps from here on are controls.
const CONTROLS: i32 = 100;

fn action_of(command: &Command, step: i32) -> Action {
    match u8::try_from(step - CONTROLS) {
        Ok(control) => Action::Control(command.laid.row(control)),
        Err(_) => STEPS[usize::try_from(step - 1).unwrap_or(0).min(STEPS.len() - 1)],
    }
}

/// The child: everything that is set for the command, then its program.
extern "C" fn child_main(start: *mut c_void) -> i32 {
    // SAFETY: what `clone_child` passes; it lives until this has executed its program
    // or ended, since CLONE_VFORK holds the parent until then.
    let start = unsafe { &*start.cast::<Start>() };
    let (step, error) = prepare(start).err().unwrap_or_else(|| {
        start.command.program.execute();
        (5, errno())
    });
    start.error.store(error, Ordering::Release);
    start.step.store(step, Ordering::Release);
    NOT_STARTED
}

/// The step that failed, and its error.
fn prepare(start: &Start) -> Result<(), (i32, i32)> {
    let (command, request) = (start.command, &start.request);
    let own_session = command.laid.own_session();
    // SAFETY: system calls on numbers and on memory that outlives them; none
    // allocates or locks.
    unsafe {
        if !own_session && libc::setpgid(0, request.group) != 0 {
            return Err((1, errno()));
        }
        if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
            return Err((2, errno()));
        }
        // It may have ended before that.
        if libc::getppid() != request.parent {
            libc::_exit(NOT_STARTED);
        }
        command
            .laid
            .set(Patience::None)
            .map_err(|(at, error)| (CONTROLS + i32::from(at), error))?;
        if own_session {
            // Before the streams, which may take the descriptor's place.
            let session = libc::getpid().to_ne_bytes();
            if libc::write(request.watcher, session.as_ptr().cast(), session.len()) != 4 {
                return Err((3, errno()));
            }
        }
        for (to, &from) in (0..).zip(&request.streams) {
            // One that has the right number already only loses its
            // close-on-exec flag.
            let done = match from == to {
                true => libc::fcntl(from, libc::F_SETFD, 0),
                false => libc::dup2(from, to),
            };
            if done < 0 {
                return Err((4, errno()));
            }
        }
        for &signal in start.caught {
            libc::signal(signal, libc::SIG_DFL);
        }
        // Rust's runtime ignores it, which other programs don't expect.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const start.mask, ptr::null_mut());
    }
    Ok(())
}

/// Waits for a child that has ended or will: its status and what it cost.
pub(super) fn wait4(child: libc::pid_t) -> io::Result<(i32, libc::rusage)> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: the kernel writes one integer and one `rusage`.
        if unsafe { libc::wait4(child, &raw mut status, 0, usage.as_mut_ptr()) } == child {
            // SAFETY: filled in; zero bytes are valid too.
            return Ok((status, unsafe { usage.assume_init() }));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

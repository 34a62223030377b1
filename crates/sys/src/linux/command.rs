//! `clone(2)` as `posix_spawn` uses it: the child borrows this process's
//! memory until it executes its program, so that nothing is copied; and a
//! `pidfd` to wait with a limit.

use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use rustix::time::{ClockId, clock_getres};

use crate::child::{NOT_STARTED, hear_of_children, timeval_ns};
use crate::clock::monotonic_raw_ns;
use crate::command::{Command, End, Finished, Limits, NotStarted, Streams, Usage};
use crate::controls::{Patience, Step};
use crate::counters::{Counters, Event, Totals};
use crate::forked::Forked;
use crate::memory::peak_resident_bytes;

use super::controls::{Above, raise};
use super::watcher::{MOST_SESSIONS, is_left, kill_left, watch};

/// What the child needs until it executes its program: a few system calls.
const STACK_WORDS: usize = (64 << 10) / size_of::<u128>();

/// How often it is looked whether a command has been stopped. One that is at
/// two looks in a row is not going on by itself.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How long is waited where the kernel takes no change of an autogroup just
/// now, and how often: it takes one in 100 ms from whoever is not root.
const AUTOGROUP_AGAIN: Duration = Duration::from_millis(110);
const AUTOGROUP_TRIES: u32 = 50;

/// The process group that commands run in, led by a watcher that ends it with
/// this process. What is left in it is killed when this is dropped.
///
/// A command with a session of its own can't be in that group, since a group
/// lies within a session. It leads a group that has its own number: the command
/// tells the watcher that number before its program starts.
#[derive(Debug)]
pub struct Group {
    watcher: Forked,
    /// The watcher hears from its other end of sessions, and that this process
    /// has ended.
    alive: OwnedFd,
    /// Sessions of commands in which something is left, by their number.
    sessions: Vec<libc::pid_t>,
    /// The command with a session of its own that runs.
    running: Option<libc::pid_t>,
    /// The child's stack until it executes its program.
    stack: Vec<u128>,
    /// Totals at the end of the last command.
    totals: Option<Totals>,
    /// A command ended as one that was asked to, and nobody had asked: no end
    /// is waited on for a request any more.
    ends_so_by_itself: bool,
}

impl Group {
    /// A new group. From here on this process hears of its children's ends,
    /// though its parent may have ignored SIGCHLD.
    ///
    /// # Errors
    /// What `pipe(2)` and `fork(2)` say.
    pub fn start() -> io::Result<Group> {
        hear_of_children()?;
        let (ended, alive) = pipe_with(PipeFlags::CLOEXEC)?;
        let (ended_raw, alive_raw) = (ended.as_raw_fd(), alive.as_raw_fd());
        // SAFETY: the body makes system calls only.
        let watcher = unsafe { Forked::start(move || watch(ended_raw, alive_raw)) }?;
        let leader = watcher.id() as libc::pid_t;
        // Both do it, so that it is done whoever comes first.
        // SAFETY: two process ids.
        if unsafe { libc::setpgid(leader, leader) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Group {
            watcher,
            alive,
            sessions: Vec::new(),
            running: None,
            stack: vec![0; STACK_WORDS],
            totals: None,
            ends_so_by_itself: false,
        })
    }

    fn leader(&self) -> libc::pid_t {
        self.watcher.id() as libc::pid_t
    }

    fn kill(&self) {
        for &session in &self.sessions {
            kill_left(session);
        }
        for group in [self.running, Some(self.leader())].into_iter().flatten() {
            if let Some(group) = Pid::from_raw(group) {
                let _ = kill_process_group(group, Signal::KILL);
            }
        }
    }

    /// A command with a session of its own was waited for: its number means
    /// what it left in its group, as long as there is something.
    fn session_ended(&mut self) -> io::Result<()> {
        let Some(session) = self.running.take() else {
            return Ok(());
        };
        self.sessions.push(session);
        self.forget_empty_sessions()
    }

    /// Nothing is left of a session: its number will be another's.
    fn tell_of_end(&self, session: libc::pid_t) -> io::Result<()> {
        rustix::io::write(&self.alive, &(-session).to_ne_bytes())?;
        Ok(())
    }

    fn forget_empty_sessions(&mut self) -> io::Result<()> {
        let sessions = self.sessions.drain(..);
        let (left, empty): (Vec<_>, Vec<_>) = sessions.partition(|&session| is_left(session));
        self.sessions = left;
        for session in empty {
            self.tell_of_end(session)?;
        }
        match self.sessions.len() < MOST_SESSIONS {
            true => Ok(()),
            false => Err(io::Error::other(
                "too many of its runs left processes running, each in a session of its own",
            )),
        }
    }

    /// CPU time in ns that was counted since the last command ended: what
    /// commands left running. 0 where CPU time is not counted.
    ///
    /// # Errors
    /// What `read(2)` says.
    pub fn left_over_ns(&self, counters: &mut Counters) -> io::Result<u64> {
        let now = counters.read()?;
        let since = self.totals.map(|last| now.since(&last));
        Ok(since
            .and_then(|counts| counts.get(Event::TaskClock))
            .unwrap_or(0))
    }

    /// The processes of the group, but for the watcher: while no command runs,
    /// those that commands left running. Zombies don't count.
    ///
    /// # Errors
    /// When `/proc` can't be read.
    pub fn members(&self) -> io::Result<Vec<u32>> {
        let leader = self.watcher.id();
        let is_ours = |group: u32| {
            let group = group.cast_signed();
            group == self.leader() || self.sessions.contains(&group)
        };
        let mut members = Vec::new();
        for entry in std::fs::read_dir("/proc")? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            // One that has just ended has no file any more.
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            if pid != leader && group_of(&stat).is_some_and(is_ours) {
                members.push(pid);
            }
        }
        Ok(members)
    }

    /// Runs a command to its end, or kills the whole group at a limit: then
    /// this group is of no use any more.
    ///
    /// # Errors
    /// Why it could not be started, or not be waited for.
    pub fn run(
        &mut self,
        command: &Command,
        streams: Streams,
        counters: &mut Counters,
        limits: Limits,
    ) -> Result<Finished, NotStarted> {
        let before = counters
            .read()
            .map_err(|e| NotStarted::new("read the counters", e))?;
        // Whoever may have to end it needs a CPU beside it.
        let _above = self.raise_above(command.fifo)?;
        let (child, began_ns, started_ns) = self.begin_command(command, &streams)?;
        self.running = command.laid.own_session().then_some(child);
        let early = self.watch_over(child, limits);
        if !matches!(early, Ok(None)) {
            self.kill();
        }
        let (status, usage) =
            wait4(child).map_err(|e| NotStarted::new("wait for the command", e))?;
        let ended_ns = monotonic_raw_ns();
        match early {
            Ok(None) => self
                .session_ended()
                .map_err(|e| NotStarted::new("look after its session", e))?,
            // Killed, and the watcher too.
            _ => self.running = None,
        }
        let early = early.map_err(|e| NotStarted::new("watch over the command", e))?;
        let after = counters
            .read()
            .map_err(|e| NotStarted::new("read the counters", e))?;
        self.totals = Some(after);
        let end = early.unwrap_or(match libc::WIFSIGNALED(status) {
            true => End::Signal(libc::WTERMSIG(status)),
            false => End::Code(libc::WEXITSTATUS(status)),
        });
        let end = match end {
            end if asked_to_end(&end) && self.is_asked_too(limits) => End::Interrupted,
            end => end,
        };
        Ok(Finished {
            end,
            usage: Usage {
                wall_ns: ended_ns - began_ns,
                start_ns: started_ns - began_ns,
                user_ns: timeval_ns(usage.ru_utime).unwrap_or(0),
                system_ns: timeval_ns(usage.ru_stime).unwrap_or(0),
                peak_bytes: usage.ru_maxrss as u64 * 1024,
                own_bytes: peak_resident_bytes().unwrap_or(0),
                voluntary: usage.ru_nvcsw as u64,
                involuntary: usage.ru_nivcsw as u64,
                minor_faults: usage.ru_minflt as u64,
                major_faults: usage.ru_majflt as u64,
                counts: after.since(&before),
            },
            process: child.cast_unsigned(),
        })
    }

    /// Whether latlas is asked to end as well as the command that has ended so.
    fn is_asked_too(&mut self, limits: Limits) -> bool {
        let Some(wake) = limits.wake else {
            return false;
        };
        let time = match self.ends_so_by_itself {
            true => Duration::ZERO,
            false => REACHES_ALL,
        };
        let asked = is_woken_within(wake, time);
        self.ends_so_by_itself = !asked;
        asked
    }

    /// This thread, and the watcher, before commands of a priority.
    fn raise_above(&self, fifo: Option<u8>) -> Result<Option<Above>, NotStarted> {
        let Some(priority) = fifo else {
            return Ok(None);
        };
        let above = raise(self.leader(), priority).and_then(|()| Above::start(priority));
        above
            .map(Some)
            .map_err(|e| NotStarted::new(Step::Policy.doing(), e))
    }

    /// Makes the process; and again where the kernel takes no change of an
    /// autogroup just now. The process, when that began, and when its program
    /// was loaded.
    fn begin_command(
        &mut self,
        command: &Command,
        streams: &Streams,
    ) -> Result<(libc::pid_t, u64, u64), NotStarted> {
        for _ in 1..AUTOGROUP_TRIES {
            match self.clone_command(command, streams) {
                Err(no)
                    if no.doing == Step::Autogroup.doing()
                        && no.error.kind() == io::ErrorKind::WouldBlock => {}
                other => return other,
            }
            std::thread::sleep(AUTOGROUP_AGAIN);
        }
        self.clone_command(command, streams)
    }

    fn clone_command(
        &mut self,
        command: &Command,
        streams: &Streams,
    ) -> Result<(libc::pid_t, u64, u64), NotStarted> {
        let signals = Blocked::all().map_err(|e| NotStarted::new("block signals", e))?;
        let start = Start {
            command,
            group: self.leader(),
            parent: std::process::id() as libc::pid_t,
            watcher: self.alive.as_raw_fd(),
            streams: [
                streams.input.as_raw_fd(),
                streams.output.as_raw_fd(),
                streams.error.as_raw_fd(),
            ],
            caught: caught_signals(),
            mask: signals.before,
            step: AtomicI32::new(0),
            error: AtomicI32::new(0),
        };
        let own_memory = command.laid.keep_own_memory();
        let began_ns = monotonic_raw_ns();
        // SAFETY: the stack is the child's alone and large enough for the
        // system calls of `begin`; CLONE_VFORK keeps this thread from running
        // until the child has left this memory, and all signals are blocked,
        // so no handler runs in the child.
        let child = unsafe {
            libc::clone(
                begin,
                self.stack.as_mut_ptr_range().end.cast::<c_void>(),
                libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
                (&raw const start).cast_mut().cast::<c_void>(),
            )
        };
        let clone_error = io::Error::last_os_error();
        let started_ns = monotonic_raw_ns();
        drop((own_memory, signals));
        if child < 0 {
            return Err(NotStarted::new("make a process", clone_error));
        }
        let step = start.step.load(Ordering::Acquire);
        if step != 0 {
            let _ = wait4(child);
            // It may have told of its session already.
            if command.laid.own_session() && step < CONTROLS {
                let _ = self.tell_of_end(child);
            }
            let error = io::Error::from_raw_os_error(start.error.load(Ordering::Acquire));
            return Err(NotStarted::new(doing(step), error));
        }
        Ok((child, began_ns, started_ns))
    }

    /// Waits until the command has ended (`None`) or a limit is there.
    fn watch_over(&self, child: libc::pid_t, limits: Limits) -> io::Result<Option<End>> {
        let pid = Pid::from_raw(child).ok_or(io::ErrorKind::Other)?;
        let ended = pidfd_open(child)?;
        let until = limits.time.map(|time| Instant::now() + time);
        let mut fds = vec![PollFd::new(&ended, PollFlags::IN)];
        if let Some(wake) = &limits.wake {
            fds.push(PollFd::new(wake, PollFlags::IN));
        }
        let mut stopped_before = false;
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let wait = left.map_or(LOOK_EVERY, |left| left.min(LOOK_EVERY));
            let ready = match poll(&mut fds, Some(&timespec(wait))) {
                Err(Errno::INTR) => continue,
                other => other?,
            };
            // First, since a request to end may have ended the command as well.
            if fds.get(1).is_some_and(|wake| !wake.revents().is_empty()) {
                return Ok(Some(End::Interrupted));
            }
            if !fds[0].revents().is_empty() {
                return Ok(None);
            }
            if ready == 0 && left.is_some_and(|left| left.is_zero()) {
                return Ok(Some(End::TimedOut));
            }
            let stopped = stopped_by(pid)?;
            match stopped {
                Some(signal) if stopped_before => return Ok(Some(End::Stopped(signal))),
                _ => stopped_before = stopped.is_some(),
            }
        }
    }
}

/// Whether a command ended as one that was asked to: by the signal, or by the exit
/// code that shells and handlers make of it.
fn asked_to_end(end: &End) -> bool {
    let asks = |signal| [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].contains(&signal);
    match end {
        End::Signal(signal) => asks(*signal),
        End::Code(code) => asks(code - 128),
        _ => false,
    }
}

/// A request to end that goes to all processes of a service (`systemctl stop`)
/// may reach the command this much earlier than latlas, on a busy machine.
const REACHES_ALL: Duration = Duration::from_secs(1);

/// Whether `wake` becomes readable within a time. The handler that makes it so
/// may run in this thread, and interrupt the wait.
fn is_woken_within(wake: BorrowedFd, time: Duration) -> bool {
    let until = Instant::now() + time;
    let mut wake = [PollFd::from_borrowed_fd(wake, PollFlags::IN)];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match poll(&mut wake, Some(&timespec(left))) {
            Err(Errno::INTR) => {}
            other => return other.is_ok_and(|ready| ready > 0),
        }
    }
}

/// A descriptor that is readable once the process has ended (`pidfd_open(2)`,
/// which rustix has for Linux and not for Android).
fn pidfd_open(pid: libc::pid_t) -> io::Result<OwnedFd> {
    // SAFETY: a system call on numbers.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    match RawFd::try_from(fd) {
        // SAFETY: the kernel has just made it, and only this function knows it.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The signal that a child is stopped by right now, left for others to see.
fn stopped_by(child: Pid) -> io::Result<Option<i32>> {
    let look = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = waitid(WaitId::Pid(child), look)?;
    Ok(status.and_then(|status| status.stopping_signal()))
}

/// The process group in a line of `/proc/PID/stat`; `None` for a zombie. A
/// name may hold blanks and brackets, but nothing behind the last bracket is
/// part of it.
fn group_of(stat: &str) -> Option<u32> {
    let (_, behind) = stat.rsplit_once(')')?;
    let mut fields = behind.split_whitespace();
    let state = fields.next()?;
    let group = fields.nth(1)?.parse().ok()?;
    (state != "Z" && state != "X").then_some(group)
}

/// The coarse clock moves by one tick at a time.
pub(crate) fn tick_ns() -> Option<u64> {
    let step = clock_getres(ClockId::MonotonicCoarse);
    let seconds = u64::try_from(step.tv_sec).ok()?;
    let nanoseconds = u64::try_from(step.tv_nsec).ok()?;
    Some(seconds * 1_000_000_000 + nanoseconds).filter(|&ns| ns > 0)
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}

/// What the child finds in the memory that it borrows.
struct Start<'a> {
    command: &'a Command,
    group: libc::pid_t,
    parent: libc::pid_t,
    /// Where the watcher hears of sessions.
    watcher: RawFd,
    streams: [RawFd; 3],
    /// Signals that this process handles: their handlers must not run in the
    /// child.
    caught: Vec<i32>,
    mask: libc::sigset_t,
    /// Where the child failed; 0 if it did not.
    step: AtomicI32,
    /// With which error.
    error: AtomicI32,
}

/// What the child does beside its controls, in the order of their numbers from 1.
const STEPS: [&str; 5] = [
    "join the command's process group",
    "bind the command to latlas's life",
    "tell the watcher of its session",
    "set the command's input and output",
    "execute the program",
];

/// Steps from here on are controls.
const CONTROLS: i32 = 100;

fn doing(step: i32) -> &'static str {
    if step >= CONTROLS {
        return Step::of_number(u8::try_from(step - CONTROLS).unwrap_or(0)).doing();
    }
    let place = usize::try_from(step).unwrap_or(0);
    STEPS
        .get(place.wrapping_sub(1))
        .copied()
        .unwrap_or("start the command")
}

/// The child: everything that is set for the command, then its program.
extern "C" fn begin(start: *mut c_void) -> i32 {
    // SAFETY: what `run` passes; it lives until this has executed its program
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

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// The step that failed, and its error.
fn prepare(start: &Start) -> Result<(), (i32, i32)> {
    let command = start.command;
    let own_session = command.laid.own_session();
    // SAFETY: system calls on numbers and on memory that outlives them; none
    // allocates or locks.
    unsafe {
        if !own_session && libc::setpgid(0, start.group) != 0 {
            return Err((1, errno()));
        }
        if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
            return Err((2, errno()));
        }
        // It may have ended before that.
        if libc::getppid() != start.parent {
            libc::_exit(NOT_STARTED);
        }
        command
            .laid
            .set(Patience::None)
            .map_err(|(step, error)| (CONTROLS + step as i32, error))?;
        if own_session {
            // Before the streams, which may take the descriptor's place.
            let session = libc::getpid().to_ne_bytes();
            if libc::write(start.watcher, session.as_ptr().cast(), session.len()) != 4 {
                return Err((3, errno()));
            }
        }
        for (to, &from) in (0..).zip(&start.streams) {
            // One that is in its place already must only lose its mark
            // close-on-exec.
            let done = match from == to {
                true => libc::fcntl(from, libc::F_SETFD, 0),
                false => libc::dup2(from, to),
            };
            if done < 0 {
                return Err((4, errno()));
            }
        }
        for &signal in &start.caught {
            libc::signal(signal, libc::SIG_DFL);
        }
        // What Rust's runtime ignores for itself, no other program expects.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const start.mask, ptr::null_mut());
    }
    Ok(())
}

/// All signals of this thread blocked, as long as this lives.
struct Blocked {
    before: libc::sigset_t,
}

impl Blocked {
    fn all() -> io::Result<Blocked> {
        let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: the two sets are local; the kernel fills `before`.
        let (status, before) = unsafe {
            let mut every = MaybeUninit::<libc::sigset_t>::zeroed();
            libc::sigfillset(every.as_mut_ptr());
            let status =
                libc::pthread_sigmask(libc::SIG_BLOCK, every.as_ptr(), before.as_mut_ptr());
            (status, before.assume_init())
        };
        match status {
            0 => Ok(Blocked { before }),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: gives back the mask that was there.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut());
        }
    }
}

/// The signals that this process handles.
fn caught_signals() -> Vec<i32> {
    let handled = |signal: &i32| {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: asks only; all zeros are a valid action.
        let action = unsafe {
            if libc::sigaction(*signal, ptr::null(), action.as_mut_ptr()) != 0 {
                return false;
            }
            action.assume_init()
        };
        !matches!(action.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN)
    };
    (1..=64).filter(handled).collect()
}

/// Waits for a child that has ended or will: its status and what it cost.
fn wait4(child: libc::pid_t) -> io::Result<(i32, libc::rusage)> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_group_is_found_behind_whatever_a_process_is_called() {
        assert_eq!(group_of("7 (sh) S 1 42 42 0"), Some(42));
        assert_eq!(group_of("7 (a) S 9 9 (b)) R 1 43 42 0"), Some(43));
        assert_eq!(group_of("7 (sh) Z 1 42 42 0"), None);
        assert_eq!(group_of(""), None);
    }

    #[test]
    fn a_tick_is_some_milliseconds() {
        let tick = tick_ns().expect("Linux has the coarse clock");
        // CONFIG_HZ is 100 to 1000.
        assert!((900_000..=10_100_000).contains(&tick), "{tick}");
    }

    extern "C" fn nothing(_signal: libc::c_int) {}

    #[test]
    fn signals_to_the_thread_that_waits_end_no_wait() {
        // SAFETY: a handler that does nothing, for a signal that no other test uses.
        unsafe { libc::signal(libc::SIGUSR2, nothing as *const () as libc::sighandler_t) };
        // SAFETY: no conditions.
        let waits = unsafe { libc::pthread_self() };
        let (wake, write) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for _ in 0..20 {
                    std::thread::sleep(Duration::from_millis(2));
                    // SAFETY: the thread waits for this scope's end.
                    unsafe { libc::pthread_kill(waits, libc::SIGUSR2) };
                }
                rustix::io::write(&write, b"x").expect("into an empty pipe");
            });
            assert!(is_woken_within(wake.as_fd(), Duration::from_secs(600)));
        });
        let (silent, _write) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        assert!(!is_woken_within(silent.as_fd(), Duration::from_millis(1)));
    }
}

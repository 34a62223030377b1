//! The processes of commands: waiting for one with a limit (`pidfd`), and
//! killing all of them.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use model::setting::{Policy, Setting};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process_group, test_kill_process_group, waitid,
};
use rustix::time::{ClockId, clock_getres};

use crate::child::usage::timeval_ns;
use crate::child::{Forked, hear_of_children};
use crate::clock::{later, monotonic_raw_ns, timespec_ns};
use crate::command::{Action, Command, End, Finished, Limits, NotStarted, Streams, Usage};
use crate::counters::{Counters, Event, Totals};
use crate::proc_stat::Stat;

use super::controls::{Above, raise};
use super::memory::peak_of;
use super::start::{Stack, wait4};

/// How often to check whether a command has been stopped. One that is stopped
/// at two checks in a row does not go on by itself.
const CHECK_EVERY: Duration = Duration::from_millis(250);

/// A request to end that goes to all processes of a service (`systemctl stop`)
/// may reach the command this much earlier than latlas, on a busy machine.
const REACHES_ALL: Duration = Duration::from_secs(1);

/// Sessions with processes left in them that are tracked.
const MOST_SESSIONS: usize = 1024;

/// The process group that commands run in, led by a watcher that kills it when
/// this process ends. Dropping it kills what is left.
///
/// A command with its own session can't be in that group, since a group lies
/// within a session. It leads a group with its own number, which it writes to
/// the watcher before its program starts.
#[derive(Debug)]
pub struct Group {
    watcher: Forked,
    /// The write end of the watcher's pipe: numbers of sessions; its end of
    /// file means that this process has ended.
    alive: OwnedFd,
    /// Sessions of ended commands with processes left in them.
    sessions: Vec<libc::pid_t>,
    /// The running command, if it has its own session.
    running: Option<libc::pid_t>,
    stack: Stack,
    /// Totals at the end of the last command.
    totals: Option<Totals>,
    /// A command ended as if asked to while latlas was not: don't wait for a
    /// request after further ends.
    ends_so_by_itself: bool,
}

impl Group {
    /// A new group. Sets SIGCHLD to its default in this process.
    pub fn start() -> io::Result<Group> {
        hear_of_children()?;
        let (ended, alive) = pipe_with(PipeFlags::CLOEXEC)?;
        let (ended_raw, alive_raw) = (ended.as_raw_fd(), alive.as_raw_fd());
        // SAFETY: the body makes system calls only.
        let watcher = unsafe { Forked::start(move || watch(ended_raw, alive_raw)) }?;
        let leader = watcher.id() as libc::pid_t;
        // The watcher does it too: whichever is first.
        // SAFETY: two process ids.
        if unsafe { libc::setpgid(leader, leader) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Group {
            watcher,
            alive,
            sessions: Vec::new(),
            running: None,
            stack: Stack::new(),
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

    /// The command in its own session was waited for: its number now stands
    /// for what it left in its group.
    fn session_ended(&mut self) -> io::Result<()> {
        let Some(session) = self.running.take() else {
            return Ok(());
        };
        self.sessions.push(session);
        let sessions = self.sessions.drain(..);
        let (left, empty): (Vec<_>, Vec<_>) = sessions.partition(|&session| is_left(session));
        self.sessions = left;
        for session in empty {
            // The number may become another session's.
            rustix::io::write(&self.alive, &(-session).to_ne_bytes())?;
        }
        match self.sessions.len() < MOST_SESSIONS {
            true => Ok(()),
            false => Err(io::Error::other(
                "too many runs left processes behind, each in its own session",
            )),
        }
    }

    /// CPU time in ns that was counted since the last command ended: what
    /// commands left running. 0 where CPU time is not counted.
    pub fn left_over_ns(&self, counters: &mut Counters) -> io::Result<u64> {
        let now = counters.read()?;
        let since = self.totals.map(|last| now.since(&last));
        Ok(since.and_then(|counts| counts.get(Event::TaskClock)).unwrap_or(0))
    }

    /// The processes of the group without the watcher: while no command runs,
    /// those that commands left running. Zombies are not counted.
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
    pub fn run(
        &mut self,
        command: &Command,
        streams: Streams,
        counters: &mut Counters,
        limits: Limits,
    ) -> Result<Finished, NotStarted> {
        let before = counters.read().map_err(|e| Action::ReadCounters.failed(e))?;
        let _above = self.raise_above(command.fifo)?;
        let leader = self.leader();
        let started = self.stack.start(command, &streams, leader, self.alive.as_fd())?;
        let child = started.child;
        self.running = command.laid.own_session().then_some(child);
        let early = self.wait_until(child, limits);
        if !matches!(early, Ok(None)) {
            self.kill();
        }
        let (status, usage) = wait4(child).map_err(|e| Action::Wait.failed(e))?;
        let ended_ns = monotonic_raw_ns();
        match early {
            Ok(None) => self.session_ended().map_err(|e| Action::TrackSession.failed(e))?,
            // Killed, and the watcher too.
            _ => self.running = None,
        }
        let early = early.map_err(|e| Action::Watch.failed(e))?;
        let after = counters.read().map_err(|e| Action::ReadCounters.failed(e))?;
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
                wall_ns: ended_ns - started.began_ns,
                start_ns: started.loaded_ns - started.began_ns,
                user_ns: timeval_ns(usage.ru_utime).unwrap_or(0),
                system_ns: timeval_ns(usage.ru_stime).unwrap_or(0),
                peak_bytes: usage.ru_maxrss as u64 * 1024,
                own_bytes: peak_of(started.lender).unwrap_or(0),
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
        let time = if self.ends_so_by_itself { Duration::ZERO } else { REACHES_ALL };
        let asked = is_woken_within(wake, time);
        self.ends_so_by_itself = !asked;
        asked
    }

    /// Raises this thread and the watcher above a SCHED_FIFO command, which they
    /// may have to kill.
    fn raise_above(&self, fifo: Option<u8>) -> Result<Option<Above>, NotStarted> {
        let Some(priority) = fifo else {
            return Ok(None);
        };
        let above = raise(self.leader(), priority).and_then(|()| Above::start(priority));
        above.map(Some).map_err(|e| Action::Control(Setting::Policy(Policy::Other).row()).failed(e))
    }

    /// Waits until the command has ended (`None`) or a limit is there.
    fn wait_until(&self, child: libc::pid_t, limits: Limits) -> io::Result<Option<End>> {
        let pid = Pid::from_raw(child).ok_or(io::ErrorKind::Other)?;
        let ended = pidfd_open(child)?;
        let until = limits.time.map(|time| later(Instant::now(), time));
        let mut fds = vec![PollFd::new(&ended, PollFlags::IN)];
        if let Some(wake) = &limits.wake {
            fds.push(PollFd::new(wake, PollFlags::IN));
        }
        let mut stopped_before = false;
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let wait = left.map_or(CHECK_EVERY, |left| left.min(CHECK_EVERY));
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

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
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
pub(super) fn pidfd_open(pid: libc::pid_t) -> io::Result<OwnedFd> {
    // SAFETY: a system call on numbers.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    match RawFd::try_from(fd) {
        // SAFETY: the kernel has just made it, and only this function knows it.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The signal that a child is stopped by right now, left for others to see. None for one that has ended: the
/// kernel has no child to look at then (`ECHILD`), though its status is still to be waited for.
fn stopped_by(child: Pid) -> io::Result<Option<i32>> {
    let look = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(child), look) {
        Err(Errno::CHILD) => Ok(None),
        status => Ok(status?.and_then(|status| status.stopping_signal())),
    }
}

/// The process group in a line of `/proc/PID/stat`; `None` for a zombie.
fn group_of(stat: &str) -> Option<u32> {
    let stat = Stat::of(stat)?;
    stat.number(5).filter(|_| !["Z", "X"].contains(&stat.state()))
}

/// One scheduler tick, ns, which is how the coarse clock moves: where the
/// kernel accounts by ticks, CPU time is user or system time by what each tick
/// interrupts. `None` where it is not known.
pub fn tick_ns() -> Option<u64> {
    timespec_ns(clock_getres(ClockId::MonotonicCoarse)).filter(|&ns| ns > 0)
}

fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}

/// Signals that a terminal or a user sends to a whole group, which the watcher
/// must survive.
const NOT_FOR_THE_WATCHER: [i32; 8] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGPIPE,
];

/// Whether processes are left in a session's group.
fn is_left(session: libc::pid_t) -> bool {
    let group = Pid::from_raw(session).map(test_kill_process_group);
    group != Some(Err(Errno::SRCH))
}

/// Kills what is left in the group of a session whose leader was waited for.
/// The number is not reused while something is left; if it is a process's
/// again, nothing is.
fn kill_left(session: libc::pid_t) {
    if let Some(group) = Pid::from_raw(session)
        && super::settings::session_of(session).is_none()
    {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// The watcher's body: reads numbers of sessions (negative when nothing is left
/// in one) until the other end is closed, then kills them and the group that it
/// leads, itself included.
fn watch(ended: RawFd, alive: RawFd) -> i32 {
    let mut sessions = [0; MOST_SESSIONS + 1];
    let (mut count, mut last) = (0, 0);
    // SAFETY: system calls on numbers, four bytes on the stack and null; all
    // are async-signal-safe. The death signal that every forked child starts
    // with would kill this one before its work.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, 0);
        libc::setpgid(0, 0);
        for signal in NOT_FOR_THE_WATCHER {
            libc::signal(signal, libc::SIG_IGN);
        }
        libc::close(alive);
        loop {
            let mut number = [0_u8; 4];
            // Written at once, so never read in parts (pipe(7)).
            let got = libc::read(ended, number.as_mut_ptr().cast(), number.len());
            let again = io::Error::last_os_error().kind() == io::ErrorKind::Interrupted;
            match libc::pid_t::from_ne_bytes(number) {
                _ if got < 0 && again => {}
                _ if got <= 0 => break,
                gone if gone < 0 => {
                    if let Some(place) = sessions[..count].iter().position(|&s| s == -gone) {
                        count -= 1;
                        sessions[place] = sessions[count];
                    }
                }
                begun => {
                    last = begun;
                    sessions[count.min(MOST_SESSIONS)] = begun;
                    count = (count + 1).min(sessions.len());
                }
            }
        }
        for &session in &sessions[..count] {
            // Only the last one may still have its leader.
            if session == last && libc::getsid(session) == session {
                libc::kill(-session, libc::SIGKILL);
            }
            kill_left(session);
        }
        libc::kill(0, libc::SIGKILL);
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_group_is_parsed_after_any_process_name() {
        assert_eq!(group_of("7 (sh) S 1 42 42 0"), Some(42));
        assert_eq!(group_of("7 (a) S 9 9 (b)) R 1 43 42 0"), Some(43));
        assert_eq!(group_of("7 (sh) Z 1 42 42 0"), None);
        assert_eq!(group_of(""), None);
    }

    #[test]
    fn signals_that_ask_to_end_and_their_exit_codes() {
        let asked = [1, 2, 15].map(End::Signal);
        assert!(asked.iter().all(asked_to_end));
        assert!([129, 130, 143].map(End::Code).iter().all(asked_to_end));
        let by_itself = [0, 1, 2, 15, 128, 137].map(End::Code);
        let others = [End::Signal(9), End::TimedOut, End::Stopped(15)];
        assert!(!by_itself.iter().chain(&others).any(asked_to_end));
    }

    #[test]
    fn a_child_that_has_ended_is_not_stopped_and_not_an_error() {
        let child = std::process::Command::new("true").spawn();
        let mut child = child.expect("it starts");
        while !crate::process::has_ended(&child).expect("ours") {
            std::thread::yield_now();
        }
        let pid = Pid::from_raw(child.id().cast_signed()).expect("its id");
        assert_eq!(stopped_by(pid).expect("no error"), None);
        assert!(child.wait().expect("waited for only now").success());
    }

    #[test]
    fn a_tick_is_some_milliseconds() {
        let tick = tick_ns().expect("Linux has the coarse clock");
        // CONFIG_HZ is 100 to 1000.
        assert!((900_000..=10_100_000).contains(&tick), "{tick}");
    }

    #[test]
    fn a_command_runs_without_its_starter_too() {
        let path = crate::command::find_program("true".as_ref()).expect("in PATH");
        let none: [&str; 0] = [];
        let command = Command::new("true".as_ref(), &path, &none, &[]).expect("a program");
        let null = crate::process::null_device().expect("/dev/null");
        let streams = Streams { input: null.as_fd(), output: null.as_fd(), error: null.as_fd() };
        let mut group = Group::start().expect("a group");
        let mut counters = Counters::open();
        let mut run = || {
            let finished = group.run(&command, streams, &mut counters, Limits::default());
            let finished = finished.expect("it starts");
            assert_eq!(finished.end, End::Code(0));
            finished.usage.own_bytes
        };
        let with = run();
        let starter = command.starter.get().and_then(Option::as_ref);
        let Some(starter) = starter else {
            return println!("SKIPPED: no process can be made that starts commands");
        };
        let pid = Pid::from_raw(starter.id().cast_signed()).expect("its id");
        rustix::process::kill_process(pid, Signal::KILL).expect("its own child");
        while !starter.has_ended() {
            std::thread::yield_now();
        }
        // Of this process, then.
        assert!(run() > with, "{with}");
    }

    /// A session whose command has ended and left one process.
    fn session_left_by(group: &mut Group) -> libc::pid_t {
        let path = crate::command::find_program("sh".as_ref()).expect("in PATH");
        let controls = [Setting::OwnSession(true)];
        let words = ["-c", "sleep 86393.5 &"];
        let command = Command::new("sh".as_ref(), &path, &words, &controls).expect("a program");
        let null = crate::process::null_device().expect("/dev/null");
        let streams = Streams { input: null.as_fd(), output: null.as_fd(), error: null.as_fd() };
        let finished = group.run(&command, streams, &mut Counters::open(), Limits::default());
        finished.expect("it starts").process.cast_signed()
    }

    #[test]
    fn the_watcher_kills_what_sessions_left_and_no_session_that_got_an_old_number() {
        let mut group = Group::start().expect("a group");
        let again = session_left_by(&mut group);
        let killed = session_left_by(&mut group);
        let before = group.members().expect("proc");
        let (ended, alive) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        let (ended_raw, alive_raw) = (ended.as_raw_fd(), alive.as_raw_fd());
        // SAFETY: the body makes system calls only.
        let watcher = unsafe { Forked::start(move || watch(ended_raw, alive_raw)) };
        let mut watcher = watcher.expect("a process");
        // The number of a session that has ended has come back since.
        for number in [again, killed, -again] {
            rustix::io::write(&alive, &number.to_ne_bytes()).expect("into an empty pipe");
        }
        drop(alive);
        let until = Instant::now() + Duration::from_secs(180);
        let mut left = before.clone();
        while watcher.try_wait().is_none() || left.len() == before.len() {
            assert!(Instant::now() < until, "{left:?}");
            std::thread::sleep(Duration::from_millis(5));
            left = group.members().expect("proc");
        }
        let group_of = |pid: &u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
            group_of(&stat.unwrap_or_default()).map(u32::cast_signed)
        };
        assert_eq!(before.len(), 2);
        assert_eq!(left.iter().map(group_of).collect::<Vec<_>>(), [Some(again)]);
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

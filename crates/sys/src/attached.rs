//! A foreground command: it has our streams and our process group, and gets the
//! signals sent to us. This process waits for it and holds back requests to
//! end until the work after it is done.

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::ptr;
use std::time::{Duration, Instant};

use model::setting::Setting;

use crate::child::hear_of_children;
use crate::controls::Laid;
use crate::process::end_with_parent;
use crate::settings::Patience;
use crate::stop::is_ignored;

/// Signals that ask a process to end.
const REQUESTS: [libc::c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// While this lives, requests to end (SIGINT, SIGTERM, SIGHUP, SIGQUIT) wait:
/// those that came are obeyed when it is dropped. Of the calling thread, so
/// made before others are started.
#[derive(Debug)]
pub struct Held {
    before: libc::sigset_t,
}

/// Holds requests to end back. From here on the ends of children are heard of,
/// also where the parent ignored those of its own: nothing would be there to be
/// waited for.
///
/// # Errors
/// What `pthread_sigmask(3)` and `sigaction(2)` say.
pub fn hold() -> io::Result<Held> {
    hear_of_children()?;
    let mut before = MaybeUninit::uninit();
    let set = held();
    // SAFETY: both sets are of the right type and live over the call; the old
    // mask is written if it succeeds, and only then read.
    unsafe {
        match libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, before.as_mut_ptr()) {
            0 => Ok(Held { before: before.assume_init() }),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

/// What is held: the requests, and the message that a child has ended, which
/// is waited for.
fn held() -> libc::sigset_t {
    signal_set(REQUESTS.into_iter().chain([libc::SIGCHLD]))
}

fn requests() -> libc::sigset_t {
    signal_set(REQUESTS.into_iter())
}

fn signal_set(signals: impl Iterator<Item = libc::c_int>) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` makes the set; adding valid numbers can't fail.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

impl Held {
    /// A request to end that came since they are held, and is not ignored here
    /// (nohup(1)): it is taken, and no longer waits.
    fn request(&self) -> Option<libc::c_int> {
        loop {
            let signal = take_pending(&requests())?;
            if !is_ignored(signal) {
                return Some(signal);
            }
        }
    }

    /// Waits for a request to end, no longer than this: whether one came. It is
    /// taken, and no longer waits.
    pub fn is_requested_within(&self, limit: Duration) -> bool {
        match wait_for(&requests(), limit) {
            Ok(Some((signal, _))) => !is_ignored(signal),
            _ => false,
        }
    }

    /// Runs the command to its end, in these control groups (joined before its
    /// program is there). Requests to end that others send to this process go
    /// on to it; those of the terminal it gets itself. It is killed when this
    /// process is (on Linux). If a request came before it could begin, it does
    /// not: the status is as if that had ended it.
    ///
    /// # Errors
    /// If it does not start, with what was tried in the text; what
    /// `waitpid(2)` says.
    pub fn run_command(&self, command: &mut Command, groups: &[PathBuf]) -> io::Result<ExitStatus> {
        match self.start_command(command, groups)? {
            Started::Running(mut running) => running.wait(),
            Started::Requested(signal) => Ok(ExitStatus::from_raw(signal)),
        }
    }

    /// Starts the command, like [`Held::run_command`].
    ///
    /// # Errors
    /// If it does not start.
    pub fn start_command(&self, command: &mut Command, groups: &[PathBuf]) -> io::Result<Started> {
        let groups: Vec<Setting> = groups.iter().cloned().map(Setting::Group).collect();
        let groups = Laid::new(&groups).map_err(|refused| refused.error)?;
        let mask = self.before;
        let parent = std::process::id();
        // SAFETY: between fork and exec the closure makes system calls on
        // memory that was laid out before, and allocates nothing (an error of
        // the system is a number).
        unsafe {
            command.pre_exec(move || {
                let joined = groups.set(Patience::Waits);
                joined.map_err(|(_, errno)| io::Error::from_raw_os_error(errno))?;
                // Where there is no such signal, the command may outlive us.
                end_with_parent(parent)?;
                libc::pthread_sigmask(libc::SIG_SETMASK, &raw const mask, ptr::null_mut());
                Ok(())
            });
        }
        if let Some(signal) = self.request() {
            return Ok(Started::Requested(signal));
        }
        Ok(Started::Running(Running { child: command.spawn()?, stops: Vec::new(), requests: 0 }))
    }
}

/// A command that was to be started.
#[derive(Debug)]
pub enum Started {
    /// It runs.
    Running(Running),
    /// This request to end came before.
    Requested(libc::c_int),
}

/// A foreground command that runs.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stops: Vec<Stop>,
    /// Requests to end that were passed on.
    requests: u32,
}

/// From when to when a command was stopped by a signal, in ns of CLOCK_MONOTONIC_RAW, as far as
/// its parent noticed: somewhat later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// All its threads had stopped.
    pub from_ns: u64,
    /// They could go on; `None` if they never could.
    pub to_ns: Option<u64>,
}

/// Requests after which a command that goes on is not waited for.
const TWICE: u32 = 2;

impl Running {
    /// Its process.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end, passing requests to end on to it.
    ///
    /// # Errors
    /// What `waitpid(2)` says.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = self.wait_until(Instant::now() + Duration::from_secs(3600))? {
                return Ok(status);
            }
        }
    }

    /// The same until some time.
    ///
    /// # Errors
    /// What `waitpid(2)` says.
    pub fn wait_until(&mut self, limit: Instant) -> io::Result<Option<ExitStatus>> {
        self.wait_for_end(limit, u32::MAX)
    }

    /// The same, and no longer than until the second request to end was passed on: the first had
    /// no effect.
    ///
    /// # Errors
    /// What `waitpid(2)` says.
    pub fn wait_until_asked_twice(&mut self, limit: Instant) -> io::Result<Option<ExitStatus>> {
        self.wait_for_end(limit, TWICE)
    }

    /// Ends it: by SIGTERM, after this time by SIGKILL.
    ///
    /// # Errors
    /// What `waitpid(2)` says.
    pub fn end_within(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        self.terminate();
        if let Some(status) = self.wait_until(Instant::now() + grace)? {
            return Ok(status);
        }
        self.send(libc::SIGKILL);
        self.wait()
    }

    /// Whether a second request to end was passed on.
    pub fn is_asked_twice(&self) -> bool {
        self.requests >= TWICE
    }

    fn wait_for_end(&mut self, limit: Instant, requests: u32) -> io::Result<Option<ExitStatus>> {
        let set = held();
        loop {
            let status = self.child.try_wait()?;
            self.look_at_stops();
            let left = limit.saturating_duration_since(Instant::now());
            if status.is_some() || left.is_zero() || self.requests >= requests {
                return Ok(status);
            }
            match wait_for(&set, left.min(LONGEST_WAIT))? {
                // Whether it is the command's end is looked at above. The
                // terminal sends to the whole group, the command included.
                None | Some((libc::SIGCHLD, _) | (_, true)) => {}
                Some((signal, false)) => {
                    self.requests += 1;
                    self.send(signal);
                }
            }
        }
    }

    /// When it was stopped while it was waited for.
    pub fn stops(&self) -> &[Stop] {
        &self.stops
    }

    fn look_at_stops(&mut self) {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::STOPPED | WaitIdOptions::CONTINUED | WaitIdOptions::NOHANG;
        let Some(child) = Pid::from_raw(self.child.id().cast_signed()) else {
            return;
        };
        while let Ok(Some(change)) = waitid(WaitId::Pid(child), options) {
            let now_ns = crate::clock::monotonic_raw_ns();
            if change.stopped() {
                self.stops.push(Stop { from_ns: now_ns, to_ns: None });
            } else if let Some(last) = self.stops.last_mut() {
                last.to_ns.get_or_insert(now_ns);
            }
        }
    }

    /// Asks it to end (SIGTERM).
    pub fn terminate(&self) {
        self.send(libc::SIGTERM);
    }

    fn send(&self, signal: libc::c_int) {
        // SAFETY: a number of a child that was not waited for yet.
        unsafe { libc::kill(self.child.id().cast_signed(), signal) };
    }
}

/// Another thread that does not block a signal may take it: so long after, the
/// caller looks at what it waits for.
const LONGEST_WAIT: Duration = Duration::from_millis(250);

/// Waits for a blocked signal of the set (`sigtimedwait(2)`): its number, and
/// whether the kernel itself sent it (keys of the terminal, hangup). `None` if
/// none came in time.
#[cfg(not(target_vendor = "apple"))]
fn wait_for(set: &libc::sigset_t, limit: Duration) -> io::Result<Option<(libc::c_int, bool)>> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    match timed_wait(set, info.as_mut_ptr(), limit) {
        Ok(signal) => {
            // SAFETY: filled in, and all its bytes were zero before.
            let sender = unsafe { info.assume_init() }.si_code;
            Ok(Some((signal, sender == libc::SI_KERNEL)))
        }
        Err(error) => match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
            _ => Err(error),
        },
    }
}

/// A pending signal of the set.
#[cfg(not(target_vendor = "apple"))]
fn take_pending(set: &libc::sigset_t) -> Option<libc::c_int> {
    loop {
        match timed_wait(set, ptr::null_mut(), Duration::ZERO) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            taken => return taken.ok(),
        }
    }
}

#[cfg(not(target_vendor = "apple"))]
fn timed_wait(
    set: &libc::sigset_t,
    info: *mut libc::siginfo_t,
    limit: Duration,
) -> io::Result<libc::c_int> {
    let time =
        libc::timespec { tv_sec: limit.as_secs() as _, tv_nsec: limit.subsec_nanos().into() };
    // SAFETY: set and time live over the call; `info` is null or a record of
    // the caller's that the kernel may fill.
    match unsafe { libc::sigtimedwait(set, info, &raw const time) } {
        signal if signal >= 0 => Ok(signal),
        _ => Err(io::Error::last_os_error()),
    }
}

/// By `sigwait(2)`, which names no sender of a signal, and has no timeout:
/// no other thread may take the signal.
#[cfg(target_vendor = "apple")]
fn wait_for(set: &libc::sigset_t, _limit: Duration) -> io::Result<Option<(libc::c_int, bool)>> {
    let mut signal = 0;
    // SAFETY: both live over the call.
    match unsafe { libc::sigwait(set, &raw mut signal) } {
        0 => Ok(Some((signal, false))),
        libc::EINTR => Ok(None),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// By `sigpending(2)`.
#[cfg(target_vendor = "apple")]
fn take_pending(set: &libc::sigset_t) -> Option<libc::c_int> {
    let mut waiting = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: the call fills the set in, of which zero bytes are valid too.
    let waiting = unsafe {
        if libc::sigpending(waiting.as_mut_ptr()) != 0 {
            return None;
        }
        waiting.assume_init()
    };
    // SAFETY: both sets are whole; numbers from 1 to 31 are signals here.
    let both = |signal: &libc::c_int| unsafe {
        libc::sigismember(set, *signal) == 1 && libc::sigismember(&raw const waiting, *signal) == 1
    };
    (1..32)
        .any(|signal| both(&signal))
        .then(|| wait_for(set, Duration::ZERO).ok().flatten())
        .flatten()
        .map(|(signal, _)| signal)
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: the mask is one that the kernel wrote.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_ends_as_it_ends() {
        let held = hold().expect("held");
        let mut command = Command::new("sh");
        command.args(["-c", "exit 7"]);
        assert_eq!(held.run_command(&mut command, &[]).expect("ran").code(), Some(7));
        let mut absent = Command::new("/no/such/program");
        assert_eq!(
            held.run_command(&mut absent, &[]).expect_err("absent").kind(),
            io::ErrorKind::NotFound
        );
        let mut lost = Command::new("true");
        let error = held.run_command(&mut lost, &["/no/such/group".into()]);
        assert_eq!(error.expect_err("no group").kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn an_end_requested_before_starts_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let mark = directory.path().join("ran");
        let held = hold().expect("held");
        // SAFETY: to this thread, which holds it back.
        assert_eq!(unsafe { libc::raise(libc::SIGTERM) }, 0);
        let mut command = Command::new("touch");
        let status = held.run_command(command.arg(&mark), &[]).expect("asked");
        assert_eq!(status.signal(), Some(libc::SIGTERM));
        assert!(!mark.exists());
        // It is obeyed, and the next one runs.
        let status = held.run_command(command.arg(&mark), &[]).expect("ran");
        assert!(status.success() && mark.exists());
    }

    #[test]
    fn a_command_is_not_held_itself() {
        let held = hold().expect("held");
        let mut command = Command::new("sh");
        command.args(["-c", "kill -TERM $$; sleep 60"]);
        let status = held.run_command(&mut command, &[]).expect("ran");
        assert_eq!(status.signal(), Some(libc::SIGTERM));
    }

    #[test]
    fn a_command_is_waited_for_in_parts() {
        let held = hold().expect("held");
        let mut command = Command::new("sleep");
        let started = held.start_command(command.arg("60"), &[]).expect("started");
        let Started::Running(mut running) = started else {
            panic!("{started:?}");
        };
        let until = running.wait_until(Instant::now() + Duration::from_millis(1));
        assert_eq!(until.expect("waited"), None);
        // A request to this process goes on to the command, which it ends.
        // SAFETY: to this thread, which holds it back.
        assert_eq!(unsafe { libc::raise(libc::SIGTERM) }, 0);
        let status = running.wait().expect("waited");
        assert_eq!(status.signal(), Some(libc::SIGTERM));
    }

    #[test]
    fn stops_are_noticed() {
        let held = hold().expect("held");
        let mut command = Command::new("sh");
        let line = "kill -STOP $$; exit 7";
        let started = held.start_command(command.args(["-c", line]), &[]).expect("started");
        let Started::Running(mut running) = started else {
            panic!("{started:?}");
        };
        while running.stops().is_empty() {
            let until = Instant::now() + Duration::from_millis(10);
            assert_eq!(running.wait_until(until).expect("waited"), None);
        }
        assert_eq!(running.stops()[0].to_ns, None);
        running.send(libc::SIGCONT);
        assert_eq!(running.wait().expect("waited").code(), Some(7));
        let [stop] = running.stops() else {
            panic!("{:?}", running.stops());
        };
        // Where the end comes as soon as it goes on, that says enough.
        assert!(stop.to_ns.is_none_or(|to_ns| to_ns > stop.from_ns));
    }

    #[test]
    fn a_request_is_taken() {
        let held = hold().expect("held");
        let limit = Duration::from_millis(1);
        assert!(!held.is_requested_within(limit));
        // SAFETY: to this thread, which holds it back.
        assert_eq!(unsafe { libc::raise(libc::SIGTERM) }, 0);
        assert!(held.is_requested_within(limit));
        assert!(!held.is_requested_within(limit));
    }

    #[test]
    fn a_thread_that_takes_the_message_of_its_end_hangs_nothing() {
        // This thread blocks nothing, so the kernel may hand it each of them.
        let over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let thief = std::thread::spawn({
            let over = over.clone();
            move || {
                while !over.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }
        });
        let held = hold().expect("held");
        for _ in 0..200 {
            let status = held.run_command(&mut Command::new("true"), &[]).expect("ran");
            assert!(status.success());
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        thief.join().expect("over");
    }
}

//! Starting processes: by `fork`, `execve` and `posix_spawn` for the rows that
//! measure them, and as a forked copy of this process that goes on by itself.
//! Commands under control are in [`crate::command`].
//!
//! A forked child is a copy of a process that may have other threads, whose
//! locks stay locked in it: it must not allocate or lock.

use std::ffi::{CString, OsStr, c_char, c_int, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{ExitStatusExt, parent_id};
use std::path::Path;
use std::process::ExitStatus;
use std::ptr;

use rustix::fs::{Access, access};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::process::set_death_signal;

/// Exit code of a child whose program could not be started, as of a shell.
pub const NOT_STARTED: i32 = 127;

/// The environment that a program gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Environment {
    /// None.
    Empty,
    /// That of this process, as it is when the [`Program`] is made.
    Inherited,
}

/// A program to start, laid out for the kernel before there is a child.
#[derive(Debug)]
pub struct Program {
    path: CString,
    arguments: Words,
    environment: Words,
}

impl Program {
    /// The program at `path`, called with these arguments after its name.
    ///
    /// # Errors
    /// `NotFound` or `PermissionDenied` if there is no such file or it may not
    /// be executed; `InvalidInput` for a zero byte in any of the words.
    pub fn new(path: &Path, arguments: &[&str], environment: Environment) -> io::Result<Program> {
        let name = path.file_name().unwrap_or(path.as_os_str());
        Program::lay_out(name, path, arguments, environment)
    }

    /// The program at `path` with `argv[0]`, arguments and this process's
    /// environment. Some programs find their own files by a slash in
    /// `argv[0]`.
    ///
    /// # Errors
    /// As [`Program::new`].
    pub fn called(
        name: &OsStr,
        path: &Path,
        arguments: &[impl AsRef<OsStr>],
    ) -> io::Result<Program> {
        Program::lay_out(name, path, arguments, Environment::Inherited)
    }

    fn lay_out(
        name: &OsStr,
        path: &Path,
        arguments: &[impl AsRef<OsStr>],
        environment: Environment,
    ) -> io::Result<Program> {
        access(path, Access::EXEC_OK)?;
        let variables = match environment {
            Environment::Empty => Vec::new(),
            Environment::Inherited => std::env::vars_os()
                .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
                .collect(),
        };
        Ok(Program {
            path: CString::new(path.as_os_str().as_bytes())?,
            arguments: Words::new(
                [name]
                    .into_iter()
                    .chain(arguments.iter().map(AsRef::as_ref))
                    .map(|word| word.as_bytes().to_vec()),
            )?,
            environment: Words::new(variables)?,
        })
    }

    /// Becomes the program. Returns only if that failed, and errno says why.
    pub(crate) fn execute(&self) {
        // SAFETY: the path ends in a zero byte, the lists in a null pointer;
        // all were made before, so this may be the child of a `fork`.
        unsafe {
            libc::execve(
                self.path.as_ptr(),
                self.arguments.as_ptr(),
                self.environment.as_ptr(),
            );
        }
    }
}

/// Words as C has them: pointers to them, the last one null.
#[derive(Debug)]
struct Words {
    /// What the pointers point to: on the heap, so it stays when this moves.
    _words: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl Words {
    fn new(words: impl IntoIterator<Item = Vec<u8>>) -> io::Result<Words> {
        let words: Vec<CString> = words
            .into_iter()
            .map(CString::new)
            .collect::<Result<_, _>>()?;
        let pointers = words
            .iter()
            .map(|word| word.as_ptr())
            .chain([ptr::null()])
            .collect();
        Ok(Words {
            _words: words,
            pointers,
        })
    }

    fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}

/// Forks a child that exits at once, and waits for it. Returns its exit
/// status, which is 0.
///
/// # Errors
/// What `fork(2)` says: `WouldBlock` at a limit of processes
/// ([`process_limits`](crate::process::process_limits)), `OutOfMemory`, or
/// `PermissionDenied` where a container forbids it. `Other` if a signal killed
/// the child.
pub fn fork_exit_wait() -> io::Result<i32> {
    // SAFETY: the child does nothing.
    wait_for(unsafe { fork(|| 0) }?)
}

/// Forks a child that executes the program, and waits for it. Returns the
/// program's exit status, [`NOT_STARTED`] where it could not be started.
///
/// # Errors
/// As [`fork_exit_wait`].
pub fn fork_exec_wait(program: &Program) -> io::Result<i32> {
    // SAFETY: `execve` may be called in the copy of a process with threads.
    let child = unsafe {
        fork(|| {
            program.execute();
            NOT_STARTED
        })
    };
    wait_for(child?)
}

/// Forks a child that runs `body` and exits with its result, with no
/// destructor and no handler.
///
/// # Safety
/// `body` may only call what is async-signal-safe; it must not allocate.
#[inline]
unsafe fn fork(body: impl FnOnce() -> i32) -> io::Result<Pid> {
    // SAFETY: the child calls `body`, for which the caller answers, and
    // `_exit`.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let code = body();
        // SAFETY: ends the child; nothing of the parent runs in it.
        unsafe { libc::_exit(code) }
    }
    // -1 is no pid.
    Pid::from_raw(pid.max(0)).ok_or_else(io::Error::last_os_error)
}

unsafe extern "C" {
    /// POSIX; libc does not declare it for Android.
    fn posix_spawn(
        child: *mut libc::pid_t,
        path: *const c_char,
        actions: *const c_void,
        attributes: *const c_void,
        arguments: *const *const c_char,
        environment: *const *const c_char,
    ) -> c_int;
}

/// Starts the program by `posix_spawn`, and waits for it. Returns its
/// exit status.
///
/// # Errors
/// As [`fork_exit_wait`], and what `execve(2)` says.
pub fn spawn_wait(program: &Program) -> io::Result<i32> {
    let mut child = 0;
    // SAFETY: the path ends in a zero byte, the lists in a null pointer, null
    // stands for no actions and default attributes, and the call writes one
    // process id.
    let error = unsafe {
        posix_spawn(
            &mut child,
            program.path.as_ptr(),
            ptr::null(),
            ptr::null(),
            program.arguments.as_ptr(),
            program.environment.as_ptr(),
        )
    };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    wait_for(Pid::from_raw(child).ok_or(io::ErrorKind::Other)?)
}

fn wait_for(child: Pid) -> io::Result<i32> {
    let status = retry_on_intr(|| waitpid(Some(child), WaitOptions::empty()))?;
    let (_, status) = status.ok_or(io::ErrorKind::Other)?;
    status.exit_status().ok_or_else(|| {
        let signal = status.terminating_signal().unwrap_or_default();
        io::Error::other(format!("signal {signal} killed the child"))
    })
}

/// Sets SIGCHLD to its default, so that children can be waited for. A parent
/// that ignored SIGCHLD passes that on, and then a child leaves no status.
///
/// # Errors
/// What `sigaction(2)` says.
pub fn hear_of_children() -> io::Result<()> {
    // SAFETY: installs no handler, only the default one.
    if unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) } == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// CPU time of this process and of all children it has waited for, in ns. In a
/// process with one thread that is pinned to one CPU, the rest of the elapsed
/// time went to others.
pub fn family_cpu_ns() -> Option<u64> {
    Some(cpu_ns(libc::RUSAGE_SELF)? + cpu_ns(libc::RUSAGE_CHILDREN)?)
}

fn cpu_ns(whose: c_int) -> Option<u64> {
    let usage = usage_of(whose)?;
    Some(timeval_ns(usage.ru_utime)? + timeval_ns(usage.ru_stime)?)
}

/// `getrusage(2)`.
pub(crate) fn usage_of(whose: c_int) -> Option<libc::rusage> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes one `rusage` to the pointer it gets.
    let status = unsafe { libc::getrusage(whose, usage.as_mut_ptr()) };
    // SAFETY: `rusage` holds only integers, for which zero bytes are valid
    // too, and the call has filled it in.
    (status == 0).then(|| unsafe { usage.assume_init() })
}

/// A time of the kernel's in ns; `None` below 0.
pub(crate) fn timeval_ns(time: libc::timeval) -> Option<u64> {
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let micros = u64::try_from(time.tv_usec).ok()?;
    Some((seconds * 1_000_000 + micros) * 1000)
}

/// Exit code of a child whose parent ended before it could ask to end with it.
const ORPHANED: i32 = 120;
/// Exit code of a child whose body panicked.
const PANICKED: i32 = 121;

/// A forked copy of this process that goes on by itself, killed (SIGKILL) and
/// reaped when this is dropped. It ends with its parent too: with the *thread*
/// that forked it on Linux.
#[derive(Debug)]
pub(crate) struct Forked {
    pid: Pid,
    ended: Option<ExitStatus>,
}

impl Forked {
    /// Forks; the child runs `body` and ends with the code that it gives. It
    /// runs no destructor and flushes no buffer.
    ///
    /// # Errors
    /// What `fork(2)` says: mostly `EAGAIN`, too many processes.
    ///
    /// # Safety
    /// `body` may only call what is async-signal-safe; it must not allocate.
    pub(crate) unsafe fn start(body: impl FnOnce() -> i32) -> io::Result<Forked> {
        let parent = std::process::id();
        // SAFETY: a few system calls and `body`, for which the caller answers.
        let pid = unsafe {
            fork(|| {
                // A panic must not unwind into the child's copy of our callers.
                let _exit = ExitOnUnwind;
                // Without that signal the child must notice by itself that its
                // parent has gone.
                let bound = set_death_signal().is_ok();
                let code = match bound && parent_id() != parent {
                    true => ORPHANED,
                    false => body(),
                };
                libc::_exit(code)
            })
        }?;
        Ok(Forked { pid, ended: None })
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// How it ended, if it has; reaped then.
    pub(crate) fn try_wait(&mut self) -> Option<ExitStatus> {
        self.reap(WaitOptions::NOHANG)
    }

    /// Ends it if it has not ended, and waits until it is gone. How it ended.
    pub(crate) fn end(&mut self) -> Option<ExitStatus> {
        if self.try_wait().is_none() {
            // Not reaped yet, so the id is still its own.
            let _ = kill_process(self.pid, Signal::KILL);
            self.reap(WaitOptions::empty());
        }
        self.ended
    }

    fn reap(&mut self, options: WaitOptions) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = match retry_on_intr(|| waitpid(Some(self.pid), options)) {
                Ok(Some((_, status))) => Some(ExitStatus::from_raw(status.as_raw())),
                // Reaped elsewhere: it is gone, its status unknown.
                Err(Errno::CHILD) => Some(ExitStatus::default()),
                Ok(None) | Err(_) => None,
            };
        }
        self.ended
    }
}

impl Drop for Forked {
    fn drop(&mut self) {
        self.end();
    }
}

struct ExitOnUnwind;

impl Drop for ExitOnUnwind {
    fn drop(&mut self) {
        // SAFETY: ends the process, with no handler and no destructor.
        unsafe { libc::_exit(PANICKED) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(path: &str, arguments: &[&str]) -> Program {
        Program::new(Path::new(path), arguments, Environment::Empty).expect("a program")
    }

    #[test]
    fn children_end_with_their_status() {
        assert_eq!(fork_exit_wait().expect("a child"), 0);
        for start in [fork_exec_wait, spawn_wait] {
            assert_eq!(
                start(&program("/bin/sh", &["-c", "exit 7"])).expect("a child"),
                7
            );
            assert_eq!(
                start(&program("/bin/sh", &["-c", "exit 0"])).expect("a child"),
                0
            );
            let killed = start(&program("/bin/sh", &["-c", "kill -9 $$"])).expect_err("a signal");
            assert!(killed.to_string().contains("signal 9"), "{killed}");
        }
    }

    #[test]
    fn a_program_that_is_not_one() {
        let missing = Program::new(Path::new("/no/such"), &[], Environment::Empty);
        assert_eq!(
            missing.expect_err("missing").kind(),
            io::ErrorKind::NotFound
        );
        let plain = Program::new(Path::new("/etc/passwd"), &[], Environment::Empty);
        let error = plain.expect_err("no program");
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("empty");
        std::fs::write(&path, b"\x7fnothing").expect("a file");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).expect("a mode");
        let wrong = Program::new(&path, &[], Environment::Empty).expect("it may be executed");
        assert_eq!(fork_exec_wait(&wrong).expect("a child"), NOT_STARTED);
        let error = spawn_wait(&wrong).expect_err("no format");
        assert_eq!(error.raw_os_error(), Some(libc::ENOEXEC));
    }

    #[test]
    fn the_environment_is_the_one_asked_for() {
        let count = |environment| {
            let test = ["-c", "test -n \"$CARGO_MANIFEST_DIR\""];
            let program = Program::new(Path::new("/bin/sh"), &test, environment).expect("sh");
            fork_exec_wait(&program).expect("a child")
        };
        // Set by cargo when it runs tests.
        assert_eq!(count(Environment::Inherited), 0);
        assert_eq!(count(Environment::Empty), 1);
    }

    #[test]
    fn a_childs_time_is_the_familys() {
        let childs = || cpu_ns(libc::RUSAGE_CHILDREN).expect("getrusage");
        // In this order: children of other tests may end between two readings,
        // and the family must not miss what the children's time has.
        let family = family_cpu_ns().expect("getrusage");
        let before = childs();
        let loop_ = ["-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"];
        let busy = program("/bin/sh", &loop_);
        assert_eq!(fork_exec_wait(&busy).expect("a child"), 0);
        let child = childs() - before;
        assert!(child > 0);
        assert!(family_cpu_ns().expect("getrusage") >= family + child);
    }

    fn forked(body: impl FnOnce() -> i32) -> Forked {
        // SAFETY: each body below is arithmetic, a system call or a panic,
        // which prints, but in a test.
        unsafe { Forked::start(body) }.expect("a process")
    }

    fn ended(child: &mut Forked) -> ExitStatus {
        loop {
            if let Some(status) = child.try_wait() {
                return status;
            }
            std::thread::yield_now();
        }
    }

    fn is_gone(id: u32) -> bool {
        let pid = Pid::from_raw(id.cast_signed()).expect("an id");
        matches!(waitpid(Some(pid), WaitOptions::NOHANG), Err(Errno::CHILD))
    }

    #[test]
    fn a_child_ends_with_its_bodys_code_and_is_reaped() {
        let mut child = forked(|| 7);
        assert_eq!(ended(&mut child).code(), Some(7));
        assert!(is_gone(child.id()));
        assert_eq!(child.end().and_then(|s| s.code()), Some(7), "no second end");
    }

    #[test]
    fn a_child_that_does_not_end_is_ended() {
        let child = forked(|| {
            loop {
                // SAFETY: a system call without arguments.
                unsafe { libc::pause() };
            }
        });
        let id = child.id();
        drop(child);
        assert!(is_gone(id));
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[test]
    fn a_refused_fork_is_an_error() {
        // In a child, where nobody else misses what is given up.
        let mut limited = forked(|| {
            let none = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            // SAFETY: the first reads `none`, the second takes a number. As a
            // bare call it concerns this thread alone, which is all there is.
            let limited = unsafe {
                libc::setrlimit(libc::RLIMIT_NPROC, &raw const none) == 0
                    // No limit holds for root.
                    && (libc::geteuid() != 0 || libc::syscall(libc::SYS_setuid, 65_534) == 0)
            };
            if !limited {
                return 2;
            }
            // SAFETY: the body does nothing.
            match unsafe { Forked::start(|| 0) } {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => 0,
                Err(_) => 3,
                Ok(_) => 4,
            }
        });
        assert_eq!(ended(&mut limited).code(), Some(0));
    }

    #[test]
    fn a_panic_ends_the_child_and_does_not_return() {
        let mut child = forked(|| {
            // The hook would print, and may wait for a lock of another thread.
            std::panic::resume_unwind(Box::new(()))
        });
        assert_eq!(ended(&mut child).code(), Some(PANICKED));
    }
}

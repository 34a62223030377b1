//! Child processes that come and go while somebody measures: made by `fork`
//! or `posix_spawn`, and waited for until nothing of them is left.
//!
//! Between `fork` and `_exit` or `execve` a child does nothing at all here: it
//! is a copy of a process that may have other threads, in which almost every
//! call (an allocation, a lock) may hang.

use std::ffi::{CString, OsStr, c_char, c_int, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use rustix::fs::{Access, access};

/// How a child ends whose program could not be started, as a shell says it.
pub const NOT_STARTED: i32 = 127;

/// The environment that a program gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Environment {
    /// None.
    Empty,
    /// That of this process, as it is when the [`Program`] is made.
    Inherited,
}

/// A program to start, laid out as the kernel wants it before any child is
/// there.
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

    /// The program at `path`, which is told to be called `name`, with these
    /// arguments and this process's environment. A name with a slash is how
    /// some programs find their own files.
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

/// Forks a child that ends at once, and waits for it. Gives its exit status,
/// which is 0.
///
/// # Errors
/// What `fork(2)` says: `WouldBlock` at a limit of processes
/// ([`process_limits`](crate::process::process_limits)), `OutOfMemory`, or
/// `PermissionDenied` where a container forbids it. `Other` if the child was
/// ended by a signal.
pub fn fork_exit_wait() -> io::Result<i32> {
    // SAFETY: the child calls nothing but `_exit`, which is safe in the copy
    // of a process with threads.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: ends the child; nothing of the parent's runs in it.
        0 => unsafe { libc::_exit(0) },
        child => wait_for(child),
    }
}

/// Forks a child that becomes the program, and waits for it. Gives the
/// program's exit status, [`NOT_STARTED`] where it could not be started.
///
/// # Errors
/// As [`fork_exit_wait`].
pub fn fork_exec_wait(program: &Program) -> io::Result<i32> {
    // SAFETY: the child calls nothing but `execve` and `_exit`, which are safe
    // in the copy of a process with threads.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            program.execute();
            // SAFETY: ends the child.
            unsafe { libc::_exit(NOT_STARTED) }
        }
        child => wait_for(child),
    }
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

/// Starts the program by `posix_spawn`, and waits for it. Gives its exit
/// status.
///
/// # Errors
/// As [`fork_exit_wait`]; what `execve(2)` says too, since `posix_spawn` tells
/// it.
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
    wait_for(child)
}

fn wait_for(child: libc::pid_t) -> io::Result<i32> {
    let mut status = 0;
    loop {
        // SAFETY: the kernel writes one integer.
        if unsafe { libc::waitpid(child, &mut status, 0) } == child {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    if libc::WIFEXITED(status) {
        Ok(libc::WEXITSTATUS(status))
    } else {
        Err(io::Error::other(format!(
            "the child was ended by signal {}",
            libc::WTERMSIG(status)
        )))
    }
}

/// Makes sure that this process hears of its children's ends. A parent that
/// ignored SIGCHLD handed that down, and then no child leaves a status.
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

/// CPU time of this process and of all children it has waited for, in ns. In
/// a process with one thread that is kept on one CPU, what is missing to the
/// time that passed went to others.
pub fn family_cpu_ns() -> Option<u64> {
    Some(cpu_ns(libc::RUSAGE_SELF)? + cpu_ns(libc::RUSAGE_CHILDREN)?)
}

fn cpu_ns(whose: c_int) -> Option<u64> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes one `rusage` to the pointer it gets.
    let status = unsafe { libc::getrusage(whose, usage.as_mut_ptr()) };
    // SAFETY: `rusage` holds only integers, for which zero bytes are valid
    // too, and the call has filled it in.
    let usage = (status == 0).then(|| unsafe { usage.assume_init() })?;
    Some(timeval_ns(usage.ru_utime)? + timeval_ns(usage.ru_stime)?)
}

/// A time that the kernel told, in ns; `None` for one below 0.
pub(crate) fn timeval_ns(time: libc::timeval) -> Option<u64> {
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let micros = u64::try_from(time.tv_usec).ok()?;
    Some((seconds * 1_000_000 + micros) * 1000)
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
}

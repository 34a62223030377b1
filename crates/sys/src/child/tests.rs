//! Children that are started, killed and waited for.

use super::forked::PANICKED;
use super::usage::cpu_ns;
use super::*;
use rustix::io::Errno;
use std::path::Path;
use std::process::ExitStatus;

fn program(path: &str, arguments: &[&str]) -> Program {
    Program::new(Path::new(path), arguments, Environment::Empty).expect("a program")
}

#[test]
fn children_end_with_their_status() {
    assert_eq!(fork_exit_wait().expect("a child"), 0);
    for start in [fork_exec_wait, spawn_wait] {
        assert_eq!(start(&program("/bin/sh", &["-c", "exit 7"])).expect("a child"), 7);
        assert_eq!(start(&program("/bin/sh", &["-c", "exit 0"])).expect("a child"), 0);
        let killed = start(&program("/bin/sh", &["-c", "kill -9 $$"])).expect_err("a signal");
        assert!(killed.to_string().contains("signal 9"), "{killed}");
    }
}

#[test]
fn a_program_that_is_not_one() {
    let missing = Program::new(Path::new("/no/such"), &[], Environment::Empty);
    assert_eq!(missing.expect_err("missing").kind(), io::ErrorKind::NotFound);
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
    unsafe { Forked::fork(body) }.expect("a process")
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
    assert!(is_gone(child.process_id()));
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
    let id = child.process_id();
    drop(child);
    assert!(is_gone(id));
}

#[cfg(any(target_os = "linux", target_os = "android"))]
#[test]
fn a_refused_fork_is_an_error() {
    // In a child, where the test process misses nothing that is given up.
    let mut limited = forked(|| {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
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
        match unsafe { Forked::fork(|| 0) } {
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

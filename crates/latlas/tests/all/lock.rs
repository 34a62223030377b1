//! The measuring lock between real processes.

use crate::support::processes::{
    alive, as_user, copy_for_all, is_root, kill, signal, wait_for, wait_until,
};
use crate::support::{Done, Home, has, lacks, skip};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;

/// A measurement that lasts until a signal ends it.
const LONG: &str = "noise measure --for 10m --cpu 0";
const SHORT: &str = "noise measure --for 100ms --cpu 0 --json";

/// A measurement that holds the lock.
fn holder(home: &Home) -> Child {
    let child = home.start(LONG);
    let own = format!("\"pid\":{},", child.id());
    wait_until("the lock", || {
        std::fs::read_to_string(home.path("lock")).is_ok_and(|text| text.contains(&own))
    });
    child
}

/// The line on stderr by which it says that it waits. Nothing after it is read.
#[track_caller]
fn waits(child: &mut Child) -> String {
    let stderr = child.stderr.as_mut().expect("a pipe");
    let mut line = Vec::new();
    let mut byte = [0];
    while stderr.read(&mut byte).expect("readable") == 1 {
        match byte {
            [b'\n'] if line.starts_with(b"latlas: waiting") => {
                return String::from_utf8(line).expect("text");
            }
            [b'\n'] => line.clear(),
            [byte] => line.push(byte),
        }
    }
    panic!("it did not wait");
}

/// Without figures that differ from run to run.
fn plain(text: &str, holder: u32) -> String {
    let text = text.replace(&holder.to_string(), "PID");
    let words = text.split(' ').map(|word| match word.parse::<u32>() {
        Ok(_) => "N",
        Err(_) => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_second_measurement_waits_until_the_first_is_killed() {
    let home = Home::new();
    let first = holder(&home);
    let mut second = home.start(SHORT);
    let line = waits(&mut second);
    insta::assert_snapshot!(plain(&line, first.id()), @"latlas: waiting for another measurement on this machine: latlas noise measure (process PID, for N s, about N min left); Ctrl-C to give up");
    assert!(second.try_wait().expect("asked").is_none(), "it waits");
    // By no handler of its own: the kernel releases the lock.
    kill(first);
    let done = Done::after(second).measured();
    assert_eq!(done.err, "", "said once, nothing else");
    has(&done.out, ["\"cpus\":["]);
    assert_eq!(home.read("lock"), "", "it left");
}

#[test]
fn a_measurement_that_ends_lets_the_next_go_on() {
    let home = Home::new();
    let first = holder(&home);
    let mut second = home.start("run cpu.add_i32 --quick --budget 1s --json");
    waits(&mut second);
    signal(first.id(), "INT");
    Done::after(first).ended_with(3);
    Done::after(second).measured();
}

#[test]
fn every_command_that_measures_refuses_with_no_wait() {
    let home = Home::new();
    let first = holder(&home);
    for line in [
        "run cpu.add_i32 --quick --no-wait",
        "--quick --no-wait",
        "exec --no-wait -- true",
        "selftest --quick --no-wait cpu.add_i32",
        "table ash --measure --quick --no-wait",
        "noise measure --no-wait",
        "noise ab pin --no-wait -- true",
    ] {
        let done = home.run(line).ended_with(2);
        let last = done.err.lines().last().unwrap_or_default();
        assert_eq!(
            plain(last, first.id()),
            "latlas: another measurement is running on this machine: latlas noise measure (process \
             PID, for N s, about N min left); without --no-wait, latlas waits",
            "{line}"
        );
        assert_eq!(done.out, "", "{line}");
    }
    for line in [
        "run cpu.add_i32 --dry-run",
        "noise ab --dry-run pin",
        "list",
    ] {
        lacks(&home.run(line).ok().err, ["waiting"]);
    }
    kill(first);
    home.run("exec --no-wait -r 2 -- true").measured();
}

#[test]
fn ctrl_c_ends_the_wait_at_once() {
    let home = Home::new();
    let first = holder(&home);
    for line in [
        SHORT,
        "run cpu.add_i32 --quick",
        "exec -- true",
        "selftest --quick",
    ] {
        let mut second = home.start(line);
        waits(&mut second);
        signal(second.id(), "INT");
        let status = wait_for("its end", || second.try_wait().expect("asked"));
        assert_eq!(status.signal(), Some(2), "{line}: no run, no table");
    }
    assert!(alive(first.id()));
    kill(first);
}

#[test]
fn a_measurement_that_a_holder_starts_does_not_wait_for_it() {
    let home = Home::new();
    // In a session of its own, and not a child but a grandchild.
    let inner = "sh -c '\"$0\" noise measure --for 100ms --no-wait; exit 0' PROGRAM";
    let inner = inner.replace("PROGRAM", crate::support::PROGRAM);
    let line = format!("exec -r 1 --warmup 0 --own-session --output show -- {inner}");
    let done = home.run(line).measured();
    has(&done.err, ["measuring inside latlas exec sh (process "]);
    has(
        &done.err,
        ["which holds the measuring lock: not waiting for it"],
    );
}

#[test]
fn without_a_lock_it_measures_with_a_remark() {
    let home = Home::new();
    home.write("target", "precious");
    std::os::unix::fs::symlink(home.path("target"), home.path("link")).expect("a link");
    for (path, why) in [
        ("missing/lock", "No such file"),
        ("link", "a symbolic link"),
        (".", "directory"),
    ] {
        let mut command = home.command(SHORT);
        let done = Done::of(command.env("LATLAS_LOCK", home.path(path))).measured();
        has(&done.err, ["latlas: no measuring lock (", why]);
        assert_eq!(done.err.lines().count(), 1, "{}", done.err);
    }
    assert_eq!(home.read("target"), "precious");
}

#[test]
fn users_share_the_lock_whoever_made_it() {
    if !is_root() {
        return skip("not root");
    }
    let home = Home::new();
    copy_for_all(&home);
    // The directory as /tmp is: files in it belong to who made them.
    let shared = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
    std::fs::set_permissions(home.path(""), shared).expect("a mode");
    for root_first in [true, false] {
        let _ = std::fs::remove_file(home.path("lock"));
        let as_root = || home.run(SHORT).measured();
        let as_other = || as_user(&home, SHORT).measured();
        let (first, second) = match root_first {
            true => (as_root(), as_other()),
            false => (as_other(), as_root()),
        };
        assert_eq!((&*first.err, &*second.err), ("", ""));
        let first = holder(&home);
        has(
            &as_user(&home, "noise measure --no-wait").err,
            ["(process "],
        );
        kill(first);
    }
}

//! The measuring lock between real processes.

use crate::support::processes::{
    alive, as_user, copy_for_all, is_root, kill, signal, wait_for, wait_until,
};
use crate::support::{Done, Home, PROGRAM, has, lacks, skip};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;

/// A measurement that lasts until a signal ends it.
const LONG: &str = "noise measure --for 10m --cpu 0";
const SHORT: &str = "noise measure --for 100ms --cpu 0 --document";

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
    assert_eq!(home.read_file("lock"), "", "it left");
}

#[test]
fn a_measurement_that_ends_lets_the_next_go_on() {
    let home = Home::new();
    let first = holder(&home);
    let mut second = home.start("run cpu.add_i32 --quick --budget 1s --document");
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
    for line in ["run cpu.add_i32 --dry-run", "noise ab --dry-run pin", "list"] {
        lacks(&home.run(line).ok().err, ["waiting"]);
    }
    kill(first);
    home.run("exec --no-wait -r 2 -- true").measured();
}

#[test]
fn ctrl_c_ends_the_wait_at_once() {
    let home = Home::new();
    let first = holder(&home);
    for line in [SHORT, "run cpu.add_i32 --quick", "exec -- true", "selftest --quick"] {
        for (name, number) in [("INT", 2), ("TERM", 15)] {
            // A runner in the background may ignore SIGINT, and what is ignored stays so.
            let mut second = home.wrapped("env --default-signal=INT,TERM", line);
            let mut second = second.spawn().expect("it starts");
            waits(&mut second);
            signal(second.id(), name);
            let status = wait_for("its end", || second.try_wait().expect("asked"));
            assert_eq!(status.signal(), Some(number), "{line}: no run, no table");
        }
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
    has(&done.err, ["which holds the measuring lock: not waiting for it"]);
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
        ("target", "something else than a lock"),
    ] {
        let mut command = home.command(SHORT);
        let done = Done::from_command(command.env("LATLAS_LOCK", home.path(path))).measured();
        has(&done.err, ["latlas: no measuring lock (", why]);
        assert_eq!(done.err.lines().count(), 1, "{}", done.err);
    }
    assert_eq!(home.read_file("target"), "precious");
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
        let errors = first.err.lines().chain(second.err.lines());
        // The directory of runs is the first one's.
        let errors: Vec<&str> = errors.filter(|line| !line.contains("not be stored")).collect();
        assert_eq!(errors, [""; 0]);
        let first = holder(&home);
        has(&as_user(&home, "noise measure --no-wait").err, ["(process "]);
        kill(first);
    }
}

/// Another program that holds the lock of the file, until its stdin is closed.
fn stranger(home: &Home) -> Child {
    home.write("lock", "");
    let script = "exec 9<>lock; flock 9; echo locked; read -r line";
    let mut child = home.launch(["sh", "-c", script]);
    let mut child = child.stdin(std::process::Stdio::piped()).spawn().expect("sh runs");
    let mut said = [0; 7];
    let out = child.stdout.as_mut().expect("a pipe");
    out.read_exact(&mut said).expect("it has the lock");
    child
}

/// Any user may write into the file.
#[test]
fn what_a_stranger_writes_into_the_file_is_not_believed() {
    let home = Home::new();
    let first = stranger(&home);
    let namespace = std::fs::read_link("/proc/self/ns/pid").expect("a link");
    for pid in [std::process::id(), 1, first.id()] {
        let described = serde_json::json!({
            "pid": pid,
            "namespace": namespace,
            "measures": "latlas exec make",
            "since_unix_ms": 0,
            "planned_ms": null,
        });
        home.write("lock", described.to_string());
        home.run("noise measure --for 100ms --no-wait")
            .refused("another measurement is running on this machine: an unknown process; without");
    }
    kill(first);
    home.run(SHORT).measured();
}

#[test]
fn a_holder_that_is_stopped_is_said_to_be() {
    let home = Home::new();
    let first = holder(&home);
    signal(first.id(), "STOP");
    wait_until("the stop", || crate::support::processes::stat(first.id())[0] == "T");
    home.run("noise measure --no-wait").refused("latlas noise measure (process ");
    has(&home.run("noise measure --no-wait").err, [", stopped, for "]);
    signal(first.id(), "KILL");
    kill(first);
    home.run(SHORT).measured();
}

/// What another user made first is no lock of all users: said, and with --no-wait refused.
#[test]
fn a_squatted_file_is_no_lock_and_not_silent() {
    if !is_root() {
        return skip("not root");
    }
    let home = Home::new();
    copy_for_all(&home);
    let user = |id: u32| format!("setpriv --reuid={id} --regid={id} --clear-groups");
    let (squatter, other) = (user(65534), user(1001));
    for (squat, why) in [
        (
            "umask 077; : > /run/lock/latlas.lock",
            "latlas.lock: user 65534 owns it and keeps others",
        ),
        ("ln -s /etc/hostname /run/lock/latlas.lock", "a symbolic link"),
        ("mkfifo -m 666 /run/lock/latlas.lock", "not a regular file"),
        ("mkdir -m 777 /run/lock/latlas.lock", "directory"),
        (
            ": > /run/lock/a; chmod 666 /run/lock/a; ln /run/lock/a /run/lock/latlas.lock",
            "one name",
        ),
    ] {
        let script = format!(
            "mount -t tmpfs -o mode=1777 none /run/lock && {squatter} sh -c '{squat}' || exit 77; \
             unset LATLAS_LOCK; {PROGRAM} noise measure --for 100ms --no-wait && exit 78; \
             {other} ./latlas noise measure --for 100ms --no-wait && exit 79; \
             {PROGRAM} {SHORT}"
        );
        let done =
            Done::from_command(&mut home.launch(["unshare", "--mount", "sh", "-c", &script]));
        if done.code == 77 || done.err.contains("unshare") {
            return skip(format!("no mounts in a namespace: {}", done.err));
        }
        let done = done.measured();
        let lines = done.err.lines().filter(|line| !line.contains("not be stored"));
        let lines: Vec<&str> = lines.collect();
        assert_eq!(lines.len(), 3, "{}", done.err);
        for (line, refused) in lines.iter().zip([true, true, false]) {
            has(line, ["latlas: no measuring lock (/run/lock/latlas.lock"]);
            assert_eq!(line.contains("without --no-wait, latlas measures"), refused, "{line}");
        }
        has(lines[0], [why]);
    }
}

/// What can be refused without measuring is refused before the wait.
#[test]
fn what_can_not_be_done_does_not_wait() {
    let home = Home::new();
    home.write("base/x", "");
    home.write("head/x", "");
    let first = holder(&home);
    for line in [
        "run no.such.row",
        "run cpu.add_i32 --dir absent",
        "run cpu.add_i32 --out absent/run.json",
        "run cpu.add_i32 --pin 8000",
        "run cpu.add_i32 --baseline absent",
        "run cpu.add_i32 --pack absent.so",
        "exec -- /no/such/program",
        "exec -- no-such-program",
        "exec -- /etc",
        "exec --vs /no/such/program -- true",
        "exec --shell=/no/such/shell -- true",
        "exec --check /no/such/program -- true",
        "exec --input absent -- true",
        "exec --output absent/file -- true",
        "exec --out absent/run.json -- true",
        "exec --cold-files absent -- true",
        "exec --pin 8000 -- true",
        "ci --base base --head head '{}/no-such'",
        "ci --base base --head absent '{}/x'",
        "noise ab pin -- /no/such/program",
        "noise ab no-such-control",
        "noise ab pin --cpus 8000",
        "noise ab pin --out absent/file",
        "noise measure --cpu 8000",
        "noise measure --out absent/file",
        "selftest no.such.row",
        "selftest cpu.add_i32 --pin 8000",
        "fit --dir absent",
        "fit --expect absent",
        "fit --out absent/file",
        "qos --dir absent",
        "qos --out absent/file",
        "qos knobs no-such-knob",
        "table no-such --measure",
        "table kurkin --measure --quick --dir absent",
        "trace no.such.row",
        "trace sched.pool --tier minimal --out t.pftrace",
        "trace sched.pool --out t.perf.data",
    ] {
        let done = Done::from_command(&mut home.wrapped("timeout 60", line));
        assert_eq!((done.code, &*done.out), (2, ""), "{line}: {}", done.err);
        lacks(&done.err, ["waiting for"]);
    }
    if is_root() {
        copy_for_all(&home);
        for line in [
            "exec --fifo -- true",
            "exec --cold -- true",
            "exec --shield 0 -- true",
            "trace sched.pool --tier full",
        ] {
            let done = as_user(&home, line).ended_with(2);
            lacks(&done.err, ["waiting for"]);
        }
    }
    assert!(alive(first.id()));
    kill(first);
}

/// isolcpus leaves the CPU out of every set that is inherited; who asks for it, gets it.
#[test]
fn a_cpu_outside_the_inherited_set_may_be_asked_for() {
    let cpus = sys::allowed_cpus().expect("known");
    let [inherited, .., isolated] = cpus[..] else {
        return skip("one CPU");
    };
    let home = Home::new();
    let run = |line: &str| {
        let line = line.replace("CPU", &isolated.to_string());
        Done::from_command(&mut home.wrapped(format!("taskset -c {inherited}"), line)).measured()
    };
    let check = format!("grep -qx 'Cpus_allowed_list:\t{isolated}' /proc/self/status");
    let of_exec = run(&format!("exec -r 6 --pin CPU --document -- sh -c \"{check}\"")).document();
    let controls = of_exec.commands.expect("commands").controls;
    assert_eq!((controls.pinned_cpu, controls.observer_apart), (Some(isolated), true));
    let of_run = run("run cpu.add_i32 --quick --budget 2s --pin CPU --document").document();
    assert_eq!(of_run.conditions.pinned_cpus, [isolated]);
    let osnoise = run("noise measure --for 100ms --cpu CPU --document").json();
    let recording = &osnoise["recordings"][0]["interruptions"];
    assert_eq!(recording["cpus"][0]["cpu"], isolated);
    run("noise ab pin --cpus CPU --rounds 6 --document -- true");
    run("selftest cpu.add_i32 --quick --rounds 1 --pin CPU --document");
}

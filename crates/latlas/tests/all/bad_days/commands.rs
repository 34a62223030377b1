//! Requests to end `exec` and `noise ab`, and limits on what they write.

use super::signals::time_out;
use crate::support::processes::{children_of, wait_until};
use crate::support::{Done, Home, has};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::Duration;

/// The command is at its `n`th run.
fn wait_for_run(home: &Home, n: u64) {
    let lines = || std::fs::metadata(home.path("ran")).map_or(0, |file| file.len());
    wait_until("runs of the command", || lines() >= n);
}

fn partial(home: &Home, child: Child) {
    let done = Done::after(child).ended_with(3);
    has(&done.out, ["PARTIAL"]);
    assert_eq!(home.kept_documents(), 1);
}

#[test]
fn two_signals_of_one_request_keep_what_exec_measured() {
    let home = Home::new();
    let mut command = home.command("exec --runs 100000 -- sh -c 'echo >>ran'");
    let child = command.process_group(0).spawn().expect("starts");
    wait_for_run(&home, 20);
    time_out(&child);
    partial(&home, child);
}

/// As `systemctl stop` does it: the command ends by the same signal, and before latlas
/// gets it.
#[test]
fn a_signal_to_a_whole_service_keeps_what_exec_measured() {
    for then in ["exec sleep 1000", "trap exit TERM; sleep 1000 & wait"] {
        let home = Home::new();
        let line = format!("echo >>ran; test $(wc -l <ran) -lt 9 || {{ {then}; }}");
        let child = home.start(["exec", "--runs", "100", "--", "sh", "-c", &line]);
        wait_for_run(&home, 9);
        // Into the sleep.
        std::thread::sleep(Duration::from_millis(300));
        let commands: Vec<String> = children_of(child.id()).iter().map(u32::to_string).collect();
        let line =
            format!("kill -TERM {}; sleep 0.1; kill -TERM {}", commands.join(" "), child.id());
        let sent = Command::new("sh").args(["-c", &line]).status();
        assert!(sent.expect("sh runs").success(), "{line}");
        partial(&home, child);
    }
}

#[test]
fn two_signals_of_one_request_keep_what_noise_ab_measured() {
    let home = Home::new();
    let line = "noise ab session --rounds 400 --workload cpu --load none --job 20ms --document";
    let child = home.command(line).process_group(0).spawn().expect("starts");
    // A job is a process in the group of latlas's own watcher.
    let mut seen = std::collections::BTreeSet::new();
    wait_until("some jobs", || {
        seen.extend(children_of(child.id()));
        seen.len() > 8
    });
    time_out(&child);
    let effects = Done::after(child).ended_with(3).json();
    assert!(effects["partial"].is_string(), "{effects}");
}

#[test]
fn a_file_larger_than_allowed_is_an_error_and_no_signal() {
    let home = Home::new();
    let limited = |line: &str| Done::from_command(&mut home.limited("ulimit -f 1", line));
    limited("exec --runs 2 -- touch ran").refused("ulimit -f");
    assert!(!home.path("ran").exists(), "nothing was run");
    // What goes to a pipe has no limit.
    assert!(!limited("exec --runs 2 --document -- true").measured().document().rows.is_empty());
    // Commands have the signal as usual.
    let err = limited("exec --document -- dd if=/dev/zero of=big bs=64k count=9").err;
    assert!(err.contains("SIGXFSZ") || err.contains("signal 25"), "{err}");
}

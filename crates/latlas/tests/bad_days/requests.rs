//! Requests to end: what is one of them, and what is kept then.

use super::*;
use std::os::unix::process::CommandExt;

/// To the process and to its group: what the process gets twice, without a pause,
/// since it is soon done.
fn time_out(child: &Child) {
    let leader = child.id();
    let line = format!("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do kill -TERM -{leader}; done; :");
    let sent = Command::new("sh")
        .args(["-c", &line])
        .stderr(Stdio::null())
        .status();
    assert!(sent.expect("sh runs").success(), "{line}");
}

fn kept(home: &TempDir) -> usize {
    let kept = std::fs::read_dir(home.path().join("data/runs"));
    kept.map_or(0, |entries| entries.count())
}

#[test]
fn two_signals_of_one_request_keep_what_a_run_measured() {
    let home = home();
    let (child, workers) = {
        // As `started`, in a group of its own.
        let mut command = latlas(&home, &LONG);
        command.process_group(0);
        begun(command)
    };
    // What ends a whole service reaches its workers as well.
    for &worker in &workers {
        signal(worker, "TERM");
    }
    time_out(&child);
    let output = finish(child);
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{err}");
    assert!(!err.contains("ended early"), "{err}");
    let run = read(&home.path().join("run.json"));
    assert!(run.partial.is_some_and(|why| why.contains("interrupted")));
    assert!(!run.cells.is_empty());
    assert_eq!(kept(&home), 1);
    all_gone(&workers);
}

#[test]
fn two_signals_of_one_request_keep_what_exec_measured() {
    let home = home();
    let ran = home.path().join("ran");
    let mut command = latlas(
        &home,
        &["exec", "--runs", "100000", "--", "sh", "-c", "echo x >>ran"],
    );
    command.process_group(0);
    let child = command.spawn().expect("starts");
    wait_for("some runs", || {
        let bytes = std::fs::metadata(&ran).map_or(0, |known| known.len());
        (bytes > 40).then_some(())
    });
    time_out(&child);
    let output = finish(child);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(
        text(&output.stdout).contains("PARTIAL"),
        "{}",
        text(&output.stdout)
    );
    assert_eq!(kept(&home), 1);
}

/// As `systemctl stop` does it: the command ends by the same signal, and before
/// latlas has it.
#[test]
fn a_signal_to_a_whole_service_keeps_what_exec_measured() {
    for then in ["exec sleep 1000", "trap exit TERM; sleep 1000 & wait"] {
        let home = home();
        let ran = home.path().join("ran");
        let line = format!("echo >>ran; test $(wc -l <ran) -lt 9 || {{ {then}; }}");
        let child = latlas(&home, &["exec", "--runs", "100", "--", "sh", "-c", &line]).spawn();
        let child = child.expect("starts");
        let bytes = || std::fs::metadata(&ran).map_or(0, |known| known.len());
        wait_for("the ninth run", || (bytes() == 9).then_some(()));
        // Into the sleep.
        std::thread::sleep(Duration::from_millis(300));
        let commands: Vec<String> = children_of(child.id()).iter().map(u32::to_string).collect();
        let line = format!(
            "kill -TERM {}; sleep 0.1; kill -TERM {}",
            commands.join(" "),
            child.id()
        );
        let sent = Command::new("sh").args(["-c", &line]).status();
        assert!(sent.expect("sh runs").success(), "{line}");
        let output = finish(child);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{then}: {err}");
        assert!(text(&output.stdout).contains("PARTIAL"), "{then}: {err}");
        assert_eq!(kept(&home), 1);
    }
}

#[test]
fn two_signals_of_one_request_keep_what_noise_ab_measured() {
    let home = home();
    let mut command = latlas(
        &home,
        &[
            "noise",
            "ab",
            "nice",
            "--rounds",
            "400",
            "--workload",
            "cpu",
            "--load",
            "none",
            "--job",
            "20ms",
            "--json",
        ],
    );
    command
        .process_group(0)
        .env("LATLAS_STATE_DIR", home.path().join("state"));
    let child = command.spawn().expect("starts");
    // A job is a process that the group of latlas's own watcher has.
    let mut seen = std::collections::BTreeSet::new();
    wait_for("some jobs", || {
        seen.extend(children_of(child.id()));
        (seen.len() > 8).then_some(())
    });
    time_out(&child);
    let output = finish(child);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let effects: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a document");
    assert!(effects["partial"].is_string(), "{effects}");
}

#[test]
fn a_file_larger_than_allowed_is_one_line_and_no_death() {
    let home = home();
    let limited = |arguments: &[&str]| {
        let wrapper = ["sh", "-c", "ulimit -f 1; exec \"$@\"", "sh"];
        wrapped(&home, &wrapper, arguments).output().expect("runs")
    };
    let output = limited(&["exec", "--runs", "2", "--", "touch", "ran"]);
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{:?} {err}", output.status);
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.contains("ulimit -f"), "{err}");
    assert!(!home.path().join("ran").exists(), "nothing was run");
    // What goes to a pipe has no limit.
    let output = limited(&["exec", "--runs", "2", "--json", "--", "true"]);
    let err = text(&output.stderr);
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{:?} {err}",
        output.status
    );
    let run: Run = serde_json::from_slice(&output.stdout).expect("a Run");
    assert!(!run.rows.is_empty());
    // Commands have the signal as usual.
    let big = [
        "exec",
        "--json",
        "--",
        "dd",
        "if=/dev/zero",
        "of=big",
        "bs=64k",
        "count=9",
    ];
    let err = text(&limited(&big).stderr);
    assert!(
        err.contains("SIGXFSZ") || err.contains("signal 25"),
        "{err}"
    );
}

//! On trees of plain files, killed before each action.

use crate::bench::{Bench, alike, contents, ends, signal, text, wait_for};
use noise::machines;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

#[test]
fn a_tree_is_as_before() {
    for machine in machines::all() {
        let bench = Bench::of(&machine);
        let before = contents(&bench.tree());
        let tuned = bench.on_tree(&["tune"]).output().expect("it runs");
        let code = tuned.status.code();
        assert!(matches!(code, Some(0 | 3)), "{}: {tuned:?}", machine.name);
        let other = !alike(&before, &contents(&bench.tree()));
        // One that is quiet has nothing to be set.
        assert_eq!(other, machine.name != "quiet", "{tuned:?}");
        let restored = bench
            .on_tree(&["restore", "--json"])
            .output()
            .expect("it runs");
        assert_eq!(
            restored.status.code(),
            Some(0),
            "{}: {restored:?}",
            machine.name
        );
        assert!(alike(&before, &contents(&bench.tree())), "{}", machine.name);
        assert!(!bench.pending());
    }
}

#[test]
fn a_dry_run_changes_nothing_and_needs_nobody() {
    let bench = Bench::of(&machines::intel());
    let before = contents(&bench.tree());
    let said = bench
        .on_tree(&["tune", "--dry-run"])
        .output()
        .expect("it runs");
    assert!(said.status.success());
    let out = text(&said.stdout);
    assert!(out.contains("governor") && out.contains("->"), "{out}");
    let json = bench
        .on_tree(&["tune", "--dry-run", "--json"])
        .output()
        .expect("it runs");
    let planned: Vec<serde_json::Value> = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(planned.len(), out.lines().count());
    assert_eq!(before, contents(&bench.tree()));
    assert!(!bench.state().exists());
}

/// Kills latlas before each of its actions; the watchdog puts everything back,
/// or, where it is killed too, a later restore.
fn killed_everywhere(watchdog: bool) {
    let machine = machines::virtual_machine();
    let arguments = [
        "tune",
        "--only",
        "sample-rate,thp",
        "--cpus",
        "1",
        "--",
        "true",
    ];
    for step in 1..500 {
        let bench = Bench::of(&machine);
        let before = contents(&bench.tree());
        let mut command = bench.on_tree(&arguments);
        command.env("LATLAS_FAULT_STEP", step.to_string());
        if !watchdog {
            command.env("LATLAS_FAULT_STEP_OF_WATCHDOG", "1");
        }
        let output = command.output().expect("it runs");
        if output.status.signal() != Some(9) {
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            assert!(step > 20, "only {step} actions");
            return;
        }
        if watchdog {
            wait_for("the watchdog", || !bench.pending());
        } else {
            let restored = bench.on_tree(&["restore"]).output().expect("it runs");
            assert_eq!(restored.status.code(), Some(0), "step {step}: {restored:?}");
        }
        assert!(alike(&before, &contents(&bench.tree())), "step {step}");
        assert!(!bench.pending(), "step {step}");
    }
    panic!("a tune without an end");
}

#[test]
fn killed_before_every_action_the_watchdog_puts_back() {
    killed_everywhere(true);
}

#[test]
fn killed_before_every_action_with_its_watchdog_a_restore_puts_back() {
    killed_everywhere(false);
}

#[test]
fn the_commands_end_is_ours() {
    let bench = Bench::of(&machines::intel());
    let before = contents(&bench.tree());
    let end = |script: &str| {
        let output = bench
            .on_tree(&["tune", "--", "sh", "-c", script])
            .output()
            .expect("it runs");
        assert!(alike(&before, &contents(&bench.tree())), "{script}");
        assert!(!bench.pending());
        output
    };
    let output = end("echo out; cat; exit 5");
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(text(&output.stdout), "out\n");
    assert!(text(&output.stderr).contains("put back"));
    assert_eq!(end("kill -TERM $$").status.code(), Some(143));
    assert_eq!(end("true").status.code(), Some(0));
    let absent = bench
        .on_tree(&["tune", "--", "/no/such/program"])
        .output()
        .expect("it runs");
    assert_eq!(absent.status.code(), Some(2));
    assert!(text(&absent.stderr).contains("/no/such/program"));
    assert!(alike(&before, &contents(&bench.tree())));
}

#[test]
fn a_parent_that_ignores_its_children_does_not_make_it_wait_for_ever() {
    let bench = Bench::of(&machines::intel());
    let before = contents(&bench.tree());
    let tune = bench.on_tree(&["tune", "--", "sh", "-c", "exit 6"]);
    // A shell may keep that to itself (dash does).
    let ignoring = |program: &std::ffi::OsStr| {
        let mut command = Command::new("env");
        command.arg("--ignore-signal=CHLD").arg(program);
        command
    };
    let ignored = ignoring("cat".as_ref()).arg("/proc/self/status").output();
    let ignored = ignored.is_ok_and(|said| {
        let text = text(&said.stdout);
        let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .is_some_and(|mask| mask >> 16 & 1 == 1)
    });
    if !ignored {
        eprintln!("SKIPPED: this env can't start a program that ignores SIGCHLD");
        return;
    }
    let mut command = ignoring(tune.get_program());
    command
        .args(tune.get_args())
        .env("LATLAS_STATE_DIR", bench.state())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let output = ends(command.spawn().expect("it runs"));
    assert_eq!(output.status.code(), Some(6), "{output:?}");
    assert!(alike(&before, &contents(&bench.tree())));
}

#[test]
fn a_command_is_not_run_without_what_was_asked_for() {
    let bench = Bench::of(&machines::intel());
    // A number that takes no 1, ever (301 is the least: kernel/pid.c).
    let rate = bench
        .tree()
        .join("proc/sys/kernel/perf_event_max_sample_rate");
    std::fs::remove_file(&rate).expect("removed");
    std::os::unix::fs::symlink("/proc/sys/kernel/pid_max", &rate).expect("a link");
    let before = contents(&bench.tree());
    let mark = bench.home.path().join("ran");
    for (only, said) in [
        ("thp,shield", "nothing of shield could be set"),
        ("thp,offline=77", "nothing of offline=77 could be set"),
        ("thp,sample-rate", "nothing of sample-rate could be set"),
        ("sample-rate", "nothing could be set"),
    ] {
        let arguments = ["tune", "--only", only, "--cpus", "1", "--", "touch"];
        let output = bench.on_tree(&arguments).arg(&mark).output();
        let output = output.expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{only}: {output:?}");
        let error = text(&output.stderr);
        assert!(
            error.contains(said) && error.contains("not run"),
            "{only}: {error}"
        );
        assert!(!mark.exists(), "{only}");
        assert!(alike(&before, &contents(&bench.tree())), "{only}");
        assert!(!bench.pending(), "{only}");
    }
    // What nobody named is no reason not to run, but is told.
    let output = bench.on_tree(&["tune", "--", "touch"]).arg(&mark).output();
    let output = output.expect("it runs");
    assert!(mark.exists(), "{output:?}");
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(alike(&before, &contents(&bench.tree())));
}

#[test]
fn a_stderr_that_nobody_reads_stops_nothing() {
    let bench = Bench::of(&machines::intel());
    let before = contents(&bench.tree());
    let mark = bench.home.path().join("ran");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let status = bench
        .on_tree(&["tune", "--", "touch"])
        .arg(&mark)
        .stderr(writer)
        .status()
        .expect("it runs");
    assert_eq!(status.code(), Some(0));
    assert!(mark.exists());
    assert!(alike(&before, &contents(&bench.tree())));
    assert!(!bench.pending());
}

#[test]
fn json_on_stderr_is_nothing_but_json() {
    let bench = Bench::of(&machines::intel());
    let output = bench
        .on_tree(&["tune", "--json", "--", "true"])
        .output()
        .expect("it runs");
    let whole: serde_json::Value = serde_json::from_slice(&output.stderr).expect("JSON");
    assert_eq!(whole["restored"]["pending"], false);
    assert!(
        whole["applied"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
    );
}

#[test]
fn whatever_the_umask_others_may_see_that_something_waits() {
    let bench = Bench::of(&machines::intel());
    let state = bench.home.path().join("a/b");
    let tune = bench.on_tree(&["tune", "--only", "thp"]);
    let output = Command::new("sh")
        .args(["-c", "umask 077; exec \"$@\"", "sh"])
        .arg(tune.get_program())
        .args(tune.get_args())
        .env("LATLAS_STATE_DIR", &state)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for (path, mode) in [("a", 0o755), ("a/b", 0o755), ("a/b/journal", 0o600)] {
        let found = std::fs::metadata(bench.home.path().join(path)).expect("it is there");
        let found = std::os::unix::fs::PermissionsExt::mode(&found.permissions());
        assert_eq!(found & 0o777, mode, "{path}");
    }
}

#[test]
fn requests_to_end_reach_the_command_and_all_is_put_back() {
    let bench = Bench::of(&machines::intel());
    let before = contents(&bench.tree());
    for name in ["INT", "TERM", "HUP"] {
        let ready = bench.home.path().join(name);
        let script = "trap 'echo got; exit 9' INT TERM HUP; touch $0; \
                      while :; do sleep 0.05; done";
        let tune = bench.on_tree(&["tune", "--", "sh", "-c", script]);
        // Whoever runs these tests in the background may ignore SIGINT, and
        // what is ignored stays so, for latlas and for the shell's trap.
        let child = Command::new("env")
            .arg("--default-signal=INT,TERM,HUP")
            .arg(tune.get_program())
            .args(tune.get_args())
            .arg(&ready)
            .envs(
                tune.get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        wait_for("the trap", || ready.exists());
        assert!(!alike(&before, &contents(&bench.tree())), "nothing is set");
        signal(child.id(), name);
        let output = ends(child);
        assert_eq!(output.status.code(), Some(9), "{name}: {output:?}");
        assert_eq!(text(&output.stdout), "got\n", "{name}");
        assert!(alike(&before, &contents(&bench.tree())), "{name}");
    }
}

#[test]
fn somebody_elses_value_is_left_and_named() {
    let bench = Bench::of(&machines::intel());
    let tuned = bench
        .on_tree(&["tune", "--only", "sample-rate,thp"])
        .output()
        .expect("it runs");
    assert_eq!(tuned.status.code(), Some(0), "{tuned:?}");
    let again = bench
        .on_tree(&["tune", "--only", "sample-rate"])
        .output()
        .expect("it runs");
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("latlas noise restore"));
    let rate = bench
        .tree()
        .join("proc/sys/kernel/perf_event_max_sample_rate");
    std::fs::write(&rate, "4711\n").expect("written");
    let restored = bench.on_tree(&["restore"]).output().expect("it runs");
    assert_eq!(restored.status.code(), Some(3), "{restored:?}");
    let out = text(&restored.stdout);
    assert!(
        out.contains("somebody else") && out.contains("4711"),
        "{out}"
    );
    assert_eq!(std::fs::read_to_string(&rate).expect("a value"), "4711\n");
    assert!(!bench.pending());
}

#[test]
fn mistakes_are_answered_in_a_line() {
    let bench = Bench::of(&machines::intel());
    for (arguments, said) in [
        (&["tune", "--only", "govenor"][..], "governor"),
        (&["tune", "--cpus", "x"], "--cpus x"),
        (&["tune", "--cpus", "99"], "CPU 99 is not online"),
        (&["tune", "--cpus", "0-7"], "no CPU would be left"),
        (&["tune", "--only", "offline=all"], "offline=3"),
    ] {
        let output = bench.on_tree(arguments).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let error = text(&output.stderr);
        assert_eq!(error.matches(said).count(), 1, "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(!bench.state().exists());
    }
}

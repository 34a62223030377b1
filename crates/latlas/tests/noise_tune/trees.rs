//! On trees of plain files, killed before each action.

use crate::bench::{Bench, alike, contents, ends};
use crate::support::processes::{signal, wait_until};
use crate::support::{Done, has, skip};
use noise::machines;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

#[test]
fn a_tree_is_restored() {
    for machine in machines::all() {
        let bench = Bench::of(&machine);
        let before = contents(&bench.tree());
        bench.run("tune").measured();
        let changed = !alike(&before, &contents(&bench.tree()));
        // The quiet one has nothing to set.
        assert_eq!(changed, machine.name != "quiet", "{}", machine.name);
        bench.run("restore --json").ok();
        bench.is_as(&before);
        assert!(!bench.pending());
    }
}

#[test]
fn a_dry_run_changes_nothing() {
    let bench = Bench::of(&machines::intel());
    let before = contents(&bench.tree());
    let text = bench.run("tune --dry-run").ok().out;
    has(&text, ["governor", "->"]);
    let planned = bench.run("tune --dry-run --json").ok().json();
    let planned = planned.as_array().expect("steps").len();
    assert_eq!(planned, text.lines().count());
    assert_eq!(before, contents(&bench.tree()));
    assert!(!bench.home.path("state").exists());
}

/// Kills latlas before each of its actions; the watchdog restores everything, or, if it
/// is killed too, a later restore.
fn killed_everywhere(watchdog: bool) {
    let machine = machines::virtual_machine();
    for step in 1..500 {
        let bench = Bench::of(&machine);
        let before = contents(&bench.tree());
        let mut command = bench.command("tune --only sample-rate,thp --cpus 1 -- true");
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
        match watchdog {
            true => wait_until("the watchdog", || !bench.pending()),
            false => drop(bench.run("restore").ok()),
        }
        bench.is_as(&before);
        assert!(!bench.pending(), "step {step}");
    }
    panic!("a tune without an end");
}

#[test]
fn killed_before_every_action_the_watchdog_restores() {
    killed_everywhere(true);
}

#[test]
fn killed_before_every_action_with_its_watchdog_a_restore_restores() {
    killed_everywhere(false);
}

#[test]
fn the_exit_code_is_that_of_the_command() {
    let bench = Bench::of(&machines::intel());
    let before = contents(&bench.tree());
    let end = |command: &str| {
        let done = bench.run(&format!("tune -- {command}"));
        bench.is_as(&before);
        assert!(!bench.pending());
        done
    };
    let done = end("sh -c 'echo out; cat; exit 5'").ended_with(5);
    assert_eq!(done.out, "out\n");
    has(&done.err, ["restored"]);
    end("sh -c 'kill -TERM $$'").ended_with(143);
    end("true").ok();
    has(
        &end("/no/such/program").ended_with(2).err,
        ["/no/such/program"],
    );
}

#[test]
fn a_parent_that_ignores_its_children_does_not_block_it() {
    let bench = Bench::of(&machines::intel());
    let before = contents(&bench.tree());
    // A shell may keep that to itself (dash does).
    let ignoring = "env --ignore-signal=CHLD";
    let status = bench
        .home
        .launch(format!("{ignoring} cat /proc/self/status"));
    let ignored = { status }.output().is_ok_and(|output| {
        let text = Done::from(output).out;
        let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .is_some_and(|mask| mask >> 16 & 1 == 1)
    });
    if !ignored {
        return skip("this env can't start a program that ignores SIGCHLD");
    }
    let line = "noise tune --root tree -- sh -c 'exit 6'";
    let mut command = bench.home.wrapped(ignoring, line);
    ends(command.spawn().expect("it runs")).ended_with(6);
    bench.is_as(&before);
}

#[test]
fn a_command_is_not_run_without_a_named_control() {
    let bench = Bench::of(&machines::intel());
    // A number that never takes 1 (301 is the least: kernel/pid.c).
    let rate = bench
        .tree()
        .join("proc/sys/kernel/perf_event_max_sample_rate");
    std::fs::remove_file(&rate).expect("removed");
    std::os::unix::fs::symlink("/proc/sys/kernel/pid_max", &rate).expect("a link");
    let before = contents(&bench.tree());
    let mark = bench.home.path("ran");
    for (only, why) in [
        ("thp,shield", "nothing of shield could be set"),
        ("thp,offline=77", "nothing of offline=77 could be set"),
        ("thp,sample-rate", "nothing of sample-rate could be set"),
        ("sample-rate", "nothing could be set"),
    ] {
        let done = bench.run(&format!("tune --only {only} --cpus 1 -- touch ran"));
        has(&done.ended_with(2).err, [why, "not run"]);
        assert!(!mark.exists(), "{only}");
        bench.is_as(&before);
        assert!(!bench.pending(), "{only}");
    }
    // A failed control of the default set is reported only.
    bench.run("tune -- touch ran").ended_with(3);
    assert!(mark.exists());
    bench.is_as(&before);
}

#[test]
fn a_closed_stderr_stops_nothing() {
    let bench = Bench::of(&machines::intel());
    let before = contents(&bench.tree());
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = bench.command("tune -- touch ran");
    let status = command.stderr(writer).status().expect("it runs");
    assert_eq!(status.code(), Some(0));
    assert!(bench.home.path("ran").exists());
    bench.is_as(&before);
    assert!(!bench.pending());
}

#[test]
fn json_on_stderr_is_nothing_but_json() {
    let done = Bench::of(&machines::intel()).run("tune --json -- true");
    let whole = crate::support::json(&done.err);
    assert_eq!(whole["restored"]["pending"], false);
    let applied = whole["applied"].as_array();
    assert!(applied.is_some_and(|all| !all.is_empty()));
}

#[test]
fn whatever_the_umask_others_may_see_a_pending_restore() {
    let bench = Bench::of(&machines::intel());
    let line = "noise tune --root tree --only thp";
    let mut command = bench.home.limited("umask 077", line);
    command.env("LATLAS_STATE_DIR", bench.home.path("a/b"));
    Done::of(&mut command).ok();
    for (path, mode) in [("a", 0o755), ("a/b", 0o755), ("a/b/journal", 0o600)] {
        let found = std::fs::metadata(bench.home.path(path)).expect("it exists");
        assert_eq!(found.permissions().mode() & 0o777, mode, "{path}");
    }
}

#[test]
fn signals_reach_the_command_and_everything_is_restored() {
    let bench = Bench::of(&machines::intel());
    let before = contents(&bench.tree());
    for name in ["INT", "TERM", "HUP"] {
        let ready = bench.home.path(name);
        let script = "trap \"echo got; exit 9\" INT TERM HUP; touch $0; \
                      while :; do sleep 0.05; done";
        // A runner in the background may ignore SIGINT, and what is ignored stays so.
        let mut command = bench.home.wrapped(
            "env --default-signal=INT,TERM,HUP",
            format!("noise tune --root tree -- sh -c '{script}' {name}"),
        );
        let child = command.stderr(Stdio::null()).spawn().expect("it runs");
        wait_until("the trap", || ready.exists());
        assert!(!alike(&before, &contents(&bench.tree())), "nothing is set");
        signal(child.id(), name);
        let done = ends(child).ended_with(9);
        assert_eq!(done.out, "got\n", "{name}");
        bench.is_as(&before);
    }
}

#[test]
fn values_of_other_processes_are_kept_and_listed() {
    let bench = Bench::of(&machines::intel());
    bench.run("tune --only sample-rate,thp").ok();
    let again = bench.run("tune --only sample-rate").ended_with(2);
    has(&again.err, ["latlas noise restore"]);
    let rate = "tree/proc/sys/kernel/perf_event_max_sample_rate";
    bench.home.write(rate, "4711\n");
    let restored = bench.run("restore").ended_with(3);
    has(&restored.out, ["another process", "4711"]);
    assert_eq!(bench.home.read(rate), "4711\n");
    assert!(!bench.pending());
}

#[test]
fn mistakes_are_answered_in_a_line() {
    let bench = Bench::of(&machines::intel());
    let refused = bench.home.refusals(
        "noise tune --root tree --only govenor
         noise tune --root tree --only perf-paranoid
         noise tune --root tree --only offline=all
         noise tune --root tree --cpus x
         noise tune --root tree --cpus 99
         noise tune --root tree --cpus 0-7",
    );
    insta::assert_snapshot!(refused);
    assert!(!bench.home.path("state").exists());
}

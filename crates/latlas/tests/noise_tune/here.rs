//! On this machine, as root.

use crate::bench::{Bench, CONTROLS, alone, can_tune, changed, real};
use crate::support::processes::{as_user, copy_for_all, running, wait_until};
use crate::support::{Done, PROGRAM, has, skip};
use std::collections::BTreeMap;
use std::process::{Child, Stdio};
use std::time::Duration;

/// A run killed after a while (`None`: once three values are set): it, its command
/// and its values are gone.
fn killed_after(bench: &Bench, before: &BTreeMap<String, String>, ms: Option<u64>) -> bool {
    let mark = format!("86{:03}", ms.unwrap_or(900));
    let mut child: Child = bench
        .home
        .command(format!("noise tune --only {CONTROLS} -- sleep {mark}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    match ms {
        Some(ms) => std::thread::sleep(Duration::from_millis(ms)),
        None => wait_until("three values", || changed(before) >= 3),
    }
    let was_set = changed(before) >= 3;
    child.kill().expect("killed");
    child.wait().expect("gone");
    wait_until("the watchdog", || !bench.pending() && changed(before) == 0);
    wait_until("the command's end", || running(&format!("sleep {mark}")).is_empty());
    was_set
}

#[test]
fn this_machine_killed_at_random_is_as_before() {
    let _alone = alone();
    if !can_tune() {
        return;
    }
    let bench = Bench::new();
    let before = real();
    let mut with_values = 0;
    for round in 0..6_u64 {
        with_values += u32::from(killed_after(&bench, &before, Some((round * 37) % 160)));
    }
    if with_values == 0 && before.len() >= 4 {
        assert!(killed_after(&bench, &before, None));
    }
    assert_eq!(before, real());
}

#[test]
fn this_machine_is_tuned_and_restored() {
    let _alone = alone();
    if !can_tune() {
        return;
    }
    let bench = Bench::new();
    let before = real();
    let tuned = bench.home.run(format!("noise tune --apply --only {CONTROLS} --json"));
    let applied = tuned.measured().json();
    let applied = applied.as_array().expect("steps");
    let set = applied.iter().filter(|one| one["outcome"]["state"] == "set").count();
    assert_eq!(changed(&before), set, "each value that is set is another now");
    bench.home.run("noise restore").ok();
    assert_eq!(before, real());
}

#[test]
fn without_privileges_nothing_begins() {
    let _alone = alone();
    if !can_tune() {
        return;
    }
    let bench = Bench::new();
    copy_for_all(&bench.home);
    for line in ["noise tune --apply", "noise tune -- true", "noise restore"] {
        as_user(&bench.home, line).refused("needs root");
        assert!(!bench.home.path("state").exists());
    }
}

/// In a separate mount namespace, after this preparation.
fn in_namespace(bench: &Bench, prepare: &str, arguments: &str) -> Option<Done> {
    let script = format!("{prepare} || exit 77; exec {PROGRAM} noise {arguments}");
    let mut command = bench.home.launch(["unshare", "--mount", "sh", "-c", &script]);
    let done = Done::from(command.output().ok()?);
    if done.code == 77 || done.err.contains("unshare") {
        skip(format!("no mounts in a namespace: {}", done.err));
        return None;
    }
    Some(done)
}

#[test]
fn a_read_only_machine_stays_as_it_is() {
    let _alone = alone();
    if !can_tune() {
        return;
    }
    let bench = Bench::new();
    let before = real();
    let prepare = "mount --bind /sys /sys && mount -o remount,bind,ro /sys && \
                   mount --bind /proc /proc && mount -o remount,bind,ro /proc";
    let arguments = format!("tune --apply --only {CONTROLS}");
    let Some(done) = in_namespace(&bench, prepare, &arguments) else {
        return;
    };
    has(&done.ended_with(2).out, ["not set", "read-only"]);
    assert!(!bench.pending());
    assert_eq!(before, real());
}

#[test]
fn without_proc_and_sys_nothing_begins() {
    let _alone = alone();
    if !can_tune() {
        return;
    }
    let bench = Bench::new();
    let prepare = "mount -t tmpfs none /sys && mount -t tmpfs none /proc";
    for arguments in
        ["tune --apply --only sample-rate", "tune --apply", "tune --apply --only shield --cpus 1"]
    {
        let Some(done) = in_namespace(&bench, prepare, arguments) else {
            return;
        };
        let named = done.err.contains("/proc") || done.err.contains("/sys");
        assert!(named, "{}", done.err);
        assert_eq!((done.code, done.err.lines().count()), (2, 1), "{}", done.err);
        assert!(!bench.pending());
    }
}

/// What is set is the machine's, whatever the state directory.
#[test]
fn another_state_directory_is_no_other_machine() {
    let _alone = alone();
    if !can_tune() {
        return;
    }
    let (first, second) = (Bench::new(), Bench::new());
    let before = real();
    first.home.run("noise tune --apply --only sample-rate").ok();
    second
        .home
        .run("noise tune --apply --only sample-rate")
        .refused("run `latlas noise restore` first");
    std::fs::remove_dir_all(first.home.path("state")).expect("removed");
    second.home.run("noise restore").ok();
    assert_eq!(before, real());
    has(&second.home.run("noise restore").ok().out, ["nothing to restore"]);
}

/// As long as one holds values, another is told which process it is.
#[test]
fn two_tunes_at_once_are_refused() {
    let _alone = alone();
    if !can_tune() {
        return;
    }
    let (first, second) = (Bench::new(), Bench::new());
    let before = real();
    let line = "noise tune --only sample-rate -- sh -c 'touch set; exec sleep 60'";
    let child = first.home.start(line);
    wait_until("the command", || first.home.path("set").exists());
    let refused = second.home.run("noise tune --apply --only sample-rate");
    refused.refused(&format!("another latlas (process {})", child.id()));
    crate::support::processes::signal(child.id(), "TERM");
    crate::bench::wait_for_end(child);
    assert_eq!(before, real());
}

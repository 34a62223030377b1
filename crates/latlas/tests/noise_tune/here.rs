//! On this machine, as root.

use crate::bench::{BINARY, Bench, CONTROLS, alone, can_tune, changed, real, text, wait_for};
use crate::copied;
use std::collections::BTreeMap;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A run killed after a while (`None`: once three values are set): it, its command
/// and its values are gone.
fn killed_after(bench: &Bench, before: &BTreeMap<String, String>, ms: Option<u64>) -> bool {
    let mark = format!("86{:03}", ms.unwrap_or(900));
    let mut child: Child = bench
        .noise(&["tune", "--only", CONTROLS, "--", "sleep", &mark])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    match ms {
        Some(ms) => std::thread::sleep(Duration::from_millis(ms)),
        None => wait_for("three values", || changed(before) >= 3),
    }
    let was_set = changed(before) >= 3;
    child.kill().expect("killed");
    child.wait().expect("gone");
    wait_for("the watchdog", || !bench.pending() && changed(before) == 0);
    wait_for("the command's end", || {
        let found = Command::new("pgrep")
            .args(["-f", &format!("^sleep {mark}$")])
            .output();
        found.is_ok_and(|found| found.stdout.is_empty())
    });
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
    let tuned = bench.run(&["tune", "--only", CONTROLS, "--json"]);
    assert!(matches!(tuned.status.code(), Some(0 | 3)), "{tuned:?}");
    let applied: Vec<serde_json::Value> = serde_json::from_slice(&tuned.stdout).expect("JSON");
    let set = applied
        .iter()
        .filter(|one| one["outcome"]["state"] == "set")
        .count();
    assert_eq!(
        changed(&before),
        set,
        "each value that is set is another now"
    );
    let restored = bench.run(&["restore"]);
    assert_eq!(restored.status.code(), Some(0), "{restored:?}");
    assert_eq!(before, real());
}

#[test]
fn without_rights_nothing_is_begun() {
    let _alone = alone();
    if !can_tune() {
        return;
    }
    let bench = Bench::new();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(bench.home.path(), open).expect("a mode");
    let copy = bench.home.path().join("latlas");
    copied::latlas_to(&copy);
    for arguments in [&["tune"][..], &["tune", "--", "true"], &["restore"]] {
        let output = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&copy)
            .arg("noise")
            .args(arguments)
            .env("LATLAS_STATE_DIR", bench.state())
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let error = text(&output.stderr);
        assert!(
            error.contains("needs root") && error.lines().count() == 1,
            "{error}"
        );
        assert!(!bench.state().exists());
    }
}

/// In a mount namespace of its own, after this preparation.
fn apart(bench: &Bench, prepare: &str, arguments: &str) -> Option<Output> {
    let script = format!("{prepare} || exit 77; exec {BINARY} noise {arguments}");
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", &script])
        .env("LATLAS_STATE_DIR", bench.state())
        .output()
        .ok()?;
    if output.status.code() == Some(77) || text(&output.stderr).contains("unshare") {
        eprintln!(
            "SKIPPED: no mounts in a namespace of its own: {}",
            text(&output.stderr)
        );
        return None;
    }
    Some(output)
}

#[test]
fn a_read_only_machine_is_said_and_left() {
    let _alone = alone();
    if !can_tune() {
        return;
    }
    let bench = Bench::new();
    let before = real();
    let prepare = "mount --bind /sys /sys && mount -o remount,bind,ro /sys && \
                   mount --bind /proc /proc && mount -o remount,bind,ro /proc";
    let arguments = format!("tune --only {CONTROLS}");
    let Some(output) = apart(&bench, prepare, &arguments) else {
        return;
    };
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let out = text(&output.stdout);
    assert!(
        out.contains("not set") && out.contains("read-only"),
        "{output:?}"
    );
    assert!(!bench.pending(), "nothing waits");
    assert_eq!(before, real());
}

#[test]
fn without_proc_and_sys_nothing_is_begun() {
    let _alone = alone();
    if !can_tune() {
        return;
    }
    let bench = Bench::new();
    let prepare = "mount -t tmpfs none /sys && mount -t tmpfs none /proc";
    for arguments in [
        "tune --only sample-rate",
        "tune",
        "tune --only shield --cpus 1",
    ] {
        let Some(output) = apart(&bench, prepare, arguments) else {
            return;
        };
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let error = text(&output.stderr);
        assert!(error.contains("/proc") || error.contains("/sys"), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(!bench.pending());
    }
}

//! Sandboxes: limits that may not be asked for, devices that are not there.

use super::*;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use std::collections::BTreeSet;

/// System calls, by their numbers on x86-64 and aarch64, that fail so.
fn failing(calls: &[(i64, i64)], error: u32) -> BpfProgram {
    let calls = calls
        .iter()
        .map(|(x86, arm)| match cfg!(target_arch = "x86_64") {
            true => *x86,
            false => *arm,
        });
    let filter = SeccompFilter::new(
        calls.map(|call| (call, Vec::new())).collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(error),
        std::env::consts::ARCH.try_into().expect("a known machine"),
    );
    filter.and_then(TryInto::try_into).expect("a filter")
}

/// latlas where system calls fail.
fn filtered(home: &TempDir, filter: &BpfProgram, arguments: &[&str]) -> Output {
    std::thread::scope(|scope| {
        let filtered = scope.spawn(|| {
            seccompiler::apply_filter(filter).expect("a filter is taken");
            latlas(home, arguments).output().expect("runs")
        });
        filtered.join().expect("no panic")
    })
}

/// With a quota, or on a network, a write that does not fit fails when it is synced.
#[test]
fn a_disk_that_refuses_on_sync_is_known_before_anything_runs() {
    let home = home();
    // fdatasync, EDQUOT.
    let filter = failing(&[(75, 83)], 122);
    let output = filtered(
        &home,
        &filter,
        &["exec", "--out=run.json", "--", "touch", "ran"],
    );
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.contains("run.json") && err.contains("uota"), "{err}");
    assert!(!home.path().join("ran").exists(), "nothing was run");
    assert!(!home.path().join("run.json").exists());
}

#[test]
fn limits_that_may_not_be_asked_for_are_none() {
    let home = home();
    let arguments = [
        "run",
        "memory.read/sequential",
        "process.*",
        "--quick",
        "--budget=3s",
        "--out=run.json",
    ];
    // getrlimit and prlimit64, by which the C library asks for limits; EPERM.
    let filter = failing(&[(97, 163), (302, 261)], 1);
    let output = filtered(&home, &filter, &arguments);
    let err = text(&output.stderr);
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{:?} {err}",
        output.status
    );
    assert!(!err.contains("panicked"), "{err}");
    let run = read(&home.path().join("run.json"));
    let plain = latlas(&home, &arguments).output().expect("runs");
    assert!(matches!(plain.status.code(), Some(0 | 3)));
    let plain_run = read(&home.path().join("run.json"));
    assert_eq!(run.plan.shrunk.is_some(), plain_run.plan.shrunk.is_some());
    let missing = |run: &Run| -> BTreeSet<String> {
        let rows = run.rows.iter();
        rows.filter(|row| matches!(row.outcome, Outcome::Unavailable { .. }))
            .map(|row| row.id.clone())
            .collect()
    };
    assert_eq!(missing(&run), missing(&plain_run));
}

/// With an empty /dev, in a mount namespace of its own.
#[test]
fn a_missing_null_device_is_named() {
    let home = home();
    let user: &[&str] = match sys::filesystem::user() {
        0 => &[],
        _ => &["--map-root-user"],
    };
    let hide = "mount -t tmpfs none /dev || exit 9; exec \"$@\"";
    let wrapper = [&["unshare", "--mount"], user, &["sh", "-c", hide, "sh"]].concat();
    let tree = home.path().join("tree");
    let machine = noise::machines::virtual_machine();
    let boot = machine.with("proc/sys/kernel/random/boot_id", "boot-1\n");
    boot.write_below(&tree).expect("a tree");
    for arguments in [
        &["run", "cpu.add_i64", "--quick"][..],
        &["exec", "--runs", "2", "--", "true"],
        &["noise", "tune", "--root", "tree", "--only", "thp"],
    ] {
        let mut command = wrapped(&home, &wrapper, arguments);
        command.env("LATLAS_STATE_DIR", home.path().join("state"));
        let output = command.output().expect("runs");
        let err = text(&output.stderr);
        if output.status.code() == Some(9) || err.contains("unshare") {
            println!("SKIPPED: mounts need root, and unshare(1)");
            return;
        }
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains("/dev/null"), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
}

/// From a limit under which the program can be loaded and no more, up.
#[test]
fn an_address_space_too_small_is_said_with_what_is_needed() {
    let home = home();
    let said = |kib: u32, arguments: &[&str]| {
        let limit = format!("ulimit -v {kib}; exec \"$@\"");
        let output = wrapped(&home, &["sh", "-c", &limit, "sh"], arguments).output();
        let output = output.expect("runs");
        (output.status.code(), text(&output.stderr))
    };
    let mut refused = 0;
    for kib in (20_000..200_000).step_by(6_000) {
        let (code, err) = said(kib, &["exec", "--runs", "2", "--", "true"]);
        match code {
            // Its loader could not even begin it, or nothing was left after that.
            None | Some(127) if refused == 0 => continue,
            Some(0 | 3) if refused > 0 => break,
            Some(2) => refused += 1,
            other => panic!("{kib} KiB: {other:?} {err}"),
        }
        assert_eq!(err.lines().count(), 1, "{err}");
        // Above what latlas itself asks for, the system may refuse in its own words.
        let named = err.contains("address space") && err.contains("ulimit -v");
        assert!(named || refused > 1, "{err}");
    }
    assert!(refused > 0, "some limit lies between");
}

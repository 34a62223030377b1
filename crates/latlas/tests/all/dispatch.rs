//! The rows of libdispatch in real workers: with a small library of our own under its
//! name, and without any.

use crate::support::{Done, Home, skip, with_budget};
use model::run::{Outcome, Row, Run};
use std::process::Command;

/// The library of the tests of `sys`, under the name that is looked for.
fn library(home: &Home, options: &[&str]) {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../sys/src/dispatch/fake.c");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-pthread", "-O1", "-o", "libdispatch.so", source])
        .args(options)
        .current_dir(home.path(""))
        .output()
        .expect("a C compiler, which building needs too");
    Done::from(compiled).ok();
}

/// A short run of these rows with the home on the linker's path.
fn run_rows(home: &Home, rows: &str, variables: &[(&str, &str)]) -> (i32, Run) {
    with_budget(|budget| {
        let mut command = home.command(format!("run {rows} {budget} --document"));
        command.env("LD_LIBRARY_PATH", home.path("")).envs(variables.iter().copied());
        let done = Done::from_command(&mut command);
        let run = done.document();
        let is_known = |row: &Row| match &row.outcome {
            Outcome::Unavailable { .. } => true,
            _ => row.estimate().is_some_and(|e| e.typical.is_some()),
        };
        match run.rows.iter().find(|row| !is_known(row)) {
            Some(row) => Err(format!("{row:?}")),
            None => Ok((done.code, run)),
        }
    })
}

fn reasons(run: &Run) -> Vec<&str> {
    fn reason(row: &Row) -> &str {
        match &row.outcome {
            Outcome::Unavailable { reason } => reason,
            other => panic!("{}: {other:?}", row.id),
        }
    }
    run.rows.iter().map(reason).collect()
}

fn has_library() -> bool {
    sys::dispatch::Dispatch::of_this_system().is_ok()
}

fn several_cpus() -> bool {
    sys::allowed_cpus().unwrap_or_default().len() > 1
}

#[test]
fn rows_run_where_the_library_is() {
    let home = Home::new();
    library(&home, &[]);
    let (_, run) = run_rows(&home, "dispatch.*", &[]);
    assert_eq!(run.rows.len(), 3 + 5 + 3);
    for row in &run.rows {
        let apart = row.id.starts_with("dispatch.async_wait");
        if (apart || row.id.ends_with("/other_cpu")) && !several_cpus() {
            skip(format!("{} needs two CPUs", row.id));
            continue;
        }
        let figure = row.estimate();
        let figure = figure.unwrap_or_else(|| panic!("{}: {:?}", row.id, row.outcome));
        if row.id != "dispatch.sync" && !row.id.starts_with("dispatch.semaphore_switch") {
            assert!(row.notes.iter().any(|n| n == "libdispatch: libdispatch.so"), "{row:?}");
        }
        if row.id.starts_with("dispatch.async_wait/") && cfg!(target_os = "linux") {
            let ran_with = row.notes.iter().find(|n| n.contains("its tasks ran with"));
            assert!(ran_with.is_some_and(|n| n.contains("nice ")), "{row:?}");
        }
        let modes = &figure.modes;
        assert!(!apart || modes.iter().any(|mode| mode.name.ends_with("CPU")), "{modes:?}");
    }
}

#[test]
fn each_row_calls_what_it_says() {
    let home = Home::new();
    library(&home, &[]);
    // Queues created and released, tasks run at once and posted, in all workers.
    let calls = |row: &str| -> [i64; 4] {
        let file = row.replace('/', ".");
        home.write(&file, [0; 32]);
        let path = home.path(&file);
        run_rows(&home, row, &[("FAKE_DISPATCH_COUNTS", path.to_str().expect("a path"))]);
        let counts = std::fs::read(&path).expect("the counts");
        let mut counts = counts.chunks_exact(8).map(|bytes| bytes.try_into());
        [0; 4].map(|_: u8| i64::from_ne_bytes(counts.next().expect("four").expect("eight bytes")))
    };
    let [created, released, sync, posted] = calls("dispatch.sync");
    assert!(created > 0 && created == released && posted == 0);
    // One that asks for its thread for each queue; then sixteen a turn.
    assert!(sync > created && (sync - created) % 16 == 0, "{sync} {created}");
    let [created, released, sync, posted] = calls("dispatch.queue_create");
    assert!(created > 100 && created == released, "{created} {released}");
    assert_eq!((sync, posted), (0, 0));
    let [created, released, sync, posted] = calls("dispatch.semaphore_switch/same_cpu");
    assert!(created > 0 && created == released, "{created} {released}");
    assert_eq!((sync, posted), (0, 0));
    if several_cpus() {
        let [created, released, sync, posted] = calls("dispatch.async_wait");
        assert!(created > 0 && created == released);
        assert!(sync == 0 && posted > created, "{posted} {created}");
        let [created, released, sync, posted] = calls("dispatch.async_wait/background");
        assert!(created == 0 && released == 0 && sync == 0 && posted > 0);
    }
}

#[test]
fn a_library_that_is_incomplete_or_fails_is_a_reason() {
    let home = Home::new();
    library(&home, &[]);
    let (code, without_queues) =
        run_rows(&home, "dispatch.*", &[("FAKE_DISPATCH_GIVES_NONE", "1")]);
    assert_eq!(code, 3, "nothing was measured");
    for reason in reasons(&without_queues) {
        let failed = [
            "dispatch_queue_create() failed: ",
            "dispatch_get_global_queue() failed: ",
            "can't make a semaphore: ",
        ];
        let has_failed = failed.iter().any(|failed| reason.starts_with(failed));
        assert!(has_failed || reason.contains("one CPU"), "{reason}");
    }
    for (option, wanted) in [
        ("-DSYNC_ELSEWHERE", "dispatch_sync() ran its function on another thread"),
        ("-DSYNC_NEVER", "dispatch_sync() came back before its function had run"),
    ] {
        library(&home, &[option]);
        assert_eq!(reasons(&run_rows(&home, "dispatch.sync", &[]).1), [wanted]);
    }
    if has_library() {
        return skip("this system has a complete libdispatch");
    }
    library(&home, &["-DWITHOUT_SYNC"]);
    let (code, incomplete) = run_rows(&home, "dispatch.*", &[]);
    assert_eq!(code, 3);
    let named =
        |reason: &&str| reason.contains("libdispatch.so") && reason.contains("dispatch_sync_f");
    assert!(reasons(&incomplete).iter().all(named), "{incomplete:?}");
    std::fs::remove_file(home.path("libdispatch.so")).expect("removed");
    let (code, absent) = run_rows(&home, "dispatch.*", &[]);
    assert_eq!(code, 3);
    let named = |reason: &&str| reason.contains("libdispatch") && reason.contains("toolchain");
    assert!(reasons(&absent).iter().all(named), "{absent:?}");
}

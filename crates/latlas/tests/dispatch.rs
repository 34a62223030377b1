//! The rows of libdispatch in real workers, beside a small library of our own
//! under its name, and without any. Shapes are asserted, never times.
#![cfg(target_os = "linux")]

use model::run::{Outcome, Row, Run};
use std::path::Path;
use std::process::Command;

/// The library of the tests of `sys`, under the name that is looked for.
fn library(folder: &Path, options: &[&str]) {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../sys/src/dispatch/fake.c");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-pthread", "-O1"])
        .args(options)
        .arg("-o")
        .args([&folder.join("libdispatch.so"), Path::new(source)])
        .output()
        .expect("a C compiler, which building needs too");
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{said}");
}

/// A short run of these rows with this folder on the linker's way.
fn run(rows: &str, folder: &Path, variables: &[(&str, &str)]) -> (Option<i32>, Vec<Row>) {
    let home = tempfile::tempdir().expect("a directory");
    let file = home.path().join("run.json");
    let output = Command::new(env!("CARGO_BIN_EXE_latlas"))
        .args(["run", rows, "--budget", "2s", "--out"])
        .arg(&file)
        .env("LATLAS_DATA_DIR", home.path().join("data"))
        .env("LD_LIBRARY_PATH", folder)
        .envs(variables.iter().copied())
        .output()
        .expect("latlas starts");
    let said = String::from_utf8_lossy(&output.stderr);
    let run = std::fs::read(&file).unwrap_or_else(|e| panic!("{e}: {said}"));
    let run: Run = serde_json::from_slice(&run).expect("a Run");
    (output.status.code(), run.rows)
}

fn reasons(rows: &[Row]) -> Vec<String> {
    let reason = |row: &Row| match &row.outcome {
        Outcome::Unavailable { reason } => reason.clone(),
        other => panic!("{}: {other:?}", row.id),
    };
    rows.iter().map(reason).collect()
}

#[test]
fn rows_run_where_the_library_is() {
    let folder = tempfile::tempdir().expect("a directory");
    library(folder.path(), &[]);
    let (_, rows) = run("dispatch.*", folder.path(), &[]);
    assert_eq!(rows.len(), 3);
    let cpus = sys::allowed_cpus().unwrap_or_default().len();
    for row in &rows {
        if row.id == "dispatch.async_wait" && cpus < 2 {
            continue;
        }
        let figure = row.estimate();
        assert!(figure.is_some(), "{}: {:?}", row.id, row.outcome);
    }
    let of = |id: &str| rows.iter().find(|row| row.id == id).expect("a row");
    let note = "libdispatch: libdispatch.so";
    assert!(
        of("dispatch.queue_create")
            .notes
            .iter()
            .any(|text| text == note)
    );
    if cpus > 1 {
        let row = of("dispatch.async_wait");
        let modes = &row.estimate().expect("a figure").modes;
        assert!(
            modes.iter().any(|mode| mode.name.ends_with("CPU")),
            "{modes:?}"
        );
        assert!(row.notes.iter().any(|text| text == note), "{:?}", row.notes);
    }
}

#[test]
fn each_row_calls_what_it_says() {
    let folder = tempfile::tempdir().expect("a directory");
    library(folder.path(), &[]);
    // Queues created and released, tasks run at once and posted, in all
    // workers.
    let calls = |row: &str| -> [i64; 4] {
        let counts = folder.path().join(row);
        std::fs::write(&counts, [0; 32]).expect("written");
        let variables = [("FAKE_DISPATCH_COUNTS", counts.to_str().expect("a path"))];
        run(row, folder.path(), &variables);
        let counts = std::fs::read(&counts).expect("the counts");
        let mut counts = counts.chunks_exact(8).map(|bytes| bytes.try_into());
        [0; 4].map(|_: u8| i64::from_ne_bytes(counts.next().expect("four").expect("eight bytes")))
    };
    let [created, released, sync, posted] = calls("dispatch.sync");
    assert!(created > 0 && created == released && posted == 0);
    // One that asks for its thread for each queue; then sixteen a turn.
    assert!(
        sync > created && (sync - created) % 16 == 0,
        "{sync} {created}"
    );
    let [created, released, sync, posted] = calls("dispatch.queue_create");
    assert!(created > 100 && created == released, "{created} {released}");
    assert_eq!((sync, posted), (0, 0));
    if sys::allowed_cpus().unwrap_or_default().len() > 1 {
        let [created, released, sync, posted] = calls("dispatch.async_wait");
        assert!(created > 0 && created == released);
        assert!(sync == 0 && posted > created, "{posted} {created}");
    }
}

#[test]
fn a_library_that_is_not_whole_or_gives_nothing_is_a_reason() {
    let folder = tempfile::tempdir().expect("a directory");
    library(folder.path(), &[]);
    let (code, rows) = run(
        "dispatch.*",
        folder.path(),
        &[("FAKE_DISPATCH_GIVES_NONE", "1")],
    );
    assert_eq!(code, Some(3), "nothing was measured");
    for reason in reasons(&rows) {
        assert!(
            reason.starts_with("dispatch_queue_create() failed: ") || reason.contains("one CPU"),
            "{reason}"
        );
    }
    if sys::dispatch::Dispatch::of_this_system().is_ok() {
        return;
    }
    library(folder.path(), &["-DWITHOUT_SYNC"]);
    let (code, rows) = run("dispatch.*", folder.path(), &[]);
    assert_eq!(code, Some(3));
    for reason in reasons(&rows) {
        let wanted =
            "libdispatch (libdispatch.so) has no function dispatch_sync_f (what would provide it: ";
        assert!(reason.starts_with(wanted), "{reason}");
    }
}

#[test]
fn a_synchronous_task_that_is_none_is_no_row() {
    for (option, wanted) in [
        (
            "-DSYNC_ELSEWHERE",
            "dispatch_sync() ran its function on another thread",
        ),
        (
            "-DSYNC_NEVER",
            "dispatch_sync() came back before its function had run",
        ),
    ] {
        let folder = tempfile::tempdir().expect("a directory");
        library(folder.path(), &[option]);
        let (_, rows) = run("dispatch.sync", folder.path(), &[]);
        assert_eq!(reasons(&rows), [wanted]);
    }
}

#[test]
fn no_library_is_a_reason_that_names_what_would_provide_it() {
    if sys::dispatch::Dispatch::of_this_system().is_ok() {
        return;
    }
    let folder = tempfile::tempdir().expect("a directory");
    let (code, rows) = run("dispatch.*", folder.path(), &[]);
    assert_eq!(code, Some(3));
    for reason in reasons(&rows) {
        assert!(
            reason.starts_with("libdispatch not found (what would provide it: "),
            "{reason}"
        );
    }
}

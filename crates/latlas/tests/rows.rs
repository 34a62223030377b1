//! Rows in real workers, where they need one: shapes are asserted, never times.

use model::run::{Outcome, Run};
use std::process::Command;

/// A short run of these rows; its document.
fn run(rows: &[&str]) -> Run {
    let home = tempfile::tempdir().expect("a directory");
    let file = home.path().join("run.json");
    let output = Command::new(env!("CARGO_BIN_EXE_latlas"))
        .arg("run")
        .args(rows)
        .args(["--budget", "2s", "--out"])
        .arg(&file)
        .env("LATLAS_DATA_DIR", home.path().join("data"))
        .output()
        .expect("latlas starts");
    // 3: a busy machine, on which no figure can be relied on.
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&std::fs::read(&file).expect("the document")).expect("a Run")
}

/// In a test's thread glibc would keep the block: only a worker's first thread
/// shows that its pages are fresh each time.
#[test]
fn a_touched_block_of_malloc_has_fresh_pages() {
    let run = run(&["alloc.malloc_free/16MiB_touched"]);
    let row = &run.rows[0];
    assert!(
        matches!(row.outcome, Outcome::Figure(_)),
        "{:?}",
        row.outcome
    );
    let note = "page faults a turn of the loop: ";
    let faults = row.notes.iter().find_map(|text| text.strip_prefix(note));
    let faults: f64 = faults.expect("the faults").parse().expect("a number");
    // 4096 base pages, or 8 huge ones.
    assert!(faults >= 8.0, "{:?}", row.notes);
}

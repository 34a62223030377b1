//! Rows in real workers, where they need one.

use crate::support::Home;
use model::run::Outcome;

/// In a test's thread glibc would keep the block: only a worker's first thread
/// shows that its pages are fresh each time.
#[test]
fn a_touched_block_of_malloc_has_fresh_pages() {
    let run = Home::new().measure("run alloc.malloc_free/16MiB_touched --budget 2s --json");
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

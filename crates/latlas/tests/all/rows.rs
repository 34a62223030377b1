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

#[test]
fn groups_levels_words_and_upper_case_name_rows() {
    let home = Home::new();
    let first = |line: &str| home.out(line).lines().next().unwrap_or_default().to_owned();
    for (line, begins) in [
        ("explain memory", "memory: "),
        ("explain MEMORY", "MEMORY: "),
        ("explain l2", "l2: "),
        ("explain DRAM", "DRAM: "),
        ("explain 'system call'", "call.syscall"),
        ("explain 'SYSTEM'", "SYSTEM: "),
        ("explain 'load from memory'", "memory.latency/DRAM"),
        ("explain overview", "overview: "),
        ("explain div", "div: "),
    ] {
        assert!(first(line).starts_with(begins), "{line}: {}", first(line));
    }
    // The only probe with rows that contain the word is explained.
    let only = home.out("explain popcnt");
    assert!(
        only.lines()
            .next()
            .is_some_and(|line| line.contains("cpu.popcnt_i64")),
        "{only}"
    );
    for (line, same) in [
        ("list 'CPU.*'", "list 'cpu.*'"),
        ("list CPU.ADD_I32", "list cpu.add_i32"),
        ("list MEMORY", "list memory"),
    ] {
        assert_eq!(home.out(line), home.out(same), "{line}");
    }
    let div = home.out("list div");
    assert!(
        div.contains("cpu.div_i32") && !div.contains("cpu.add_i32"),
        "{div}"
    );
    let planned = home.out("run 'CPU.ADD_*' --dry-run --budget 30sec");
    assert!(planned.contains("cpu.add_i32"), "{planned}");
}

//! Rows in real workers, where they need one.

use crate::support::{Home, made_up_id, with_budget};
use model::core_clock::MovementSource;
use model::run::Run;

/// In a test's thread glibc would keep the block: only a worker's first thread
/// shows that its pages are fresh each time.
#[test]
fn a_touched_block_of_malloc_has_fresh_pages() {
    let faults = with_budget(|budget| {
        let line = format!("run alloc.malloc_free/16MiB_touched {budget} --document");
        let run = Home::new().measure(line);
        let row = &run.rows[0];
        let note = "page faults a turn of the loop: ";
        let faults = row.notes.iter().find_map(|text| text.strip_prefix(note));
        let faults: Option<f64> = faults.map(|text| text.parse().expect("a number"));
        faults.ok_or_else(|| format!("{:?} {:?}", row.outcome, row.notes))
    });
    // 4096 base pages, or 8 huge ones.
    assert!(faults >= 8.0, "{faults}");
}

#[test]
fn intervals_in_ns_include_how_far_the_clock_moved_between_stored_runs() {
    let home = Home::new();
    let movement = |run: &Run| run.core_clock.as_ref()?.between_runs;
    let measured = || {
        with_budget(|budget| {
            let run = home.measure(format!("run cpu.add_i64 {budget} --document"));
            let known = movement(&run).ok_or("no clock of the canaries")?;
            Ok((run, known))
        })
    };
    let (first, known) = measured();
    assert_eq!(known.source, MovementSource::Floor, "nothing is stored");
    // Six more runs of this machine, five minutes apart, with clocks that differ by a half.
    for k in 1..=6 {
        let mut run = first.clone();
        run.id = made_up_id(k);
        run.started_unix_ms -= u64::from(k) * 300_000;
        let clock = run.core_clock.as_mut().expect("a clock");
        clock.cycle_ns = clock.cycle_ns.scaled(1.5_f64.powi(k as i32 % 2));
        home.keep(k, &serde_json::to_value(&run).expect("JSON"));
    }
    let (later, known) = measured();
    assert!(matches!(known.source, MovementSource::Stored { runs: 6.., .. }), "{known:?}");
    assert!(known.relative > 1.5_f64.ln(), "{known:?}");
    let quiet = later.rows[0].estimate().and_then(|e| e.quiet);
    // A machine that is never quiet has no figure to widen.
    let widened = quiet.map_or(Some(known.relative), |quiet| quiet.clock_movement);
    assert_eq!(widened, Some(known.relative));
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
    assert!(only.lines().next().is_some_and(|line| line.contains("cpu.popcnt_i64")), "{only}");
    for (line, same) in [
        ("list 'CPU.*'", "list 'cpu.*'"),
        ("list CPU.ADD_I32", "list cpu.add_i32"),
        ("list MEMORY", "list memory"),
    ] {
        assert_eq!(home.out(line), home.out(same), "{line}");
    }
    let div = home.out("list div");
    assert!(div.contains("cpu.div_i32") && !div.contains("cpu.add_i32"), "{div}");
    let planned = home.out("run 'CPU.ADD_*' --dry-run --budget 30sec");
    assert!(planned.contains("cpu.add_i32"), "{planned}");
}

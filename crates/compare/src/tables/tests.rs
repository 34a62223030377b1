//! What a run knows of rows, levels and points, and which run is taken.

use super::*;
use model::estimate::Verdict;
use model::run::Row;
use model::synthetic;
use std::fmt::Write as _;

fn ids(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The synthetic run with these rows only.
fn with_rows(id: &str, names: &[&str]) -> Run {
    let run = synthetic::run();
    let rows: Vec<Row> = run.rows.iter().cloned().collect();
    let kept = rows.into_iter().filter(|row| names.contains(&&*row.id));
    Run { id: id.into(), rows: kept.collect::<Vec<_>>().into(), ..run }
}

#[test]
fn rows_levels_and_points_have_a_figure_or_a_reason() {
    let run = synthetic::run();
    let mut text = String::new();
    for id in [
        "cpu.add_i32",
        "cpu.div_i32",
        "cpu.memcpy/1MiB",
        "cpu.memcpy/16B",
        "cpu.branch_mispredict",
        "cpu.timer/counter",
        "memory.latency",
        "memory.latency/L2",
        "memory.latency/L4",
        "file.create/0B",
        "file.create/7B",
        "file.create/huge",
        "sched.wakeup/idle",
        "no.such_row",
        "no.such/row",
    ] {
        let here = here(Some(&run), id);
        let _ = match here.measured() {
            Some(m) => writeln!(
                text,
                "{id}: {} {} ns, mode {:?}, below {:?}, {:?} operations, {:?} bytes, {:?} {:?}",
                m.figure,
                m.ns.value,
                m.mode,
                m.below_ns,
                m.iterations,
                m.bytes,
                m.verdict,
                m.reason,
            ),
            None => writeln!(text, "{id}: {here:?}"),
        };
    }
    insta::assert_snapshot!(text);
    assert_eq!(
        here(None, "cpu.add_i32"),
        Here::NotMeasured { reason: "not measured yet".into(), measurable: true }
    );
}

#[test]
fn operations_are_counted_from_the_samples() {
    let run = synthetic::run();
    let of = |id: &str| counted(&run, id).expect("whole columns");
    // 40 samples of 10,000 turns of ten operations, and of twice as many.
    let add = of("cpu.add_i32").expect("samples");
    assert_eq!(add.operations, 40 * 3 * 100_000);
    let ticks: u64 = (0..40).map(|k| 240_000 + k % 7 + k % 5).sum();
    let seconds = ticks as f64 * run.clock.ns_per_tick * 1e-9;
    assert!((add.seconds - seconds).abs() < 1e-12, "{}", add.seconds);
    assert_eq!(of("cpu.memcpy/16B"), None);
    // A point of a curve has its own cells.
    let cells = run.cells.at_point("file.create", &[0]);
    let samples = cells.map(|cell| cell.samples.samples().expect("whole"));
    let turns: u64 = samples.flatten().map(|s| s.turns).sum();
    let create = of("file.create/0B").expect("samples");
    assert_eq!(create.operations, turns);
}

#[test]
fn the_fullest_run_fills_a_table_the_newest_of_several() {
    let all = ids(&["cpu.add_i32", "cpu.div_i32", "cpu.timer/counter"]);
    let one = with_rows("one", &["cpu.add_i32"]);
    let other = with_rows("other", &["cpu.div_i32"]);
    let two = with_rows("two", &["cpu.add_i32", "cpu.timer/counter"]);
    let whole = with_rows("whole", &["cpu.add_i32", "cpu.div_i32", "cpu.timer/counter"]);
    let none = with_rows("none", &["cpu.memcpy/16B"]);
    let held = [&one, &two, &whole, &none].map(|run| rows_held(run, &all));
    assert_eq!(held, [1, 2, 3, 0], "a reason counts as a figure");
    let chosen = |runs: &[&Run]| {
        let runs = runs.iter().map(|run| (*run).clone());
        fullest(runs, &all).map(|run| run.id)
    };
    assert_eq!(chosen(&[&one, &other, &two]).as_deref(), Some("two"));
    assert_eq!(chosen(&[&one, &other]).as_deref(), Some("one"));
    assert_eq!(chosen(&[&none, &other]).as_deref(), Some("other"));
    assert_eq!(chosen(&[&none]), None);
    // What is older than a run that holds all is not read.
    let read = [&one, &whole, &two].map(Run::clone).into_iter();
    let mut count = 0;
    let found = fullest(read.inspect(|_| count += 1), &all).map(|run| run.id);
    assert_eq!((found.as_deref(), count), (Some("whole"), 2));
}

#[test]
fn a_run_is_of_this_machine_by_host_cpu_and_emulator() {
    let run = synthetic::run();
    assert!(is_of(&run, &run.machine, None));
    assert!(!is_of(&run, &run.machine, Some("qemu")));
    let other = synthetic::run_of_commands();
    assert!(!is_of(&other, &other.machine, None));
    let mut imported = run.clone();
    imported.imported = Some(synthetic::imported());
    assert!(!is_of(&imported, &run.machine, None));
    let mut elsewhere = run.machine.clone();
    elsewhere.hostname = model::machine::Fact::known("elsewhere".into());
    assert!(!is_of(&run, &elsewhere, None));
}

#[test]
fn an_invalid_figure_is_not_shown_and_says_so() {
    let run = synthetic::run();
    let Here::Invalid { reason, .. } = here(Some(&run), "cpu.branch_mispredict") else {
        panic!("invalid");
    };
    assert!(reason.contains("page faults"), "{reason}");
    let verdict = run.row("cpu.branch_mispredict").and_then(Row::estimate);
    assert_eq!(verdict.map(|e| e.verdict), Some(Verdict::Invalid));
}

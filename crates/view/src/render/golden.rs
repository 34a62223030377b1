//! Whole pictures of the synthetic run, kept in `snapshots/`. Read the
//! difference before accepting it: `INSTA_UPDATE=always cargo test`.

use super::{Options, ProbeText, explain, machine_page, probe_list, render_run};
use crate::terminal::{COLUMNS, colored, layout, plain};
use compare::references::References;
use model::command::EndedRuns;
use model::compare::finding;
use model::estimate::Verdict;
use model::gate::GateState;
use model::machine::Fact;
use model::run::{Axis, Bound, Outcome, Regime, Run, Scale};
use model::synthetic;
use model::unit::Unit;

fn references() -> References {
    References::embedded().expect("references")
}

fn draw(document: &Run, options: &Options) -> String {
    plain(&render_run(document, &references(), options))
}

fn usual() -> Options {
    Options {
        kept: Some("/home/me/.local/share/latlas/runs/20261121T015244Z-5e0c1a2b.json.zst".into()),
        full_adds: Some("memory.mountain, memory.loaded_latency and more points".into()),
        ..Options::default()
    }
}

fn widest(text: &str) -> usize {
    text.lines().map(layout::width).max().unwrap_or(0)
}

#[test]
fn the_default_table() {
    let text = draw(&synthetic::run(), &usual());
    insta::assert_snapshot!(text);
    assert!(widest(&text) <= COLUMNS, "{} columns", widest(&text));
    assert!(!text.contains('\x1b'));
    assert!(text.lines().all(|line| line == line.trim_end()));
}

#[test]
fn every_row_and_reason() {
    let options = Options { all: true, ..usual() };
    let text = draw(&synthetic::run(), &options);
    insta::assert_snapshot!(text);
    assert!(widest(&text) <= COLUMNS, "{} columns", widest(&text));
}

/// The first screen at several widths.
#[test]
fn the_overview() {
    let mut run = synthetic::run();
    run.plan.asked = vec![model::overview::OVERVIEW.into()];
    let blocks = super::render_run(&run, &references(), &usual());
    let screens = [40, 80, 120].map(|columns| {
        let screen = crate::terminal::Screen { columns, color: false };
        let text = crate::terminal::blocks_text(&blocks, screen);
        assert!(widest(&text) <= columns, "{text}");
        text
    });
    insta::assert_snapshot!(screens.join("\n"));
}

#[test]
fn commands_on_a_screen() {
    let blocks = render_run(&synthetic::run_of_commands(), &references(), &usual());
    let screen = crate::terminal::Screen { columns: 80, color: false };
    let text = crate::terminal::blocks_text(&blocks, screen);
    insta::assert_snapshot!(text);
    // Two of them say that the cache was not cold, one that a command has no counters.
    assert!(text.lines().count() <= 31, "{text}");
}

#[test]
fn a_command_that_failed_is_neither_faster_nor_slower() {
    let mut failed = synthetic::run_of_commands();
    let record = failed.commands.as_mut().expect("commands");
    let end = |how: &str, runs| EndedRuns { how: how.into(), code: None, runs };
    let rg = &mut record.commands[1];
    rg.failures = 3;
    rg.ends = vec![end("exit code 0", 27), end("signal 11 (SIGSEGV)", 3)];
    rg.input_unread = true;
    rg.output_bytes = Some([0, 1200]);
    let why = record.commands[1].not_comparable(&record.commands[0]);
    for one in &mut record.compared {
        (one.word, one.why) = (finding::Verdict::CannotTell, why.clone());
    }
    let flaw = record.commands[1].flaw();
    record.commands[0].ends = vec![end("exit code 1", 30)];
    for row in failed.rows.iter_mut().filter(|row| row.id.starts_with("exec.rg")) {
        if let Outcome::Figure(estimate) = &mut row.outcome {
            (estimate.verdict, estimate.reason) = (Verdict::Invalid, flaw.clone().expect("failed"));
        }
    }
    let text = draw(&failed, &usual());
    insta::assert_snapshot!(text);
    assert!(!text.contains("faster") && !text.contains("slower"), "{text}");
}

#[test]
fn commands_and_what_they_say_of_each_other() {
    let all = Options { all: true, ..usual() };
    let text = draw(&synthetic::run_of_commands(), &all);
    insta::assert_snapshot!(text);
    assert!(widest(&text) <= COLUMNS, "{} columns", widest(&text));
    assert!(text.lines().all(|line| line == line.trim_end()));
    let options = Options { wide: true, ..Options::default() };
    let wide = draw(&synthetic::run_of_commands(), &options);
    assert!(wide.contains("exec.rg/faults") && wide.contains("different: slower"));
}

#[test]
fn the_table_for_people() {
    let options = Options { human: true, frames: true, ..Options::default() };
    let text = draw(&synthetic::run(), &options);
    insta::assert_snapshot!(text);
    assert!(widest(&text) <= 120, "{} columns", widest(&text));
}

#[test]
fn the_wide_table() {
    let options = Options { wide: true, ..Options::default() };
    let text = draw(&synthetic::run(), &options);
    insta::assert_snapshot!(text);
    let points: usize = synthetic::run()
        .rows
        .iter()
        .map(|row| match &row.outcome {
            Outcome::Curve { points, .. } => points.len(),
            Outcome::Map { points, .. } => points.len(),
            _ => 0,
        })
        .sum();
    let (table, _legend) = text.split_once("\nquiet ±:").expect("a legend");
    assert_eq!(table.matches(" at ").count(), points, "a line for each point");
}

#[test]
fn another_reference_takes_the_place_of_the_2012_list() {
    let references = references();
    let options = Options {
        versus: vec![references.find("iphone-x").expect("key").clone()],
        ..Options::default()
    };
    let text = plain(&render_run(&synthetic::run(), &references, &options));
    assert!(text.contains("iphone-x") && !text.contains("2012"), "{text}");
    let line = text.lines().find(|l| l.contains("latency_as_kurkin/64MiB"));
    let line = line.expect("the row");
    assert!(line.contains("146 ns") && line.contains("1.1x faster"), "{line}");
    assert!(widest(&text) <= COLUMNS);
}

#[test]
fn what_must_not_be_overlooked_comes_first() {
    let mut document = synthetic::run();
    document.program.emulated = Some("qemu-user".into());
    document.partial = Some("interrupted after 3 of 12 rounds".into());
    document.plan.shrunk = Some("only 512MiB of memory are allowed here".into());
    document.gate.state = GateState::NeverQuiet;
    document.gate.reason = "the core was shared during the whole run".into();
    let text = draw(&document, &Options::default());
    let mut lines = text.lines();
    assert!(lines.next().expect("line").starts_with("EMULATED under qemu-user"));
    assert!(lines.next().expect("line").starts_with("PARTIAL: interrupted"));
    assert!(!text.contains("the core was shared"), "an emulator has no neighbours");
    document.program.emulated = None;
    let text_of_real = draw(&document, &Options::default());
    assert_eq!(
        text_of_real.lines().nth(1),
        Some("WARNING: the core was shared during the whole run")
    );
    assert!(text.contains("SHORT: only 512MiB"), "{text}");
}

#[test]
fn verdicts_are_coloured_where_that_is_wanted() {
    let blocks = render_run(&synthetic::run(), &references(), &Options::default());
    let (plain, colored) = (plain(&blocks), colored(&blocks));
    assert!(colored.contains("\x1b[33mnoisy\x1b[0m"));
    let mut stripped = colored;
    for escape in ["\x1b[0m", "\x1b[31m", "\x1b[32m", "\x1b[33m"] {
        stripped = stripped.replace(escape, "");
    }
    assert_eq!(stripped, plain, "colour moves nothing");
}

#[test]
fn reasons_are_never_cut() {
    let all = Options { all: true, ..Options::default() };
    let text = draw(&synthetic::run(), &all);
    let words: Vec<&str> = text.split_whitespace().collect();
    let flat = words.join(" ");
    for row in &synthetic::run().rows {
        let reason = match &row.outcome {
            Outcome::Unavailable { reason } => reason,
            _ => match row.estimate() {
                Some(estimate) => &estimate.reason,
                None => continue,
            },
        };
        let reason: Vec<&str> = reason.split_whitespace().collect();
        assert!(flat.contains(&reason.join(" ")), "{}: {reason:?}", row.id);
    }
}

#[test]
fn a_run_of_nothing_is_drawn_too() {
    let mut document = synthetic::run();
    document.rows.clear();
    document.core_clock = None;
    let text = draw(&document, &Options::default());
    assert!(text.contains("0 of 0 results ok."), "{text}");
    let all = Options { all: true, ..Options::default() };
    let text = draw(&document, &all);
    assert!(text.contains("rows: none"), "{text}");
}

#[test]
fn a_damaged_but_well_formed_run_breaks_nothing() {
    let mut document = synthetic::run();
    document.id = "ü".into();
    document.rows[0].id = "without a dot\n\x1b[31m".into();
    for row in &mut document.rows {
        match &mut row.outcome {
            Outcome::Curve { points, .. } => {
                points.truncate(1);
                points[0].x = 0;
            }
            Outcome::Map { points, .. } => points.clear(),
            Outcome::Level { plateau, .. } => {
                (plateau.from_bytes, plateau.to_bytes) = (u64::MAX, 0);
            }
            Outcome::Figure(estimate) => {
                estimate.below_ns = Some(-1.0);
                estimate.typical = None;
            }
            Outcome::Unavailable { reason } => reason.clear(),
        }
    }
    for wide in [false, true] {
        let options = Options { wide, ..Options::default() };
        let text = draw(&document, &options);
        assert!(!text.contains('\x1b'), "{text}");
    }
}

#[test]
fn the_machine_page() {
    let text = plain(&machine_page(
        &synthetic::run().machine,
        &Fact::known(synthetic::run().files_on.expect("synthetic")),
    ));
    insta::assert_snapshot!(text);
    assert!(widest(&text) <= COLUMNS);
}

fn probe() -> ProbeText {
    ProbeText {
        id: "memory.latency".into(),
        rows: vec!["memory.latency".into()],
        title: "one dependent load".into(),
        operation: "One load whose address is the result of the load before.".into(),
        method: "A random cycle through one element per cache line. ".repeat(4),
        source: "LMbench lat_mem_rd.".into(),
        unit: Unit::Time,
        bound: Bound::Core,
        regime: Regime::Gated,
        long_from: None,
        by_shared_part: false,
        since: Scale::Quick,
        axes: vec![Axis::WorkingSetBytes],
        levels: true,
        points: Vec::new(),
    }
}

#[test]
fn the_page_of_a_row() {
    let text = plain(&explain(&probe(), "memory.latency", &references()));
    insta::assert_snapshot!(text);
    assert!(widest(&text) <= COLUMNS);
    let mut mixed = probe();
    mixed.long_from = Some(3 << 20);
    let text = plain(&explain(&mixed, "memory.latency", &references()));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let both = "the typical one. From 3MiB on: every sample counts";
    assert!(text.contains(both), "{text}");
    for id in ["objc.json_encode", "file.read_open/1MiB", "no.such_row"] {
        insta::assert_snapshot!(plain(&explain(&probe(), id, &references())));
    }
}

#[test]
fn the_page_of_a_stamped_row() {
    let mut wakeup = probe();
    wakeup.id = "sched.wakeup".into();
    wakeup.rows = vec!["sched.wakeup/idle".into(), "sched.wakeup/loaded".into()];
    wakeup.regime = Regime::Stamped;
    wakeup.bound = Bound::Memory;
    wakeup.axes.clear();
    wakeup.levels = false;
    let text = plain(&explain(&wakeup, "sched.wakeup", &references()));
    insta::assert_snapshot!(text);
    assert!(widest(&text) <= COLUMNS);
}

#[test]
fn the_list() {
    let mut division = probe();
    division.id = "cpu.div_i32".into();
    division.rows = vec!["cpu.div_i32".into(), "cpu.div_i32/throughput".into()];
    division.axes.clear();
    division.levels = false;
    division.since = Scale::Full;
    let text = plain(&probe_list(&[probe(), division]));
    insta::assert_snapshot!(text);
}

/// The synthetic run as a file, for the tests of the command line.
#[test]
fn the_fixture_of_the_command_line_is_up_to_date() {
    const PATH: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../latlas/tests/fixtures/synthetic.json");
    let document = store::to_json(&synthetic::run()).expect("document");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PATH, &document).expect("the fixture is writable");
    }
    let kept = std::fs::read(PATH).unwrap_or_default();
    assert!(
        kept == document,
        "tests/fixtures/synthetic.json differs: UPDATE_DOCS=1 cargo test -p latlas-atlas"
    );
}

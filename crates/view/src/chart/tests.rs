//! What pictures hold is what the document has.

use super::*;
use compare::operand::Operand;
use compare::references::References;
use compare::{Options, compare};
use model::run::{Axis as Over, Bound, Cell, CurvePoint, Outcome, Row, Run};
use model::synthetic::{self, stamped_figure};
use model::unit::Unit;
use std::collections::HashSet;

pub(super) fn references() -> References {
    References::embedded().expect("references")
}

/// The synthetic run with what it lacks: files that are read.
pub(super) fn run_with_gaps() -> Run {
    let mut run = synthetic::run();
    for (id, factor) in [("file.read_open", 1.0), ("file.read_with_open", 1.5)] {
        let point = |x: u64| CurvePoint {
            x,
            bound: None,
            estimate: stamped_figure(factor * (700.0 + x as f64 / 20.0), 12.0),
        };
        let points = [1, 1024, 65_536, 1 << 20].map(point).into();
        let outcome = Outcome::Curve { axis: Over::FileBytes, points };
        let notes = vec!["the page cache served it".into()];
        run.rows.push(Row { notes, ..Row::new(id, Unit::Time, Bound::Memory, outcome) });
    }
    run
}

/// Another run set beside this one.
pub(super) fn other_run<'r>(run: &Run, other: &'r Run) -> OtherRun<'r> {
    let name = name_of(other);
    let baseline = Operand::from_run(&name, other.clone());
    let own = Operand::from_run("this run", run.clone());
    let options = Options { margin: 0.05, fail_above: None, normalize: None };
    let comparison = compare(&baseline, &own, &[], &|_| true, &options);
    OtherRun { name, run: other, comparison: comparison.map_err(|why| why.to_string()) }
}

fn drawn(run: &Run) -> Vec<Chart> {
    of_run(run, &references(), &[])
}

pub(super) fn chart(run: &Run, id: &str) -> Chart {
    let all = drawn(run);
    let found = all.into_iter().find(|chart| chart.id == id);
    found.unwrap_or_else(|| panic!("no picture {id}"))
}

fn lines(run: &Run, id: &str) -> Lines {
    match chart(run, id).body {
        Body::Lines(lines) => lines,
        other => panic!("{id} is {other:?}"),
    }
}

fn chart_line(run: &Run, id: &str, name: &str) -> ChartLine {
    let lines = lines(run, id);
    let found = lines.series.into_iter().find(|line| line.name == name);
    found.unwrap_or_else(|| panic!("no curve {name} in {id}"))
}

fn points<'r>(run: &'r Run, row: &str) -> &'r [CurvePoint] {
    match &run.row(row).expect("the row").outcome {
        Outcome::Curve { points, .. } => points,
        other => panic!("{row} is {other:?}"),
    }
}

/// x, figure and ends as the document has them, in the unit that `of` gives.
fn expected(points: &[CurvePoint], of: impl Fn(u64, f64) -> f64) -> Vec<(f64, f64, [f64; 2])> {
    let figure = |p: &CurvePoint| {
        let ns = p.estimate.ns().expect("a figure");
        let ends = [of(p.x, ns.low), of(p.x, ns.high)];
        let ends = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        (p.x as f64, of(p.x, ns.value), ends)
    };
    points.iter().map(figure).collect()
}

fn found(line: &ChartLine) -> Vec<(f64, f64, [f64; 2])> {
    let ends = |p: &Point| [p.low.expect("low"), p.high.expect("high")];
    line.points.iter().map(|p| (p.x, p.y, ends(p))).collect()
}

/// A picture as text: what stands around it, and all its figures.
pub(crate) fn chart_text(chart: &Chart) -> String {
    let mut text =
        format!("{}: {} ({:?})\n{}\n", chart.id, chart.title, chart.section, chart.caption);
    for table in tables(chart) {
        let head: Vec<&str> = table.columns.iter().map(|c| c.title.as_str()).collect();
        text += &format!("  {}\n", head.join(" | "));
        for row in table.rows {
            text += &format!("  {}\n", row.texts().join(" | ").trim_end_matches([' ', '|']));
        }
    }
    chart.notes.iter().fold(text, |text, note| text + &format!("- {note}\n"))
}

/// Pictures as text, and why others were left out.
fn all_as_text(run: &Run, others: &[OtherRun]) -> String {
    let (drawn, left_out) = pictures(run, &references(), others);
    let drawn = drawn.iter().map(|picture| chart_text(&picture.chart));
    let left_out = left_out.iter().map(|left| format!("{} left out: {}\n", left.id, left.why));
    drawn.chain(left_out).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_picture_of_a_run() {
    insta::assert_snapshot!(all_as_text(&run_with_gaps(), &[]));
}

#[test]
fn pictures_next_to_another_run() {
    let run = run_with_gaps();
    let mut other =
        Run { id: "0123456789ab".into(), ..synthetic::slower(&run, "cpu.add_i32", 2.0) };
    for row in other.rows.iter_mut().filter(|r| r.id == "memory.latency") {
        if let Outcome::Curve { points, .. } = &mut row.outcome {
            points.truncate(3);
        }
    }
    let all = of_run(&run, &references(), &[other_run(&run, &other)]);
    let wanted = ["ladder", "memory.parallelism", "comparison"];
    let shown: Vec<String> =
        all.iter().filter(|c| wanted.contains(&&c.id[..])).map(chart_text).collect();
    insta::assert_snapshot!(shown.join("\n"));
    let Body::Lines(latency) = &all.iter().find(|c| c.id == "memory.latency").expect("drawn").body
    else {
        panic!("lines");
    };
    let values_of_others = latency.series.iter().find(|l| l.is == CurveKind::Reference);
    assert_eq!(values_of_others.expect("the other's curve").points.len(), 3);
}

#[test]
fn pictures_with_nothing_to_show_say_why() {
    let mut run = run_with_gaps();
    let wanted = ["memory.mountain", "thread.lifecycle/join"];
    run.rows.retain(|row| !wanted.contains(&&row.id[..]));
    let outcome = Outcome::Unavailable { reason: "one NUMA node".into() };
    run.rows.push(Row::new("memory.numa/latency", Unit::Time, Bound::Memory, outcome));
    let why = |run: &Run| -> Vec<String> {
        let (_, left_out) = pictures(run, &references(), &[]);
        left_out.iter().map(|left| format!("{}: {}", left.id, left.why)).collect()
    };
    let default = why(&run);
    run.plan.scale = model::run::Scale::Full;
    let full = why(&run);
    run.rows.clear();
    run.cells.clear();
    run.conditions.osnoise = None;
    assert_eq!(drawn(&run), []);
    insta::assert_debug_snapshot!([default, full, why(&run)]);
}

#[test]
fn samples_that_are_no_times_are_in_their_own_unit() {
    let mut run = run_with_gaps();
    let shown = [Unit::Time, Unit::Bytes, Unit::Count].map(|unit| {
        let row = run.rows.iter_mut().find(|row| row.id == "cpu.add_i32");
        row.expect("the row").unit = unit;
        chart_text(&of_row(&run, "cpu.add_i32").expect("a picture").chart)
    });
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn curves_hold_the_figures_of_the_document() {
    let run = run_with_gaps();
    let time = |_: u64, ns: f64| ns;
    let touched = |_: u64, ns: f64| 4.0 / ns;
    let of_file = |bytes: u64, ns: f64| bytes as f64 / ns;
    type Of<'f> = &'f dyn Fn(u64, f64) -> f64;
    let cases: [(&str, &str, &str, Of); 6] = [
        ("memory.latency", "one dependent load", "memory.latency", &time),
        ("memory.latency_tlb", "4 KiB pages", "memory.latency_tlb/4KiB", &time),
        ("memory.parallelism", "in L3", "memory.parallelism/L3", &time),
        ("memory.bandwidth", "read, sequential", "memory.read/sequential", &touched),
        ("file.read", "open + read + close", "file.read_with_open", &of_file),
        ("sched.pool", "measured", "sched.pool", &time),
    ];
    for (id, name, row, of) in cases {
        let line = chart_line(&run, id, name);
        assert_eq!(found(&line), expected(points(&run, row), of), "{id}");
        let verdicts = points(&run, row).iter().map(|p| Some(p.estimate.verdict));
        assert!(line.points.iter().map(|p| p.verdict).eq(verdicts), "{id}");
        assert_eq!((line.is, line.joined), (CurveKind::Measured, true), "{id}");
    }
    let ideal = chart_line(&run, "sched.pool", "ideal");
    assert_eq!(ideal.is, CurveKind::Ideal);
    assert_eq!(found(&ideal), expected(points(&run, "sched.pool/ideal"), time));
}

#[test]
fn doubtful_published_figures_are_no_markers() {
    let run = run_with_gaps();
    let mut references = references();
    let doubted = "memory.latency/L2";
    for table in &mut references.tables {
        for row in table.rows.iter_mut().filter(|row| row.id == doubted) {
            row.doubtful = Some("can't be".into());
        }
    }
    let all = of_run(&run, &references, &[]);
    let Body::Dots(ladder) = &all[0].body else {
        panic!("the ladder is first");
    };
    let dot = ladder.rows.iter().find(|dot| dot.id == doubted);
    assert_eq!(dot.expect("a dot").others, []);
}

fn cell<'r>(run: &'r Run, row: &str, at: &[u64]) -> &'r Cell {
    let found = run.cells.iter().find(|c| c.row == row && c.at == at);
    found.unwrap_or_else(|| panic!("no cell of {row}"))
}

#[test]
fn single_operations_are_samples_and_hold_the_longest() {
    let mut run = run_with_gaps();
    let singles = |run: &Run, threads: u64| -> Vec<f64> {
        let line = chart_line(run, "sched.pool.single", "single operations");
        let of = |p: &&Point| p.x == threads as f64;
        line.points.iter().filter(of).map(|p| p.y).collect()
    };
    let ns = |run: &Run, threads: u64| -> Vec<f64> {
        let cell = cell(run, "sched.pool/single", &[threads]);
        let samples = cell.samples.samples().expect("whole");
        let ns = samples.iter().map(|s| s.ns_per_op(1.0, run.clock.ns_per_tick));
        ns.collect()
    };
    // None that was not measured, and each only once.
    let (all, few) = (ns(&run, 4), singles(&run, 4));
    assert!((50..=62).contains(&few.len()), "{} of {}", few.len(), all.len());
    assert!(few.iter().all(|ns| all.contains(ns)));
    // Of many, the longest and the shortest.
    let all = ns(&run, 16);
    let few = singles(&run, 16);
    assert!(few.len() <= 100 && all.len() > 1000, "{}", all.len());
    let longest = |of: &[f64]| of.iter().copied().fold(0.0, f64::max);
    assert_eq!(longest(&few), longest(&all));
    assert!(few.iter().all(|ns| all.contains(ns)));
    // A damaged column is said, not drawn.
    let damaged = run.cells.iter_mut().find(|c| c.at == [16]).expect("a cell");
    damaged.samples.second_ticks.pop();
    assert!(singles(&run, 16).is_empty());
    let notes = chart(&run, "sched.pool.single").notes;
    assert!(notes.iter().any(|n| n.starts_with("16 threads are not drawn")));
}

#[test]
fn pictures_are_told_apart_and_in_order() {
    let run = run_with_gaps();
    let twice = [other_run(&run, &run), other_run(&run, &run)];
    let (all, left_out) = pictures(&run, &references(), &twice);
    let ids = all.iter().map(|p| p.chart.id.as_str());
    let ids: Vec<&str> = ids.chain(left_out.iter().map(|l| l.id.as_str())).collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{ids:?}");
    assert!(ids.contains(&"comparison") && ids.contains(&"comparison.2"));
    let sections: Vec<Section> = all.iter().map(|p| p.chart.section).collect();
    assert!(sections.is_sorted(), "{sections:?}");
    for chart in all.iter().map(|p| &p.chart) {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        assert!(chart.id.chars().all(plain), "{}", chart.id);
        assert!(chart.caption.ends_with('.'), "{}", chart.caption);
        let text = serde_json::to_string(chart).expect("JSON");
        assert!(!text.contains("NaN") && !text.contains("\"value\":null,\"low\":0"));
    }
}

#[test]
fn a_row_is_found_in_its_picture_or_by_its_samples() {
    let run = run_with_gaps();
    let find = |name: &str| pick(&run, &references(), &[], name);
    let id = |name: &str| find(name).map(|chart| chart.id);
    for (name, chart) in [
        ("memory.latency", "memory.latency"),
        ("memory.read/sequential", "memory.bandwidth"),
        ("memory.read", "memory.bandwidth"),
        ("thread.lifecycle/join", "thread.lifecycle"),
        ("sched.wakeup/idle", "sched.wakeup"),
        ("file.delete", "file.create_delete"),
        ("cpu.add_i32", "cpu.add_i32"),
        ("memory.latency/L2", "memory.latency.L2"),
        ("objc.message_send", "objc.message_send"),
    ] {
        let found = id(name);
        match name {
            // The synthetic run has no such row.
            "objc.message_send" => assert!(found.is_err(), "{found:?}"),
            _ => assert_eq!(found.as_deref(), Ok(chart), "{name}"),
        }
    }
    // Its samples, all of them.
    let Body::Bars(bars) =
        find("sync.semaphore_switch/free").map_or_else(|e| panic!("{e}"), |c| c.body)
    else {
        // No cell of its own: its place on the ladder.
        return;
    };
    assert!(!bars.parts.is_empty());
}

#[test]
fn the_samples_of_a_row_are_all_in_its_bins() {
    let run = run_with_gaps();
    let picture = of_row(&run, "cpu.add_i32").expect("a picture");
    let Body::Bars(bars) = picture.chart.body else {
        panic!("bars");
    };
    let counted: f64 = bars.parts.iter().flat_map(|p| p.values.iter().flatten()).sum();
    let samples = cell(&run, "cpu.add_i32", &[]).samples.samples().expect("whole");
    assert_eq!(counted, samples.len() as f64);
    let quiet = run.gate.quiet_samples(&samples).len();
    let part = bars.parts.iter().find(|p| p.name == "quiet").expect("quiet");
    let in_quiet: f64 = part.values.iter().flatten().sum();
    assert_eq!(in_quiet, quiet as f64);
    assert!(quiet > 0 && quiet < samples.len());
    assert!(of_row(&run, "no.row").is_err());
}

#[test]
fn lines_of_the_ladder_can_be_chosen() {
    let run = run_with_gaps();
    let ladder = chart(&run, "ladder");
    let some = only(ladder.clone(), &["cpu.add*".into(), "alloc".into()]);
    assert!(matches!(some, Err(PickError::NoRow { ref pattern, .. }) if pattern == "alloc"));
    let some = only(ladder.clone(), &["cpu.add*".into()]).expect("rows");
    let Body::Dots(dots) = &some.body else {
        panic!("dots");
    };
    let ids: Vec<&str> = dots.rows.iter().map(|d| d.id.as_str()).collect();
    assert_eq!(ids, ["cpu.add_i32", "cpu.add_i32/throughput"]);
    assert!(some.notes[0].starts_with("Showing 2 of "), "{:?}", some.notes);
    assert_eq!(only(ladder.clone(), &[]), Ok(ladder));
    let curve = chart(&run, "memory.latency");
    assert!(only(curve, &["cpu.*".into()]).is_err());
}

#[test]
fn one_value_is_a_sentence_and_no_picture() {
    let mut run = run_with_gaps();
    let own = |id: &str| {
        let outcome = Outcome::Figure(stamped_figure(4.0, 0.1));
        Row::new(id, Unit::Bandwidth { bytes_per_op: 64.0 }, Bound::Memory, outcome)
    };
    run.rows.retain(|row| !matches!(row.unit, Unit::Bandwidth { .. }));
    run.rows.push(own("own.copy"));
    let (drawn, left_out) = pictures(&run, &references(), &[]);
    let is_there =
        |all: &[Picture]| all.iter().any(|picture| picture.chart.id == "ladder.bandwidth");
    assert!(!is_there(&drawn));
    let why = &left_out.iter().find(|left| left.id == "ladder.bandwidth").expect("left out").why;
    assert!(why.starts_with("it has one bandwidth: own.copy, 16.0 GB/s"), "{why}");
    run.rows.push(own("own.fill"));
    assert!(is_there(&pictures(&run, &references(), &[]).0));
}

#[test]
fn one_value_alone_is_no_picture_but_one_beside_another_is() {
    let dot = |id: &str, others: Vec<Other>| Dot {
        id: id.into(),
        value: Some(3.0),
        others,
        ..Dot::default()
    };
    let of_dots = |rows| {
        let own = chart(&synthetic::run(), "ladder");
        let value = figure::log("time", Quantity::Nanoseconds);
        of_run::one_value(&Chart { body: Body::Dots(Dots::new(value, rows)), ..own })
    };
    let alone = of_dots(vec![dot("a", Vec::new())]).expect("a sentence");
    assert_eq!(alone, "it has one time: a, 3.00 ns");
    let other = Other { name: "2012".into(), value: 4.0 };
    assert_eq!(of_dots(vec![dot("a", vec![other])]), None);
    assert_eq!(of_dots(vec![dot("a", Vec::new()), dot("b", Vec::new())]), None);
}

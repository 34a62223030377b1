//! What pictures of threads keep apart, and what is no picture.

use super::super::tests::{chart, references, run_with_gaps};
use super::super::{Body, Chart, ChartLine, CurveKind, pictures};
use crate::chart::svg::{Theme, to_svg};
use model::run::{Outcome, Run};
use model::story::core_to_core::only_pair;
use model::synthetic::{core_to_core_row, in_modes, semaphore};

fn with_modes(modes: &[(&str, f64, f64)]) -> Run {
    let mut run = run_with_gaps();
    let row = run.rows.iter_mut().find(|r| r.id == "thread.lifecycle/start");
    let start = in_modes(2_500.0, modes);
    row.expect("the row").outcome = Outcome::Figure(start);
    run
}

fn apart(chart: &Chart) -> usize {
    match &chart.body {
        Body::Bars(bars) => bars.apart,
        _ => panic!("bars"),
    }
}

#[test]
fn a_mode_that_takes_long_has_an_axis_of_its_own() {
    let usual = [("same CPU", 0.89, 2_400.0), ("other CPU", 0.11, 9_000.0)];
    let chart_of = |modes: &[(&str, f64, f64)]| chart(&with_modes(modes), "thread.lifecycle");
    assert_eq!(apart(&chart_of(&usual)), 0);
    let rare = [("same CPU", 0.89, 2_400.0), ("other CPU", 0.11, 3.6e6)];
    let drawn = chart_of(&rare);
    assert_eq!(apart(&drawn), 1);
    let said = "other CPU (11 %): drawn apart, on an axis of its own.";
    assert!(drawn.notes.iter().any(|note| note == said), "{:?}", drawn.notes);
    // Its axis has milliseconds, that of the others has none.
    let svg = to_svg(&drawn, Theme::Light);
    let axes: Vec<&str> = svg.split(">time from median to median<").collect();
    assert_eq!(axes.len(), 3);
    assert!(!axes[0].contains(" ms<") && axes[1].contains(">3 ms<"));
    // Every figure of every bar is written.
    for figure in ["create 30.4 µs", "start 2.40 µs", "join 6.12 µs", "start 3.60 ms"] {
        assert!(svg.contains(&format!(">{figure}<")), "{figure}");
    }
}

fn lines(chart: Chart) -> Vec<ChartLine> {
    match chart.body {
        Body::Lines(lines) => lines.series,
        _ => panic!("curves"),
    }
}

#[test]
fn states_of_a_hand_over_are_curves_of_their_own() {
    let mut run = run_with_gaps();
    run.cells.push(semaphore());
    let series = lines(chart(&run, "sync.semaphore_switch"));
    let (series, published): (Vec<ChartLine>, Vec<ChartLine>) =
        series.into_iter().partition(|line| line.is == CurveKind::Measured);
    let names: Vec<&str> = series.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["free: same CPU", "free: other CPU"]);
    let medians: Vec<(&str, f64, f64)> = published
        .iter()
        .flat_map(|line| line.points.iter().map(|point| (line.name.as_str(), point.x, point.y)))
        .collect();
    let phones = [("iPhone 5s", 2.0, 8e3), ("iPhone 6s Plus", 2.0, 5e3), ("iPhone X", 2.0, 3.2e3)];
    assert_eq!(medians, phones);
    let ends = |line: &ChartLine| {
        let ys = line.points.iter().map(|point| point.y);
        ys.fold((f64::INFINITY, 0.0_f64), |(low, high), y| (low.min(y), high.max(y)))
    };
    let (same, other) = (ends(&series[0]), ends(&series[1]));
    assert!(same.1 < 4_000.0 && other.0 > 30_000.0, "{same:?} {other:?}");
}

#[test]
fn one_pair_of_cpus_is_a_sentence() {
    let mut run = run_with_gaps();
    run.rows.retain(|row| row.id != "memory.core_to_core");
    run.rows.push(core_to_core_row(2, |_, _| 27.6));
    let sentence = only_pair(&run).expect("a sentence");
    assert!(sentence.starts_with("CPUs 0 and 1 hand over a cache line in 27.6 ns"));
    let (drawn, left_out) = pictures(&run, &references(), &[]);
    assert!(drawn.iter().all(|p| p.chart.id != "memory.core_to_core"));
    let why = left_out.iter().find(|l| l.id == "memory.core_to_core");
    assert!(why.expect("left out").why.ends_with(&sentence));
    run.rows.pop();
    run.rows.push(core_to_core_row(3, |_, _| 27.6));
    assert_eq!(only_pair(&run), None);
    chart(&run, "memory.core_to_core");
}

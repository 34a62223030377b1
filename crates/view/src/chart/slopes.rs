//! The ladder of two sides as a slope chart: what each operation costs, old at the left, new at the right. Drawn are
//! the rows that differ and the common operations; the others are counted.

use super::figure::log;
use super::{Body, Chart, Quantity, Section, Slope, SlopeEnd, Slopes};
use crate::grouped::grouped;
use compare::{ComparedRow, Comparison, SideFacts, SideFigure};
use model::compare::finding::Verdict;
use model::overview::operation_words;

/// Lines of a picture.
const MOST: usize = 28;

/// The picture of the times that both sides have, the cheapest first; `None` where there is none.
pub fn of_slopes(found: &Comparison, sides: [&str; 2]) -> Option<Chart> {
    let mut lines: Vec<(&ComparedRow, [SlopeEnd; 2])> =
        found.rows.iter().filter_map(|row| Some((row, ends_of(found, row)?))).collect();
    let size = |row: &ComparedRow| row.ratio.map_or(0.0, |ratio| ratio.value.ln().abs());
    lines.sort_by(|(a, _), (b, _)| {
        let rank = |row: &ComparedRow| (row_rank(row), operation_words(&row.id).is_none());
        rank(a).cmp(&rank(b)).then(size(b).total_cmp(&size(a)))
    });
    lines.truncate(MOST);
    if lines.is_empty() {
        return None;
    }
    lines.sort_by(|(_, a), (_, b)| a[0].value.total_cmp(&b[0].value));
    let is_drawn = |row: &ComparedRow| lines.iter().any(|(drawn, _)| std::ptr::eq(*drawn, row));
    let notes = not_drawn(found.rows.iter().filter(|row| !is_drawn(row)), found.rows.len());
    let slope = |(row, ends): &(&ComparedRow, [SlopeEnd; 2])| Slope {
        name: name_of(row),
        ends: *ends,
        finding: row.finding,
    };
    let lines = lines.iter().map(slope).collect();
    let sides = sides.map(str::to_owned);
    Some(Chart {
        id: "slope".into(),
        title: "The ladder, old and new".into(),
        caption: format!(
            "Time of an operation in {} (left) and in {} (right): lines that fall cost less. Rows that \
             differ and common operations.",
            sides[0], sides[1]
        ),
        section: Section::Comparison,
        body: Body::Slopes(Slopes {
            value: log("time of an operation", Quantity::Nanoseconds),
            sides,
            lines,
        }),
        notes: notes.into_iter().collect(),
    })
}

/// What differs before what does not.
fn row_rank(row: &ComparedRow) -> bool {
    row.finding != Verdict::Different
}

fn name_of(row: &ComparedRow) -> String {
    match (operation_words(&row.id), &row.mode) {
        (Some(words), None) => words.into(),
        _ => row.name(),
    }
}

/// `28 of 184 rows are drawn; the others: 120 inconclusive, 36 same within noise.`
fn not_drawn<'r>(rows: impl Iterator<Item = &'r ComparedRow>, all: usize) -> Option<String> {
    let kinds = grouped(rows.map(|row| (row.finding.printed(), ())));
    let count: usize = kinds.iter().map(|(_, rows)| rows.len()).sum();
    let kinds = kinds.iter().map(|(kind, rows)| format!("{} {kind}", rows.len()));
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    (count > 0).then(|| format!("{} of {all} rows are drawn; the others: {kinds}.", all - count))
}

/// The times of a row on both sides, each at the clock of its runs.
fn ends_of(found: &Comparison, row: &ComparedRow) -> Option<[SlopeEnd; 2]> {
    // A mode's line would stand twice.
    let whole = row.mode.is_none();
    let end = |side: &SideFacts, figure: &SideFigure| {
        let per_unit = match row.unit {
            "ns" => 1.0,
            "cycles" => cycle_ns(side)?,
            _ => return None,
        };
        let value = figure.value.filter(|value| *value > 0.0 && value.is_finite())? * per_unit;
        let [low, high] = [figure.low, figure.high].map(|end| end.map(|end| end * per_unit));
        Some(SlopeEnd { value, low, high })
    };
    let ends = whole.then(|| Some([end(&found.a, &row.a)?, end(&found.b, &row.b)?]))?;
    ends.filter(|_| row.at.is_empty())
}

/// The mean length of a cycle in a side's runs, ns; `None` where a run has no clock.
fn cycle_ns(side: &SideFacts) -> Option<f64> {
    let cycles: Option<Vec<f64>> =
        side.runs.iter().map(|run| Some(1.0 / run.core_clock_ghz?)).collect();
    let cycles = cycles.filter(|cycles| !cycles.is_empty())?;
    Some(cycles.iter().sum::<f64>() / cycles.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::super::svg::{Theme, to_svg};
    use super::*;
    use compare::operand::Operand;
    use compare::{Options, compare};
    use model::run::Run;
    use model::synthetic;

    fn comparison(a: Run, b: Run) -> Comparison {
        let [a, b] = [("old", a), ("new", b)].map(|(name, run)| Operand::from_run(name, run));
        let options = Options { margin: 0.05, fail_above: None, normalize: None };
        compare(&a, &b, &[], &|_| true, &options).expect("shared rows")
    }

    fn slopes(found: &Comparison) -> (Slopes, Vec<String>) {
        let chart = of_slopes(found, ["old", "new"]).expect("times");
        let Body::Slopes(slopes) = chart.body else { panic!("slopes") };
        (slopes, chart.notes)
    }

    #[test]
    fn a_line_has_the_times_of_both_runs_and_its_finding() {
        let a = synthetic::run();
        let b = synthetic::slower(&a, "cpu.add_i32", 2.5);
        let quiet = |run: &Run| {
            let estimate = run.row("cpu.add_i32").and_then(|row| row.estimate()).expect("a figure");
            let quiet = estimate.quiet.expect("quiet");
            let clock = run.core_clock.as_ref().expect("a clock").cycle_ns.value;
            quiet.cycles.map_or(quiet.ns.value, |cycles| cycles.value * clock)
        };
        let times = [quiet(&a), quiet(&b)];
        let (drawn, notes) = slopes(&comparison(a, b));
        let changed: Vec<&Slope> =
            drawn.lines.iter().filter(|line| line.finding == Verdict::Different).collect();
        let [changed] = changed[..] else { panic!("{changed:?}") };
        assert_eq!(changed.name, "cpu.add_i32");
        for (end, time) in changed.ends.iter().zip(times) {
            assert!((end.value / time - 1.0).abs() < 1e-9, "{end:?} {time}");
            assert!(end.low < Some(end.value) && end.high > Some(end.value), "{end:?}");
        }
        let names: Vec<&str> = drawn.lines.iter().map(|line| &*line.name).collect();
        assert!(names.contains(&"load from L2 cache"), "{names:?}");
        assert!(drawn.lines.is_sorted_by(|a, b| a.ends[0].value <= b.ends[0].value));
        // Each once.
        let count = comparison(synthetic::run(), synthetic::run()).rows.len();
        let left_out = count - drawn.lines.len();
        let said: usize = notes[0]
            .split("others: ")
            .nth(1)
            .map_or(0, |rest| rest.split(' ').filter_map(|word| word.parse::<usize>().ok()).sum());
        assert_eq!(said, left_out, "{notes:?}");
    }

    #[test]
    fn what_differs_is_drawn_before_what_does_not() {
        let a = synthetic::run();
        let ids =
            a.rows.iter().filter(|row| row.id.starts_with("cpu.") && row.estimate().is_some());
        let ids: Vec<String> = ids.map(|row| row.id.clone()).collect();
        let b = ids.iter().fold(a.clone(), |run, id| synthetic::slower(&run, id, 2.5));
        let found = comparison(a, b);
        let (drawn, _) = slopes(&found);
        let is_time = |row: &&ComparedRow| ends_of(&found, row).is_some();
        let differ = found.rows.iter().filter(|row| row.finding == Verdict::Different);
        let differ = differ.filter(is_time).count();
        let shown = drawn.lines.iter().filter(|line| line.finding == Verdict::Different).count();
        assert_eq!(shown, differ.min(MOST));
        assert!(drawn.lines.len() <= MOST);
    }

    #[test]
    fn a_picture_has_both_sides_and_no_markup_of_names() {
        let a = synthetic::run();
        let b = synthetic::slower(&a, "cpu.add_i32", 2.5);
        let chart = of_slopes(&comparison(a, b), ["<b>old", "new"]).expect("times");
        let drawn = to_svg(&chart, Theme::Light);
        assert!(!drawn.contains("<b>") && drawn.contains("&lt;b&gt;old"));
        assert!(drawn.contains("cpu.add_i32"), "what differs has its name");
    }
}

//! What `file.create` and `file.delete` are measured for: what deleting a file
//! costs beside creating it.

use super::COLUMNS;
use super::curves::Marks;
use super::figures::{number_with_half, time_with_half};
use super::layout::{Grid, left, right, wrap};
use model::estimate::{Estimate, Verdict};
use model::paired;
use model::run::{Axis, Cell, CurvePoint, Outcome, Row, Run};
use model::size;
use model::stats::Interval;

pub(crate) const CREATE: &str = "file.create";
pub(crate) const DELETE: &str = "file.delete";

/// Whether a row is a column of this block.
pub(super) fn draws(row: &Row) -> bool {
    [CREATE, DELETE].contains(&row.id.as_str()) && points(row).is_some()
}

fn points(row: &Row) -> Option<&[CurvePoint]> {
    match &row.outcome {
        Outcome::Curve {
            axis: Axis::FileBytes,
            points,
        } => Some(points),
        _ => None,
    }
}

/// One size.
struct Line<'r> {
    bytes: u64,
    create: Option<&'r Estimate>,
    delete: Option<&'r Estimate>,
    /// Deleting over creating, where both figures may be built on.
    ratio: Option<Interval>,
}

/// The block; empty where neither was measured.
pub(super) fn create_delete(run: &Run) -> String {
    let lines = lines(run);
    if lines.is_empty() {
        return String::new();
    }
    let mut grid = Grid::default();
    grid.free(format!(
        "{CREATE}, {DELETE}: a file made and written, and deleted, of a hundred in a directory"
    ));
    let heading = [
        "size",
        "create",
        "",
        "",
        "delete",
        "",
        "",
        "delete / create",
    ];
    let mut heading: Vec<_> = heading.map(left).into();
    heading[0] = right("size  ");
    grid.entries(heading);
    let mut marks = Marks::default();
    for line in &lines {
        let mut entries = vec![right(format!("  {}  ", size::text(line.bytes)))];
        for estimate in [line.create, line.delete] {
            let text = estimate
                .and_then(Estimate::ns)
                .map_or("-".into(), |ns| time_with_half(&ns));
            let (value, half) = text.split_once(" ±").unwrap_or((&text, ""));
            let verdict = estimate.map_or(Verdict::Ok, |e| e.verdict);
            entries.push(right(value));
            entries.push(left(match half {
                "" => String::new(),
                half => format!("±{half}"),
            }));
            entries.push(left(marks.of(verdict).to_string().trim()));
        }
        let ratio = line.ratio.map(|ratio| number_with_half(&ratio));
        entries.push(left(ratio.unwrap_or("-".into())));
        grid.entries(entries);
    }
    let mut text = grid.render(1);
    text.push_str(&marks.legend());
    for line in wrap("  ", &conclusion(&lines), COLUMNS) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// What deleting costs beside creating, in words.
pub(crate) fn in_words(run: &Run) -> String {
    conclusion(&lines(run))
}

fn lines(run: &Run) -> Vec<Line<'_>> {
    let of = |id: &str| run.row(id).and_then(points).unwrap_or_default();
    let (create, delete) = (of(CREATE), of(DELETE));
    let mut sizes: Vec<u64> = create.iter().chain(delete).map(|p| p.x).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
        .into_iter()
        .map(|bytes| {
            let at = |points: &'_ [CurvePoint]| points.iter().position(|p| p.x == bytes);
            let create = at(create).map(|n| &create[n].estimate);
            let delete = at(delete).map(|n| &delete[n].estimate);
            let both = told(create) && told(delete);
            Line {
                bytes,
                create,
                delete,
                ratio: both.then(|| ratio(run, bytes)).flatten(),
            }
        })
        .collect()
}

/// Whether a figure may be built on.
fn told(estimate: Option<&Estimate>) -> bool {
    estimate.is_some_and(|e| !matches!(e.verdict, Verdict::CannotTell | Verdict::Invalid))
}

/// From the samples: both rows are of the same visits.
fn ratio(run: &Run, bytes: u64) -> Option<Interval> {
    let cell = |id: &str| -> Option<&Cell> {
        let mut cells = run.cells.iter();
        cells.find(|cell| cell.row == id && cell.at == [bytes])
    };
    paired::ratio(cell(DELETE)?, cell(CREATE)?)
}

/// The lowest and the highest ratio in words.
fn conclusion(lines: &[Line]) -> String {
    let ratios: Vec<(u64, Interval)> = lines
        .iter()
        .filter_map(|line| Some((line.bytes, line.ratio?)))
        .collect();
    let by_value = |a: &&(u64, Interval), b: &&(u64, Interval)| a.1.value.total_cmp(&b.1.value);
    let (Some(low), Some(high)) = (
        ratios.iter().min_by(by_value),
        ratios.iter().max_by(by_value),
    ) else {
        return "What deleting costs beside creating can't be told from this run.".into();
    };
    let at = |(bytes, ratio): &(u64, Interval)| {
        format!("{} ({})", number_with_half(ratio), size::text(*bytes))
    };
    if low.0 == high.0 {
        return format!(
            "Deleting costs {} of what creating does: {}.",
            at(low),
            against_one(&ratios)
        );
    }
    format!(
        "Deleting costs from {} to {} of what creating does: {}.",
        at(low),
        at(high),
        against_one(&ratios)
    )
}

/// What the intervals of all sizes leave to be said.
fn against_one(ratios: &[(u64, Interval)]) -> &'static str {
    let all = |holds: fn(&Interval) -> bool| ratios.iter().all(|(_, ratio)| holds(ratio));
    match () {
        () if all(|r| r.high < 1.0) => "less for every size",
        () if all(|r| r.low > 1.0) => "more for every size",
        () if all(|r| r.low <= 1.0 && r.high >= 1.0) => "the two can't be told apart",
        () => "it depends on the size",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::synthetic;

    /// The block's words without its line breaks.
    fn words(run: &Run) -> String {
        let text = create_delete(run);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_ratio_stands_beside_both() {
        let text = create_delete(&synthetic::run());
        assert!(
            words(&synthetic::run()).contains("less for every size"),
            "{text}"
        );
        // A size whose creation was not told has no ratio; and one that was
        // not measured at all has no figure either.
        assert!(text.lines().any(|line| line.ends_with(" -")), "{text}");
    }

    #[test]
    fn the_ratio_is_of_the_samples_of_the_same_visits() {
        let mut run = synthetic::run();
        let before = lines(&run)[1].ratio.expect("told");
        // What slows both of a worker changes nothing.
        for cell in &mut run.cells {
            if [CREATE, DELETE].contains(&cell.row.as_str()) {
                cell.ops_per_turn *= 3.0;
            }
        }
        let after = lines(&run)[1].ratio.expect("told");
        assert!((after.value / before.value - 1.0).abs() < 1e-9);
        for cell in &mut run.cells {
            if cell.row == DELETE {
                cell.ops_per_turn /= 4.0;
            }
        }
        let (ratio, text) = (lines(&run)[1].ratio.expect("told"), words(&run));
        assert!((ratio.value / before.value - 4.0).abs() < 1e-9);
        assert!(text.contains("more for every size"), "{text}");
    }

    #[test]
    fn words_follow_the_intervals() {
        let ratio = |value: f64, half: f64| {
            (
                value as u64,
                Interval {
                    value,
                    low: value - half,
                    high: value + half,
                },
            )
        };
        assert_eq!(
            against_one(&[ratio(0.9, 0.2), ratio(1.1, 0.2)]),
            "the two can't be told apart"
        );
        assert_eq!(
            against_one(&[ratio(0.9, 0.05), ratio(1.1, 0.2)]),
            "it depends on the size"
        );
        assert_eq!(against_one(&[ratio(1.3, 0.2)]), "more for every size");
    }

    #[test]
    fn without_the_rows_there_is_no_block() {
        let mut run = synthetic::run();
        run.rows.retain(|row| !draws(row));
        assert_eq!(create_delete(&run), "");
        run.rows.clear();
        assert_eq!(create_delete(&run), "");
    }

    #[test]
    fn without_samples_nothing_is_claimed() {
        let mut run = synthetic::run();
        run.cells.clear();
        let text = words(&run);
        assert!(text.contains("can't be told from this run"), "{text}");
    }
}

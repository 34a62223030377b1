//! Published figures in the pictures of the same operation: points, since nothing is known between them.

use super::source::ChartSource;
use super::{ChartLine, CurveKind, Point};
use crate::render::short_title;
use compare::references::{
    ClaimRatio, ComparisonRule, DEFAULT_KEY, LARGEST_POINT, Published, Reference, ReferenceRow,
    References,
};
use model::run::{Outcome, Row, Run};
use model::size::parse_size;
use model::story::levels::CurveLevel;
use model::unit::Unit;

/// What the published tables have of these rows (with their names in the legend) in their unit at an x, and what of
/// it is not drawn.
pub(super) fn published_points(
    source: &ChartSource,
    rows: &[(String, String)],
    unit: fn(&Row, u64) -> Unit,
) -> (Vec<ChartLine>, Vec<String>) {
    let (mut lines, mut notes) = (Vec::new(), Vec::new());
    for table in &source.references.tables {
        for (id, name) in rows {
            let Some(row) = source.run.row(id) else { continue };
            // Those of the same operation, and those that are near.
            let [mut same, mut near]: [Vec<Point>; 2] = Default::default();
            for (published, point) in figures_of(table, id) {
                let points = match published.own_rule() == ComparisonRule::Near {
                    true => &mut near,
                    false => &mut same,
                };
                match placed(source.run, row, unit, published, point) {
                    Ok(point) => points.push(point),
                    Err(why) => notes.push(format!("{}, {point}: not drawn: {why}.", table.title)),
                }
            }
            let name = match rows.len() {
                1 => legend_name(table).to_owned(),
                _ => format!("{}, {name}", legend_name(table)),
            };
            if !near.is_empty() && !notes.iter().any(|note| note == NEAR_NOTE) {
                notes.push(NEAR_NOTE.into());
            }
            let with_names = [(name.clone(), same), (format!("~ {name}"), near)];
            for (name, mut points) in with_names.into_iter().filter(|(_, of)| !of.is_empty()) {
                points.sort_by(|a, b| a.x.total_cmp(&b.x));
                lines.push(unjoined(name, points));
            }
        }
    }
    (lines, notes)
}

/// What the mark before a name says.
const NEAR_NOTE: &str = "~ the same job by other means: no ratio.";

/// Its title, of the usual list a shorter one.
fn legend_name(table: &Reference) -> &str {
    match table.key.as_str() {
        key @ DEFAULT_KEY => short_title(key),
        _ => &table.title,
    }
}

/// Published figures: points.
pub(super) fn unjoined(name: String, points: Vec<Point>) -> ChartLine {
    ChartLine { name, is: CurveKind::Reference, points, joined: false }
}

/// The figures of points and levels of a curve, with the names of these.
fn figures_of<'t>(
    table: &'t Reference,
    curve: &'t str,
) -> impl Iterator<Item = (&'t ReferenceRow, &'t str)> {
    table.rows.iter().filter_map(move |row| {
        let (of, point) = row.id.rsplit_once('/')?;
        (of == curve && row.has_figure()).then_some((row, point))
    })
}

/// Where a figure lies, or why it is not drawn. That of a level lies in the middle of the level found here.
fn placed(
    run: &Run,
    row: &Row,
    unit: fn(&Row, u64) -> Unit,
    published: &ReferenceRow,
    point: &str,
) -> Result<Point, String> {
    if let Some(doubt) = &published.doubtful {
        return Err(doubt.clone());
    }
    let level = || {
        let mut all = CurveLevel::all(run);
        let level = all.find(|level| level.curve == row.id && level.name == point)?;
        Some((level.from_bytes as f64 * level.to_bytes as f64).sqrt())
    };
    let size = parse_size(point);
    let largest = || match &row.outcome {
        Outcome::Curve { points, .. } if point == LARGEST_POINT => Some(points.last()?.x as f64),
        _ => None,
    };
    let x = size.map(|size| size as f64).or_else(level).or_else(largest);
    let x = x.ok_or_else(|| "this run's curve has no such level".to_owned())?;
    let unit = unit(row, size.unwrap_or(0));
    // Cycles are compared with cycles: they lie where this run's clock puts them.
    let of_cycles = |cycles: f64| Some(cycles * run.core_clock.as_ref()?.cycle_ns.value);
    let ns = published.ns.or_else(|| published.cycles.and_then(of_cycles));
    let y = match (ns, published.mb_per_s, unit) {
        (Some(ns), _, unit) => unit.of_ns(ns),
        (None, Some(speed), Unit::Bandwidth { .. }) => speed / 1000.0,
        (None, Some(speed), _) => match size {
            // Time of all of it: bytes over MB/s are µs.
            Some(bytes) => bytes as f64 / speed * 1000.0,
            None => return Err("a speed".into()),
        },
        (None, None, _) => return Err("no figure".into()),
    };
    Ok(Point::bare(x, y))
}

/// What to say of a table that has no figure of rows of its publication; `None` where the rows are not of
/// that publication.
pub fn without_figures(
    references: &References,
    table: &Reference,
    rows: &[String],
) -> Option<String> {
    let is_drawn = |id: &str| {
        let own = |row: &String| {
            id.strip_prefix(row.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        rows.iter().any(own)
    };
    let mut layouts =
        references.layouts.iter().filter(|layout| layout.columns.contains(&table.key));
    let is_published = |layout: &Published| {
        let of_parts = layout.parts.iter().flat_map(|part| &part.rows).map(|row| &row.id);
        let of_claims =
            layout.claims.iter().flat_map(|claim| &claim.ratios).flat_map(ClaimRatio::needs);
        of_parts.chain(of_claims).any(|id| is_drawn(id))
    };
    layouts.any(is_published).then(|| {
        let rows = table.rows.iter().filter(|row| is_drawn(&row.id) && !row.has_figure());
        let notes: Vec<&str> = rows.filter_map(|row| row.note.as_deref()).collect();
        match notes.is_empty() {
            true => format!("{}: no published figure of these rows.", table.title),
            false => format!("{}: {}.", table.title, notes.join("; ")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Body, Chart, Lines, pictures};

    const MIB: f64 = 1_048_576.0;

    fn all_references() -> References {
        References::embedded().expect("references")
    }

    fn chart(id: &str) -> Chart {
        let run = compare::synthetic::published_run();
        let (all, _) = pictures(&run, &all_references(), &[]);
        let all = all.into_iter().map(|picture| picture.chart);
        all.into_iter().find(|chart| chart.id == id).expect(id)
    }

    fn published_lines(chart: &Chart) -> Vec<(String, Vec<(f64, f64)>)> {
        let Body::Lines(Lines { series, .. }) = &chart.body else {
            panic!("curves");
        };
        let published = series.iter().filter(|line| line.is == CurveKind::Reference);
        let at = |line: &ChartLine| {
            assert!(!line.joined, "{}", line.name);
            (line.name.clone(), line.points.iter().map(|p| (p.x, p.y)).collect())
        };
        published.map(at).collect()
    }

    #[test]
    fn phones_stand_on_their_own_operations_curve() {
        let lines = published_lines(&chart("memory.latency_as_kurkin"));
        let names: Vec<&str> = lines.iter().map(|(name, _)| name.as_str()).collect();
        let list = "2012 list in the iPhone article";
        assert_eq!(names, ["iPhone 5s", "iPhone 6s Plus", "iPhone X", list]);
        let middle = |from: f64, to: f64| (from * 1024.0 * to * 1024.0).sqrt();
        let levels = [(middle(1.0, 32.0), 7.0), (middle(48.0, 448.0), 30.0)];
        assert_eq!(lines[0].1, [levels[0], levels[1], (64.0 * MIB, 240.0)]);
        let latency = published_lines(&chart("memory.latency"));
        let names: Vec<&str> = latency.iter().map(|(name, _)| name.as_str()).collect();
        assert!(!names.iter().any(|name| name.contains("iPhone")), "{names:?}");
    }

    #[test]
    fn a_time_and_a_speed_of_files_stand_at_their_size() {
        let time = chart("file.read.time");
        assert_eq!(published_lines(&time)[0], ("iPhone 5s".into(), vec![(1024.0, 5_000.0)]));
        let speed = chart("file.read");
        assert_eq!(published_lines(&speed)[0].1, [(1024.0, 1024.0 / 5_000.0)]);
        let doubtful = |note: &&String| note.starts_with("iPhone X, 1MiB: not drawn: the 5s reads");
        assert_eq!(time.notes.iter().filter(doubtful).count(), 1, "{:?}", time.notes);
    }

    #[test]
    fn a_table_without_figures_of_its_publications_rows_says_so() {
        let references = all_references();
        let said = |key: &str, rows: &[&str]| {
            let rows: Vec<String> = rows.iter().map(|row| row.to_string()).collect();
            without_figures(&references, references.find(key).expect(key), &rows)
        };
        let none = Some("iPhone X: no published figure of these rows.".to_owned());
        assert_eq!(said("iphone-x", &["memory.read/sequential", "memory.read/every_4th"]), none);
        assert_eq!(said("iphone-x", &["sched.pool", "sched.pool/ideal"]), none);
        let note = said("iphone-5s", &["sched.pool"]).expect("a note");
        assert!(note.starts_with("iPhone 5s: the chart has no figures"), "{note}");
        assert_eq!(said("iphone-x", &["memory.copy"]), None);
        assert_eq!(said("iphone-6s", &["sched.pool"]), None, "Ash's");
    }
}

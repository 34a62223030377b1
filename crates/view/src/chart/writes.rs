//! A file written whole, in each way, at the sizes that were measured.

use super::curves::doubts;
use super::figure::{PlottedFigure, curve, log};
use super::source::{ChartSource, Drawn, Picture, why_not};
use super::{Body, Chart, ChartLine, CurveKind, Lines, Quantity, Section};
use model::estimate::Estimate;
use model::run::{Axis, CurvePoint, Run};
use model::size::parse_size;
use model::unit::Unit;

/// What stands before and after the size in the ids of a way's rows, and its name.
const WAYS: [(&str, &str, &str); 4] = [
    ("file.write_whole/", "", "over the file, truncated"),
    ("file.write_whole/", "_no_truncate", "over the file, not truncated"),
    ("file.write_whole/", "_new_file", "deleted and created"),
    ("file.write_whole_atomic/", "", "atomic: temporary file, renamed"),
];

/// The picture: a curve where the way was measured over the size, else a mark for each size that was.
pub(super) fn writes(source: &ChartSource) -> Drawn {
    let ways = WAYS.map(|(before, after, name)| WritingWay {
        name,
        curve: curve_of(source.run, before, after),
        rows: rows_of(source.run, before, after),
    });
    let point = |bytes: u64, estimate: &Estimate| {
        let figure = PlottedFigure::first(estimate, &Unit::Time)?;
        Some(figure.as_point(bytes as f64, Some(estimate.verdict)))
    };
    let line = |way: &WritingWay| {
        let of_rows = || {
            let rows = way.rows.iter();
            rows.filter_map(|(bytes, id)| point(*bytes, source.run.row(id)?.estimate()?)).collect()
        };
        let points = match way.curve {
            Some((_, points)) => points.iter().filter_map(|p| point(p.x, &p.estimate)).collect(),
            None => of_rows(),
        };
        let joined = way.curve.is_some();
        ChartLine { name: way.name.into(), is: CurveKind::Measured, points, joined }
    };
    let series = ways.iter().map(line).filter(|line| !line.points.is_empty());
    let series: Vec<ChartLine> = series.collect();
    if series.is_empty() {
        return Err(why_not(source.run, &["file.write_whole/16B"]));
    }
    let notes = doubts(&series).into_iter().collect();
    let axes = [("size of the file", Quantity::Bytes), ("time of a file", Quantity::Nanoseconds)];
    let [x, y] = axes.map(|(label, quantity)| log(label, quantity));
    Ok(Picture {
        chart: Chart {
            id: "file.write_whole".into(),
            title: "Writing a file whole, and atomically".into(),
            caption: "Time of putting new content into a file that exists, from opening it to the \
                      last call, nothing synced: what a reader may see half written, and what is \
                      renamed into its place."
                .into(),
            section: Section::Files,
            body: Body::Lines(Lines::new(x, y, series)),
            notes,
        },
        rows: ways.into_iter().flat_map(WritingWay::ids).collect(),
    })
}

/// A way of writing, with what a run has of it.
struct WritingWay<'r> {
    name: &'static str,
    /// The row that is its curve over the size.
    curve: Option<(&'r str, &'r [CurvePoint])>,
    /// Its rows of one size each.
    rows: Vec<(u64, String)>,
}

impl WritingWay<'_> {
    fn ids(self) -> impl Iterator<Item = String> {
        let curve = self.curve.map(|(id, _)| id.to_owned());
        curve.into_iter().chain(self.rows.into_iter().map(|(_, id)| id))
    }
}

fn curve_of<'r>(run: &'r Run, before: &str, after: &str) -> Option<(&'r str, &'r [CurvePoint])> {
    let row = run.row(before.strip_suffix('/').filter(|_| after.is_empty())?)?;
    Some((&row.id, curve(row, Axis::FileBytes)?))
}

/// Rows of a way with their sizes, rising.
fn rows_of(run: &Run, before: &str, after: &str) -> Vec<(u64, String)> {
    let size = |id: &str| parse_size(id.strip_prefix(before)?.strip_suffix(after)?);
    let rows = run.rows.iter().filter_map(|row| Some((size(&row.id)?, row.id.clone())));
    let mut rows: Vec<(u64, String)> = rows.collect();
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use compare::references::References;
    use model::run::{Outcome, Row};
    use model::synthetic::{row_of_times, run, stamped_figure};

    fn drawn(rows: Vec<Row>) -> Picture {
        let run = Run { rows: rows.into(), ..run() };
        writes(&ChartSource::alone(&run, &References::default())).expect("a picture")
    }

    fn figure(id: &str, ns: f64) -> Row {
        row_of_times(id, Outcome::Figure(stamped_figure(ns, 1.0)))
    }

    #[test]
    fn each_way_is_a_curve_or_marks() {
        let x = |x, ns| CurvePoint { x, bound: None, estimate: stamped_figure(ns, 1.0) };
        let points = vec![x(16, 200.0), x(1024, 300.0)];
        let over_size = Outcome::Curve { axis: Axis::FileBytes, points };
        let picture = drawn(vec![
            row_of_times("file.write_whole", over_size),
            figure("file.write_whole/16B", 210.0),
            figure("file.write_whole/16B_new_file", 50.0),
            figure("file.write_whole_atomic/16MiB", 9e6),
            figure("file.write_whole_atomic/16B", 400.0),
        ]);
        let Body::Lines(lines) = picture.chart.body else {
            panic!("curves");
        };
        let of = |at: usize| {
            let line = &lines.series[at];
            let points: Vec<(f64, f64)> = line.points.iter().map(|p| (p.x, p.y)).collect();
            (line.name.as_str(), line.joined, points)
        };
        let [truncated, .., atomic] = WAYS.map(|(.., name)| name);
        let mib = 1_048_576.0;
        assert_eq!(of(0), (truncated, true, vec![(16.0, 200.0), (1024.0, 300.0)]));
        assert_eq!(of(1), (WAYS[2].2, false, vec![(16.0, 50.0)]));
        assert_eq!(of(2), (atomic, false, vec![(16.0, 400.0), (16.0 * mib, 9e6)]));
        assert_eq!(picture.rows[..2], ["file.write_whole", "file.write_whole/16B"]);
    }
}

//! A picture's figures as text, row by row. Readers of screens, people who want
//! the number, and a pointer over a mark all read these.

use super::{
    Axis, Bars, Body, Chart, ChartLine, CurveKind, Dots, Heat, HeatCell, LaneSpan, Lanes, Lines,
    Point, Quantity, Slopes, Strips,
};
use crate::axis::span;
use crate::quantity::axis_number;
use model::estimate::Verdict;
use model::story::{Column, Table, left, right};
use model::trace::StateKind;

/// Points of one curve that have a row each; more of them are samples, which
/// have one row together.
const LISTED: usize = 120;

/// The figures of a picture; of a curve also what is marked on it.
pub fn tables(chart: &Chart) -> Vec<Table> {
    match &chart.body {
        Body::Lines(lines) => {
            let marked = !lines.bands.is_empty() || !lines.marks.is_empty();
            let marked = marked.then(|| of_marks(lines));
            std::iter::once(of_lines(lines)).chain(marked).collect()
        }
        Body::Bars(bars) => vec![of_bars(bars)],
        Body::Heat(heat) => vec![of_heat(heat)],
        Body::Dots(dots) => vec![of_dots(dots)],
        Body::Lanes(lanes) => vec![of_lanes(lanes)],
        Body::Strips(strips) => vec![of_strips(strips)],
        Body::Slopes(slopes) => vec![of_slopes(slopes)],
    }
}

/// Whether each point of a curve has a row.
pub(super) fn is_listed(line: &ChartLine) -> bool {
    line.joined || line.points.len() <= LISTED
}

/// The row at which each curve begins.
pub(super) fn first_rows(lines: &Lines) -> Vec<usize> {
    let mut next = 0;
    let of = |line: &ChartLine| {
        let first = next;
        next += if is_listed(line) { line.points.len() } else { 1 };
        first
    };
    lines.series.iter().map(of).collect()
}

/// A sample that has no row: where it is, and what it is.
pub(super) fn sample_text(axes: &Lines, line: &ChartLine, point: &Point) -> [String; 2] {
    let [x, y] =
        [(&axes.x, point.x), (&axes.y, point.y)].map(|(axis, v)| axis_number(axis.quantity, v));
    [format!("{} {x}", axes.x.label), format!("{}: {y}", line.name)]
}

/// A table of rows of text; a row that is shorter ends with a cell that spans
/// the rest.
fn text_table(columns: impl IntoIterator<Item = Column>, rows: Vec<Vec<String>>) -> Table {
    let mut table = Table::new(columns);
    for row in rows {
        table.row(row.into_iter().map(Into::into));
    }
    table
}

fn of_lines(lines: &Lines) -> Table {
    let (x, y) = (&lines.x, &lines.y);
    let of_line = |line: &ChartLine| -> Vec<Vec<String>> {
        if !is_listed(line) {
            return vec![vec![line.name.clone(), of_samples(y, &line.points)]];
        }
        let row = |p: &Point| {
            vec![
                line.name.clone(),
                axis_number(x.quantity, p.x),
                axis_number(y.quantity, p.y),
                match line.is {
                    CurveKind::Population => {
                        format!("band: {}", interval_text(y, p.low, p.high))
                    }
                    _ => interval_text(y, p.low, p.high),
                },
                verdict(p.verdict),
            ]
        };
        line.points.iter().map(row).collect()
    };
    text_table(
        [left("curve"), right(&x.label), right(&y.label), right("95 % interval"), left("verdict")],
        lines.series.iter().flat_map(of_line).collect(),
    )
}

/// Many samples in a sentence: how many, and their ends. A median of those that
/// are drawn, which are chosen for their extremes, would say nothing.
fn of_samples(axis: &Axis, points: &[Point]) -> String {
    let (low, high) = span(points.iter().map(|point| point.y)).unwrap_or_default();
    let [low, high] = [low, high].map(|end| axis_number(axis.quantity, end));
    let count = points.len();
    format!("{count} samples drawn, from {low} to {high}; the run's document has all of them")
}

fn of_marks(lines: &Lines) -> Table {
    let at = |x: f64| axis_number(lines.x.quantity, x);
    let bands = lines.bands.iter();
    let bands = bands.map(|band| vec![band.label(), at(band.from), at(band.to)]);
    let marks = lines.marks.iter();
    let marks = marks.map(|mark| vec![mark.name.clone(), at(mark.x), String::new()]);
    text_table([left("marked"), right("from"), right("to")], bands.chain(marks).collect())
}

fn of_bars(bars: &Bars) -> Table {
    let parts = bars.parts.iter().map(|part| right(&part.name));
    let row = |(at, category): (usize, &String)| {
        let value = |part: &super::BarPart| match part.values.get(at).copied().flatten() {
            Some(value) => axis_number(bars.value.quantity, value),
            None => "not known".into(),
        };
        let name = std::iter::once(category.clone());
        name.chain(bars.parts.iter().map(value)).collect()
    };
    text_table(
        std::iter::once(left(&bars.label)).chain(parts),
        bars.categories.iter().enumerate().map(row).collect(),
    )
}

fn of_heat(heat: &Heat) -> Table {
    let name = |names: &[String], at: usize| names.get(at).cloned().unwrap_or_default();
    let row = |cell: &HeatCell| {
        vec![
            name(&heat.y, cell.y),
            name(&heat.x, cell.x),
            axis_number(heat.value.quantity, cell.value),
            interval_text(&heat.value, cell.low, cell.high),
            verdict(cell.verdict),
        ]
    };
    text_table(
        [
            left(&heat.y_label),
            left(&heat.x_label),
            right(&heat.value.label),
            right("95 % interval"),
            left("verdict"),
        ],
        heat.cells.iter().map(row).collect(),
    )
}

/// How long each thread was in each state, in system calls and in operations on memory.
fn of_lanes(lanes: &Lanes) -> Table {
    let states = || lanes.lanes.iter().flat_map(|lane| &lane.states);
    let kinds = StateKind::ALL.into_iter();
    let kinds: Vec<StateKind> =
        kinds.filter(|kind| states().any(|state| state.kind == *kind)).collect();
    type Spans = fn(&super::Lane) -> &[LaneSpan];
    let spans: [(&str, Spans); 2] = [("system calls", |l| &l.calls), ("memory", |l| &l.memory)];
    let spans = || spans.iter().filter(|(_, of)| lanes.lanes.iter().any(|l| !of(l).is_empty()));
    let row = |lane: &super::Lane| {
        let time = |ns: f64| axis_number(lanes.x.quantity, ns);
        let states = kinds.iter().map(|kind| {
            let of = lane.states.iter().filter(|state| state.kind == *kind);
            time(of.map(|one| (one.to_ns - one.from_ns) * one.share.unwrap_or(1.0)).sum())
        });
        let spans = spans().map(|(_, of)| {
            time(of(lane).iter().map(|one| (one.to_ns - one.from_ns) * one.share).sum())
        });
        std::iter::once(lane.name.clone()).chain(states).chain(spans).collect()
    };
    let columns = kinds.iter().map(|kind| right(kind.name()));
    let columns = columns.chain(spans().map(|(name, _)| right(*name)));
    text_table(
        std::iter::once(left("thread")).chain(columns),
        lanes.lanes.iter().map(row).collect(),
    )
}

/// The share of each part over all of the time.
fn of_strips(strips: &Strips) -> Table {
    let row = |strip: &super::Strip| {
        let shares = strip.mean.iter();
        let shares = shares.map(|share| axis_number(Quantity::Percent, share * 100.0));
        let names = [strip.group.clone(), strip.name.clone()];
        names.into_iter().chain(shares).collect()
    };
    let parts = strips.parts.iter().map(right);
    text_table(
        [left(""), left(&strips.label)].into_iter().chain(parts),
        strips.strips.iter().map(row).collect(),
    )
}

fn of_dots(dots: &Dots) -> Table {
    let quantity = dots.value.quantity;
    let has_others = dots.rows.iter().any(|dot| !dot.others.is_empty());
    let row = |dot: &super::Dot| {
        let others = dot.others.iter();
        let others =
            others.map(|other| format!("{} {}", other.name, axis_number(quantity, other.value)));
        let verdict = [verdict(dot.verdict), dot.reason.clone()];
        let cells = [
            dot.id.clone(),
            dot.value.map_or(String::new(), |v| axis_number(quantity, v)),
            interval_text(&dots.value, dot.low, dot.high),
            verdict.join(" ").trim().to_owned(),
        ];
        let others = has_others.then(|| others.collect::<Vec<_>>().join(", "));
        cells.into_iter().chain(others).collect()
    };
    let columns = [left("row"), right(&dots.value.label), right("95 % interval"), left("verdict")];
    text_table(
        columns.into_iter().chain(has_others.then(|| left("others"))),
        dots.rows.iter().map(row).collect(),
    )
}

fn of_slopes(slopes: &Slopes) -> Table {
    let row = |line: &super::Slope| {
        let ends = line.ends.iter().flat_map(|end| {
            [
                axis_number(slopes.value.quantity, end.value),
                interval_text(&slopes.value, end.low, end.high),
            ]
        });
        let name = std::iter::once(line.name.clone());
        name.chain(ends).chain([line.finding.printed().to_owned()]).collect()
    };
    let sides = slopes.sides.iter().flat_map(|side| [right(side), right("95 % interval")]);
    text_table(
        std::iter::once(left("row")).chain(sides).chain([left("finding")]),
        slopes.lines.iter().map(row).collect(),
    )
}

/// The interval of a figure: empty where there is none.
fn interval_text(axis: &Axis, low: Option<f64>, high: Option<f64>) -> String {
    let [low, high] = [low, high].map(|end| end.map(|end| axis_number(axis.quantity, end)));
    match (low, high) {
        (Some(low), Some(high)) => format!("{low} to {high}"),
        (Some(low), None) => format!("from {low}, no upper end"),
        (None, Some(high)) => format!("up to {high}, no lower end"),
        (None, None) => String::new(),
    }
}

fn verdict(verdict: Option<Verdict>) -> String {
    verdict.map_or("", Verdict::text).to_owned()
}

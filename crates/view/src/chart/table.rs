//! A picture's figures as text, row by row. Readers of screens, people who want
//! the number, and a pointer over a mark all read these.

use super::{
    Axis, Bars, Body, Chart, Dots, Heat, HeatCell, Lanes, Line, Lines, Point, Quantity, Strips,
};
use crate::axis::span;
use crate::quantity::text;
use model::estimate::Verdict;
use model::story::{Column, Table, left, right};
use model::trace::Kind;

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
    }
}

/// Whether each point of a curve has a row.
pub(super) fn is_listed(line: &Line) -> bool {
    line.joined || line.points.len() <= LISTED
}

/// The row at which each curve begins.
pub(super) fn first_rows(lines: &Lines) -> Vec<usize> {
    let mut next = 0;
    let of = |line: &Line| {
        let first = next;
        next += if is_listed(line) { line.points.len() } else { 1 };
        first
    };
    lines.series.iter().map(of).collect()
}

/// A sample that has no row: where it is, and what it is.
pub(super) fn sample_text(axes: &Lines, line: &Line, point: &Point) -> [String; 2] {
    let [x, y] = [(&axes.x, point.x), (&axes.y, point.y)].map(|(axis, v)| text(axis.quantity, v));
    [format!("{} {x}", axes.x.label), format!("{}: {y}", line.name)]
}

/// A table of rows of text; a row that is shorter ends with a cell that spans
/// the rest.
fn table(columns: impl IntoIterator<Item = Column>, rows: Vec<Vec<String>>) -> Table {
    let mut table = Table::new(columns);
    for row in rows {
        table.row(row.into_iter().map(Into::into));
    }
    table
}

fn of_lines(lines: &Lines) -> Table {
    let (x, y) = (&lines.x, &lines.y);
    let of_line = |line: &Line| -> Vec<Vec<String>> {
        if !is_listed(line) {
            return vec![vec![line.name.clone(), of_samples(y, &line.points)]];
        }
        let row = |p: &Point| {
            vec![
                line.name.clone(),
                text(x.quantity, p.x),
                text(y.quantity, p.y),
                interval(y, p.low, p.high),
                verdict(p.verdict),
            ]
        };
        line.points.iter().map(row).collect()
    };
    table(
        [left("curve"), right(&x.label), right(&y.label), right("95 % interval"), left("verdict")],
        lines.series.iter().flat_map(of_line).collect(),
    )
}

/// Many samples in a sentence: how many, and their ends. A median of those that
/// are drawn, which are chosen for their extremes, would say nothing.
fn of_samples(axis: &Axis, points: &[Point]) -> String {
    let (low, high) = span(points.iter().map(|point| point.y)).unwrap_or_default();
    let [low, high] = [low, high].map(|end| text(axis.quantity, end));
    let count = points.len();
    format!("{count} samples drawn, from {low} to {high}; the run's document has all of them")
}

fn of_marks(lines: &Lines) -> Table {
    let at = |x: f64| text(lines.x.quantity, x);
    let bands = lines.bands.iter();
    let bands = bands.map(|band| vec![band.text(), at(band.from), at(band.to)]);
    let marks = lines.marks.iter();
    let marks = marks.map(|mark| vec![mark.name.clone(), at(mark.x), String::new()]);
    table([left("marked"), right("from"), right("to")], bands.chain(marks).collect())
}

fn of_bars(bars: &Bars) -> Table {
    let parts = bars.parts.iter().map(|part| right(&part.name));
    let row = |(at, category): (usize, &String)| {
        let value = |part: &super::Part| match part.values.get(at).copied().flatten() {
            Some(value) => text(bars.value.quantity, value),
            None => "not known".into(),
        };
        let name = std::iter::once(category.clone());
        name.chain(bars.parts.iter().map(value)).collect()
    };
    table(
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
            text(heat.value.quantity, cell.value),
            interval(&heat.value, cell.low, cell.high),
            verdict(cell.verdict),
        ]
    };
    table(
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

/// How long each thread was in each state.
fn of_lanes(lanes: &Lanes) -> Table {
    let states = || lanes.lanes.iter().flat_map(|lane| &lane.states);
    let kinds = Kind::ALL.into_iter();
    let kinds: Vec<Kind> = kinds.filter(|kind| states().any(|state| state.kind == *kind)).collect();
    let row = |lane: &super::Lane| {
        let times = kinds.iter().map(|kind| {
            let of = lane.states.iter().filter(|state| state.kind == *kind);
            let time = |state: &super::LaneState| {
                (state.to_ns - state.from_ns) * state.share.unwrap_or(1.0)
            };
            text(lanes.x.quantity, of.map(time).sum())
        });
        std::iter::once(lane.name.clone()).chain(times).collect()
    };
    let columns = kinds.iter().map(|kind| right(kind.name()));
    table(std::iter::once(left("thread")).chain(columns), lanes.lanes.iter().map(row).collect())
}

/// The share of each part over all of the time.
fn of_strips(strips: &Strips) -> Table {
    let row = |strip: &super::Strip| {
        let shares = strip.mean.iter();
        let shares = shares.map(|share| text(Quantity::Percent, share * 100.0));
        let names = [strip.group.clone(), strip.name.clone()];
        names.into_iter().chain(shares).collect()
    };
    let parts = strips.parts.iter().map(right);
    table(
        [left(""), left(&strips.label)].into_iter().chain(parts),
        strips.strips.iter().map(row).collect(),
    )
}

fn of_dots(dots: &Dots) -> Table {
    let quantity = dots.value.quantity;
    let has_others = dots.rows.iter().any(|dot| !dot.others.is_empty());
    let row = |dot: &super::Dot| {
        let others = dot.others.iter();
        let others = others.map(|other| format!("{} {}", other.name, text(quantity, other.value)));
        let verdict = [verdict(dot.verdict), dot.reason.clone()];
        let cells = [
            dot.id.clone(),
            dot.value.map_or(String::new(), |v| text(quantity, v)),
            interval(&dots.value, dot.low, dot.high),
            verdict.join(" ").trim().to_owned(),
        ];
        let others = has_others.then(|| others.collect::<Vec<_>>().join(", "));
        cells.into_iter().chain(others).collect()
    };
    let columns = [left("row"), right(&dots.value.label), right("95 % interval"), left("verdict")];
    table(
        columns.into_iter().chain(has_others.then(|| left("others"))),
        dots.rows.iter().map(row).collect(),
    )
}

/// The interval of a figure: empty where there is none.
fn interval(axis: &Axis, low: Option<f64>, high: Option<f64>) -> String {
    let [low, high] = [low, high].map(|end| end.map(|end| text(axis.quantity, end)));
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

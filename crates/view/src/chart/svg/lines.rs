//! Curves.

use super::frame::{
    ABOVE, Area, MARGIN, Room, SMALL, across, below, left_axis, left_margin, legend, scale_below,
    stagger, zoom,
};
use super::legend::{LegendEntry, Sample};
use super::pen::{Anchor, Paint, Pen};
use super::population;
use super::theme::Theme;
use crate::axis::{Scale, span};
use crate::chart::table::{first_rows, is_listed, sample_text};
use crate::chart::{ChartLine, CurveKind, Lines, Point};
use model::estimate::Verdict;

/// Height of the plot where nothing else was asked for.
const HIGH: f64 = 380.0;
/// Its height over its width where that is less.
const WIDEST: f64 = 0.62;
/// Points of one curve that have marks of their own.
const MARKED: usize = 200;
/// Pixels over which samples of one x are spread.
const SPREAD: f64 = 16.0;

/// Draws below `top`; gives the y of the lower end.
pub(super) fn draw_lines(pen: &mut Pen, lines: &Lines, room: Room) -> f64 {
    let Room { wide, high, .. } = room;
    let theme = pen.theme;
    let plot = HIGH.min(wide * WIDEST);
    let top = legend(pen, room, &entries(theme, lines));
    let ys = || lines.series.iter().flat_map(|line| line.points.iter());
    let y_values = || ys().map(|p| p.y).chain(near_ends(lines));
    let measure = Scale::over(&lines.y, y_values(), (HIGH, 0.0));
    let left = left_margin(&measure.ticks(8));
    let x_values = || ys().map(|p| p.x).chain(ends(lines));
    let x = |range| Scale::over(&lines.x, x_values(), range);
    let x = scale_below(x, (left, wide - MARGIN - 6.0), wide);
    let right = x.end();

    let (bands, band_lines) = stagger(names_of_bands(lines, &x), (left, right));
    let (marks, mark_lines) = stagger(names_of_marks(lines, &x), (left, right));
    let strips = (band_lines + mark_lines) as f64 * 15.0;
    let area = Area {
        left,
        right,
        top: top + strips + ABOVE,
        bottom: top
            + strips
            + ABOVE
            + high.map_or(plot, |h| (h - strips - ABOVE - 42.0).max(120.0)),
    };
    let y = Scale::over(&lines.y, y_values(), (area.bottom, area.top));

    for (at, band) in lines.bands.iter().enumerate() {
        let (from, to) = (x.at_most(band.from), x.at_most(band.to));
        let rect = [from, area.top, (to - from).max(1.0), area.bottom - area.top];
        pen.group(format_args!(r#"class="move""#), |pen| {
            pen.rect(rect, theme.band(at));
        });
    }
    let x_ticks = across(&x);
    let y_ticks = y.ticks(8);
    zoom(pen, &area, &x);
    let end = below(pen, (&area, wide), &x, &x_ticks, &lines.x.label);
    left_axis(pen, &area, &y, &y_ticks, &lines.y.label);
    pen.group(format_args!(r#"class="move""#), |pen| {
        for (x, name, line) in &bands {
            let at = (*x, top + 11.0 + 15.0 * *line as f64);
            pen.text(at, Anchor::Middle, SMALL, theme.ink(), name);
        }
        for (x, name, line) in &marks {
            let at = (*x, top + 11.0 + 15.0 * (band_lines + line) as f64);
            pen.text(at, Anchor::Middle, SMALL, theme.soft(), name);
        }
        for mark in &lines.marks {
            if let Some(x) = x.position(mark.x).filter(|x| (left..=right).contains(x)) {
                let style = r#" stroke-dasharray="2 4""#;
                pen.line((x, area.top), (x, area.bottom), theme.soft(), style);
            }
        }
    });
    pen.line((left, area.bottom), (right, area.bottom), theme.soft(), "");
    let rows = first_rows(lines);
    pen.clipped(grown(&area, 6.0), |pen| {
        population::bands(pen, lines, (&x, &y));
        for (at, line) in from_behind(lines) {
            pen.series(at, |pen| {
                pen.group(format_args!(r#"class="move""#), |pen| {
                    let drawn =
                        Drawn { line, style: style(lines, at), axes: lines, first_row: rows[at] };
                    curve(pen, colour_index(lines, at), &drawn, (&x, &y));
                });
            });
        }
    });
    end
}

/// Whether a curve is of another run or machine: it lies behind ours, and is paler.
fn is_behind(line: &ChartLine) -> bool {
    line.is == CurveKind::Reference && line.joined
}

/// The curves in the order in which they are drawn; bands lie behind all.
fn from_behind(lines: &Lines) -> impl Iterator<Item = (usize, &ChartLine)> {
    let curves = |behind: bool| {
        let all = lines.series.iter().enumerate();
        all.filter(move |(_, line)| line.is != CurveKind::Population && is_behind(line) == behind)
    };
    curves(true).chain(curves(false))
}

/// Marks at the edge of the plot are not cut in halves.
fn grown(area: &Area, by: f64) -> [f64; 4] {
    let [x, y, width, height] = area.rect();
    [x - by, y - by, width + 2.0 * by, height + 2.0 * by]
}

/// Ends of intervals that are no farther from the figures than a factor of
/// three, half of an axis from 0, or as much as the figures span on another one:
/// wider ones are cut at its end.
fn near_ends(lines: &Lines) -> Vec<f64> {
    let points = || lines.series.iter().flat_map(|l| l.points.iter());
    let placed = |y: &f64| !lines.y.log || *y > 0.0;
    let Some((low, high)) = span(points().map(|p| p.y).filter(placed)) else {
        return Vec::new();
    };
    let reach = match lines.y.log {
        true => low / 3.0..=high * 3.0,
        false if lines.y.from_zero => low.min(0.0)..=high * 1.5,
        false => low - (high - low)..=high + (high - low),
    };
    let ends = points().flat_map(|p| [p.low, p.high]).flatten();
    ends.filter(|end| reach.contains(end)).collect()
}

/// Whether an interval is cut at the end of the axis.
pub(super) fn cuts(lines: &Lines) -> bool {
    let ys = || lines.series.iter().flat_map(|l| l.points.iter());
    let y = Scale::over(&lines.y, ys().map(|p| p.y).chain(near_ends(lines)), (1.0, 0.0));
    ys().any(|p| y.cuts(p.low, p.high))
}

/// Ends of bands and marks belong onto the axis where they are near its
/// points: at most a factor of four, or a tenth, away.
fn ends(lines: &Lines) -> Vec<f64> {
    let points = lines.series.iter().flat_map(|l| l.points.iter());
    let Some((low, high)) = span(points.map(|p| p.x)) else {
        return Vec::new();
    };
    let reach = match lines.x.log {
        true => low / 4.0..=high * 4.0,
        false => low - (high - low) * 0.1..=high + (high - low) * 0.1,
    };
    let bands = lines.bands.iter().flat_map(|b| [b.from, b.to]);
    let marks = lines.marks.iter().map(|m| m.x);
    bands.chain(marks).filter(|x| reach.contains(x)).collect()
}

fn names_of_bands(lines: &Lines, x: &Scale) -> Vec<(f64, String)> {
    let middle = |from, to| (x.at_most(from) + x.at_most(to)) / 2.0;
    let all = lines.bands.iter();
    all.map(|b| (middle(b.from, b.to), b.label())).collect()
}

fn names_of_marks(lines: &Lines, x: &Scale) -> Vec<(f64, String)> {
    let all = lines.marks.iter().filter(|m| x.holds(m.x));
    all.filter_map(|m| Some((x.position(m.x)?, m.name.clone()))).collect()
}

fn entries(theme: Theme, lines: &Lines) -> Vec<LegendEntry> {
    let all = lines.series.iter().enumerate();
    // A band in several pieces is one.
    let first = |at: usize, line: &ChartLine| {
        let is_population = line.is == CurveKind::Population;
        !(is_population && lines.series[..at].iter().any(|before| before.name == line.name))
    };
    let all = all.filter(|(at, line)| first(*at, line));
    all.map(|(at, line)| LegendEntry {
        name: line.name.clone(),
        colour: colour(theme, colour_index(lines, at), line),
        shape: colour_index(lines, at),
        sample: match line.is {
            CurveKind::Population => Sample::Shade,
            _ if line.joined => Sample::Line(style(lines, at)),
            _ => Sample::Mark,
        },
    })
    .collect()
}

/// The place of a curve's colour and mark: of another run's, that of the same
/// curve of ours.
fn colour_index(lines: &Lines, at: usize) -> usize {
    let line = &lines.series[at];
    let same = |ours: &ChartLine| {
        let rest = line.name.strip_prefix(ours.name.as_str());
        ours.is != CurveKind::Reference && rest.is_some_and(|rest| rest.starts_with(": "))
    };
    match line.is {
        CurveKind::Reference => lines.series.iter().position(same).unwrap_or(at),
        _ => at,
    }
}

fn colour(theme: Theme, at: usize, line: &ChartLine) -> &'static str {
    match line.is {
        CurveKind::Ideal | CurveKind::Population => theme.soft(),
        CurveKind::Measured | CurveKind::Reference => theme.colour(at),
    }
}

/// Dashes of what was not measured here: of several with one colour and mark, a
/// different one each.
const DASHES: [&str; 4] = [
    r#" stroke-width="1.3" stroke-opacity="0.6" stroke-dasharray="6 4""#,
    r#" stroke-width="1.3" stroke-opacity="0.6" stroke-dasharray="9 3 2 3""#,
    r#" stroke-width="1.3" stroke-opacity="0.6" stroke-dasharray="12 4""#,
    r#" stroke-width="1.3" stroke-opacity="0.6" stroke-dasharray="6 3 2 3 2 3""#,
];

fn style(lines: &Lines, at: usize) -> &'static str {
    match lines.series[at].is {
        CurveKind::Measured => r#" stroke-width="1.8""#,
        CurveKind::Reference => {
            let same = |&other: &usize| {
                lines.series[other].is == CurveKind::Reference
                    && colour_index(lines, other) == colour_index(lines, at)
            };
            DASHES[(0..at).filter(same).count() % DASHES.len()]
        }
        CurveKind::Ideal => r#" stroke-width="1.6" stroke-dasharray="2 3""#,
        CurveKind::Population => population::MEDIAN,
    }
}

/// A curve that is drawn, and where its figures stand in the picture's table.
struct Drawn<'l> {
    line: &'l ChartLine,
    style: &'static str,
    axes: &'l Lines,
    first_row: usize,
}

impl Drawn<'_> {
    /// What is drawn next is the point of this number.
    fn shows(&self, pen: &mut Pen, at: usize, point: &Point) {
        match is_listed(self.line) {
            true => pen.mark_row(Some(self.first_row + at)),
            false => pen.says(|| sample_text(self.axes, self.line, point)),
        }
    }
}

/// A point, its number, and its place.
type Placed<'p> = (usize, &'p Point, (f64, f64));

fn curve(pen: &mut Pen, at: usize, drawn: &Drawn, (x, y): (&Scale, &Scale)) {
    let line = drawn.line;
    let colour = colour(pen.theme, at, line);
    let places: Vec<Placed> = line
        .points
        .iter()
        .enumerate()
        .filter_map(|(at, p)| Some((at, p, (x.position(p.x)?, y.position(p.y)?))))
        .collect();
    let published = line.is == CurveKind::Reference;
    if !line.joined && !published && line.points.iter().all(|p| p.verdict.is_none()) {
        samples(pen, colour, drawn, &places);
        pen.mark_row(None);
        return;
    }
    if line.joined {
        let points: Vec<(f64, f64)> = places.iter().map(|(_, _, at)| *at).collect();
        pen.polyline(&points, colour, drawn.style);
    }
    match is_behind(line) {
        true => pen.faint(|pen| figures(pen, (at, colour), drawn, &places, y)),
        false => figures(pen, (at, colour), drawn, &places, y),
    }
}

/// The figures of a curve: intervals and marks.
fn figures(
    pen: &mut Pen,
    (at, colour): (usize, &'static str),
    drawn: &Drawn,
    places: &[Placed],
    y: &Scale,
) {
    let (theme, line) = (pen.theme, drawn.line);
    for (_, point, (px, _)) in places {
        whisker(pen, colour, *px, point, y);
    }
    // Marks of a dense curve would hide it: those to doubt have theirs.
    let size = match line.is {
        CurveKind::Reference if line.joined => 2.0,
        CurveKind::Reference => 4.5,
        _ if places.len() > 40 => 2.3,
        _ => 3.2,
    };
    for (number, point, place) in places {
        let doubtful = point.verdict.is_some_and(|v| v != Verdict::Ok);
        if places.len() > MARKED && !doubtful {
            continue;
        }
        let fill = if doubtful { theme.ground() } else { colour };
        let paint = Paint { stroke: colour, fill };
        drawn.shows(pen, *number, point);
        pen.mark(at, *place, size, &paint);
    }
    pen.mark_row(None);
}

/// The interval, as far as the axis goes.
fn whisker(pen: &mut Pen, colour: &str, x: f64, point: &Point, y: &Scale) {
    if point.low.is_none() && point.high.is_none() {
        return;
    }
    let low = y.at_most(point.low.unwrap_or(point.y));
    // An end that has no bound is as far as the axis goes.
    let high = y.at_most(point.high.unwrap_or(f64::MAX));
    if (low - high).abs() > 1.5 {
        let style = r#" stroke-width="1" stroke-opacity="0.55""#;
        pen.line((x, low), (x, high), colour, style);
    }
}

/// Samples, those of one x beside each other.
fn samples(pen: &mut Pen, colour: &str, drawn: &Drawn, places: &[Placed]) {
    let mut of_one_x = 0_usize;
    for (k, (number, point, (x, y))) in places.iter().enumerate() {
        let same = |other: Option<&Placed>| other.is_some_and(|(_, p, _)| p.x == point.x);
        let before = k.checked_sub(1).and_then(|k| places.get(k));
        of_one_x = if same(before) { of_one_x + 1 } else { 0 };
        // Multiples of the golden ratio fall evenly between 0 and 1.
        let share = match same(before) || same(places.get(k + 1)) {
            true => (of_one_x as f64 * 0.618_034).fract() - 0.5,
            false => 0.0,
        };
        drawn.shows(pen, *number, point);
        pen.speck((x + share * SPREAD, *y), colour);
    }
}

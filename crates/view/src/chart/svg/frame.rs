//! What stands around a picture: heading, caption, legend, notes; and the axes
//! of a plot.

use super::Chart;
use super::legend::{LegendEntry, Sample};
use super::pen::{Anchor, Paint, Pen, escape, shorten, svg_number, width, wrap};
use super::population;
use crate::axis::{Scale, Tick};

pub(super) const MARGIN: f64 = 20.0;
/// Sizes of text.
pub(super) const TEXT: f64 = 12.5;
pub(super) const SMALL: f64 = 11.0;

/// Room above a plot for the upper half of a number at the end of its left axis.
pub(super) const ABOVE: f64 = 8.0;

/// A rectangle to draw in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    pub(super) fn rect(&self) -> [f64; 4] {
        [self.left, self.top, self.right - self.left, self.bottom - self.top]
    }
}

/// Where the body of a picture is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) wide: f64,
    /// The y below which it begins.
    pub(super) top: f64,
    /// Its height, where one was asked for.
    pub(super) high: Option<f64>,
}

impl Room {
    /// What is left of it below this y.
    pub(super) fn below(self, top: f64) -> Room {
        Room { high: self.high.map(|high| high - (top - self.top)), top, ..self }
    }
}

/// Heading and caption; gives the y below them.
pub(super) fn heading(pen: &mut Pen, wide: f64, chart: &Chart, size: f64) -> f64 {
    let theme = pen.theme;
    let room = wide - 2.0 * MARGIN;
    let mut y = MARGIN;
    for line in wrap(&chart.title, size, room) {
        y += size;
        pen.text((MARGIN, y), Anchor::Start, size, theme.ink(), &line);
        y += 6.0;
    }
    for line in wrap(&chart.caption, TEXT, room) {
        y += TEXT;
        pen.text((MARGIN, y), Anchor::Start, TEXT, theme.soft(), &line);
        y += 4.0;
    }
    y + 8.0
}

/// The legend in lines; gives the y below it.
pub(super) fn legend(pen: &mut Pen, Room { wide, top, .. }: Room, entries: &[LegendEntry]) -> f64 {
    const LINE: f64 = 18.0;
    const SAMPLE: f64 = 30.0;
    if pen.is_inline() {
        pen.legend = entries.to_vec();
    }
    if entries.is_empty() || pen.is_inline() {
        return top;
    }
    let (mut x, mut y) = (MARGIN, top + LINE / 2.0);
    for entry in entries {
        let needed = SAMPLE + width(&entry.name, SMALL);
        if x > MARGIN && x + needed > wide - MARGIN {
            x = MARGIN;
            y += LINE;
        }
        sample(pen, entry, (x, y));
        // A name that is longer than the picture is wide has several lines.
        let lines = wrap(&entry.name, SMALL, wide - MARGIN - x - SAMPLE);
        for (at, line) in lines.iter().enumerate() {
            y += if at > 0 { SMALL + 3.0 } else { 0.0 };
            let at = (x + SAMPLE, y + SMALL * 0.36);
            pen.text(at, Anchor::Start, SMALL, pen.theme.ink(), line);
        }
        x += needed + 16.0;
    }
    y + LINE / 2.0 + 6.0
}

/// How an entry's curve or mark looks, 22 px wide.
pub(super) fn sample(pen: &mut Pen, entry: &LegendEntry, (x, y): (f64, f64)) {
    let middle = x + 11.0;
    let paint = Paint { stroke: entry.colour, fill: entry.colour };
    match entry.sample {
        Sample::Line(style) => {
            pen.line((x, y), (x + 22.0, y), entry.colour, style);
            pen.mark(entry.shape, (middle, y), 3.2, &paint);
        }
        Sample::Mark => pen.mark(entry.shape, (middle, y), 3.6, &paint),
        Sample::Hollow => {
            let paint = Paint { fill: "none", ..paint };
            pen.mark(entry.shape, (middle, y), 3.6, &paint);
        }
        Sample::Box => pen.rect([x + 4.0, y - 6.0, 14.0, 12.0], entry.colour),
        Sample::Shade => {
            let box_at = |at: (f64, f64)| (x + 22.0 * at.0, y - 5.0 + 10.0 * at.1);
            let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(box_at);
            pen.area(&corners, entry.colour, population::PALE);
            pen.line((x, y), (x + 22.0, y), entry.colour, population::MEDIAN);
        }
        Sample::Rails => pen.rails([x + 4.0, y - 5.0, 14.0, 10.0], entry.colour),
        Sample::Halves(lower) => {
            pen.rect([x + 4.0, y - 6.0, 14.0, 6.0], entry.colour);
            pen.rect([x + 4.0, y, 14.0, 6.0], lower);
        }
    }
}

/// Notes below a picture; gives the y below them.
pub(super) fn notes(pen: &mut Pen, wide: f64, top: f64, notes: &[String]) -> f64 {
    let mut y = top;
    for note in notes {
        for line in wrap(note, SMALL, wide - 2.0 * MARGIN) {
            y += SMALL;
            pen.text((MARGIN, y), Anchor::Start, SMALL, pen.theme.soft(), &line);
            y += 3.5;
        }
        y += 2.0;
    }
    y
}

/// Numbers of an axis below a plot that don't touch.
pub(super) fn across(scale: &Scale) -> Vec<Tick> {
    scale.ticks_apart(|text| width(text, SMALL), 14.0)
}

/// The scale of an axis below a plot between two ends, the right one moved in as
/// far as its last number needs.
pub(super) fn scale_below(
    scale: impl Fn((f64, f64)) -> Scale,
    (left, right): (f64, f64),
    wide: f64,
) -> Scale {
    let widest = scale((left, right));
    let ends = across(&widest)
        .into_iter()
        .filter_map(|tick| Some(widest.position(tick.value)? + width(&tick.label, SMALL) / 2.0));
    // A bare picture ends there.
    let beyond = ends.fold(0.0, f64::max) - (wide - MARGIN);
    scale((left, right - beyond.max(0.0)))
}

/// Numbers of an axis that lie on it, each with its place.
fn placed<'a>(scale: &Scale, ticks: &'a [Tick]) -> impl Iterator<Item = (f64, &'a Tick)> {
    ticks.iter().filter_map(|tick| Some((scale.position(tick.value)?, tick)))
}

/// The axis below a plot, with its grid and label; gives the y below them.
pub(super) fn below(
    pen: &mut Pen,
    (area, wide): (&Area, f64),
    scale: &Scale,
    ticks: &[Tick],
    label: &str,
) -> f64 {
    let theme = pen.theme;
    pen.group(format_args!(r#"class="ticks""#), |pen| {
        // What looks alike stands in a row: a page has it in one group.
        for (x, _) in placed(scale, ticks) {
            pen.line((x, area.top), (x, area.bottom), theme.grid(), "");
        }
        for (x, tick) in placed(scale, ticks) {
            let at = (x, area.bottom + 15.0);
            pen.text(at, Anchor::Middle, SMALL, theme.soft(), &tick.label);
        }
    });
    label_below(pen, (area, wide), label)
}

/// The label below the numbers of an axis, in the middle of its plot unless it
/// is longer, and in several lines where the picture is narrow; gives the y below
/// it.
pub(super) fn label_below(pen: &mut Pen, (area, wide): (&Area, f64), label: &str) -> f64 {
    let mut y = area.bottom + 32.0;
    for (at, line) in wrap(label, TEXT, wide - 2.0 * MARGIN).iter().enumerate() {
        y += if at > 0 { TEXT + 3.0 } else { 0.0 };
        let half = width(line, TEXT) / 2.0;
        let middle = (area.left + area.right) / 2.0;
        let middle = middle.min(wide - MARGIN - half).max(MARGIN + half);
        pen.text((middle, y), Anchor::Middle, TEXT, pen.theme.ink(), line);
    }
    y + 10.0
}

/// What a page's script needs to zoom an x axis: its ends, and its numbers,
/// closer and closer.
pub(super) fn zoom(pen: &mut Pen, area: &Area, scale: &Scale) {
    if !pen.is_inline() {
        return;
    }
    let level = |most: usize| {
        let ticks = scale.ticks(most).into_iter();
        let texts = ticks
            .filter_map(|t| Some(format!("{} {}", svg_number(scale.position(t.value)?), t.label)));
        texts.collect::<Vec<_>>().join("|")
    };
    let levels = [8, 24, 72].map(level).join("||");
    let [left, right] = [area.left, area.right].map(svg_number);
    pen.zoom = format!(r#" data-x="{left} {right}" data-ticks="{}""#, escape(&levels));
}

/// The axis at the left of a plot, with its grid and label.
pub(super) fn left_axis(pen: &mut Pen, area: &Area, scale: &Scale, ticks: &[Tick], label: &str) {
    let theme = pen.theme;
    for (y, _) in placed(scale, ticks) {
        pen.line((area.left, y), (area.right, y), theme.grid(), "");
    }
    for (y, tick) in placed(scale, ticks) {
        let at = (area.left - 7.0, y + SMALL * 0.36);
        pen.text(at, Anchor::End, SMALL, theme.soft(), &tick.label);
    }
    label_left(pen, area, label);
}

/// The label at the left of a plot, shortened where that is lower.
pub(super) fn label_left(pen: &mut Pen, area: &Area, label: &str) {
    let middle = (area.top + area.bottom) / 2.0;
    let at = (MARGIN + 10.0, middle);
    let label = shorten(label, TEXT, area.bottom - area.top + 30.0);
    pen.upright(at, TEXT, pen.theme.ink(), &label);
}

/// Room for the texts of an axis at the left, its label included.
pub(super) fn left_margin(ticks: &[Tick]) -> f64 {
    let widest = ticks.iter().map(|t| width(&t.label, SMALL));
    MARGIN + 28.0 + widest.fold(0.0, f64::max)
}

/// Texts above a plot, each in the first line where it fits: by place, text
/// and line. Also how many lines there are.
pub(super) fn stagger(
    texts: Vec<(f64, String)>,
    (left, right): (f64, f64),
) -> (Vec<(f64, String, usize)>, usize) {
    let mut texts = texts;
    texts.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut ends: Vec<f64> = Vec::new();
    let mut placed = Vec::new();
    for (x, text) in texts {
        let half = width(&text, SMALL) / 2.0;
        // Within the plot, as far as that can be.
        let x = x.min(right - half).max(left + half);
        let line = ends.iter().position(|&end| x - half > end + 8.0);
        let line = line.unwrap_or_else(|| {
            ends.push(0.0);
            ends.len() - 1
        });
        ends[line] = x + half;
        placed.push((x, text, line));
    }
    (placed, ends.len())
}

//! Figures with intervals, one a line.

use super::frame::{Area, MARGIN, Room, SMALL, across, below, legend};
use super::legend::{Entry, Sample};
use super::pen::{Anchor, Paint, Pen, shorten, width};
use crate::axis::{Scale, span};
use crate::chart::{Axis, Dot, Dots, Quantity, in_unit};
use crate::grouped::grouped;
use model::estimate::Verdict;
use model::figure::{decimals, plain_zero};

/// Height of a line where nothing else was asked for.
const LINE: f64 = 17.0;
/// Room for a figure at the right.
const FIGURE: f64 = 86.0;

/// Draws below `top`; gives the y of the lower end. Lines without any figure
/// are left to [`without_figure`].
pub(super) fn draw(pen: &mut Pen, dots: &Dots, room: Room) -> f64 {
    let Room { wide, high, .. } = room;
    let theme = pen.theme;
    let all = dots.rows.iter().enumerate();
    let rows: Vec<(usize, &Dot)> = all.filter(|(_, dot)| has_figure(dot)).collect();
    let names = others(&dots.rows);
    let mut entries = vec![Entry {
        name: "here".into(),
        colour: theme.colour(0),
        shape: 0,
        sample: Sample::Mark,
    }];
    entries.extend(names.iter().enumerate().map(|(k, name)| Entry {
        name: (*name).to_owned(),
        colour: theme.colour(k + 1),
        shape: k + 1,
        sample: Sample::Mark,
    }));
    let entries = if names.is_empty() { Vec::new() } else { entries };
    let top = legend(pen, room, &entries) + 4.0;

    let widest = rows.iter().map(|(_, dot)| width(&dot.id, SMALL));
    let left = MARGIN + widest.fold(0.0, f64::max).min(wide * 0.42) + 10.0;
    let number = rows.len().max(1) as f64;
    let line = high.map_or(LINE, |h| ((h - 46.0) / number).max(12.0));
    let area = Area { left, right: wide - MARGIN - FIGURE, top, bottom: top + line * number };
    let one = one(dots);
    let x = scale(dots, (area.left, area.right));
    let ticks = across(&x);
    for k in (1..rows.len()).step_by(2) {
        let y = area.top + line * k as f64;
        pen.rect([MARGIN, y, wide - 2.0 * MARGIN, line], theme.band(0));
    }
    let end = below(pen, (&area, wide), &x, &ticks, &dots.value.label);
    if let Some(x) = one.and_then(|one| x.at(one)) {
        pen.line((x, area.top), (x, area.bottom), theme.soft(), "");
    }
    for (k, (row, dot)) in rows.iter().enumerate() {
        let y = area.top + line * (k as f64 + 0.5);
        let at = (left - 8.0, y + SMALL * 0.36);
        let name = shorten(&dot.id, SMALL, left - MARGIN - 8.0);
        pen.text(at, Anchor::End, SMALL, theme.ink(), &name);
        pen.row(Some(*row));
        pen.series(0, |pen| {
            figure(pen, &dots.value, dot, y, (&x, area.right), wide);
        });
        for other in &dot.others {
            let at = names.iter().position(|name| *name == other.name);
            if let (Some(at), Some(x)) = (at, x.at(other.value)) {
                let paint = Paint { stroke: theme.colour(at + 1), fill: "none" };
                pen.series(at + 1, |pen| pen.mark(at + 1, (x, y), 3.2, &paint));
            }
        }
        pen.row(None);
    }
    end
}

/// What a ratio's axis shows in any case: 1, which is no difference.
fn one(dots: &Dots) -> Option<f64> {
    (dots.value.quantity == Quantity::Ratio).then_some(1.0)
}

/// The axis. Of ratios it shows whole intervals; of others their ends where
/// they are no farther from the figures than a factor of three, or half of the
/// axis: wider ones are cut at its end.
fn scale(dots: &Dots, range: (f64, f64)) -> Scale {
    let one = one(dots);
    let figures = || {
        let of = |dot: &Dot| {
            let others: Vec<f64> = dot.others.iter().map(|other| other.value).collect();
            dot.value.into_iter().chain(others)
        };
        dots.rows.iter().flat_map(of)
    };
    let placed = figures().filter(|value| !dots.value.log || *value > 0.0);
    let reach = span(placed).map(|(low, high)| match dots.value.log {
        true => low / 3.0..=high * 3.0,
        false => low.min(0.0)..=high * 1.5,
    });
    let ends = dots.rows.iter().flat_map(|dot| [dot.low, dot.high]);
    let is_near = |end: &f64| reach.as_ref().is_some_and(|reach| reach.contains(end));
    let ends = ends.flatten().filter(|end| one.is_some() || is_near(end));
    Scale::over(&dots.value, figures().chain(one).chain(ends), range)
}

/// Whether an interval is cut at the end of the axis.
pub(super) fn cuts(dots: &Dots) -> bool {
    let x = scale(dots, (0.0, 1.0));
    let mut drawn = dots.rows.iter().filter(|dot| dot.value.is_some());
    drawn.any(|dot| x.cuts(dot.low, dot.high))
}

/// A line's own figure: its interval, its mark, its number at the right.
fn figure(pen: &mut Pen, axis: &Axis, dot: &Dot, y: f64, (x, right): (&Scale, f64), wide: f64) {
    let theme = pen.theme;
    let at = (wide - MARGIN - 2.0, y + SMALL * 0.36);
    let Some(value) = dot.value else {
        // The reason stands below the picture.
        let text = match dot.verdict {
            None => "not here".to_owned(),
            Some(_) => shorten(&dot.reason, SMALL, wide - MARGIN - 2.0 - right - 8.0),
        };
        pen.text(at, Anchor::End, SMALL, theme.soft(), &text);
        return;
    };
    let doubtful = dot.verdict.is_some_and(|verdict| verdict != Verdict::Ok);
    let ink = if doubtful { theme.soft() } else { theme.ink() };
    pen.text(at, Anchor::End, SMALL, ink, &number(axis.quantity, value, dot));
    if dot.low.is_some() || dot.high.is_some() {
        let low = x.at_most(dot.low.unwrap_or(value));
        let high = x.at_most(dot.high.unwrap_or(f64::MAX));
        let style = r#" stroke-width="1.6""#;
        pen.line((low, y), (high, y), theme.colour(0), style);
    }
    if let Some(x) = x.at(value) {
        let paint = Paint {
            stroke: theme.colour(0),
            fill: if doubtful { theme.ground() } else { theme.colour(0) },
        };
        pen.mark(0, (x, y), 3.4, &paint);
    }
}

/// A figure with no more digits than its interval supports.
fn number(quantity: Quantity, value: f64, dot: &Dot) -> String {
    let half = dot.low.zip(dot.high).map_or(0.0, |(low, high)| (high - low) / 2.0);
    in_unit(quantity, value, |in_unit| {
        let half = if value == 0.0 { half } else { half * in_unit / value };
        plain_zero(format!("{in_unit:.*}", decimals(in_unit, half)))
    })
}

fn has_figure(dot: &Dot) -> bool {
    dot.value.is_some() || !dot.others.is_empty()
}

/// Names of all others, in the order of their first mention.
fn others(rows: &[Dot]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for other in rows.iter().flat_map(|dot| &dot.others) {
        if !names.contains(&other.name.as_str()) {
            names.push(&other.name);
        }
    }
    names
}

/// What has no figure of its own, by reason.
pub(super) fn without_figure(dots: &Dots) -> Vec<String> {
    let without = dots.rows.iter().filter(|dot| dot.value.is_none());
    grouped(without.map(|dot| (dot.reason.as_str(), dot.id.as_str())))
        .into_iter()
        .map(|(reason, ids)| match reason {
            "" => format!("{}: no figure.", ids.join(", ")),
            reason => format!("{}: {reason}.", ids.join(", ")),
        })
        .collect()
}

//! Bars, standing or lying.

use super::frame::{
    ABOVE, Area, MARGIN, Room, SMALL, across, below, label_below, left_axis, left_margin, legend,
    scale_below, stagger,
};
use super::legend::{LegendEntry, Sample};
use super::pen::{Anchor, Pen, shorten, width};
use crate::axis::Scale;
use crate::chart::{Bars, number};
use std::ops::Range;

/// Height of the plot of standing bars, and of a lying one.
const HIGH: f64 = 300.0;
const LINE: f64 = 30.0;

/// Draws below `top`; gives the y of the lower end.
pub(super) fn draw_bars(pen: &mut Pen, bars: &Bars, room: Room) -> f64 {
    let theme = pen.theme;
    let entries: Vec<LegendEntry> = bars
        .parts
        .iter()
        .enumerate()
        .map(|(at, part)| LegendEntry {
            name: part.name.clone(),
            colour: theme.colour(part.colour.unwrap_or(at)),
            shape: 1,
            sample: Sample::Box,
        })
        .collect();
    // One part is what the axis says.
    let entries = if entries.len() > 1 { entries } else { Vec::new() };
    let top = legend(pen, room, &entries);
    let room = |gap: f64| Room { top: top + gap, ..room };
    if bars.lying { lying(pen, bars, room(4.0)) } else { standing(pen, bars, room(ABOVE)) }
}

/// The colour of a part by its place.
fn colour(bars: &Bars, at: usize) -> usize {
    bars.parts.get(at).and_then(|part| part.colour).unwrap_or(at)
}

/// Where each part of a bar begins and ends: a part below 0 goes back.
fn spans(bars: &Bars, category: usize) -> Vec<(usize, f64, f64)> {
    let mut now = 0.0;
    let mut all = Vec::new();
    for (at, part) in bars.parts.iter().enumerate() {
        if let Some(value) = part.values.get(category).copied().flatten() {
            all.push((at, now, now + value));
            now += value;
        }
    }
    all
}

fn ends(bars: &Bars, categories: Range<usize>) -> impl Iterator<Item = f64> {
    let all = categories.flat_map(|k| spans(bars, k));
    all.flat_map(|(_, from, to)| [from, to])
}

/// Names that are longer are cut; room of a lying bar's figures is above it.
const NAMES: f64 = 0.4;
const FIGURES: f64 = SMALL + 3.0;

/// Those on one axis, then those that have one each.
fn lying(pen: &mut Pen, bars: &Bars, room: Room) -> f64 {
    let names = bars.categories.iter().map(|name| width(name, SMALL));
    let left = MARGIN + names.fold(0.0, f64::max).min(room.wide * NAMES) + 10.0;
    let count = bars.categories.len();
    let together = count - bars.apart.min(count);
    let groups = std::iter::once(0..together).chain((together..count).map(|k| k..k + 1));
    let groups: Vec<Range<usize>> = groups.filter(|group| !group.is_empty()).collect();
    let high = room.high.map(|high| high / groups.len().max(1) as f64);
    let mut top = room.top;
    for group in groups {
        top = lying_group(pen, bars, group, (left, Room { top, high, ..room }));
    }
    top
}

fn lying_group(
    pen: &mut Pen,
    bars: &Bars,
    group: Range<usize>,
    (left, Room { wide, top, high }): (f64, Room),
) -> f64 {
    let theme = pen.theme;
    let x = |range| Scale::over(&bars.value, ends(bars, group.clone()), range);
    let x = scale_below(x, (left, wide - MARGIN - 6.0), wide);
    let figures: Vec<_> = group.clone().map(|k| bar_figures(bars, k, &x)).collect();
    let above: Vec<f64> = figures.iter().map(|(_, lines)| FIGURES * *lines as f64).collect();
    let number = group.len().max(1) as f64;
    let all_above: f64 = above.iter().sum();
    let line = high.map_or(LINE, |h| ((h - 46.0 - all_above) / number).max(14.0));
    let area = Area { left, right: x.end(), top, bottom: top + line * number + all_above };
    let ticks = across(&x);
    let end = below(pen, (&area, wide), &x, &ticks, &bars.value.label);
    let mut y = top;
    for ((k, (texts, _)), above) in group.zip(&figures).zip(&above) {
        for (x, text, line) in texts {
            let at = (*x, y + SMALL + FIGURES * *line as f64);
            pen.text(at, Anchor::Middle, SMALL, theme.ink(), text);
        }
        y += above;
        let at = (left - 8.0, y + line / 2.0 + SMALL * 0.36);
        let name = shorten(&bars.categories[k], SMALL, left - MARGIN - 8.0);
        pen.text(at, Anchor::End, SMALL, theme.ink(), &name);
        for (part, from, to) in spans(bars, k) {
            let (from, to) = (x.at_most(from), x.at_most(to));
            // What goes back is drawn thinner, over what it takes back.
            let inset = if to < from { line * 0.38 } else { line * 0.1 };
            let rect = [
                from.min(to),
                y + inset,
                (to - from).abs().max(0.6),
                line - 2.0 * inset - line * 0.1,
            ];
            pen.series(part, |pen| {
                pen.mark_row(Some(k));
                pen.rect(rect, theme.colour(colour(bars, part)));
            });
        }
        y += line;
    }
    pen.mark_row(None);
    end
}

/// The figures of a bar above its parts, with their lines; and how many lines
/// there are.
fn bar_figures(bars: &Bars, category: usize, x: &Scale) -> (Vec<(f64, String, usize)>, usize) {
    let text = |(part, from, to): (usize, f64, f64)| {
        let middle = (x.at_most(from) + x.at_most(to)) / 2.0;
        let figure = number(bars.value.quantity, to - from);
        (middle, format!("{} {figure}", bars.parts[part].name))
    };
    let texts = spans(bars, category).into_iter().map(text).collect();
    stagger(texts, (x.start(), x.end()))
}

fn standing(pen: &mut Pen, bars: &Bars, Room { wide, top, high }: Room) -> f64 {
    let theme = pen.theme;
    let plot = high.map_or(HIGH, |h| (h - 46.0).max(120.0));
    let count = bars.categories.len();
    let measure = Scale::over(&bars.value, ends(bars, 0..count), (plot, 0.0));
    let (left, right) = (left_margin(&measure.ticks(6)), wide - MARGIN - 6.0);
    let x = bars.stretches.as_ref().map(|stretches| {
        let x = |range| Scale::between(&stretches.axis, &stretches.edges, range);
        (stretches, scale_below(x, (left, right), wide))
    });
    let area =
        Area { left, right: x.as_ref().map_or(right, |(_, x)| x.end()), top, bottom: top + plot };
    let y = Scale::over(&bars.value, ends(bars, 0..count), (area.bottom, area.top));
    left_axis(pen, &area, &y, &y.ticks(6), &bars.value.label);
    let end = match &x {
        Some((stretches, x)) => {
            let ticks = across(x);
            // The grid lies behind the bars.
            let end = below(pen, (&area, wide), x, &ticks, &stretches.axis.label);
            for k in 0..count {
                let edge = |k: usize| stretches.edges.get(k).and_then(|edge| x.position(*edge));
                if let (Some(from), Some(to)) = (edge(k), edge(k + 1)) {
                    let gap = ((to - from) * 0.1).min(1.0);
                    bar(pen, bars, k, (from + gap, to - gap), &y);
                }
            }
            end
        }
        None => by_name(pen, bars, (&area, wide), &y),
    };
    let y = area.bottom;
    pen.line((area.left, y), (area.right, y), theme.soft(), "");
    end
}

/// Bars of equal width with their names; gives the y below them.
fn by_name(pen: &mut Pen, bars: &Bars, (area, wide): (&Area, f64), y: &Scale) -> f64 {
    let number = bars.categories.len().max(1);
    let step = (area.right - area.left) / number as f64;
    let widest = bars.categories.iter().map(|c| width(c, SMALL));
    let each = ((widest.fold(0.0, f64::max) + 10.0) / step).ceil().max(1.0) as usize;
    for (k, name) in bars.categories.iter().enumerate() {
        let x = area.left + step * k as f64;
        bar(pen, bars, k, (x + step * 0.1, x + step * 0.9), y);
        let at = (x + step * 0.1, area.bottom + 15.0);
        // The last may have no room.
        if k.is_multiple_of(each) && at.0 + width(name, SMALL) <= wide - MARGIN {
            pen.text(at, Anchor::Start, SMALL, pen.theme.soft(), name);
        }
    }
    label_below(pen, (area, wide), &bars.label)
}

/// A standing bar.
fn bar(pen: &mut Pen, bars: &Bars, category: usize, (left, right): (f64, f64), y: &Scale) {
    for (part, from, to) in spans(bars, category) {
        let (from, to) = (y.at_most(from), y.at_most(to));
        let rect = [left, from.min(to), right - left, (from - to).abs()];
        if to != from {
            pen.series(part, |pen| {
                pen.mark_row(Some(category));
                pen.rect(rect, pen.theme.colour(colour(bars, part)));
            });
        }
    }
    pen.mark_row(None);
}

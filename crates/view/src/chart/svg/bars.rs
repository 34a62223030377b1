//! Bars, standing or lying.

use super::axis::Scale;
use super::frame::{
    Area, MARGIN, Room, SMALL, across, below, label_below, left_axis, left_margin, legend,
    scale_below,
};
use super::legend::{Entry, Sample};
use super::pen::{Anchor, Pen, shorten, width};
use crate::chart::Bars;

/// Height of the plot of standing bars, and of a lying one.
const HIGH: f64 = 300.0;
const LINE: f64 = 30.0;

/// Draws below `top`; gives the y of the lower end.
pub(super) fn draw(pen: &mut Pen, bars: &Bars, room: Room) -> f64 {
    let theme = pen.theme;
    let entries: Vec<Entry> = bars
        .parts
        .iter()
        .enumerate()
        .map(|(at, part)| Entry {
            name: part.name.clone(),
            colour: theme.colour(at),
            shape: 1,
            sample: Sample::Box,
        })
        .collect();
    // One part is what the axis says.
    let entries = if entries.len() > 1 {
        entries
    } else {
        Vec::new()
    };
    let top = legend(pen, room, &entries) + 4.0;
    let room = Room { top, ..room };
    match bars.lying {
        true => lying(pen, bars, room),
        false => standing(pen, bars, room),
    }
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

fn ends(bars: &Bars) -> impl Iterator<Item = f64> {
    let all = (0..bars.categories.len()).flat_map(|k| spans(bars, k));
    all.flat_map(|(_, from, to)| [from, to])
}

fn lying(pen: &mut Pen, bars: &Bars, Room { wide, top, high }: Room) -> f64 {
    let theme = pen.theme;
    let names = bars.categories.iter().map(|name| width(name, SMALL));
    let left = MARGIN + names.fold(0.0, f64::max).min(wide * 0.4) + 10.0;
    let number = bars.categories.len().max(1) as f64;
    let line = high.map_or(LINE, |h| ((h - 46.0) / number).max(14.0));
    let x = |range| Scale::over(&bars.value, ends(bars), range);
    let x = scale_below(x, (left, wide - MARGIN - 6.0), wide);
    let area = Area {
        left,
        right: x.end(),
        top,
        bottom: top + line * number,
    };
    let ticks = across(&x, area.right - area.left);
    let end = below(pen, (&area, wide), &x, &ticks, &bars.value.label);
    for (k, name) in bars.categories.iter().enumerate() {
        let y = area.top + line * k as f64;
        let at = (left - 8.0, y + line / 2.0 + SMALL * 0.36);
        let name = shorten(name, SMALL, left - MARGIN - 8.0);
        pen.text(at, Anchor::End, SMALL, theme.ink(), &name);
        for (part, from, to) in spans(bars, k) {
            let (from, to) = (x.at_most(from), x.at_most(to));
            // What goes back is drawn thinner, over what it takes back.
            let inset = if to < from { line * 0.38 } else { line * 0.2 };
            let rect = [
                from.min(to),
                y + inset,
                (to - from).abs().max(0.6),
                line - 2.0 * inset,
            ];
            pen.series(part, |pen| {
                pen.row(Some(k));
                pen.rect(rect, theme.colour(part));
            });
        }
    }
    pen.row(None);
    end
}

fn standing(pen: &mut Pen, bars: &Bars, Room { wide, top, high }: Room) -> f64 {
    let theme = pen.theme;
    let plot = high.map_or(HIGH, |h| (h - 46.0).max(120.0));
    let measure = Scale::over(&bars.value, ends(bars), (plot, 0.0));
    let area = Area {
        left: left_margin(&measure.ticks(6)),
        right: wide - MARGIN - 6.0,
        top,
        bottom: top + plot,
    };
    let y = Scale::over(&bars.value, ends(bars), (area.bottom, area.top));
    left_axis(pen, &area, &y, &y.ticks(6), &bars.value.label);
    let number = bars.categories.len().max(1);
    let step = (area.right - area.left) / number as f64;
    let widest = bars.categories.iter().map(|c| width(c, SMALL));
    let each = ((widest.fold(0.0, f64::max) + 10.0) / step).ceil().max(1.0) as usize;
    for (k, name) in bars.categories.iter().enumerate() {
        let x = area.left + step * k as f64;
        for (part, from, to) in spans(bars, k) {
            let (from, to) = (y.at_most(from), y.at_most(to));
            let rect = [x + step * 0.1, from.min(to), step * 0.8, (from - to).abs()];
            if to != from {
                pen.series(part, |pen| {
                    pen.row(Some(k));
                    pen.rect(rect, theme.colour(part));
                });
            }
        }
        let at = (x + step * 0.1, area.bottom + 15.0);
        // The last may have no room.
        if k.is_multiple_of(each) && at.0 + width(name, SMALL) <= wide - MARGIN {
            pen.text(at, Anchor::Start, SMALL, theme.soft(), name);
        }
    }
    pen.row(None);
    let y = area.bottom;
    pen.line((area.left, y), (area.right, y), theme.soft(), "");
    label_below(pen, (&area, wide), &bars.label)
}

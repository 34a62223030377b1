//! Maps of colours.

use super::frame::{Area, MARGIN, Room, SMALL, label_below, label_left};
use super::pen::{Anchor, Paint, Pen, width, wrap};
use super::theme::Theme;
use crate::axis::Scale;
use crate::chart::{Heat, scale_of};
use model::estimate::Verdict;
use model::figure::decimals;

/// Height of a line where nothing else was asked for.
const LINE: f64 = 30.0;
/// The narrowest cell with a number.
const NUMBER: f64 = 30.0;

/// Draws below `top`; gives the y of the lower end.
pub(super) fn draw(pen: &mut Pen, heat: &Heat, Room { wide, top, high }: Room) -> f64 {
    let theme = pen.theme;
    let names = heat.y.iter().map(|name| width(name, SMALL));
    let left = MARGIN + 28.0 + names.fold(0.0, f64::max);
    let right = wide - MARGIN - 110.0;
    let (columns, rows) = (heat.x.len().max(1) as f64, heat.y.len().max(1) as f64);
    let line = high.map_or(LINE, |h| ((h - 46.0) / rows).max(4.0));
    // Few columns don't become bars.
    let column = ((right - left) / columns).min(line * 4.0);
    let area = Area {
        left,
        right: left + column * columns,
        top: top + 6.0,
        bottom: top + 6.0 + line * rows,
    };
    let values = || heat.cells.iter().map(|cell| cell.value);
    let scale = Scale::over(&heat.value, values(), (0.0, 1.0));
    let largest = values().map(f64::abs).fold(0.0, f64::max);
    let (divisor, unit) = scale_of(heat.value.quantity, largest);
    for (row, cell) in heat.cells.iter().enumerate() {
        let (x, y) = (area.left + column * cell.x as f64, area.top + line * cell.y as f64);
        let doubtful = cell.verdict.is_some_and(|verdict| verdict != Verdict::Ok);
        let Some(share) = scale.share(cell.value) else {
            let at = (x + column / 2.0, y + line / 2.0 + SMALL * 0.36);
            let text = number(cell.value, divisor);
            pen.text(at, Anchor::Middle, SMALL, theme.soft(), &text);
            continue;
        };
        let (colour, light) = Theme::on_map(share);
        pen.row(Some(row));
        pen.rect([x + 0.5, y + 0.5, column - 1.0, line - 1.0], &colour);
        pen.row(None);
        let ink = if light { "#ffffff" } else { "#111111" };
        // A hollow mark in the corner, where there is room for one.
        if doubtful && column.min(line) > 9.0 {
            let paint = Paint { stroke: ink, fill: "none" };
            pen.mark(0, (x + column - 6.5, y + 6.5), 2.4, &paint);
        }
        let text = number(cell.value, divisor);
        if width(&text, SMALL) + 6.0 <= column && column >= NUMBER && line >= SMALL + 3.0 {
            let at = (x + column / 2.0, y + line / 2.0 + SMALL * 0.36);
            pen.text(at, Anchor::Middle, SMALL, ink, &text);
        }
    }
    let end = names_of(pen, heat, (&area, wide), column, line);
    bar(pen, heat, (&area, wide), &scale, unit).max(end)
}

/// What columns and lines are; gives the y below them.
fn names_of(pen: &mut Pen, heat: &Heat, (area, wide): (&Area, f64), column: f64, line: f64) -> f64 {
    let theme = pen.theme;
    let widest = heat.x.iter().map(|n| width(n, SMALL)).fold(0.0, f64::max);
    let each = ((widest + 6.0) / column).ceil().max(1.0) as usize;
    for (k, name) in heat.x.iter().enumerate().step_by(each) {
        let at = (area.left + column * (k as f64 + 0.5), area.bottom + 15.0);
        pen.text(at, Anchor::Middle, SMALL, theme.soft(), name);
    }
    let each = ((SMALL + 2.0) / line).ceil().max(1.0) as usize;
    for (k, name) in heat.y.iter().enumerate().step_by(each) {
        let at = (area.left - 7.0, area.top + line * (k as f64 + 0.5) + SMALL * 0.36);
        pen.text(at, Anchor::End, SMALL, theme.soft(), name);
    }
    label_left(pen, area, &heat.y_label);
    label_below(pen, (area, wide), &heat.x_label)
}

/// The colours with their numbers, at the right; gives the y below them.
fn bar(pen: &mut Pen, heat: &Heat, (area, wide): (&Area, f64), scale: &Scale, unit: &str) -> f64 {
    let theme = pen.theme;
    const STEPS: usize = 40;
    let (x, top) = (area.right + 18.0, area.top);
    let bottom = area.bottom.max(area.top + 60.0);
    let step = (bottom - top) / STEPS as f64;
    for k in 0..STEPS {
        let (colour, _) = Theme::on_map(1.0 - (k as f64 + 0.5) / STEPS as f64);
        pen.rect([x, top + step * k as f64, 12.0, step + 0.3], &colour);
    }
    let most = ((bottom - top) / 24.0) as usize;
    for tick in scale.ticks(most.clamp(2, 8)) {
        let Some(share) = scale.share(tick.value) else {
            continue;
        };
        let at = (x + 17.0, bottom - share * (bottom - top) + SMALL * 0.36);
        pen.text(at, Anchor::Start, SMALL, theme.soft(), &tick.label);
    }
    let text = match unit {
        "" => heat.value.label.clone(),
        unit => format!("{}, {unit}", heat.value.label),
    };
    let mut y = bottom + 4.0;
    for line in wrap(&text, SMALL, wide - MARGIN - x) {
        y += SMALL;
        pen.text((x, y), Anchor::Start, SMALL, theme.ink(), &line);
        y += 2.0;
    }
    y + 9.0
}

/// A number of a cell, in the unit of all.
fn number(value: f64, scale: f64) -> String {
    let value = value / scale;
    format!("{value:.*}", decimals(value, 0.0))
}

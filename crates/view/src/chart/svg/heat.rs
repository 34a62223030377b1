//! Maps of colours.

use super::frame::{Area, MARGIN, Room, SMALL, label_below, label_left};
use super::pen::{Anchor, Paint, Pen, width, wrap};
use super::theme::Theme;
use crate::axis::Scale;
use crate::chart::{Heat, scale_of};
use model::figure::decimals;

/// Height of a line where nothing else was asked for.
const LINE: f64 = 30.0;
/// Cells that are smaller have less between them.
const SMALL_CELL: f64 = 14.0;
/// The narrowest cell with a number.
const NUMBER: f64 = 30.0;

/// Draws below `top`; gives the y of the lower end.
pub(super) fn draw_heat(pen: &mut Pen, heat: &Heat, Room { wide, top, high }: Room) -> f64 {
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
    for (row, one) in heat.cells.iter().enumerate() {
        let at = [area.left + column * one.x as f64, area.top + line * one.y as f64, column, line];
        pen.mark_row(Some(row));
        cell(
            pen,
            at,
            scale.share(one.value),
            &scaled_number(one.value, divisor),
            one.is_doubtful(),
        );
        pen.mark_row(None);
    }
    let end = names_of(pen, heat, (&area, wide), column, line);
    colour_scale(pen, &colour_label(heat, unit), (&area, wide), &scale).max(end)
}

/// A cell with its number where there is room for it; without a share of the scale the number alone.
pub(super) fn cell(
    pen: &mut Pen,
    [x, y, column, line]: [f64; 4],
    share: Option<f64>,
    text: &str,
    doubtful: bool,
) {
    let middle = (x + column / 2.0, y + line / 2.0 + SMALL * 0.36);
    let Some(share) = share else {
        return pen.unmarked(|pen| pen.text(middle, Anchor::Middle, SMALL, pen.theme.soft(), text));
    };
    let (colour, light) = Theme::on_map(share);
    let gap = if column.min(line) < SMALL_CELL { 0.2 } else { 0.5 };
    pen.rect([x + gap, y + gap, column - 2.0 * gap, line - 2.0 * gap], &colour);
    let ink = if light { "#ffffff" } else { "#111111" };
    pen.unmarked(|pen| {
        // A hollow mark in the corner, where there is room for one.
        if doubtful && column.min(line) > 9.0 {
            let paint = Paint { stroke: ink, fill: "none" };
            pen.mark(0, (x + column - 6.5, y + 6.5), 2.4, &paint);
        }
        if width(text, SMALL) + 6.0 <= column && column >= NUMBER && line >= SMALL + 3.0 {
            pen.text(middle, Anchor::Middle, SMALL, ink, text);
        }
    });
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

/// The lower end of the scale of colours, and its height.
pub(super) fn scale_ends(area: &Area) -> (f64, f64) {
    let bottom = area.bottom.max(area.top + 60.0);
    (bottom, bottom - area.top)
}

/// The colours with their numbers, at the right; gives the y below them.
pub(super) fn colour_scale(
    pen: &mut Pen,
    label: &str,
    (area, wide): (&Area, f64),
    scale: &Scale,
) -> f64 {
    let theme = pen.theme;
    const STEPS: usize = 40;
    let (x, top) = (area.right + 18.0, area.top);
    let (bottom, _) = scale_ends(area);
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
    let mut y = bottom + 4.0;
    for line in wrap(label, SMALL, wide - MARGIN - x) {
        y += SMALL;
        pen.text((x, y), Anchor::Start, SMALL, theme.ink(), &line);
        y += 2.0;
    }
    y + 9.0
}

/// What the colours are, with their unit.
pub(super) fn colour_label(heat: &Heat, unit: &str) -> String {
    match unit {
        "" => heat.value.label.clone(),
        unit => format!("{}, {unit}", heat.value.label),
    }
}

/// A number of a cell, in the unit of all.
pub(super) fn scaled_number(value: f64, scale: f64) -> String {
    let value = value / scale;
    format!("{value:.*}", decimals(value, 0.0))
}

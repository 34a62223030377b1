//! Lines below each other, each named on its left, over one axis that begins at 0.

use super::frame::{Area, MARGIN, Room, SMALL, across, below, scale_below};
use super::pen::{Anchor, Pen, shorten, width};
use crate::axis::Scale;
use crate::chart::Axis;

/// Names that are longer are cut.
const NAMES: f64 = 0.25;

/// Where the lines are.
pub(super) struct PlacedRows {
    /// Where what lies on the axis is drawn.
    pub(super) x: Scale,
    /// How much higher than needed all lines are, as the picture is to be higher.
    pub(super) stretch: f64,
    /// The y of the lower end, with the axis.
    pub(super) end: f64,
    /// The x at which the lines begin.
    pub(super) left: f64,
}

impl PlacedRows {
    /// Draws the axis: lines of these names, `needed` pixels high together, from 0 to `length`.
    pub(super) fn draw_axis<'n>(
        pen: &mut Pen,
        room: Room,
        names: impl Iterator<Item = &'n str>,
        needed: f64,
        (axis, length): (&Axis, f64),
    ) -> PlacedRows {
        let names = names.map(|name| width(name, SMALL));
        let left = MARGIN + names.fold(0.0, f64::max).min(room.wide * NAMES) + 8.0;
        let axis = Axis { log: false, ..axis.clone() };
        let ends = [0.0, length.max(1.0)];
        let x = scale_below(
            |range| Scale::between(&axis, &ends, range),
            (left, room.wide - MARGIN),
            room.wide,
        );
        let wanted = room.high.map_or(needed, |high| high - 46.0);
        let stretch = (wanted / needed.max(1.0)).max(1.0);
        let area =
            Area { left, right: x.end(), top: room.top, bottom: room.top + needed * stretch };
        let ticks = across(&x);
        let end = below(pen, (&area, room.wide), &x, &ticks, &axis.label);
        PlacedRows { x, stretch, end, left }
    }

    /// The name of the line between `y` and `high` below it.
    pub(super) fn draw_name(&self, pen: &mut Pen, name: &str, y: f64, high: f64) {
        let name = shorten(name, SMALL, self.left - MARGIN - 7.0);
        let at = (self.left - 7.0, y + high / 2.0 + SMALL * 0.36);
        pen.text(at, Anchor::End, SMALL, pen.theme.ink(), &name);
    }
}

//! What a picture is drawn by.

use super::curves::Curves;
use super::memory::map::Map;
use super::source::{ChartSource, Drawn};

pub(super) enum Maker {
    Curves(&'static Curves),
    /// A row with a figure for each pair.
    Map(&'static Map),
    /// A function of its own, with the picture's id.
    Own(&'static str, fn(&ChartSource) -> Drawn),
}

impl Maker {
    pub(super) fn id(&self) -> &'static str {
        match self {
            Maker::Curves(curves) => curves.id,
            Maker::Map(map) => map.id,
            Maker::Own(id, _) => id,
        }
    }

    /// The picture, or why there is none.
    pub(super) fn draw(&self, source: &ChartSource) -> Drawn {
        match self {
            Maker::Curves(curves) => curves.draw(source),
            Maker::Map(map) => map.draw(source),
            Maker::Own(_, draw) => draw(source),
        }
    }
}

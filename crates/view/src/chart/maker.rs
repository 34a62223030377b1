//! What a picture is drawn by.

use super::curves::Curves;
use super::memory::map::Map;
use super::source::{Drawn, Source};

/// What draws a picture.
pub(super) enum Maker {
    /// Rows that are curves.
    Curves(&'static Curves),
    /// A row with a figure for each pair.
    Map(&'static Map),
    /// A function of its own, with the picture's id.
    Own(&'static str, fn(&Source) -> Drawn),
}

impl Maker {
    /// The picture's id.
    pub(super) fn id(&self) -> &'static str {
        match self {
            Maker::Curves(curves) => curves.id,
            Maker::Map(map) => map.id,
            Maker::Own(id, _) => id,
        }
    }

    /// The picture, or why there is none.
    pub(super) fn draw(&self, source: &Source) -> Drawn {
        match self {
            Maker::Curves(curves) => curves.draw(source),
            Maker::Map(map) => map.draw(source),
            Maker::Own(_, draw) => draw(source),
        }
    }
}

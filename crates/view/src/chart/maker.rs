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

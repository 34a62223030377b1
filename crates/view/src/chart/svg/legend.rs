//! What a legend says of a series.

/// How an entry of the legend looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sample {
    /// A line with marks.
    Line(&'static str),
    Mark,
    /// A mark that is not filled.
    Hollow,
    Box,
    /// A box of two rails.
    Rails,
    /// A pale box with a line across.
    Shade,
    /// A box whose lower half has this colour.
    Halves(&'static str),
}

#[derive(Clone)]
pub(super) struct LegendEntry {
    pub(super) name: String,
    pub(super) colour: &'static str,
    pub(super) shape: usize,
    pub(super) sample: Sample,
}

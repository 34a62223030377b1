//! What a legend says of a series.

/// How an entry of the legend looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sample {
    /// A line with marks.
    Line(&'static str),
    Mark,
    Box,
}

#[derive(Clone)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) colour: &'static str,
    pub(super) shape: usize,
    pub(super) sample: Sample,
}

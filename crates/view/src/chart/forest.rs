//! Changes as a forest plot: ratios with their intervals, the ones with a difference first, each kind by its size.
//! The picture as data has all of them; a drawing has the first ones, and counts the rest.

use super::{Body, Chart, Dot, Dots};
use crate::axis::{Scale, span};
use crate::grouped::grouped;
use crate::render::figures::digits;
use model::compare::finding::Verdict;
use model::phrases::{counted, several};

/// Lines of a drawing.
pub(crate) const MOST: usize = 40;
/// Lines without a ratio that are named.
const NAMED: usize = 3;
/// The order of what may be said, and of the legend.
pub(crate) const ORDER: [Verdict; 3] =
    [Verdict::Different, Verdict::CannotTell, Verdict::SameWithinNoise];
/// By what factor the axis goes beyond the figures for the sake of intervals: one that says nothing must not
/// squeeze the others.
const REACH: f64 = 1.5;

/// Whether a picture is one.
pub(crate) fn is_forest(chart: &Chart) -> bool {
    matches!(&chart.body, Body::Dots(dots) if dots.is_of_change())
}

/// The order of a forest plot: what differs, what can't be told, what is the same, each by the size of the change;
/// then what has no ratio.
pub(crate) fn by_change(mut rows: Vec<Dot>) -> Vec<Dot> {
    let place = |dot: &Dot| {
        let kind = ORDER.iter().position(|kind| dot.finding == Some(*kind)).unwrap_or(ORDER.len());
        (size(dot).is_none(), kind)
    };
    let size = |dot: &Dot| size(dot).unwrap_or_default();
    rows.sort_by(|a, b| place(a).cmp(&place(b)).then(size(b).total_cmp(&size(a))));
    rows
}

/// How far from 1 on a logarithmic axis; nothing of what has no place there.
fn size(dot: &Dot) -> Option<f64> {
    dot.value.map(|value| value.ln().abs()).filter(|size| size.is_finite())
}

/// The lines that are drawn, with their places.
pub(crate) fn drawn(dots: &Dots) -> impl Iterator<Item = (usize, &Dot)> {
    dots.rows.iter().enumerate().filter(|(_, dot)| size(dot).is_some()).take(MOST)
}

/// What is said of the lines that are drawn, in the order of the legend.
pub(crate) fn findings(dots: &Dots) -> Vec<Verdict> {
    let is_drawn = |kind: &Verdict| drawn(dots).any(|(_, dot)| dot.finding == Some(*kind));
    ORDER.into_iter().filter(is_drawn).collect()
}

/// What a drawing leaves out, counted; nothing of other pictures.
pub(crate) fn not_drawn(dots: &Dots) -> Vec<String> {
    if !dots.is_of_change() {
        return Vec::new();
    }
    let (with, without): (Vec<&Dot>, Vec<&Dot>) =
        dots.rows.iter().partition(|dot| size(dot).is_some());
    let more = with.get(MOST..).unwrap_or_default();
    let kinds = grouped(more.iter().filter_map(|dot| Some((dot.finding?.printed(), ()))));
    let kinds = kinds.iter().map(|(kind, found)| format!("{} {kind}", found.len()));
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    let names: Vec<&str> = without.iter().map(|dot| dot.id.as_str()).collect();
    let more = (!more.is_empty()).then(|| format!("{} more rows: {kinds}.", more.len()));
    let without = (!names.is_empty()).then(|| {
        let verb = if names.len() == 1 { "has" } else { "have" };
        format!("{} {verb} no ratio: {}.", counted(names.len(), "row"), several(&names, NAMED))
    });
    more.into_iter().chain(without).collect()
}

/// The axis: 1, the figures that are drawn, and the ends of intervals that are not far from them.
pub(crate) fn scale(dots: &Dots, range: (f64, f64)) -> Scale {
    let figures = || drawn(dots).filter_map(|(_, dot)| dot.value).chain([1.0]);
    let sure = drawn(dots).filter(|(_, dot)| dot.finding != Some(Verdict::CannotTell));
    let sure = sure.flat_map(|(_, dot)| [dot.low, dot.high]).flatten().filter(|end| *end > 0.0);
    let placed: Vec<f64> = figures().chain(sure).collect();
    let near = span(placed.iter().copied()).map(|(low, high)| low / REACH..=high * REACH);
    let ends = drawn(dots).flat_map(|(_, dot)| [dot.low, dot.high]).flatten();
    let ends = ends.filter(|end| near.as_ref().is_some_and(|near| near.contains(end)));
    let shown: Vec<f64> = placed.iter().copied().chain(ends).collect();
    Scale::over(&dots.value, shown.into_iter(), range)
}

/// `1.63 [1.60, 1.66]`, as the table of a comparison writes it.
pub(crate) fn figure(dot: &Dot) -> String {
    let interval = dot.low.zip(dot.high);
    let half = interval.map_or(0.0, |(low, high)| (high - low) / 2.0);
    let text = |value| digits(value, half);
    let interval = interval.map(|(low, high)| format!(" [{}, {}]", text(low), text(high)));
    dot.value.map(text).unwrap_or_default() + &interval.unwrap_or_default()
}

#[cfg(test)]
mod tests;

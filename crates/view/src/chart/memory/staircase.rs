//! The staircase of latency for a small place: one curve, its levels, and the
//! published levels of phones.

use super::super::source::Picture;
use super::super::{Body, Chart, Line};
use super::phones::is_phone;
use model::story::levels::LATENCY;

/// The picture, from the large one; nothing where that is not drawn.
pub(crate) fn staircase(pictures: &[Picture]) -> Option<Chart> {
    let large = pictures.iter().find(|picture| picture.chart.id == LATENCY)?;
    let mut chart = large.chart.clone();
    let Body::Lines(lines) = &mut chart.body else {
        return None;
    };
    lines.series.first_mut()?.name = "this machine".into();
    let mut place = 0..;
    let stays = |line: &Line| place.next() == Some(0) || is_phone(line);
    lines.series.retain(stays);
    lines.marks.clear();
    chart.notes.clear();
    chart.title = "Memory, by how much is touched".into();
    chart.caption = match lines.series.len() {
        1 => "A load that waits for the one before.".into(),
        _ => "A load that waits for the one before. Phones: published levels, another page on \
              every load."
            .into(),
    };
    Some(chart)
}

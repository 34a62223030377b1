//! Pictures in a page: the body alone, in the page's colours. Heading, legend,
//! notes and the table of figures are HTML there; marks name their row of that
//! table, which is what a pointer over them shows.

use super::frame::{MARGIN, Room, sample};
use super::legend::Entry;
use super::pen::Pen;
use super::{Body, Chart, body};

/// Cut off at both sides, where a document of its own has its margin.
const CUT: f64 = MARGIN - 12.0;

/// Height of curves that are not as wide as a page.
const LINES: f64 = 360.0;

/// A picture for a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inline {
    /// The element.
    pub svg: String,
    /// Names of what the picture's script can hide, each with a sample of how
    /// it is drawn, as SVG. The element's parts have their place as `data-s`.
    pub legend: Vec<(String, String)>,
}

/// Draws a picture so wide for a page in which no other has this id.
pub fn inline(chart: &Chart, width: u32, id: &str) -> Inline {
    let lines = matches!(chart.body, Body::Lines(_));
    let high = (lines && width < 800).then_some(LINES);
    drawn(chart, (width, high), id)
}

/// The same, as high as asked.
pub(crate) fn inline_of_height(chart: &Chart, (width, high): (u32, f64), id: &str) -> Inline {
    drawn(chart, (width, Some(high)), id)
}

fn drawn(chart: &Chart, (width, high): (u32, Option<f64>), id: &str) -> Inline {
    let mut pen = Pen::inline(id);
    let wide = f64::from(width);
    let room = Room {
        wide,
        top: 0.0,
        high,
    };
    let bottom = body(&mut pen, chart, room);
    let legend = std::mem::take(&mut pen.legend);
    Inline {
        svg: pen.element((wide, bottom), CUT, chart),
        legend: legend
            .into_iter()
            .map(|entry| (entry.name.clone(), sample_of(&entry)))
            .collect(),
    }
}

fn sample_of(entry: &Entry) -> String {
    let mut pen = Pen::default();
    sample(&mut pen, entry, (0.0, 7.0));
    let body = pen.body();
    format!(r#"<svg viewBox="0 0 22 14" width="22" height="14" aria-hidden="true">{body}</svg>"#)
}

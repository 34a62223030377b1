//! A picture as a file, by the file's ending.

use crate::ending::Ending;
use view::chart::svg::{Look, Unit, draw_as};
use view::chart::{Chart, pdf, png};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paint {
    Svg,
    Png,
    Pdf,
}

impl Paint {
    /// How a file of this ending is painted; `None` if it holds no picture.
    pub(super) fn for_ending(ending: Ending) -> Option<Paint> {
        match ending {
            Ending::Svg => Some(Paint::Svg),
            Ending::Png => Some(Paint::Png),
            Ending::Pdf => Some(Paint::Pdf),
            _ => None,
        }
    }
}

/// For screens of two pixels a point.
const DPI: f64 = 192.0;

/// The picture as bytes of a file.
pub(super) fn painted(chart: &Chart, paint: Paint) -> anyhow::Result<Vec<u8>> {
    let svg = draw_as(chart, &Look::default());
    Ok(match paint {
        Paint::Svg => svg.into_bytes(),
        Paint::Png => png(&svg, Unit::Pixel, DPI)?,
        Paint::Pdf => pdf(&svg, Unit::Pixel)?,
    })
}

//! PNG (`png.rs`) and PDF (`pdf.rs`) from the SVG that `chart/svg` draws: `elements.rs` reads its elements,
//! `font.rs` holds the font. Needs the feature `png`; without it both functions return an error.

#[cfg(feature = "png")]
mod elements;
#[cfg(feature = "png")]
mod font;
#[cfg(feature = "png")]
mod pdf;
#[cfg(feature = "png")]
mod png;

use super::svg::Unit;

/// Why there is no image.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PaintError {
    /// Not an SVG of ours: a bug.
    #[error("the picture is not a valid SVG: {0} (a bug in latlas)")]
    Svg(String),
    #[error(
        "an image of {width} x {height} pixels can't be drawn: give a smaller --width, --height, --scale or --dpi"
    )]
    Size { width: u32, height: u32 },
    #[error("this build of latlas can't write PNG or PDF (feature `png` is off): use --format svg")]
    NotBuilt,
    #[error("the image can't be written: {0}")]
    Encode(String),
}

/// An SVG of ours as the bytes of a PNG of that many pixels an inch.
///
/// # Errors
/// If the image is too large or empty, or this build can't write PNG.
pub fn png(svg: &str, unit: Unit, dpi: f64) -> Result<Vec<u8>, PaintError> {
    #[cfg(feature = "png")]
    return png::png(svg, dpi * unit.pt() / 72.0, dpi);
    #[cfg(not(feature = "png"))]
    {
        let _ = (svg, unit, dpi);
        Err(PaintError::NotBuilt)
    }
}

/// An SVG of ours as the bytes of a PDF of one page, of the picture's size, with
/// its font.
///
/// # Errors
/// If this build can't write PDF.
pub fn pdf(svg: &str, unit: Unit) -> Result<Vec<u8>, PaintError> {
    #[cfg(feature = "png")]
    return pdf::pdf(svg, unit.pt() as f32);
    #[cfg(not(feature = "png"))]
    {
        let _ = (svg, unit);
        Err(PaintError::NotBuilt)
    }
}

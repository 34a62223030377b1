//! Pictures as PNG.

#[cfg(feature = "png")]
mod paint;

/// Why there is no image.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PngError {
    /// Not an SVG of ours: a bug.
    #[error("the picture is not a valid SVG: {0} (a bug in latlas)")]
    Svg(String),
    /// Too large, or empty.
    #[error(
        "an image of {width} x {height} pixels can't be drawn: give a smaller --width, --height or --scale"
    )]
    Size {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// The feature is off.
    #[error("this build of latlas can't write PNG (feature `png` is off): use --format svg")]
    NotBuilt,
    /// The encoder failed.
    #[error("the image can't be written as PNG: {0}")]
    Encode(String),
}

/// An SVG of ours as the bytes of a PNG; `scale` is pixels for a px of the SVG.
///
/// # Errors
/// If the image is too large or empty, or this build can't write PNG.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    #[cfg(feature = "png")]
    return paint::png(svg, scale);
    #[cfg(not(feature = "png"))]
    {
        let _ = (svg, scale);
        Err(PngError::NotBuilt)
    }
}

//! Pictures as PNG: the SVG, drawn with a font that the program carries, so
//! that every machine draws the same.

use resvg::{tiny_skia, usvg};
use std::sync::Arc;

/// Most pixels of an image: a slip of the fingers must not take all memory.
const MOST_PIXELS: f64 = 100e6;

/// Why there is no image.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PngError {
    /// The SVG is none: not possible for one of ours.
    #[error("the picture is not a valid SVG: {0}")]
    Svg(String),
    /// It would be too large, or nothing.
    #[error(
        "an image of {width} x {height} pixels can't be drawn: give a smaller --width, --height or --scale"
    )]
    Size {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// The encoder failed.
    #[error("the image can't be written as PNG: {0}")]
    Encode(String),
}

/// An SVG as the bytes of a PNG, so many pixels a px of the SVG.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_source(usvg::fontdb::Source::Binary(Arc::new(
        dejavu::sans::regular(),
    )));
    let options = usvg::Options {
        fontdb: Arc::new(fonts),
        font_family: "DejaVu Sans".into(),
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|e| PngError::Svg(e.to_string()))?;
    let size = tree.size();
    let pixels = |px: f32| (px * scale).ceil() as u32;
    let (width, height) = (pixels(size.width()), pixels(size.height()));
    let too_large = f64::from(width) * f64::from(height) > MOST_PIXELS;
    // Before any of it is asked for: too much memory would end the program.
    let image = (!too_large).then(|| tiny_skia::Pixmap::new(width, height));
    let mut image = image.flatten().ok_or(PngError::Size { width, height })?;
    let transform = tiny_skia::Transform::from_scale(scale, scale);
    resvg::render(&tree, transform, &mut image.as_mut());
    image
        .encode_png()
        .map_err(|e| PngError::Encode(e.to_string()))
}

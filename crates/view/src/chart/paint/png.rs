//! A drawing in pixels.

use super::PaintError;
use super::elements::{Drawing, DrawnText, Ink, Style, Surface};
use super::font;
use png::{BitDepth, ColorType, Encoder, PixelDimensions, Unit};
use tiny_skia::{FillRule, Mask, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform};
use ttf_parser::{Face, OutlineBuilder};

/// Largest image: a slip in an option must not take all memory.
const MAX_PIXELS: f64 = 100e6;
const INCHES_PER_METRE: f64 = 1.0 / 0.0254;

/// An SVG as the bytes of a PNG; `scale` is pixels for a unit of the SVG.
pub(super) fn png(svg: &str, scale: f64, dpi: f64) -> Result<Vec<u8>, PaintError> {
    let drawing = Drawing::from_svg(svg)?;
    let [left, top, width, height] = drawing.seen()?;
    // Numbers have a tenth of a unit at most: what is beyond is rounding.
    let pixels = |units: f32| (f64::from(units) * scale - 1e-3).ceil() as u32;
    let (width, height) = (pixels(width), pixels(height));
    let too_large = f64::from(width) * f64::from(height) > MAX_PIXELS;
    // Before it is allocated: too much memory would end the program.
    let image = (!too_large).then(|| Pixmap::new(width, height)).flatten();
    let scale = scale as f32;
    let mut painter = Painter {
        image: image.ok_or(PaintError::Size { width, height })?,
        font: font::face()?,
        transform: Transform::from_scale(scale, scale).pre_translate(-left, -top),
        clip: None,
    };
    drawing.paint(&mut painter)?;
    encoded(&painter.image, dpi).map_err(|e| PaintError::Encode(e.to_string()))
}

/// The file, which says how large a pixel is.
fn encoded(image: &Pixmap, dpi: f64) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, image.width(), image.height());
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    let per_metre = (dpi * INCHES_PER_METRE).round() as u32;
    encoder.set_pixel_dims(Some(PixelDimensions {
        xppu: per_metre,
        yppu: per_metre,
        unit: Unit::Meter,
    }));
    let pixels = image.pixels().iter().map(|pixel| pixel.demultiply());
    let pixels: Vec<u8> = pixels.flat_map(|c| [c.red(), c.green(), c.blue(), c.alpha()]).collect();
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(bytes)
}

struct Painter {
    image: Pixmap,
    font: Face<'static>,
    transform: Transform,
    clip: Option<Mask>,
}

fn paint(ink: &Ink) -> Paint<'static> {
    let [r, g, b] = ink.rgb;
    let mut paint = Paint::default();
    paint.set_color_rgba8(r, g, b, (ink.opacity * 255.0).round() as u8);
    paint
}

impl Surface for Painter {
    fn shape(&mut self, path: &Path, style: &Style) {
        let (transform, clip) = (self.transform, self.clip.as_ref());
        if let Some(fill) = &style.fill {
            let rule = FillRule::Winding;
            self.image.fill_path(path, &paint(fill), rule, transform, clip);
        }
        if let Some(ink) = &style.stroke {
            let stroke = Stroke {
                width: style.stroke_width,
                dash: StrokeDash::new(style.dashes.clone(), 0.0),
                ..Stroke::default()
            };
            self.image.stroke_path(path, &paint(ink), &stroke, transform, clip);
        }
    }

    /// The outlines of its letters.
    fn draw_text(&mut self, text: &DrawnText) {
        let size = text.size / f32::from(self.font.units_per_em());
        let mut builder = PathBuilder::new();
        let mut x = 0.0;
        for (_, glyph) in font::glyphs(&self.font, text.words) {
            let mut outline = Outline { builder: &mut builder, x };
            self.font.outline_glyph(glyph, &mut outline);
            x += font::advance(&self.font, glyph);
        }
        let place = Transform::from_translate(text.at.0, text.at.1);
        let place = if text.upright { place.pre_rotate(-90.0) } else { place };
        // A font's y rises.
        let place = place.pre_scale(size, -size);
        let place = place.pre_translate(-x * text.before, 0.0);
        let path = builder.finish().and_then(|path| path.transform(place));
        if let (Some(path), Some(fill)) = (path, &text.fill) {
            let clip = self.clip.as_ref();
            let rule = FillRule::Winding;
            self.image.fill_path(&path, &paint(fill), rule, self.transform, clip);
        }
    }

    fn begin_clip(&mut self, path: &Path) {
        self.clip = Mask::new(self.image.width(), self.image.height());
        if let Some(mask) = &mut self.clip {
            mask.fill_path(path, FillRule::Winding, true, self.transform);
        }
    }

    fn end_clip(&mut self) {
        self.clip = None;
    }
}

/// A letter at its place in the line, in units of the font.
struct Outline<'b> {
    builder: &'b mut PathBuilder,
    x: f32,
}

impl OutlineBuilder for Outline<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.builder.move_to(self.x + x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.builder.line_to(self.x + x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.builder.quad_to(self.x + x1, y1, self.x + x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let left = self.x;
        self.builder.cubic_to(left + x1, y1, left + x2, y2, left + x, y);
    }

    fn close(&mut self) {
        self.builder.close();
    }
}

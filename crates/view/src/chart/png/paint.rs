//! The elements that [`crate::chart::svg`] writes, painted with a font that the
//! program carries, so that every machine paints the same.

use super::PngError;
use roxmltree::{Document, Node};
use tiny_skia::{
    FillRule, Mask, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform,
};
use ttf_parser::{Face, OutlineBuilder};

/// Largest image: a slip in an option must not take all memory.
const MAX_PIXELS: f64 = 100e6;

/// An SVG as the bytes of a PNG; `scale` is pixels for a px of the SVG.
pub(super) fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let document = Document::parse(svg).map_err(|e| PngError::Svg(e.to_string()))?;
    let root = document.root_element();
    let pixels = |name| (number(&root, name) * scale).ceil() as u32;
    let (width, height) = (pixels("width"), pixels("height"));
    let too_large = f64::from(width) * f64::from(height) > MAX_PIXELS;
    // Before it is allocated: too much memory would end the program.
    let image = (!too_large).then(|| Pixmap::new(width, height)).flatten();
    let font = Face::parse(dejavu::sans::regular(), 0);
    let mut painter = Painter {
        image: image.ok_or(PngError::Size { width, height })?,
        font: font.map_err(|e| PngError::Svg(e.to_string()))?,
        transform: Transform::from_scale(scale, scale),
    };
    painter.children(&root, None)?;
    let encoded = painter.image.encode_png();
    encoded.map_err(|e| PngError::Encode(e.to_string()))
}

struct Painter {
    image: Pixmap,
    font: Face<'static>,
    transform: Transform,
}

impl Painter {
    fn children(&mut self, parent: &Node, clip: Option<&Mask>) -> Result<(), PngError> {
        for node in parent.children().filter(Node::is_element) {
            let path = match node.tag_name().name() {
                "title" | "desc" | "clipPath" => None,
                "g" => {
                    let own = self.clip_of(&node);
                    self.children(&node, own.as_ref().or(clip))?;
                    None
                }
                "text" => self.text(&node),
                _ => path_of(&node)?,
            };
            if let Some(path) = path {
                self.paint(&node, &path, clip);
            }
        }
        Ok(())
    }

    /// What `clip-path="url(#id)"` lets through: a rectangle.
    fn clip_of(&self, node: &Node) -> Option<Mask> {
        let id = node.attribute("clip-path")?;
        let id = id.strip_prefix("url(#")?.strip_suffix(')')?;
        // Ids repeat where a document has several plots: the last one before it.
        let mut before = node.prev_siblings();
        let clip = before.find(|node| node.attribute("id") == Some(id))?;
        let path = path_of(&clip.first_element_child()?).ok()??;
        let mut mask = Mask::new(self.image.width(), self.image.height())?;
        mask.fill_path(&path, FillRule::Winding, true, self.transform);
        Some(mask)
    }

    fn paint(&mut self, node: &Node, path: &Path, clip: Option<&Mask>) {
        let transform = self.transform;
        let paint = |colour: &str, opacity: &str| {
            let [r, g, b] = colour_of(node.attribute(colour)?)?;
            let opacity = node.attribute(opacity).and_then(|o| o.parse().ok());
            let mut paint = Paint::default();
            paint.set_color_rgba8(r, g, b, (opacity.unwrap_or(1.0_f32) * 255.0).round() as u8);
            Some(paint)
        };
        let image = &mut self.image;
        if let Some(paint) = paint("fill", "fill-opacity") {
            image.fill_path(path, &paint, FillRule::Winding, transform, clip);
        }
        if let Some(paint) = paint("stroke", "stroke-opacity") {
            let dashes = node.attribute("stroke-dasharray").unwrap_or("");
            let stroke = Stroke {
                width: node
                    .attribute("stroke-width")
                    .map_or(1.0, |_| number(node, "stroke-width")),
                dash: StrokeDash::new(numbers(dashes).collect(), 0.0),
                ..Stroke::default()
            };
            image.stroke_path(path, &paint, &stroke, transform, clip);
        }
    }

    /// The outlines of a text's letters. Upright ones have a `transform`.
    fn text(&self, node: &Node) -> Option<Path> {
        let size = number(node, "font-size") / f32::from(self.font.units_per_em());
        let mut builder = PathBuilder::new();
        let mut x = 0.0;
        for letter in node.text()?.chars() {
            let glyph = self.font.glyph_index(letter).unwrap_or_default();
            self.font.outline_glyph(
                glyph,
                &mut Outline {
                    builder: &mut builder,
                    x,
                },
            );
            x += f32::from(self.font.glyph_hor_advance(glyph).unwrap_or(0));
        }
        let start = match node.attribute("text-anchor") {
            Some("middle") => -x / 2.0,
            Some("end") => -x,
            _ => 0.0,
        };
        let place = match node.attribute("transform") {
            // `translate(x y) rotate(-90)`
            Some(moved) => {
                let mut at = numbers(moved.strip_prefix("translate(")?.split_once(')')?.0);
                Transform::from_translate(at.next()?, at.next()?).pre_rotate(-90.0)
            }
            None => Transform::from_translate(number(node, "x"), number(node, "y")),
        };
        // A font's y rises.
        let place = place.pre_scale(size, -size).pre_translate(start, 0.0);
        builder.finish()?.transform(place)
    }
}

/// The outline of an element; none if it is empty.
fn path_of(node: &Node) -> Result<Option<Path>, PngError> {
    let n = |name| number(node, name);
    let mut builder = PathBuilder::new();
    let mut corners = |text: &str| {
        let all: Vec<f32> = numbers(text).collect();
        for (at, corner) in all.chunks_exact(2).enumerate() {
            match at {
                0 => builder.move_to(corner[0], corner[1]),
                _ => builder.line_to(corner[0], corner[1]),
            }
        }
    };
    match node.tag_name().name() {
        "rect" => {
            let rect = Rect::from_xywh(n("x"), n("y"), n("width"), n("height"));
            return Ok(rect.map(PathBuilder::from_rect));
        }
        "circle" => return Ok(PathBuilder::from_circle(n("cx"), n("cy"), n("r"))),
        "line" => corners(&format!("{} {} {} {}", n("x1"), n("y1"), n("x2"), n("y2"))),
        "polyline" => corners(node.attribute("points").unwrap_or("")),
        // `Mx yLx yZ`
        "path" => {
            corners(node.attribute("d").unwrap_or(""));
            builder.close();
        }
        other => return Err(PngError::Svg(format!("unknown element {other}"))),
    }
    Ok(builder.finish())
}

fn number(node: &Node, name: &str) -> f32 {
    let text = node.attribute(name).unwrap_or("0");
    text.parse().unwrap_or(0.0)
}

/// All numbers in a text.
fn numbers(text: &str) -> impl Iterator<Item = f32> {
    let digit = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    let words = text.split(move |c| !digit(c));
    words.filter_map(|word| word.parse().ok())
}

/// `#rrggbb`; none for `none`.
fn colour_of(text: &str) -> Option<[u8; 3]> {
    let digits = u32::from_str_radix(text.strip_prefix('#')?, 16).ok()?;
    let [_, r, g, b] = digits.to_be_bytes();
    Some([r, g, b])
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
        self.builder
            .cubic_to(left + x1, y1, left + x2, y2, left + x, y);
    }

    fn close(&mut self) {
        self.builder.close();
    }
}

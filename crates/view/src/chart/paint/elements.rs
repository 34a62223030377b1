//! The elements that [`crate::chart::svg`] writes, read for what paints them.

use super::PaintError;
use roxmltree::{Document, Node};
use tiny_skia::{Path, PathBuilder, Rect};

/// What shapes and texts are painted on.
pub(super) trait Surface {
    fn shape(&mut self, path: &Path, style: &Style);
    fn draw_text(&mut self, text: &DrawnText);
    /// What follows is cut off at the edges of a shape, up to [`Surface::end_clip`].
    fn begin_clip(&mut self, path: &Path);
    fn end_clip(&mut self);
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ink {
    pub(super) rgb: [u8; 3],
    pub(super) opacity: f32,
}

pub(super) struct Style {
    pub(super) fill: Option<Ink>,
    pub(super) stroke: Option<Ink>,
    pub(super) stroke_width: f32,
    pub(super) dashes: Vec<f32>,
}

pub(super) struct DrawnText<'d> {
    pub(super) words: &'d str,
    pub(super) size: f32,
    pub(super) at: (f32, f32),
    /// Read from below.
    pub(super) upright: bool,
    /// The share of it that stands before its place.
    pub(super) before: f32,
    pub(super) fill: Option<Ink>,
}

pub(super) struct Drawing<'d> {
    document: Document<'d>,
}

impl<'d> Drawing<'d> {
    pub(super) fn from_svg(svg: &'d str) -> Result<Drawing<'d>, PaintError> {
        let document = Document::parse(svg).map_err(|e| PaintError::Svg(e.to_string()))?;
        Ok(Drawing { document })
    }

    /// Left, top, width and height of what is seen, in its units.
    pub(super) fn seen(&self) -> Result<[f32; 4], PaintError> {
        let seen = self.document.root_element().attribute("viewBox");
        let all: Vec<f32> = numbers(seen.unwrap_or_default()).collect();
        let wrong = |_| PaintError::Svg("no view box".into());
        all.try_into().map_err(wrong)
    }

    pub(super) fn title(&self) -> Option<&str> {
        let mut children = self.document.root_element().children();
        children.find(|node| node.has_tag_name("title"))?.text()
    }

    pub(super) fn paint(&self, surface: &mut impl Surface) -> Result<(), PaintError> {
        children(&self.document.root_element(), 1.0, surface)
    }
}

/// `opacity` is that of the groups around, which holds for each element: where two overlap, both are seen.
fn children(parent: &Node, opacity: f32, surface: &mut impl Surface) -> Result<(), PaintError> {
    for node in parent.children().filter(Node::is_element) {
        match node.tag_name().name() {
            "title" | "desc" | "clipPath" => {}
            "g" => {
                let clip = clip_of(&node);
                clip.iter().for_each(|path| surface.begin_clip(path));
                let own = node.attribute("opacity").and_then(|text| text.parse::<f32>().ok());
                children(&node, opacity * own.unwrap_or(1.0), surface)?;
                clip.iter().for_each(|_| surface.end_clip());
            }
            "text" => drawn_text(&node, opacity).iter().for_each(|text| surface.draw_text(text)),
            _ => {
                if let Some(path) = path_of(&node)? {
                    surface.shape(&path, &style(&node, opacity));
                }
            }
        }
    }
    Ok(())
}

/// What `clip-path="url(#id)"` lets through: a rectangle.
fn clip_of(node: &Node) -> Option<Path> {
    let id = node.attribute("clip-path")?;
    let id = id.strip_prefix("url(#")?.strip_suffix(')')?;
    // Ids repeat where a document has several plots: the last one before it.
    let mut before = node.prev_siblings();
    let clip = before.find(|node| node.attribute("id") == Some(id))?;
    path_of(&clip.first_element_child()?).ok()?
}

fn style(node: &Node, opacity: f32) -> Style {
    let width = node.attribute("stroke-width");
    Style {
        fill: ink(node, ["fill", "fill-opacity"], opacity),
        stroke: ink(node, ["stroke", "stroke-opacity"], opacity),
        stroke_width: width.map_or(1.0, |_| attribute_number(node, "stroke-width")),
        dashes: numbers(node.attribute("stroke-dasharray").unwrap_or("")).collect(),
    }
}

fn ink(node: &Node, [colour, opacity]: [&str; 2], around: f32) -> Option<Ink> {
    let rgb = colour_of(node.attribute(colour)?)?;
    let own = node.attribute(opacity).and_then(|text| text.parse::<f32>().ok());
    Some(Ink { rgb, opacity: around * own.unwrap_or(1.0) })
}

fn drawn_text<'d>(node: &Node<'d, 'd>, opacity: f32) -> Option<DrawnText<'d>> {
    let upright = node.attribute("transform");
    let at = match upright {
        // `translate(x y) rotate(-90)`
        Some(moved) => {
            let mut at = numbers(moved.strip_prefix("translate(")?.split_once(')')?.0);
            (at.next()?, at.next()?)
        }
        None => (attribute_number(node, "x"), attribute_number(node, "y")),
    };
    Some(DrawnText {
        words: node.text()?,
        size: attribute_number(node, "font-size"),
        at,
        upright: upright.is_some(),
        before: match node.attribute("text-anchor") {
            Some("middle") => 0.5,
            Some("end") => 1.0,
            _ => 0.0,
        },
        fill: ink(node, ["fill", "fill-opacity"], opacity),
    })
}

/// The outline of an element; none if it is empty.
fn path_of(node: &Node) -> Result<Option<Path>, PaintError> {
    let n = |name| attribute_number(node, name);
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
        other => return Err(PaintError::Svg(format!("unknown element {other}"))),
    }
    Ok(builder.finish())
}

fn attribute_number(node: &Node, name: &str) -> f32 {
    let text = node.attribute(name).unwrap_or("0");
    text.parse().unwrap_or(0.0)
}

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

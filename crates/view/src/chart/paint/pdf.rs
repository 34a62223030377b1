//! A drawing as a page, with the letters that it needs of the font: text stays
//! text.

use super::PaintError;
use super::elements::{Drawing, DrawnText, Ink, Style, Surface};
use super::font;
use pdf_writer::types::{CidFontType, FontFlags, LineJoinStyle, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use std::collections::BTreeMap;
use subsetter::GlyphRemapper;
use tiny_skia::{Path, PathSegment};
use ttf_parser::{Face, GlyphId};

const NAME: Name = Name(b"LATLAS+DejaVuSans");
const FONT: Name = Name(b"F");
const IDENTITY: SystemInfo =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };
const COMPRESSION: u8 = 6;

/// An SVG as the bytes of a PDF; `scale` is points for a unit of the SVG.
pub(super) fn pdf(svg: &str, scale: f32) -> Result<Vec<u8>, PaintError> {
    let drawing = Drawing::from_svg(svg)?;
    let [left, top, width, height] = drawing.seen()?;
    let face = font::face()?;
    let mut page = PdfPage {
        content: Content::new(),
        face,
        glyphs: GlyphRemapper::new(),
        letters: BTreeMap::new(),
        opacities: Vec::new(),
    };
    // A drawing's y falls.
    let lower = (top + height) * scale;
    page.content.transform([scale, 0.0, 0.0, -scale, -left * scale, lower]);
    page.content.set_line_join(LineJoinStyle::RoundJoin);
    drawing.paint(&mut page)?;
    let size = Rect::new(0.0, 0.0, width * scale, height * scale);
    page.file(size, drawing.title().unwrap_or_default())
}

struct PdfPage {
    content: Content,
    face: Face<'static>,
    /// Glyphs of the font to those of the page's part of it.
    glyphs: GlyphRemapper,
    /// The letter of each of the latter.
    letters: BTreeMap<u16, char>,
    /// Opacities in use, each under its place.
    opacities: Vec<f32>,
}

fn channels(ink: &Ink) -> [f32; 3] {
    ink.rgb.map(|channel| f32::from(channel) / 255.0)
}

impl PdfPage {
    fn draw_path(&mut self, path: &Path) {
        let content = &mut self.content;
        let mut last = (0.0, 0.0);
        for segment in path.segments() {
            match segment {
                PathSegment::MoveTo(p) => {
                    content.move_to(p.x, p.y);
                    last = (p.x, p.y);
                }
                PathSegment::LineTo(p) => {
                    content.line_to(p.x, p.y);
                    last = (p.x, p.y);
                }
                // The same as a cubic one.
                PathSegment::QuadTo(c, p) => {
                    let towards = |from: f32, to: f32| from + (to - from) * 2.0 / 3.0;
                    let (x1, y1) = (towards(last.0, c.x), towards(last.1, c.y));
                    let (x2, y2) = (towards(p.x, c.x), towards(p.y, c.y));
                    content.cubic_to(x1, y1, x2, y2, p.x, p.y);
                    last = (p.x, p.y);
                }
                PathSegment::CubicTo(c, d, p) => {
                    content.cubic_to(c.x, c.y, d.x, d.y, p.x, p.y);
                    last = (p.x, p.y);
                }
                PathSegment::Close => {
                    content.close_path();
                }
            }
        }
    }

    /// Sets an opacity other than 1, to be restored afterwards.
    fn begin_opacity(&mut self, opacity: f32) {
        self.content.save_state();
        if opacity < 1.0 {
            let known = self.opacities.iter().position(|known| *known == opacity);
            let at = known.unwrap_or_else(|| {
                self.opacities.push(opacity);
                self.opacities.len() - 1
            });
            self.content.set_parameters(Name(format!("o{at}").as_bytes()));
        }
    }

    fn file(self, size: Rect, title: &str) -> Result<Vec<u8>, PaintError> {
        let mut refs = (1..).map(Ref::new);
        let mut next = || refs.next().unwrap_or(Ref::new(i32::MAX));
        let [catalog, pages, page, content, info] = [(); 5].map(|()| next());
        let [font, cid, descriptor, file, cmap] = [(); 5].map(|()| next());
        let opacities: Vec<Ref> = self.opacities.iter().map(|_| next()).collect();
        let mut pdf = Pdf::new();
        pdf.catalog(catalog).pages(pages);
        pdf.pages(pages).kids([page]).count(1);
        pdf.document_info(info).title(TextStr(title)).producer(TextStr("latlas"));
        let mut one = pdf.page(page);
        one.parent(pages).media_box(size).contents(content);
        let mut resources = one.resources();
        resources.fonts().pair(FONT, font);
        let mut states = resources.ext_g_states();
        for (at, id) in opacities.iter().enumerate() {
            states.pair(Name(format!("o{at}").as_bytes()), *id);
        }
        states.finish();
        resources.finish();
        one.finish();
        for (opacity, id) in self.opacities.iter().zip(&opacities) {
            let mut state = pdf.ext_graphics(*id);
            state.stroking_alpha(*opacity).non_stroking_alpha(*opacity);
        }
        let PdfPage { content: drawn, face, glyphs, letters, .. } = self;
        let compressed =
            |bytes: &[u8]| miniz_oxide::deflate::compress_to_vec_zlib(bytes, COMPRESSION);
        pdf.stream(content, &compressed(&drawn.finish())).filter(Filter::FlateDecode);
        let units = f32::from(face.units_per_em());
        let per_mille = |units_of_font: f32| units_of_font * 1000.0 / units;
        let mut base = pdf.type0_font(font);
        base.base_font(NAME)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(cid)
            .to_unicode(cmap);
        base.finish();
        let mut cid_font = pdf.cid_font(cid);
        cid_font
            .subtype(CidFontType::Type2)
            .base_font(NAME)
            .system_info(IDENTITY)
            .font_descriptor(descriptor)
            .default_width(0.0)
            .cid_to_gid_map_predefined(Name(b"Identity"));
        let widths = glyphs.remapped_gids();
        let widths = widths.map(|glyph| per_mille(font::advance(&face, GlyphId(glyph))));
        cid_font.widths().consecutive(0, widths);
        cid_font.finish();
        let bounds = face.global_bounding_box();
        let bounds = [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max];
        let [x1, y1, x2, y2] = bounds.map(|end| per_mille(f32::from(end)));
        let capital = face.capital_height().unwrap_or(face.ascender());
        pdf.font_descriptor(descriptor)
            .name(NAME)
            .flags(FontFlags::SYMBOLIC)
            .bbox(Rect::new(x1, y1, x2, y2))
            .italic_angle(0.0)
            .ascent(per_mille(f32::from(face.ascender())))
            .descent(per_mille(f32::from(face.descender())))
            .cap_height(per_mille(f32::from(capital)))
            .stem_v(80.0)
            .font_file2(file);
        let part = subsetter::subset(font::data(), 0, &glyphs);
        let part = part.map_err(|e| PaintError::Encode(e.to_string()))?;
        pdf.stream(file, &compressed(&part))
            .filter(Filter::FlateDecode)
            .pair(Name(b"Length1"), part.len() as i32);
        let mut text = UnicodeCmap::new(Name(b"Letters"), IDENTITY);
        letters.iter().for_each(|(&glyph, &letter)| text.pair(glyph, letter));
        pdf.cmap(cmap, &text.finish());
        Ok(pdf.finish())
    }
}

impl Surface for PdfPage {
    fn shape(&mut self, path: &Path, style: &Style) {
        if let Some(fill) = &style.fill {
            self.begin_opacity(fill.opacity);
            let [r, g, b] = channels(fill);
            self.content.set_fill_rgb(r, g, b);
            self.draw_path(path);
            self.content.fill_nonzero();
            self.content.restore_state();
        }
        if let Some(stroke) = &style.stroke {
            self.begin_opacity(stroke.opacity);
            let [r, g, b] = channels(stroke);
            self.content.set_stroke_rgb(r, g, b);
            self.content.set_line_width(style.stroke_width);
            self.content.set_dash_pattern(style.dashes.iter().copied(), 0.0);
            self.draw_path(path);
            self.content.stroke();
            self.content.restore_state();
        }
    }

    fn draw_text(&mut self, text: &DrawnText) {
        let Some(fill) = &text.fill else {
            return;
        };
        let mut bytes = Vec::new();
        let mut wide = 0.0;
        for (letter, glyph) in font::glyphs(&self.face, text.words) {
            wide += font::advance(&self.face, glyph);
            let glyph = self.glyphs.remap(glyph.0);
            self.letters.insert(glyph, letter);
            bytes.extend(glyph.to_be_bytes());
        }
        let wide = wide * text.size / f32::from(self.face.units_per_em());
        let before = -wide * text.before;
        let (x, y) = text.at;
        // A font's y rises.
        let place = match text.upright {
            true => [0.0, -1.0, -1.0, 0.0, x, y - before],
            false => [1.0, 0.0, 0.0, -1.0, x + before, y],
        };
        let [r, g, b] = channels(fill);
        self.content.set_fill_rgb(r, g, b);
        self.content.begin_text();
        self.content.set_font(FONT, text.size);
        self.content.set_text_matrix(place);
        self.content.show(Str(&bytes));
        self.content.end_text();
    }

    fn begin_clip(&mut self, path: &Path) {
        self.content.save_state();
        self.draw_path(path);
        self.content.clip_nonzero();
        self.content.end_path();
    }

    fn end_clip(&mut self) {
        self.content.restore_state();
    }
}

//! The font that the program carries, so that every machine paints the same.

use super::PaintError;
use ttf_parser::Face;

pub(super) fn data() -> &'static [u8] {
    dejavu::sans::regular()
}

pub(super) fn face() -> Result<Face<'static>, PaintError> {
    Face::parse(data(), 0).map_err(|e| PaintError::Svg(e.to_string()))
}

pub(super) fn glyphs(face: &Face, words: &str) -> Vec<(char, ttf_parser::GlyphId)> {
    let glyph = |letter| (letter, face.glyph_index(letter).unwrap_or_default());
    words.chars().map(glyph).collect()
}

/// How far a glyph moves on, in units of the font.
pub(super) fn advance(face: &Face, glyph: ttf_parser::GlyphId) -> f32 {
    f32::from(face.glyph_hor_advance(glyph).unwrap_or(0))
}

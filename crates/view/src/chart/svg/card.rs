//! The picture that stands for a page where it is linked: a few lines of text, so large that they can be read in
//! a list of messages.

use super::pen::{Anchor, Pen, shorten, width, wrap};
use super::{Look, Theme};

/// Its size, px: what the programs that show links to pages ask for (the Open Graph protocol names no size).
pub const CARD: (f64, f64) = (1200.0, 630.0);
const EDGE: f64 = 64.0;
const TITLE: f64 = 46.0;
const TEXT: f64 = 26.0;
const LINE: f64 = 32.0;
/// Lines of the title, and lines below it.
const TITLE_LINES: usize = 2;
const MOST: usize = 5;
/// Where amounts end.
const AMOUNT: f64 = 816.0;

/// What stands on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card {
    pub title: String,
    pub subtitle: String,
    /// What, how many, and of what: `write + fsync`, `2.1 million`, `loads`.
    pub lines: Vec<[String; 3]>,
    pub footer: String,
}

/// The picture, of exactly that size.
pub fn card(card: &Card) -> String {
    let (wide, high) = CARD;
    let look = Look { theme: Theme::Light, width: wide, ..Look::default() };
    let mut pen = Pen::new(look.theme);
    let theme = pen.theme;
    let room = wide - 2.0 * EDGE;
    pen.rect([0.0, 0.0, 14.0, high], theme.colour(0));
    let mut y = EDGE;
    let mut lines = wrap(&card.title, TITLE, room);
    if lines.len() > TITLE_LINES {
        let rest = lines.split_off(TITLE_LINES - 1).join(" ");
        lines.push(shorten(&rest, TITLE, room));
    }
    for line in &lines {
        y += TITLE;
        pen.text((EDGE, y - 8.0), Anchor::Start, TITLE, theme.ink(), line);
        y += 8.0;
    }
    y += TEXT;
    pen.text((EDGE, y), Anchor::Start, TEXT, theme.soft(), &shorten(&card.subtitle, TEXT, room));
    let (top, bottom) = (y + 30.0, high - EDGE - TEXT - 10.0);
    let shown = &card.lines[..card.lines.len().min(MOST)];
    let step = ((bottom - top) / shown.len().max(1) as f64).min(2.0 * LINE);
    for (at, [what, amount, of]) in shown.iter().enumerate() {
        let y = top + step * (at as f64 + 0.5) + LINE * 0.36;
        let amount_wide = width(amount, LINE);
        let name = shorten(what, LINE, AMOUNT - amount_wide - EDGE - 16.0);
        pen.text((EDGE, y), Anchor::Start, LINE, theme.ink(), &name);
        pen.text((AMOUNT, y), Anchor::End, LINE, theme.colour(0), amount);
        let of = shorten(of, TEXT, wide - EDGE - AMOUNT - 14.0);
        pen.text((AMOUNT + 14.0, y), Anchor::Start, TEXT, theme.soft(), &of);
    }
    let footer = shorten(&card.footer, TEXT, room);
    pen.text((EDGE, high - EDGE + 8.0), Anchor::Start, TEXT, theme.soft(), &footer);
    pen.svg_document(CARD, 0.0, &look, [&card.title, &card.subtitle])
}

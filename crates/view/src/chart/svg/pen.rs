//! SVG elements as text: every string that comes from elsewhere is escaped
//! here.

use super::Look;
use super::legend::LegendEntry;
use super::theme::Theme;
use crate::chart::Chart;
use std::fmt::Write;

/// The fonts in the order in which they are tried; the first is carried along
/// for PNG.
const FONTS: &str = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif";

/// Where a text stands against its x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// The corners of marks, for a circle's radius of 1; the first mark is a circle.
const CORNERS: [&[(f64, f64)]; 9] = [
    &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    &[(0.0, -1.15), (1.05, 0.85), (-1.05, 0.85)],
    &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
    &[(0.0, 1.15), (1.05, -0.85), (-1.05, -0.85)],
    &[
        (-0.4, -1.3),
        (0.4, -1.3),
        (0.4, -0.4),
        (1.3, -0.4),
        (1.3, 0.4),
        (0.4, 0.4),
        (0.4, 1.3),
        (-0.4, 1.3),
        (-0.4, 0.4),
        (-1.3, 0.4),
        (-1.3, -0.4),
        (-0.4, -0.4),
    ],
    &[(-1.0, -1.1), (1.0, -1.1), (-1.0, 1.1), (1.0, 1.1)],
    &[
        (0.0, -0.6),
        (0.7, -1.3),
        (1.3, -0.7),
        (0.6, 0.0),
        (1.3, 0.7),
        (0.7, 1.3),
        (0.0, 0.6),
        (-0.7, 1.3),
        (-1.3, 0.7),
        (-0.6, 0.0),
        (-1.3, -0.7),
        (-0.7, -1.3),
    ],
    &[(1.15, 0.0), (-0.85, 1.05), (-0.85, -1.05)],
    &[(-1.15, 0.0), (0.85, 1.05), (0.85, -1.05)],
];
/// How many marks there are before they repeat.
pub(super) const SHAPES: usize = CORNERS.len() + 1;

/// Opacity of what lies behind.
const FAINT: f64 = 0.6;

#[derive(Default)]
pub(super) struct Pen {
    body: String,
    pub(super) theme: Theme,
    /// What the ids of an inline picture begin with; empty for a document of
    /// its own, which has none of what only a page's script reads.
    id: String,
    /// Attributes of marks and rectangles: which figure they show.
    shows: String,
    /// The legend of an inline picture, which the page writes as HTML.
    pub(super) legend: Vec<LegendEntry>,
    /// Attributes of an inline picture that can be zoomed.
    pub(super) zoom: String,
}

/// A number without digits that nobody sees.
pub(super) fn svg_number(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".into() } else { text.into() }
}

/// Text that may stand between tags and in attributes. What XML 1.0 has no
/// place for (control characters) becomes a replacement character.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

impl Pen {
    /// For a document in these colours.
    pub(super) fn new(theme: Theme) -> Pen {
        Pen { theme, ..Pen::default() }
    }

    pub(super) fn inline(id: &str) -> Pen {
        Pen { id: id.to_owned(), theme: Theme::Page, ..Pen::default() }
    }

    pub(super) fn is_inline(&self) -> bool {
        !self.id.is_empty()
    }

    /// What is drawn next shows the figures of this row of the picture's table.
    pub(super) fn mark_row(&mut self, row: Option<usize>) {
        let row = row.filter(|_| self.is_inline());
        self.shows = row.map_or(String::new(), |row| format!(r#" data-n="{row}""#));
    }

    /// What is drawn in between shows no figure.
    pub(super) fn unmarked(&mut self, draw: impl FnOnce(&mut Pen)) {
        let shows = std::mem::take(&mut self.shows);
        draw(self);
        self.shows = shows;
    }

    /// What is drawn next shows a figure that no row of the table has, in lines.
    pub(super) fn says(&mut self, lines: impl FnOnce() -> [String; 2]) {
        if self.is_inline() {
            let [first, second] = lines().map(|line| escape(&line));
            self.shows = format!(r#" data-tip="{first}&#10;{second}""#);
        }
    }

    /// What is drawn in between belongs to an entry of the legend.
    pub(super) fn series(&mut self, at: usize, draw: impl FnOnce(&mut Pen)) {
        self.group(format_args!(r#"data-s="{at}""#), draw);
    }

    /// What is drawn in between is for a page's script to find.
    pub(super) fn group(&mut self, attribute: std::fmt::Arguments, draw: impl FnOnce(&mut Pen)) {
        if !self.is_inline() {
            return draw(self);
        }
        self.put(format_args!("<g {attribute}>"));
        draw(self);
        self.put(format_args!("</g>"));
    }

    /// What is drawn in between is paler: behind what matters.
    pub(super) fn faint(&mut self, draw: impl FnOnce(&mut Pen)) {
        self.put(format_args!(r#"<g opacity="{FAINT}">"#));
        draw(self);
        self.put(format_args!("</g>"));
    }

    /// A bar that is told from another of its height without its colour.
    pub(super) fn rails(&mut self, [x, y, wide, high]: [f64; 4], colour: &str) {
        let rail = high * 0.36;
        self.rect([x, y, wide, rail], colour);
        self.rect([x, y + high - rail, wide, rail], colour);
    }

    fn put(&mut self, text: std::fmt::Arguments) {
        // Writing to a String can't fail.
        let _ = self.body.write_fmt(text);
        self.body.push('\n');
    }

    pub(super) fn rect(&mut self, [x, y, width, height]: [f64; 4], fill: &str) {
        let [x, y, width, height] = [x, y, width.max(0.0), height.max(0.0)].map(svg_number);
        let shows = std::mem::take(&mut self.shows);
        self.put(format_args!(
            r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}"{shows}/>"#
        ));
        self.shows = shows;
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str, style: &str) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(svg_number);
        self.put(format_args!(
            r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{stroke}"{style}/>"#
        ));
    }

    pub(super) fn polyline(&mut self, points: &[(f64, f64)], stroke: &str, style: &str) {
        let points: Vec<String> =
            points.iter().map(|&(x, y)| format!("{},{}", svg_number(x), svg_number(y))).collect();
        let points = points.join(" ");
        self.put(format_args!(
            r#"<polyline points="{points}" fill="none" stroke="{stroke}" stroke-linejoin="round"{style}/>"#
        ));
    }

    /// A filled shape without an edge.
    pub(super) fn area(&mut self, corners: &[(f64, f64)], fill: &str, style: &str) {
        let corners = corners.iter();
        let corners = corners.map(|&(x, y)| format!("{} {}", svg_number(x), svg_number(y)));
        let d = format!("M{}Z", corners.collect::<Vec<_>>().join("L"));
        let shows = &self.shows;
        let shape = format!(r#"<path d="{d}" fill="{fill}"{style}{shows}/>"#);
        self.put(format_args!("{shape}"));
    }

    /// A mark of a series: its shape too tells which.
    pub(super) fn mark(&mut self, shape: usize, (x, y): (f64, f64), size: f64, paint: &Paint) {
        let Paint { stroke, fill } = paint;
        let shows = std::mem::take(&mut self.shows);
        let r = size;
        let Some(corners) = (shape % SHAPES).checked_sub(1).map(|at| CORNERS[at]) else {
            let [x, y, r] = [x, y, r].map(svg_number);
            self.put(format_args!(
                r#"<circle class="mark" cx="{x}" cy="{y}" r="{r}" fill="{fill}" stroke="{stroke}"{shows}/>"#
            ));
            self.shows = shows;
            return;
        };
        let corners: Vec<String> = corners
            .iter()
            .map(|(dx, dy)| format!("{} {}", svg_number(x + dx * r), svg_number(y + dy * r)))
            .collect();
        let d = format!("M{}Z", corners.join("L"));
        self.put(format_args!(
            r#"<path class="mark" d="{d}" fill="{fill}" stroke="{stroke}"{shows}/>"#
        ));
        self.shows = shows;
    }

    /// A small dot, of which there are many.
    pub(super) fn speck(&mut self, (x, y): (f64, f64), fill: &str) {
        let [x, y] = [x, y].map(svg_number);
        let shows = std::mem::take(&mut self.shows);
        self.put(format_args!(
            r#"<circle class="mark" cx="{x}" cy="{y}" r="1.5" fill="{fill}" fill-opacity="0.45"{shows}/>"#
        ));
    }

    pub(super) fn text(
        &mut self,
        (x, y): (f64, f64),
        anchor: Anchor,
        size: f64,
        fill: &str,
        text: &str,
    ) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        let [x, y, size] = [x, y, size].map(svg_number);
        let text = escape(text);
        self.put(format_args!(
            r#"<text x="{x}" y="{y}" font-size="{size}" fill="{fill}"{anchor}>{text}</text>"#
        ));
    }

    /// A text that is read from below, its middle there.
    pub(super) fn upright(&mut self, (x, y): (f64, f64), size: f64, fill: &str, text: &str) {
        let [x, y, size] = [x, y, size].map(svg_number);
        let text = escape(text);
        self.put(format_args!(
            r#"<text transform="translate({x} {y}) rotate(-90)" font-size="{size}" fill="{fill}" text-anchor="middle">{text}</text>"#
        ));
    }

    /// What is drawn in between is cut off at the edges of a rectangle.
    pub(super) fn clipped(&mut self, [x, y, width, height]: [f64; 4], draw: impl FnOnce(&mut Pen)) {
        let [x, y, width, height] = [x, y, width, height].map(svg_number);
        let id = match self.is_inline() {
            true => format!("{}-plot", self.id),
            false => "plot".to_owned(),
        };
        self.put(format_args!(
            r##"<clipPath id="{id}"><rect x="{x}" y="{y}" width="{width}" height="{height}"/></clipPath><g clip-path="url(#{id})">"##
        ));
        draw(self);
        self.put(format_args!("</g>"));
    }

    /// The whole as an element of a page, which has the background and the font.
    /// The margins at both sides are cut off.
    pub(super) fn element(&self, (width, height): (f64, f64), cut: f64, chart: &Chart) -> String {
        let Pen { id, zoom, body, .. } = self;
        let [x, width, height] = [cut, width - 2.0 * cut, height].map(svg_number);
        let (title, caption) = (escape(&chart.title), escape(&chart.caption));
        format!(
            r#"<svg viewBox="{x} 0 {width} {height}" text-rendering="geometricPrecision" role="img" aria-labelledby="{id}-title {id}-desc"{zoom}>
<title id="{id}-title">{title}</title>
<desc id="{id}-desc">{caption}</desc>
{body}</svg>"#
        )
    }

    /// What was drawn, without anything around it.
    pub(super) fn body(self) -> String {
        self.body
    }

    /// The whole document: the part of this size that begins at `cut`.
    pub(super) fn svg_document(
        self,
        (width, height): (f64, f64),
        cut: f64,
        look: &Look,
        [title, description]: [&str; 2],
    ) -> String {
        let [title, description] = [title, description].map(escape);
        let [long, high] = [width, height].map(|units| look.unit.length(units));
        let [width, height, cut] = [width, height, cut].map(svg_number);
        let ground = match look.bare {
            true => String::new(),
            false => {
                let ground = self.theme.ground();
                format!("<rect width=\"{width}\" height=\"{height}\" fill=\"{ground}\"/>\n")
            }
        };
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{long}" height="{high}" viewBox="{cut} 0 {width} {height}" role="img" aria-labelledby="title desc" font-family="{FONTS}" text-rendering="geometricPrecision">
<title id="title">{title}</title>
<desc id="desc">{description}</desc>
{ground}{}</svg>
"#,
            self.body
        )
    }
}

pub(super) struct Paint<'p> {
    pub(super) stroke: &'p str,
    pub(super) fill: &'p str,
}

/// Widths of DejaVu Sans in thousandths of the size, from space to tilde.
const WIDTHS: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/// How wide a text is at most, of the fonts that are tried.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let of = |c: char| {
        let at = (c as usize).checked_sub(32);
        let known = at.and_then(|at| WIDTHS.get(at)).copied();
        // Letters of other scripts, arrows and dashes are up to as wide as high.
        known.unwrap_or(if c < '\u{250}' { 840 } else { 1000 })
    };
    text.chars().map(|c| f64::from(of(c))).sum::<f64>() * size / 1000.0
}

/// A text in lines that are no wider; a longer word, such as the options of a
/// mount, is broken, after a comma where it has one.
pub(super) fn wrap(text: &str, size: f64, widest: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        for (at, part) in parts(word, size, widest).iter().enumerate() {
            let last = lines.len() - 1;
            let line = &mut lines[last];
            let fits = width(line, size) + width(" ", size) + width(part, size) <= widest;
            if line.is_empty() {
                line.push_str(part);
            } else if at == 0 && fits {
                line.push(' ');
                line.push_str(part);
            } else {
                lines.push((*part).to_owned());
            }
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// A word in parts that are no wider, each of a letter at least.
fn parts(word: &str, size: f64, widest: f64) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = word;
    while width(rest, size) > widest {
        let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
        let fits = ends.take_while(|&end| width(&rest[..end], size) <= widest);
        let first = rest.chars().next().map_or(rest.len(), char::len_utf8);
        let most = fits.last().unwrap_or(first);
        let end = rest[..most].rfind(',').map_or(most, |at| at + 1);
        let (part, others) = rest.split_at(end);
        parts.push(part);
        rest = others;
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

/// A text cut to a width, with an ellipsis where something is missing.
pub(super) fn shorten(text: &str, size: f64, widest: f64) -> String {
    if width(text, size) <= widest {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if width(&kept, size) + width("…", size) > widest {
            kept.pop();
            break;
        }
    }
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_comes_from_elsewhere_is_markup() {
        assert_eq!(
            escape("<script>'\"&\u{0}\n</script>"),
            "&lt;script&gt;&#39;&quot;&amp;\u{fffd} &lt;/script&gt;"
        );
    }

    #[test]
    fn texts_are_cut_and_wrapped_to_a_width() {
        let text = "a long sentence with several words";
        let lines = wrap(text, 12.0, 100.0);
        assert!(lines.len() > 1 && lines.iter().all(|l| width(l, 12.0) <= 100.0));
        assert_eq!(lines.join(" "), text);
        let short = shorten(text, 12.0, 80.0);
        assert!(short.ends_with('…') && width(&short, 12.0) <= 80.0, "{short}");
        assert_eq!(shorten("ab", 12.0, 80.0), "ab");
        assert!(wrap("", 12.0, 80.0).is_empty());
        let options = "mounted rw,relatime,discard,resuid=65534 here";
        let lines = wrap(options, 12.0, 100.0);
        assert_eq!(lines, ["mounted", "rw,relatime,", "discard,", "resuid=65534", "here"]);
        assert_eq!(wrap("µµ", 12.0, 1.0), ["µ", "µ"]);
    }

    #[test]
    fn numbers_have_no_needless_digits() {
        assert_eq!(svg_number(12.0), "12");
        assert_eq!(svg_number(12.34), "12.3");
        assert_eq!(svg_number(-0.01), "0");
    }
}

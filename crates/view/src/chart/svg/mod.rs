//! Pictures as SVG: for papers, READMEs, and pages without scripts. No script,
//! no font and no file is referred to; the text is escaped.

mod bars;
mod card;
mod dots;
mod frame;
mod heat;
mod inline;
mod lanes;
mod legend;
mod lines;
mod pairs;
mod pen;
mod population;
mod rows;
mod slopes;
mod strips;
mod theme;

pub use card::{CARD, Card, card};
pub(crate) use inline::inline_of_height;
pub use inline::{Inline, inline};
pub use theme::Theme;

use super::{Body, Chart, Lines, Point, forest};
use frame::Room;
use pen::Pen;

/// Width where nothing else is asked for, px.
pub const WIDTH: f64 = 860.0;

/// px of an inch, by CSS.
pub const SCREEN_DPI: f64 = 96.0;

/// How a picture is to look.
#[derive(Clone, Copy, Debug)]
pub struct Look<'l> {
    /// On paper or in the dark.
    pub theme: Theme,
    /// What it is measured in.
    pub unit: Unit,
    /// Width in units.
    pub width: f64,
    /// Height in units; as the picture needs it where it is absent. A picture
    /// with many lines may come out higher, since text must stay legible.
    pub height: Option<f64>,
    /// Without title, caption, notes, footer, margins and ground: for a document
    /// that has its own.
    pub bare: bool,
    /// A line at the end: of which machine and run this is.
    pub footer: &'l str,
}

/// What a picture is measured in: text has the same number of units in each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// px of a screen.
    #[default]
    Pixel,
    /// A length on paper of which the sizes of text are 7 to 9 pt.
    Paper,
}

impl Unit {
    /// Its length, pt.
    pub fn pt(self) -> f64 {
        match self {
            Unit::Pixel => 0.75,
            Unit::Paper => 0.68,
        }
    }

    /// So many of them, as an attribute of a document.
    fn length(self, units: f64) -> String {
        match self {
            Unit::Pixel => pen::svg_number(units),
            Unit::Paper => format!("{:.2}pt", units * self.pt()),
        }
    }

    /// Size of the heading, units.
    fn heading(self) -> f64 {
        match self {
            Unit::Pixel => 18.0,
            Unit::Paper => 13.0,
        }
    }
}

impl Default for Look<'_> {
    fn default() -> Self {
        Look {
            theme: Theme::Light,
            unit: Unit::Pixel,
            width: WIDTH,
            height: None,
            bare: false,
            footer: "",
        }
    }
}

/// The picture as an SVG document of ordinary size.
pub fn to_svg(chart: &Chart, theme: Theme) -> String {
    let look = Look { theme, ..Look::default() };
    draw_as(chart, &look)
}

/// The picture as an SVG document.
pub fn draw_as(chart: &Chart, look: &Look) -> String {
    let notes = notes_below(chart, look);
    // What stands around the body has its height from its text: a first drawing,
    // high enough for any picture, tells how much that is.
    let room = look.height.map(|high| {
        let (_, all) = whole_picture(chart, look, &notes, Some(AMPLE));
        high - (all - AMPLE)
    });
    let (pen, bottom) = whole_picture(chart, look, &notes, room);
    let description = std::iter::once(&chart.caption).chain(&notes);
    let description: Vec<&str> = description.map(String::as_str).collect();
    let texts = [chart.title.as_str(), &description.join(" ")];
    pen.svg_document((look.width, bottom), look.cut(), look, texts)
}

impl Look<'_> {
    /// What is cut off at both sides: the margins of a bare picture.
    fn cut(&self) -> f64 {
        if self.bare { frame::MARGIN - 2.0 } else { 0.0 }
    }
}

/// A height that no picture's body has to be higher than, px.
const AMPLE: f64 = 100_000.0;

/// What is written below the picture.
fn notes_below(chart: &Chart, look: &Look) -> Vec<String> {
    let mut notes = notes(chart);
    if let Body::Dots(dots) = &chart.body
        && !dots.is_of_change()
    {
        notes.extend(dots::without_figure(dots));
    }
    if !look.footer.is_empty() {
        notes.push(look.footer.to_owned());
    }
    notes
}

/// What a reader of the picture must know: the chart's own notes, and what its
/// axes have no room for.
pub fn notes(chart: &Chart) -> Vec<String> {
    let mut notes = chart.notes.clone();
    notes.extend(off_scale(&chart.body));
    if let Body::Dots(dots) = &chart.body {
        notes.extend(forest::not_drawn(dots));
    }
    let cuts = match &chart.body {
        Body::Lines(lines) => lines::cuts(lines),
        Body::Dots(dots) => dots::cuts(dots),
        _ => false,
    };
    if cuts {
        notes.push("Intervals that reach beyond the axis are cut at its end.".into());
    }
    notes
}

/// How many figures a logarithmic axis has no place for.
fn off_scale(body: &Body) -> Option<String> {
    let count = match body {
        Body::Lines(Lines { x, y, series, .. }) => {
            let outside = |p: &&Point| (x.log && p.x <= 0.0) || (y.log && p.y <= 0.0);
            series.iter().flat_map(|line| &line.points).filter(outside).count()
        }
        Body::Dots(dots) if dots.value.log => {
            let values = dots.rows.iter().filter_map(|dot| dot.value);
            values.filter(|value| *value <= 0.0).count()
        }
        // A map writes their numbers, without a colour.
        Body::Bars(_)
        | Body::Heat(_)
        | Body::Dots(_)
        | Body::Lanes(_)
        | Body::Strips(_)
        | Body::Slopes(_) => 0,
    };
    let figures = if count == 1 { "figure" } else { "figures" };
    (count > 0)
        .then(|| format!("{count} {figures} of 0 or less not drawn: the axis is logarithmic."))
}

/// Everything, with a body of that height; gives the height of all.
fn whole_picture(chart: &Chart, look: &Look, notes: &[String], room: Option<f64>) -> (Pen, f64) {
    let wide = look.width + 2.0 * look.cut();
    let mut pen = Pen::new(look.theme);
    let top = match look.bare {
        true => 2.0,
        false => frame::heading(&mut pen, wide, chart, look.unit.heading()),
    };
    let room = Room { wide, top, high: room };
    let end = body(&mut pen, chart, room);
    let bottom = match look.bare {
        true => end,
        false => frame::notes(&mut pen, wide, end + 4.0, notes) + frame::MARGIN,
    };
    (pen, bottom)
}

/// The body below `top`; gives the y of the lower end.
fn body(pen: &mut Pen, chart: &Chart, room: Room) -> f64 {
    match &chart.body {
        Body::Lines(body) => lines::draw_lines(pen, body, room),
        Body::Bars(body) => bars::draw_bars(pen, body, room),
        Body::Heat(body) => match &body.clusters {
            Some(clusters) => pairs::draw_pairs(pen, body, clusters, room),
            None => heat::draw_heat(pen, body, room),
        },
        Body::Dots(body) => dots::draw_dots(pen, body, room),
        Body::Lanes(body) => lanes::draw_lanes(pen, body, room),
        Body::Strips(body) => strips::draw_strips(pen, body, room),
        Body::Slopes(body) => slopes::draw_slopes(pen, body, room),
    }
}

#[cfg(test)]
mod tests;

//! Figures with intervals, one a line.

use super::frame::{Area, MARGIN, Room, SMALL, across, below, legend};
use super::legend::{LegendEntry, Sample};
use super::pen::{Anchor, Paint, Pen, shorten, width, wrap};
use super::theme::Theme;
use crate::axis::{Scale, span};
use crate::chart::{Axis, Dot, Dots, Quantity, forest, in_unit};
use crate::grouped::grouped;
use crate::render::figures::digits;
use model::compare::finding;
use model::estimate::Verdict;
use model::figure::{decimals, plain_zero};

/// Height of a line where nothing else was asked for.
const LINE: f64 = 17.0;
/// The same with labels below it, and how far it lies above the middle then.
const LABELLED_LINE: f64 = 33.0;
const ABOVE_LABELS: f64 = 8.0;
/// Labels with less room are costs without names.
const LEAST_NAME: f64 = 90.0;
/// The ends of a whole share, percent.
const WHOLE: [f64; 2] = [0.0, 100.0];
/// Height of a line of a name that stands above its line, and from which width on none does.
const NAME: f64 = 14.0;
const NARROW: f64 = 500.0;
/// Lines from which on the axis is above them, too.
const LONG: usize = 40;
/// Room for a figure at the right; for a ratio with its interval.
const FIGURE: f64 = 86.0;
const RATIO: f64 = 124.0;

/// Draws below `top`; gives the y of the lower end. Lines without any figure
/// are left to [`without_figure`].
pub(super) fn draw_dots(pen: &mut Pen, dots: &Dots, room: Room) -> f64 {
    let Room { wide, high, .. } = room;
    let theme = pen.theme;
    let is_of_change = dots.is_of_change();
    let rows: Vec<(usize, &Dot)> = match is_of_change {
        true => forest::drawn(dots).collect(),
        false => dots.rows.iter().enumerate().filter(|(_, dot)| has_figure(dot)).collect(),
    };
    let names = others(&dots.rows);
    let mut entries = vec![here(theme)];
    entries.extend(names.iter().enumerate().map(|(k, name)| LegendEntry {
        name: (*name).to_owned(),
        colour: theme.colour(k + 1),
        shape: k + 1,
        sample: Sample::Mark,
    }));
    let has_legend = !names.is_empty() && !dots.labelled;
    let findings = forest::findings(dots);
    let entries = match has_legend {
        _ if is_of_change => findings.iter().map(|found| finding_entry(theme, *found)).collect(),
        true => entries,
        false => Vec::new(),
    };
    let top = legend(pen, room, &entries) + 4.0;

    let widest = rows.iter().map(|(_, dot)| width(&dot.id, SMALL));
    let figure = if is_of_change { RATIO } else { FIGURE };
    let beside = MARGIN + widest.fold(0.0, f64::max).min(wide * 0.42) + 10.0;
    // A narrow picture has the names above the lines, whole, rather than a plot that shows nothing.
    let is_stacked = wide < NARROW && wide - MARGIN - figure - beside < wide / 2.0;
    let (left, right) = match is_stacked {
        true => (MARGIN + 20.0, wide - MARGIN - 20.0),
        false => (beside, wide - MARGIN - figure),
    };
    let names_of = |dot: &Dot| match is_stacked {
        true => wrap(&dot.id, SMALL, wide - 2.0 * MARGIN - figure),
        false => vec![shorten(&dot.id, SMALL, left - MARGIN - 8.0)],
    };
    let above: Vec<f64> = rows
        .iter()
        .map(|(_, dot)| if is_stacked { NAME * names_of(dot).len() as f64 + 2.0 } else { 0.0 })
        .collect();
    let number = rows.len().max(1) as f64;
    let usual = if dots.labelled { LABELLED_LINE } else { LINE };
    let line = high.map_or(usual, |h| ((h - 46.0 - above.iter().sum::<f64>()) / number).max(12.0));
    // Of many lines the axis is in sight from above, too.
    let is_long = rows.len() > LONG;
    let top = if is_long { top + SMALL + 6.0 } else { top };
    let area = Area { left, right, top, bottom: top + line * number + above.iter().sum::<f64>() };
    let one = one(dots);
    let x = scale(dots, (area.left, area.right));
    let ticks = across(&x);
    let tops: Vec<f64> = above
        .iter()
        .scan(area.top, |y, above| Some(std::mem::replace(y, *y + above + line)))
        .collect();
    for (y, above) in tops.iter().zip(&above).skip(1).step_by(2) {
        pen.rect([MARGIN, *y, wide - 2.0 * MARGIN, above + line], theme.band(0));
    }
    let end = below(pen, (&area, wide), &x, &ticks, &dots.value.label);
    for tick in ticks.iter().filter(|_| is_long) {
        if let Some(x) = x.position(tick.value) {
            pen.text((x, area.top - 5.0), Anchor::Middle, SMALL, theme.soft(), &tick.label);
        }
    }
    if let Some(x) = one.and_then(|one| x.position(one)) {
        pen.line((x, area.top), (x, area.bottom), theme.soft(), "");
    }
    for (((row, dot), top), above) in rows.iter().zip(&tops).zip(&above) {
        let middle = top + above + line / 2.0;
        let y = if dots.labelled { middle - ABOVE_LABELS } else { middle };
        for (k, name) in names_of(dot).iter().enumerate() {
            let (at, anchor) = match is_stacked {
                true => ((MARGIN + 2.0, top + NAME * (k as f64 + 1.0) - 2.0), Anchor::Start),
                false => ((left - 8.0, y + SMALL * 0.36), Anchor::End),
            };
            pen.text(at, anchor, SMALL, theme.ink(), name);
        }
        if dots.labelled {
            draw_labels(pen, dot, y, &x);
        }
        pen.mark_row(Some(*row));
        for other in dot.others.iter().filter(|_| !dots.labelled) {
            let at = names.iter().position(|name| *name == other.name);
            if let (Some(at), Some(x)) = (at, x.position(other.value)) {
                let paint = Paint { stroke: theme.colour(at + 1), fill: "none" };
                pen.series(at + 1, |pen| pen.mark(at + 1, (x, y), 3.2, &paint));
            }
        }
        let number = if is_stacked { top + NAME - 2.0 } else { y + SMALL * 0.36 };
        let series = findings.iter().position(|found| dot.finding == Some(*found)).unwrap_or(0);
        pen.series(series, |pen| {
            draw_figure(pen, &dots.value, dot, (y, number), (&x, area.right), wide);
        });
        pen.mark_row(None);
    }
    end
}

fn here(theme: Theme) -> LegendEntry {
    LegendEntry { name: "here".into(), colour: theme.colour(0), shape: 0, sample: Sample::Mark }
}

/// How a change looks: by colour and by mark.
pub(super) fn finding_entry(theme: Theme, found: finding::Verdict) -> LegendEntry {
    let (colour, shape, sample) = match found {
        finding::Verdict::Different => (theme.colour(1), 0, Sample::Mark),
        finding::Verdict::CannotTell => (theme.soft(), 3, Sample::Hollow),
        finding::Verdict::SameWithinNoise => (theme.colour(0), 1, Sample::Mark),
    };
    LegendEntry { name: found.printed().into(), colour, shape, sample }
}

/// The stretch between the first and the last label, and each label below its place.
fn draw_labels(pen: &mut Pen, dot: &Dot, y: f64, x: &Scale) {
    let theme = pen.theme;
    let places =
        dot.others.iter().filter_map(|other| Some((x.position(other.value)?, &other.name)));
    let places: Vec<(f64, &String)> = places.collect();
    let ([(first, _), ..], [.., (last, _)]) = (&places[..], &places[..]) else { return };
    let room = (last - first) / (places.len() as f64 - 1.0).max(1.0) - 6.0;
    pen.rect([*first, y - 4.0, last - first, 8.0], theme.grid());
    for (x, name) in &places {
        pen.line((*x, y - 4.0), (*x, y + 4.0), theme.soft(), "");
        // A cost of two words says more than a name that is cut after it.
        let cost = name.match_indices(' ').nth(1).map_or(name.as_str(), |(end, _)| &name[..end]);
        let name = if room < LEAST_NAME { cost } else { name.as_str() };
        let name = shorten(name, SMALL, room);
        pen.text((*x, y + 5.0 + SMALL), Anchor::Middle, SMALL, theme.soft(), &name);
    }
}

/// What a ratio's axis shows in any case: 1, which is no difference.
fn one(dots: &Dots) -> Option<f64> {
    (dots.value.quantity == Quantity::Ratio).then_some(1.0)
}

/// The axis. Of ratios it shows whole intervals; of others their ends where
/// they are no farther from the figures than a factor of three, or half of the
/// axis: wider ones are cut at its end.
fn scale(dots: &Dots, range: (f64, f64)) -> Scale {
    if dots.is_of_change() {
        return forest::scale(dots, range);
    }
    let one = one(dots);
    let figures = || {
        let of = |dot: &Dot| {
            let others: Vec<f64> = dot.others.iter().map(|other| other.value).collect();
            dot.value.into_iter().chain(others)
        };
        dots.rows.iter().flat_map(of)
    };
    let placed = figures().filter(|value| !dots.value.log || *value > 0.0);
    let reach = span(placed).map(|(low, high)| match dots.value.log {
        true => low / 3.0..=high * 3.0,
        false => low.min(0.0)..=high * 1.5,
    });
    let ends = dots.rows.iter().flat_map(|dot| [dot.low, dot.high]);
    let is_near = |end: &f64| reach.as_ref().is_some_and(|reach| reach.contains(end));
    let ends = ends.flatten().filter(|end| one.is_some() || is_near(end));
    let whole = WHOLE.into_iter().filter(|_| dots.labelled);
    Scale::over(&dots.value, figures().chain(one).chain(whole).chain(ends), range)
}

/// Whether an interval is cut at the end of the axis.
pub(super) fn cuts(dots: &Dots) -> bool {
    let x = scale(dots, (0.0, 1.0));
    let cuts = |dot: &Dot| dot.value.is_some() && x.cuts(dot.low, dot.high);
    match dots.is_of_change() {
        true => forest::drawn(dots).any(|(_, dot)| cuts(dot)),
        false => dots.rows.iter().any(cuts),
    }
}

/// A line's own figure: its interval, its mark, its number at the right.
fn draw_figure(
    pen: &mut Pen,
    axis: &Axis,
    dot: &Dot,
    (y, number): (f64, f64),
    (x, right): (&Scale, f64),
    wide: f64,
) {
    let theme = pen.theme;
    let at = (wide - MARGIN - 2.0, number);
    let Some(value) = dot.value else {
        // The reason stands below the picture.
        let text = match dot.verdict {
            None => "not here".to_owned(),
            Some(_) => shorten(&dot.reason, SMALL, wide - MARGIN - 2.0 - right - 8.0),
        };
        pen.text(at, Anchor::End, SMALL, theme.soft(), &text);
        return;
    };
    let doubtful = dot.verdict.is_some_and(|verdict| verdict != Verdict::Ok)
        || dot.finding == Some(finding::Verdict::CannotTell);
    let ink = if doubtful { theme.soft() } else { theme.ink() };
    let text = match dot.finding {
        Some(_) => forest::figure(dot),
        None => figure_text(axis.quantity, value, dot),
    };
    pen.text(at, Anchor::End, SMALL, ink, &text);
    let LegendEntry { colour, shape, .. } = match dot.finding {
        Some(found) => finding_entry(theme, found),
        None => here(theme),
    };
    if dot.low.is_some() || dot.high.is_some() {
        let low = x.at_most(dot.low.unwrap_or(value));
        let high = x.at_most(dot.high.unwrap_or(f64::MAX));
        let style = r#" stroke-width="1.6""#;
        pen.line((low, y), (high, y), colour, style);
    }
    if let Some(x) = x.position(value) {
        let paint = Paint { stroke: colour, fill: if doubtful { theme.ground() } else { colour } };
        pen.mark(shape, (x, y), 3.4, &paint);
    }
}

/// A figure with no more digits than its interval supports.
fn figure_text(quantity: Quantity, value: f64, dot: &Dot) -> String {
    let half = dot.low.zip(dot.high).map_or(0.0, |(low, high)| (high - low) / 2.0);
    if quantity == Quantity::Ratio {
        return format!("{}x", digits(value, half));
    }
    in_unit(quantity, value, |in_unit| {
        let half = if value == 0.0 { half } else { half * in_unit / value };
        plain_zero(format!("{in_unit:.*}", decimals(in_unit, half)))
    })
}

fn has_figure(dot: &Dot) -> bool {
    dot.value.is_some() || !dot.others.is_empty()
}

/// Names of all others, in the order of their first mention.
fn others(rows: &[Dot]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for other in rows.iter().flat_map(|dot| &dot.others) {
        if !names.contains(&other.name.as_str()) {
            names.push(&other.name);
        }
    }
    names
}

/// What has no figure of its own, by reason.
pub(super) fn without_figure(dots: &Dots) -> Vec<String> {
    let without = dots.rows.iter().filter(|dot| dot.value.is_none());
    grouped(without.map(|dot| (dot.reason.as_str(), dot.id.as_str())))
        .into_iter()
        .map(|(reason, ids)| match reason {
            "" => format!("{}: no figure.", ids.join(", ")),
            reason => format!("{}: {reason}.", ids.join(", ")),
        })
        .collect()
}

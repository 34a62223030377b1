//! Figures of two sides joined by lines, old at the left: the name and the old figure on the left, the new one on the
//! right, apart from each other, each led to its place.

use super::dots::finding_entry;
use super::frame::{Area, MARGIN, Room, SMALL, legend};
use super::legend::LegendEntry;
use super::pen::{Anchor, Paint, Pen, shorten, width};
use crate::axis::Scale;
use crate::chart::{Slope, Slopes, forest};
use crate::quantity::axis_number;
use model::compare::finding::Verdict;

/// Between labels, where nothing else is asked for.
const LINE: f64 = 15.0;
/// The plot is no lower.
const LEAST: f64 = 220.0;
/// Room of the lines that lead from a place to its label, and of the sides' names.
const LEAD: f64 = 16.0;
const HEAD: f64 = 20.0;
/// Share of the width for names and old figures at most.
const NAMES: f64 = 0.5;

/// Draws below `top`; gives the y of the lower end.
pub(super) fn draw_slopes(pen: &mut Pen, slopes: &Slopes, room: Room) -> f64 {
    let theme = pen.theme;
    let found: Vec<Verdict> = forest::ORDER
        .into_iter()
        .filter(|kind| slopes.lines.iter().any(|line| line.finding == *kind))
        .collect();
    let entries: Vec<LegendEntry> = found.iter().map(|kind| finding_entry(theme, *kind)).collect();
    let top = legend(pen, room, &entries) + HEAD;
    let number = |value: f64| axis_number(slopes.value.quantity, value);
    let figures = |side: usize| {
        let widths =
            slopes.lines.iter().map(move |line| width(&number(line.ends[side].value), SMALL));
        widths.fold(0.0, f64::max)
    };
    let names = slopes.lines.iter().map(|line| width(&line.name, SMALL)).fold(0.0, f64::max);
    let most = room.wide * NAMES - figures(0) - LEAD;
    let names = names.min(most);
    let needed = (LINE * slopes.lines.len() as f64).max(LEAST);
    let high = room.high.map_or(needed, |high| (high - (top - room.top) - MARGIN).max(needed));
    let area = Area {
        left: MARGIN + names + 8.0 + figures(0) + LEAD,
        right: room.wide - MARGIN - figures(1) - LEAD,
        top,
        bottom: top + high,
    };
    let values = || slopes.lines.iter().flat_map(|line| line.ends.map(|end| end.value));
    let y = Scale::over(&slopes.value, values(), (area.bottom - LINE / 2.0, area.top + LINE / 2.0));
    spines(pen, slopes, &area, room.wide);
    let places = |side: usize| {
        let places = slopes.lines.iter().map(|line| y.at_most(line.ends[side].value));
        places.collect::<Vec<f64>>()
    };
    let ends = [places(0), places(1)];
    let labels = ends.clone().map(|ends| spread(&ends, LINE, (area.top, area.bottom)));
    // What differs lies above the others.
    let order = found.iter().enumerate().rev();
    for (series, kind) in order {
        for (at, line) in slopes.lines.iter().enumerate().filter(|(_, line)| line.finding == *kind)
        {
            let of = |all: &[Vec<f64>; 2]| [all[0][at], all[1][at]];
            pen.series(series, |pen| {
                slope(pen, (at, line), of(&ends), &area);
                let leads = [(area.left, -LEAD), (area.right, LEAD)];
                for ((x, lead), (end, label)) in
                    leads.into_iter().zip(of(&ends).into_iter().zip(of(&labels)))
                {
                    let (from, to) = ((x + lead * 0.3, end), (x + lead * 0.85, label));
                    let colour = match *kind {
                        Verdict::Different => finding_entry(theme, *kind).colour,
                        _ => theme.soft(),
                    };
                    pen.line(from, to, colour, r#" stroke-width="0.7" stroke-opacity="0.55""#);
                }
                let ink = if *kind == Verdict::Different { theme.ink() } else { theme.soft() };
                let [from, to] = of(&labels).map(|y| y + SMALL * 0.36);
                let name = shorten(&line.name, SMALL, names);
                let figure = number(line.ends[0].value);
                let start = area.left - LEAD - figures(0) - 8.0;
                pen.text((start, from), Anchor::End, SMALL, ink, &name);
                pen.text((area.left - LEAD, from), Anchor::End, SMALL, ink, &figure);
                let figure = number(line.ends[1].value);
                pen.text((area.right + LEAD, to), Anchor::Start, SMALL, ink, &figure);
            });
        }
    }
    ticks(pen, &y, &area);
    area.bottom + MARGIN
}

/// The two upright lines with the names of the sides.
fn spines(pen: &mut Pen, slopes: &Slopes, area: &Area, wide: f64) {
    let (theme, y) = (pen.theme, area.top - 6.0);
    let middle = (area.left + area.right) / 2.0;
    let [old, new] = &slopes.sides;
    let old = shorten(old, SMALL, middle - MARGIN - 8.0);
    pen.text(
        (area.left.max(MARGIN + width(&old, SMALL)), y),
        Anchor::End,
        SMALL,
        theme.ink(),
        &old,
    );
    let new = shorten(new, SMALL, wide - MARGIN - middle - 8.0);
    let x = area.right.min(wide - MARGIN - width(&new, SMALL));
    pen.text((x, y), Anchor::Start, SMALL, theme.ink(), &new);
    for x in [area.left, area.right] {
        pen.line((x, area.top), (x, area.bottom), theme.grid(), "");
    }
}

/// The numbers of the axis, in the middle of the plot: both sides have the room of labels.
fn ticks(pen: &mut Pen, y: &Scale, area: &Area) {
    let (theme, middle) = (pen.theme, (area.left + area.right) / 2.0);
    for tick in y.ticks(6) {
        let Some(at) = y.position(tick.value) else { continue };
        let half = width(&tick.label, SMALL) / 2.0 + 3.0;
        pen.rect([middle - half, at - SMALL * 0.7, 2.0 * half, SMALL * 1.4], theme.ground());
        pen.text((middle, at + SMALL * 0.36), Anchor::Middle, SMALL, theme.soft(), &tick.label);
    }
}

/// The line of an operation with a mark at both ends.
fn slope(pen: &mut Pen, (row, line): (usize, &Slope), [from, to]: [f64; 2], area: &Area) {
    let LegendEntry { colour, shape, .. } = finding_entry(pen.theme, line.finding);
    let style = match line.finding {
        Verdict::Different => r#" stroke-width="2""#,
        Verdict::SameWithinNoise => "",
        Verdict::CannotTell => r#" stroke-dasharray="4 3""#,
    };
    pen.line((area.left, from), (area.right, to), colour, style);
    let fill = if line.finding == Verdict::CannotTell { pen.theme.ground() } else { colour };
    pen.mark_row(Some(row));
    for at in [(area.left, from), (area.right, to)] {
        pen.mark(shape, at, 3.0, &Paint { stroke: colour, fill });
    }
    pen.mark_row(None);
}

/// Places moved so far that neighbours have this gap, none farther than needed: isotonic regression of the places
/// less the gaps before them.
fn spread(places: &[f64], gap: f64, (top, bottom): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&a, &b| places[a].total_cmp(&places[b]));
    // Sum and number of those that touch.
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for (rank, &at) in order.iter().enumerate() {
        let mut group = (places[at] - gap * rank as f64, 1);
        while let Some(before) =
            groups.pop_if(|before| before.0 / before.1 as f64 >= group.0 / group.1 as f64)
        {
            group = (group.0 + before.0, group.1 + before.1);
        }
        groups.push(group);
    }
    let room = bottom - gap * places.len() as f64;
    let shifts = groups.iter().flat_map(|(sum, count)| {
        let shift = (sum / *count as f64).min(room + gap / 2.0).max(top + gap / 2.0);
        std::iter::repeat_n(shift, *count)
    });
    let mut moved = vec![0.0; places.len()];
    for ((rank, &at), shift) in order.iter().enumerate().zip(shifts) {
        moved[at] = shift + gap * rank as f64;
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn labels_do_not_touch_and_stand_where_they_belong() {
        let near = |found: Vec<f64>, expected: &[f64]| {
            let alike = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
            assert!(alike && found.len() == expected.len(), "{found:?}, not {expected:?}");
        };
        let room = (0.0, 100.0);
        near(spread(&[90.0, 10.0, 40.0], 10.0, room), &[90.0, 10.0, 40.0]);
        near(spread(&[50.0, 50.0], 10.0, room), &[45.0, 55.0]);
        near(spread(&[50.0, 51.0, 52.0, 20.0], 10.0, room), &[41.0, 51.0, 61.0, 20.0]);
        // At the ends they move inwards.
        near(spread(&[0.0, 0.0], 10.0, room), &[5.0, 15.0]);
        near(spread(&[100.0, 100.0], 10.0, room), &[85.0, 95.0]);
        near(spread(&[], 10.0, room), &[]);
        let many: Vec<f64> = (0..28).map(|at| f64::from(at * at % 17)).collect();
        let mut moved = spread(&many, 15.0, (0.0, 420.0));
        moved.sort_by(f64::total_cmp);
        assert!(moved.windows(2).all(|pair| pair[1] - pair[0] > 14.999), "{moved:?}");
        assert!(moved[0] >= 0.0 && moved[27] <= 420.0);
    }
}

//! Shares of time over time, one a line, stacked from below.

use super::frame::{Area, MARGIN, Room, SMALL, legend};
use super::legend::{LegendEntry, Sample};
use super::pen::{Anchor, Pen, shorten};
use super::rows::PlacedRows;
use crate::chart::{Strip, Strips};

/// Height of a line, where nothing else is asked for.
const LINE: f64 = 30.0;
/// The same of many lines.
const MANY_LINE: f64 = 16.0;
const MANY: usize = 16;
/// Between lines, and above the name of a group.
const GAP: f64 = 5.0;
const GROUP: f64 = 18.0;
/// Places of the parts among the colours: far apart in hue and in grey.
const COLOURS: [usize; 4] = [5, 1, 2, 3];

/// Draws below `top`; gives the y of the lower end.
pub(super) fn draw_strips(pen: &mut Pen, strips: &Strips, room: Room) -> f64 {
    let theme = pen.theme;
    let colour = |part: usize| theme.colour(COLOURS[part % COLOURS.len()]);
    let entry = |(at, name): (usize, &String)| LegendEntry {
        name: name.clone(),
        colour: colour(at),
        shape: 1,
        sample: Sample::Box,
    };
    let unknown = strips.strips.iter().flat_map(|strip| &strip.columns);
    let unknown = unknown.into_iter().any(Vec::is_empty).then(|| LegendEntry {
        name: "not known".into(),
        colour: theme.soft(),
        shape: 1,
        sample: Sample::Line(""),
    });
    let entries = strips.parts.iter().enumerate().map(entry);
    let entries: Vec<LegendEntry> = entries.chain(unknown).collect();
    let top = legend(pen, room, &entries) + 6.0;
    let line = match strips.strips.len() {
        0..=MANY => LINE,
        _ => MANY_LINE,
    };
    let groups = strips.strips.chunk_by(|a, b| a.group == b.group);
    let headed = groups.clone().filter(|group| !group[0].group.is_empty());
    let needed = strips.strips.len() as f64 * (line + GAP) + headed.count() as f64 * GROUP;
    let room = room.below(top);
    let names = strips.strips.iter().map(|strip| &*strip.name);
    let rows = PlacedRows::draw_axis(pen, room, names, needed, (&strips.x, strips.length_ns));
    let (left, stretch) = (rows.left, rows.stretch);
    let right = rows.x.at_most(strips.length_ns);
    let mut y = top;
    for group in groups {
        if !group[0].group.is_empty() {
            y += GROUP * stretch;
            let text = shorten(&group[0].group, SMALL, room.wide - 2.0 * MARGIN);
            let at = (MARGIN, y - 5.0);
            pen.text(at, Anchor::Start, SMALL, theme.soft(), &text);
        }
        for strip in group {
            let high = line * stretch;
            rows.draw_name(pen, &strip.name, y, high);
            pen.rect([left, y, right - left, high], theme.band(0));
            let place = Area { left, right, top: y, bottom: y + high };
            for part in 0..strips.parts.len() {
                pen.series(part, |pen| {
                    for outline in outlines(strip, part, place) {
                        pen.area(&outline, colour(part), "");
                    }
                });
            }
            for (from, to) in not_known(strip, place) {
                let y = y + high / 2.0;
                pen.line((from, y), (to, y), theme.soft(), "");
            }
            y += (line + GAP) * stretch;
        }
    }
    rows.end
}

fn column_width(strip: &Strip, place: Area) -> f64 {
    (place.right - place.left) / strip.columns.len().max(1) as f64
}

/// The outlines of a part, one for each stretch in which it is more than nothing.
fn outlines(strip: &Strip, part: usize, place: Area) -> Vec<Vec<(f64, f64)>> {
    let column = column_width(strip, place);
    let y = |shares: &[f64], parts: usize| {
        let share: f64 = shares.iter().take(parts).sum();
        place.bottom - share * (place.bottom - place.top)
    };
    let is_drawn = |shares: &Vec<f64>| shares.get(part).is_some_and(|share| *share > 0.0);
    let mut outlines = Vec::new();
    let mut first = 0;
    for alike in strip.columns.chunk_by(|a, b| is_drawn(a) == is_drawn(b)) {
        if is_drawn(&alike[0]) {
            let (mut above, mut below) = (Vec::new(), Vec::new());
            for (at, shares) in alike.iter().enumerate() {
                let ends = [first + at, first + at + 1];
                let ends = ends.map(|end| place.left + end as f64 * column);
                step(&mut above, ends, y(shares, part + 1));
                step(&mut below, ends, y(shares, part));
            }
            above.extend(below.into_iter().rev());
            outlines.push(above);
        }
        first += alike.len();
    }
    outlines
}

/// Goes on at this height: two corners, unless the last step was as high.
fn step(edge: &mut Vec<(f64, f64)>, [from, to]: [f64; 2], y: f64) {
    match edge.last_mut() {
        Some(last) if last.1 == y => last.0 = to,
        _ => edge.extend([(from, y), (to, y)]),
    }
}

/// The stretches without a figure.
fn not_known(strip: &Strip, place: Area) -> Vec<(f64, f64)> {
    let column = column_width(strip, place);
    let mut stretches: Vec<(f64, f64)> = Vec::new();
    let mut from = place.left;
    for alike in strip.columns.chunk_by(|a, b| a.is_empty() == b.is_empty()) {
        let to = from + alike.len() as f64 * column;
        if alike[0].is_empty() {
            stretches.push((from, to));
        }
        from = to;
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(columns: &[&[f64]]) -> Strip {
        Strip {
            name: "CPU 0".into(),
            group: String::new(),
            mean: Vec::new(),
            columns: columns.iter().map(|shares| shares.to_vec()).collect(),
        }
    }

    const PLACE: Area = Area { left: 0.0, right: 5.0, top: 0.0, bottom: 10.0 };

    #[test]
    fn outlines_stand_on_the_part_below() {
        let strip = strip(&[&[0.5, 0.1], &[0.5, 0.1], &[0.0, 0.2], &[], &[0.0, 1.0]]);
        assert_eq!(
            outlines(&strip, 0, PLACE),
            [[(0.0, 5.0), (2.0, 5.0), (2.0, 10.0), (0.0, 10.0)]]
        );
        assert_eq!(
            outlines(&strip, 1, PLACE),
            [
                vec![
                    (0.0, 4.0),
                    (2.0, 4.0),
                    (2.0, 8.0),
                    (3.0, 8.0),
                    (3.0, 10.0),
                    (2.0, 10.0),
                    (2.0, 5.0),
                    (0.0, 5.0),
                ],
                vec![(4.0, 0.0), (5.0, 0.0), (5.0, 10.0), (4.0, 10.0)],
            ]
        );
        assert_eq!(not_known(&strip, PLACE), [(3.0, 4.0)]);
    }
}

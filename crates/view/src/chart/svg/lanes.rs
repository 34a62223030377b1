//! Threads over time, one a line: states differ in colour and in height.

use super::frame::{Room, legend};
use super::legend::{LegendEntry, Sample};
use super::pen::{Anchor, Pen, width};
use super::rows::PlacedRows;
use super::theme::Theme;
use crate::axis::Scale;
use crate::chart::{Lane, LaneSpan, Lanes};
use crate::shade::{CALL, Half, MEMORY, Shade, state_shade};
use model::trace::StateKind;

/// Height of a lane, and of the line of signposts above it.
const LANE: f64 = 14.0;
const SIGNPOSTS: f64 = 13.0;
/// Height of the bands below a lane, system calls and operations on memory.
const BAND: f64 = 11.0;
/// However short something is, it is seen.
const LEAST_HIGH: f64 = 1.0;
/// What is between lanes.
const GAP: f64 = 4.0;
/// Text of signposts.
const TINY: f64 = 9.5;

/// Draws below `top`; gives the y of the lower end.
pub(super) fn draw_lanes(pen: &mut Pen, lanes: &Lanes, room: Room) -> f64 {
    let theme = pen.theme;
    let top = legend(pen, room, &entries(lanes, theme)) + 6.0;
    let needed: f64 = lanes.lanes.iter().map(|lane| above(lane) + LANE + below(lane) + GAP).sum();
    let names = lanes.lanes.iter().map(|lane| &*lane.name);
    let room = room.below(top);
    let rows = PlacedRows::draw_axis(pen, room, names, needed, (&lanes.x, lanes.length_ns));
    let (x, stretch) = (&rows.x, rows.stretch);
    let mut y = top;
    for lane in &lanes.lanes {
        y += above(lane) * stretch;
        signposts(pen, lane, x, y);
        let high = LANE * stretch;
        rows.draw_name(pen, &lane.name, y, high);
        for state in &lane.states {
            let (from, to) = (x.at_most(state.from_ns), x.at_most(state.to_ns));
            let shade = state_shade(state.kind);
            let part = high * state.share.unwrap_or(shade.height);
            // A state of a share stands, the others lie in the middle.
            let y = match state.share {
                Some(_) => y + high - part,
                None => y + (high - part) / 2.0,
            };
            if shade.rails && state.share.is_none() {
                pen.rails([from, y, to - from, part], theme.shade(shade));
            } else {
                pen.rect([from, y, to - from, part], theme.shade(shade));
            }
            if let Half::Of(other) = shade.half {
                let lower = [from, y + part / 2.0, to - from, part / 2.0];
                pen.rect(lower, theme.shade(state_shade(other)));
            }
        }
        y += LANE * stretch;
        for (spans, shade) in [(&lane.calls, CALL), (&lane.memory, MEMORY)] {
            if !spans.is_empty() {
                band(pen, spans, shade, x, (y, BAND * stretch));
                y += BAND * stretch;
            }
        }
        y += GAP * stretch;
    }
    rows.end
}

/// Lines of signposts above a lane: of those within each other each has one.
const SIGNPOST_LINES: usize = 3;

/// The line of each signpost, the outer ones first; the last has those that find no other free.
fn signpost_lines(lane: &Lane) -> Vec<usize> {
    let mut ends_ns: Vec<f64> = Vec::new();
    let line = |(from_ns, to_ns, _): &(f64, f64, String)| {
        let free = ends_ns.iter().position(|end_ns| end_ns <= from_ns);
        let line = free.unwrap_or(ends_ns.len()).min(SIGNPOST_LINES - 1);
        match ends_ns.get_mut(line) {
            Some(end_ns) => *end_ns = end_ns.max(*to_ns),
            None => ends_ns.push(*to_ns),
        }
        line
    };
    lane.signposts.iter().map(line).collect()
}

fn above(lane: &Lane) -> f64 {
    let lines = signpost_lines(lane).into_iter().max().map_or(0, |last| last + 1);
    SIGNPOSTS * lines as f64
}

fn below(lane: &Lane) -> f64 {
    BAND * [&lane.calls, &lane.memory].iter().filter(|spans| !spans.is_empty()).count() as f64
}

/// What a thread did below its states, as high as its share of the time; its name where that has
/// room.
fn band(pen: &mut Pen, spans: &[LaneSpan], shade: Shade, x: &Scale, (top, high): (f64, f64)) {
    let theme = pen.theme;
    for span in spans {
        let (from, to) = (x.at_most(span.from_ns), x.at_most(span.to_ns));
        let part = ((high - 1.0) * span.share).max(LEAST_HIGH);
        pen.rect([from, top + high - part, to - from, part], theme.shade(shade));
        if span.share > 0.9 && width(&span.name, TINY) + 6.0 <= to - from {
            let at = (from + 3.0, top + high - 2.5);
            pen.text(at, Anchor::Start, TINY, theme.ground(), &span.name);
        }
    }
}

/// The signposts of a lane above it: a stroke where each begins and ends, its name
/// where that has room.
fn signposts(pen: &mut Pen, lane: &Lane, x: &Scale, bottom: f64) {
    let theme = pen.theme;
    let lines = signpost_lines(lane);
    let last = lines.iter().copied().max().unwrap_or(0);
    let lowest = bottom;
    for ((from_ns, to_ns, name), line) in lane.signposts.iter().zip(lines) {
        let bottom = lowest - (last - line) as f64 * SIGNPOSTS;
        let (from, to) = (x.at_most(*from_ns), x.at_most(*to_ns));
        let middle = bottom - SIGNPOSTS / 2.0 + 2.0;
        pen.line((from, middle), (to, middle), theme.soft(), "");
        for end in [from, to] {
            pen.line((end, bottom - SIGNPOSTS + 3.0), (end, bottom), theme.soft(), "");
        }
        let wide = width(name, TINY);
        if wide + 8.0 > to - from {
            continue;
        }
        let left = (from + to - wide) / 2.0;
        let ground = [left - 2.0, bottom - SIGNPOSTS + 2.0, wide + 4.0, SIGNPOSTS - 2.0];
        pen.rect(ground, theme.ground());
        let at = ((from + to) / 2.0, bottom - 2.5);
        pen.text(at, Anchor::Middle, TINY, theme.ink(), name);
    }
}

/// The states that occur.
fn entries(lanes: &Lanes, theme: Theme) -> Vec<LegendEntry> {
    let states = || lanes.lanes.iter().flat_map(|lane| &lane.states);
    let occurs = |kind: &StateKind| states().any(|state| state.kind == *kind);
    let shares = states().any(|state| state.share.is_some());
    let entry = |shade: Shade| LegendEntry {
        name: shade.name.to_owned(),
        colour: theme.shade(shade),
        shape: 1,
        sample: match shade.half {
            Half::Of(other) => Sample::Halves(theme.shade(state_shade(other))),
            _ if shade.rails => Sample::Rails,
            _ => Sample::Box,
        },
    };
    let of_kind = |kind: StateKind| match shares {
        true => LegendEntry { name: "share of time on a CPU".into(), ..entry(state_shade(kind)) },
        false => entry(state_shade(kind)),
    };
    let is_there =
        |spans: fn(&Lane) -> &[LaneSpan]| lanes.lanes.iter().any(|l| !spans(l).is_empty());
    let bands = [(CALL, is_there(|lane| &lane.calls)), (MEMORY, is_there(|lane| &lane.memory))];
    let bands = bands.into_iter().filter(|(_, there)| *there).map(|(shade, _)| entry(shade));
    StateKind::ALL.into_iter().filter(occurs).map(of_kind).chain(bands).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signposts_within_others_have_a_line_of_their_own() {
        let signpost = |from_ns, to_ns| (from_ns, to_ns, String::new());
        let lines = |signposts: &[(f64, f64, String)]| {
            signpost_lines(&Lane {
                name: String::new(),
                states: Vec::new(),
                signposts: signposts.to_vec(),
                calls: Vec::new(),
                memory: Vec::new(),
            })
        };
        let nested = [
            signpost(0.0, 10.0),
            signpost(0.0, 3.0),
            signpost(3.0, 10.0),
            signpost(4.0, 5.0),
            signpost(4.5, 5.0),
            signpost(10.0, 12.0),
        ];
        assert_eq!(lines(&nested), [0, 1, 1, 2, 2, 0]);
        assert_eq!(lines(&[]), [0; 0]);
    }
}

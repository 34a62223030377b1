//! Threads over time, one a line: states differ in colour and in height.

use super::frame::{Room, legend};
use super::legend::{Entry, Sample};
use super::pen::{Anchor, Pen, width};
use super::rows::Rows;
use super::theme::Theme;
use crate::axis::Scale;
use crate::chart::{Lane, Lanes};
use model::trace::Kind;

/// Height of a lane, and of the line of signposts above it.
const LANE: f64 = 14.0;
const SIGNPOSTS: f64 = 13.0;
/// What is between lanes.
const GAP: f64 = 4.0;
/// Text of signposts.
const TINY: f64 = 9.5;

/// Draws below `top`; gives the y of the lower end.
pub(super) fn draw(pen: &mut Pen, lanes: &Lanes, room: Room) -> f64 {
    let theme = pen.theme;
    let top = legend(pen, room, &entries(lanes, theme)) + 6.0;
    let needed: f64 = lanes.lanes.iter().map(|lane| above(lane) + LANE + GAP).sum();
    let names = lanes.lanes.iter().map(|lane| &*lane.name);
    let room = room.below(top);
    let rows = Rows::draw(pen, room, names, needed, (&lanes.x, lanes.length_ns));
    let (x, stretch) = (&rows.x, rows.stretch);
    let mut y = top;
    for lane in &lanes.lanes {
        y += above(lane) * stretch;
        signposts(pen, lane, x, y);
        let high = LANE * stretch;
        rows.name(pen, &lane.name, y, high);
        for state in &lane.states {
            let (from, to) = (x.at_most(state.from_ns), x.at_most(state.to_ns));
            let part = high * state.share.unwrap_or(height(state.kind));
            // A state of a share stands, the others lie in the middle.
            let y = match state.share {
                Some(_) => y + high - part,
                None => y + (high - part) / 2.0,
            };
            pen.rect([from, y, to - from, part], colour(state.kind, theme));
        }
        y += (LANE + GAP) * stretch;
    }
    rows.end
}

fn above(lane: &Lane) -> f64 {
    if lane.signposts.is_empty() { 0.0 } else { SIGNPOSTS }
}

/// The signposts of a lane above it: a stroke where each begins and ends, its name
/// where that has room.
fn signposts(pen: &mut Pen, lane: &Lane, x: &Scale, bottom: f64) {
    let theme = pen.theme;
    for (from_ns, to_ns, name) in &lane.signposts {
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
fn entries(lanes: &Lanes, theme: Theme) -> Vec<Entry> {
    let states = || lanes.lanes.iter().flat_map(|lane| &lane.states);
    let occurs = |kind: &Kind| states().any(|state| state.kind == *kind);
    let shares = states().any(|state| state.share.is_some());
    let entry = |kind: Kind| Entry {
        name: match shares {
            true => "share of time on a CPU".to_owned(),
            false => kind.name().to_owned(),
        },
        colour: colour(kind, theme),
        shape: 1,
        sample: Sample::Box,
    };
    Kind::ALL.into_iter().filter(occurs).map(entry).collect()
}

/// The share of a lane's height.
fn height(kind: Kind) -> f64 {
    match kind {
        Kind::Running => 1.0,
        Kind::Runnable | Kind::Preempted | Kind::Yielded | Kind::PreemptedOrYielded => 0.6,
        Kind::Lost | Kind::Stopped => 0.4,
        Kind::Blocked | Kind::BlockedOrRunnable | Kind::Unknown => 0.12,
    }
}

fn colour(kind: Kind, theme: Theme) -> &'static str {
    match kind {
        Kind::Running => theme.colour(0),
        Kind::Runnable => theme.colour(1),
        Kind::Preempted | Kind::PreemptedOrYielded => theme.colour(3),
        Kind::Yielded => theme.colour(7),
        Kind::Stopped => theme.colour(4),
        Kind::Lost => theme.colour(6),
        Kind::Blocked | Kind::Unknown => theme.soft(),
        Kind::BlockedOrRunnable => theme.colour(5),
    }
}

//! The report of a fleet as blocks: rows over hosts, outliers, groups, what is missing; `paired.rs` for two
//! campaigns. The terminal prints these blocks, and `page.rs` puts them into the HTML page. The values are
//! computed in `figures/`.

mod apart;
mod axis;
mod groups;
mod hosts;
mod paired;
mod rows;
mod summary;
#[cfg(test)]
mod tests;

pub(crate) use apart::{Hosts, apart};
pub(crate) use axis::StripAxis;
pub(crate) use groups::groups;
pub(crate) use hosts::{host_facts, hosts_table};
pub use paired::paired;
pub(crate) use rows::row_tables;
pub(crate) use summary::{method, missing_hosts, summary};

use crate::figures::Fleet;
use model::figure;
use model::share;
use model::stats::Interval;
use model::story::Block;
use model::unit::Unit;
use view::render::joined;
use view::terminal::NO_BREAK;

/// The page of a terminal: the rows first, so that what follows from them stands last.
pub fn fleet(fleet: &Fleet) -> Vec<Block> {
    let axis = StripAxis::of_fleet(fleet);
    joined(vec![
        summary(fleet),
        row_tables(fleet, axis),
        apart(&Hosts::from_fleet(fleet), Length::Short),
        groups(fleet, axis, Length::Short),
        missing_hosts(fleet),
        method(fleet),
    ])
}

/// How much of what is found is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// A terminal: the first few.
    Short,
    Whole,
}

impl Length {
    /// Things of one kind that are named.
    fn most_named(self) -> usize {
        match self {
            Length::Short => 5,
            Length::Whole => 40,
        }
    }
}

/// From this ratio on changes are factors.
const FACTOR: f64 = 2.0;

/// A ratio of times as a change: `+15.0 %`, `-3.2 %`, `2.4x`.
pub(super) fn change(ratio: f64) -> String {
    match ratio >= FACTOR {
        true => format!("{ratio:.1}x"),
        // Never at the end of a line without its unit.
        false => share::change(ratio).replace(' ', &NO_BREAK.to_string()),
    }
}

/// The interval of a change: `[+14.6, +16.3]` in percent, `[2.3x, 2.5x]`.
pub(super) fn ends(ratio: f64, interval: Interval) -> String {
    match ratio >= FACTOR {
        true => format!("[{:.1}x, {:.1}x]", interval.low, interval.high),
        false => share::change_ends(&interval),
    }
}

/// A figure in the row's unit.
pub(super) fn value_in_unit(unit: &Unit, ns: f64) -> String {
    figure::value_text(unit, unit.of_ns(ns))
}

/// Two figures in the row's unit, the smaller first.
pub(super) fn range(unit: &Unit, ns: [f64; 2]) -> String {
    let [a, b] = ns.map(|ns| unit.of_ns(ns));
    let [low, high] = [a.min(b), a.max(b)].map(|v| figure::value_text(unit, v));
    // The unit once, where it is that of both.
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, a)), Some((_, b))) if a == b => format!("{number} .. {high}"),
        _ => format!("{low} .. {high}"),
    }
}

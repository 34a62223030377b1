//! The report of a fleet as blocks: the rows over hosts, the hosts apart, the groups, what is missing.

mod apart;
mod groups;
mod hosts;
mod paired;
mod rows;
mod summary;

pub(crate) use apart::{Hosts, apart};
pub(crate) use groups::groups;
pub(crate) use hosts::{facts, host};
pub use paired::paired;
pub(crate) use rows::rows;
pub(crate) use summary::{method, missing, summary};

use super::joined;
use crate::terminal::layout::NO_BREAK;
use model::figure;
use model::fleet::{Fleet, FleetRow};
use model::share;
use model::stats::Interval;
use model::story::Block;
use model::unit::Unit;

/// The page of a terminal: the rows first, so that what follows from them stands last.
pub fn fleet(fleet: &Fleet) -> Vec<Block> {
    joined(vec![
        summary(fleet),
        rows(fleet),
        apart(&Hosts::of(fleet), Length::Short),
        groups(fleet, Length::Short),
        missing(fleet),
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
    fn named(self) -> usize {
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
pub(super) fn value(unit: &Unit, ns: f64) -> String {
    figure::value(unit, unit.of_ns(ns))
}

/// Two figures in the row's unit, the smaller first.
pub(super) fn range(unit: &Unit, ns: [f64; 2]) -> String {
    let [a, b] = ns.map(|ns| unit.of_ns(ns));
    let [low, high] = [a.min(b), a.max(b)].map(|v| figure::value(unit, v));
    // The unit once, where it is that of both.
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, a)), Some((_, b))) if a == b => format!("{number} .. {high}"),
        _ => format!("{low} .. {high}"),
    }
}

/// Where figures lie between the smallest and the largest of the row, by their logarithms.
pub(super) fn places(row: &FleetRow, ns: impl Iterator<Item = f64>) -> Vec<f64> {
    let ends = row.quantiles.map(|q| [q.min_ns, q.max_ns]);
    let Some([low, high]) = ends else {
        return Vec::new();
    };
    // Counts may be 0.
    let scale = |v: f64| if low > 0.0 { v.ln() } else { v };
    let wide = scale(high) - scale(low);
    ns.map(|v| if wide > 0.0 { (scale(v) - scale(low)) / wide } else { 0.5 }).collect()
}

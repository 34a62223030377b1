//! A row on a logarithmic axis of times, as the lists of a page draw it.

use crate::axis::{Scale, span};
use maud::{Markup, html};
use model::estimate::{Estimate, Verdict};
use model::overview::OverviewLine;
use model::run::{Outcome, Row};
use model::unit::Unit;

/// What is drawn, ns.
#[derive(Default)]
pub(super) struct Marks {
    /// Lines from here to there, each of a class: what it stands for.
    lines: Vec<(&'static str, [f64; 2])>,
    figure: Option<f64>,
    is_hollow: bool,
}

impl Marks {
    /// An operation: how far it reaches, and the middle of its samples.
    pub(super) fn of_line(line: &OverviewLine) -> Marks {
        let figure = line.ns.map(|ns| ns.value);
        let reach = figure.map(|ns| ("reach", [0.0, ns]));
        let spread = line.spread_ns.map(|(low, high)| ("spread", [low, high]));
        let is_hollow = line.is_uncertain();
        Marks { lines: reach.into_iter().chain(spread).collect(), figure, is_hollow }
    }

    /// A row that is a time: its interval and the middle of its samples, or between what its points
    /// are.
    pub(super) fn of_row(row: &Row) -> Marks {
        let Some(estimate) = row.estimate().filter(|_| row.unit == Unit::Time) else {
            let range = ends(row).filter(|_| row.unit == Unit::Time);
            let range = range.map(|(low, high)| ("range", [low, high]));
            return Marks { lines: range.into_iter().collect(), ..Marks::default() };
        };
        let ns = estimate.ns().filter(|_| estimate.below_ns.is_none());
        let spread = estimate.typical.map(|t| ("spread", [t.p10_ns, t.p90_ns]));
        let interval = ns.map(|ns| ("interval", [ns.low, ns.high]));
        let below = estimate.below_ns.map(|ns| ("below", [0.0, ns]));
        Marks {
            lines: spread.into_iter().chain(interval).chain(below).collect(),
            figure: ns.map(|ns| ns.value),
            is_hollow: estimate.verdict != Verdict::Ok,
        }
    }

    /// What the axis has to hold; an interval may begin left of it.
    pub(super) fn times_ns(&self) -> Vec<f64> {
        let begins = self.lines.iter().filter(|(class, _)| *class != "interval");
        let begins = begins.map(|(_, [from, _])| *from);
        let ends = self.lines.iter().map(|(_, [_, to])| *to);
        begins.chain(ends).chain(self.figure).collect()
    }

    /// The drawing, with the marks of others below its own. Everything in it stands as text beside
    /// it, so it is hidden from readers of screens.
    pub(super) fn draw(&self, axis: &Scale, others: &Markup) -> Markup {
        html! {
            svg aria-hidden="true" {
                @for (class, [from, to]) in &self.lines {
                    @if let Some(to) = axis.percent_at(*to) {
                        line.(class) x1=[axis.percent_at(*from)] x2=(to) {}
                    }
                }
                (others)
                @if let Some(x) = self.figure.and_then(|ns| axis.percent_at(ns)) {
                    circle.(if self.is_hollow { "hollow" } else { "ok" }) cx=(x) {}
                }
            }
        }
    }
}

/// Estimates of a curve's or a map's points.
pub(super) fn points(outcome: &Outcome) -> Vec<&Estimate> {
    match outcome {
        Outcome::Curve { points, .. } => points.iter().map(|p| &p.estimate).collect(),
        Outcome::Map { points, .. } => points.iter().map(|p| &p.estimate).collect(),
        _ => Vec::new(),
    }
}

/// The least and the most of a curve's or a map's points, in ns.
pub(super) fn ends(row: &Row) -> Option<(f64, f64)> {
    span(points(&row.outcome).into_iter().filter_map(Estimate::ns).map(|ns| ns.value))
}

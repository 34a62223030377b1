//! What a run knows of a row.

use super::counted::counted;
use model::estimate::{Estimate, Typical, Verdict};
use model::run::{Outcome, Row, Run};
use model::size;
use model::stats::Interval;
use model::unit::Unit;
use serde::Serialize;

/// What is known of a row on this machine.
#[derive(Serialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Here {
    /// It has a figure.
    Measured(Box<Measured>),
    /// It can't be measured here.
    Unavailable {
        /// Why, ready to stand behind `not available here: `.
        reason: String,
    },
    /// It was measured, and the result is invalid.
    Invalid { reason: String },
    /// The run has no figure of it.
    NotMeasured {
        reason: String,
        /// Whether measuring it could give one.
        measurable: bool,
    },
}

/// A figure of this machine.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Measured {
    /// `quiet` or `typical`: which of the two `ns` is.
    pub figure: &'static str,
    /// ns an operation, with its 95 % interval.
    pub ns: Interval,
    /// Median with quantiles, of everything that happened.
    pub typical: Option<Typical>,
    /// The mode that it is of, where modes lie apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// If set, the figure is not distinguishable from 0: it is below this.
    pub below_ns: Option<f64>,
    /// Operations that were really timed.
    pub iterations: Option<u64>,
    /// How long they took together, s.
    pub total_s: Option<f64>,
    /// How far to trust it.
    pub verdict: Verdict,
    /// Why, in words; empty when there is nothing to say.
    pub reason: String,
    /// Unit that the row is shown in.
    pub unit: Unit,
    /// Bytes that its name speaks of: `1MiB`.
    #[serde(skip)]
    pub bytes: Option<u64>,
    /// Everything that is known of it.
    #[serde(skip)]
    pub estimate: Estimate,
}

impl Here {
    /// The figure, if there is one.
    pub fn measured(&self) -> Option<&Measured> {
        match self {
            Here::Measured(measured) => Some(measured),
            _ => None,
        }
    }
}

/// What a run knows of a row, of a level of a curve (`memory.latency/L2`), or
/// of one point of it (`file.read_open/1KiB`).
pub fn here(run: Option<&Run>, id: &str) -> Here {
    let Some(run) = run else {
        return not_measured("not measured yet", true);
    };
    if let Some(row) = run.row(id) {
        return of_row(run, row);
    }
    // Not a row of its own: a level or a point of a curve.
    let Some((curve, variant)) = id.rsplit_once('/') else {
        return not_measured("not measured in this run", true);
    };
    match (run.row(curve), size::parse_size(variant)) {
        (None, _) => not_measured("not measured in this run", true),
        (Some(row), Some(x)) => of_point(run, row, id, x),
        (Some(row), None) => match &row.outcome {
            Outcome::Unavailable { reason } => unavailable(reason),
            _ => not_measured(&format!("{curve} shows no level {variant} in this run"), false),
        },
    }
}

fn of_row(run: &Run, row: &Row) -> Here {
    match &row.outcome {
        Outcome::Unavailable { reason } => unavailable(reason),
        Outcome::Figure(estimate) | Outcome::Level { estimate, .. } => {
            measured_here(run, &row.id, estimate, row.unit)
        }
        Outcome::Curve { .. } | Outcome::Map { .. } => {
            not_measured("a curve or map, not one figure", false)
        }
    }
}

fn of_point(run: &Run, row: &Row, id: &str, x: u64) -> Here {
    match &row.outcome {
        Outcome::Unavailable { reason } => unavailable(reason),
        Outcome::Curve { points, .. } => match points.iter().find(|point| point.x == x) {
            Some(point) => measured_here(run, id, &point.estimate, row.unit),
            None => match row.missing_at(x) {
                Some(reason) => unavailable(reason),
                None => not_measured("not among the points of this run's curve", true),
            },
        },
        _ => not_measured("not measured in this run", true),
    }
}

fn measured_here(run: &Run, id: &str, estimate: &Estimate, unit: Unit) -> Here {
    let Some(ns) = estimate.ns() else {
        if estimate.verdict == Verdict::Invalid {
            return Here::Invalid { reason: estimate.reason.clone() };
        }
        return not_measured(
            match estimate.reason.as_str() {
                "" => "no figure came of it in this run",
                reason => reason,
            },
            true,
        );
    };
    // A document whose columns don't fit together is refused when it is read.
    let counted = counted(run, id).ok().flatten();
    Here::Measured(Box::new(Measured {
        figure: match estimate.quiet {
            Some(_) => "quiet",
            None => "typical",
        },
        ns,
        typical: estimate.headline().map(|(typical, _)| typical),
        mode: estimate.mode().map(str::to_owned),
        below_ns: estimate.below_ns,
        iterations: counted.map(|c| c.operations),
        total_s: counted.map(|c| c.seconds),
        verdict: estimate.verdict,
        reason: estimate.reason.clone(),
        unit,
        bytes: id.rsplit_once('/').and_then(|(_, v)| size::parse_size(v)),
        estimate: estimate.clone(),
    }))
}

fn unavailable(reason: &str) -> Here {
    Here::Unavailable { reason: reason.to_owned() }
}

fn not_measured(reason: &str, measurable: bool) -> Here {
    Here::NotMeasured { reason: reason.to_owned(), measurable }
}

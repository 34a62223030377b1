//! A compared row as the document holds it.

use super::units::{in_unit, turned};
use crate::obstacle::Obstacle;
use crate::shared::{Has, RunFigure};
use model::compare::between::{Dispersion, Wander};
use model::compare::finding;
use model::compare::gate::Grown;
use model::compare::measure::Measure;
use model::compare::multiplicity::Family;
use model::compare::ratio::{Ratio, Side};
use model::estimate::Verdict;
use model::stats::Interval;
use model::summary::Key;
use model::unit::Unit;
use serde::Serialize;

/// A row with its answer.
#[derive(Serialize, Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRow {
    /// Public name.
    pub id: String,
    /// Point on the curve or map; empty for a single figure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<u64>,
    /// The mode, where this is one of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Which of the row's figures is compared; absent where there is none of
    /// the same kind on both sides, or one is published.
    pub measure: Option<Measure>,
    /// The mode whose median is compared, where the row ran in several that lie
    /// apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_mode: Option<String>,
    /// Unit of the two figures: `cycles`, `ns`, `bytes per cycle`, `GB/s`,
    /// `GHz`, `bytes`, or nothing where events are counted.
    pub unit: &'static str,
    /// A's figure.
    pub a: SideFigure,
    /// B's figure.
    pub b: SideFigure,
    /// B over A, in that unit.
    pub ratio: Option<RatioFigure>,
    /// The answer.
    pub finding: finding::Verdict,
    /// Which way, where it is different.
    pub direction: Option<Direction>,
    /// The rows that it was tested with.
    pub family: Family,
    /// The smallest change of its time (or count) that this comparison finds in
    /// 80 % of cases, as a share; absent where no interval could tell.
    pub detectable: Option<f64>,
    /// Against the gate, if one was set and the row is a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grown: Option<Grown>,
    /// What keeps it from saying more, one sentence each.
    pub why: Vec<Obstacle>,
}

impl ComparedRow {
    /// Row, point and mode in words.
    pub fn name(&self) -> String {
        let key = Key { id: self.id.clone(), at: self.at.clone(), mode: self.mode.clone() };
        key.label()
    }
}

model::words! {
    /// Which way B differs.
    #[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Direction: text {
        /// An operation takes longer, fewer bytes pass.
        Slower = "slower",
        /// The other way.
        Faster = "faster",
        /// More events or bytes: of itself neither good nor bad.
        More = "more",
        /// Fewer.
        Less = "less",
    }
}

impl Direction {
    pub(super) fn from_ratio(ratio: &Ratio, unit: &Unit) -> Direction {
        match (unit.is_time(), ratio.ln > 0.0) {
            (true, true) => Direction::Slower,
            (true, false) => Direction::Faster,
            (false, true) => Direction::More,
            (false, false) => Direction::Less,
        }
    }
}

/// One side's figure in the row's unit.
#[derive(Serialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideFigure {
    /// The figure; absent where it is below resolution, or there is none.
    pub value: Option<f64>,
    /// Lower end of its 95 % interval; absent where it was published.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Verdict of the row in each of the side's runs; empty where it was
    /// published.
    pub verdicts: Vec<Verdict>,
}

impl SideFigure {
    pub(super) fn from_side(
        has: &Has,
        side: &Side,
        measure: Option<Measure>,
        unit: &Unit,
        wander: Wander,
        dispersion: &Dispersion,
    ) -> SideFigure {
        if let Has::Published(published) = has {
            return SideFigure {
                value: published.measured_by(unit, measure).map(|cost| unit.of_ns(cost)),
                ..SideFigure::default()
            };
        }
        let figures: Vec<&RunFigure> = has.figures().collect();
        // One run's own interval is what `show` prints of it.
        let interval = match figures.as_slice() {
            [one] if measure != Some(Measure::TypicalP10) => {
                measure.and_then(|m| m.interval(&one.estimate))
            }
            _ => side.figure(wander, dispersion),
        };
        let interval = interval.map(|i| in_unit(&i, unit));
        SideFigure {
            value: interval.map(|i| i.value),
            low: interval.map(|i| i.low),
            high: interval.map(|i| i.high),
            verdicts: figures.iter().map(|f| f.estimate.verdict).collect(),
        }
    }
}

/// The ratio.
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RatioFigure {
    /// B over A in the row's unit; more is slower for times, faster for speeds,
    /// and just more for counts and bytes.
    pub value: f64,
    /// Lower end of the 95 % interval of this row alone; absent where nothing
    /// has a spread.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Chance of a ratio so far from 1 without a difference, for this row
    /// alone.
    pub p_value: Option<f64>,
    /// Standard error of its logarithm.
    pub standard_error: f64,
    /// Degrees of freedom of that.
    pub df: Option<f64>,
    /// How much more (or less) the row's runs vary than was assumed; 1 where
    /// no other run is known.
    pub dispersion: f64,
    /// Whether a reference workload was taken out.
    pub normalized: bool,
}

/// An interval whose ends are further apart than by this factor says nothing,
/// and its ends would be a column of digits.
const TOO_WIDE: f64 = 100.0;

/// What can be said of a ratio's interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ends {
    /// Nothing on either side has a spread.
    NoSpread,
    /// So wide that its ends say nothing.
    TooWide,
    /// The lower and the upper end.
    At([f64; 2]),
}

impl RatioFigure {
    /// The ends of its interval, where they are worth showing.
    pub fn interval_ends(&self) -> Ends {
        match (self.low, self.high) {
            (Some(low), Some(high)) if high <= low * TOO_WIDE => Ends::At([low, high]),
            (Some(_), Some(_)) => Ends::TooWide,
            _ => Ends::NoSpread,
        }
    }
}

impl RatioFigure {
    pub(super) fn from_ratio(
        ratio: &Ratio,
        unit: &Unit,
        dispersion: &Dispersion,
        normalized: bool,
    ) -> RatioFigure {
        let shown = |i: Interval| turned(&i, unit);
        let value = ratio.value();
        let alone = Interval { value, low: value, high: value };
        let interval = ratio.interval(0.95).map(shown);
        RatioFigure {
            value: shown(alone).value,
            low: interval.map(|i| i.low),
            high: interval.map(|i| i.high),
            p_value: ratio.p_value(),
            standard_error: ratio.standard_error(),
            df: Some(ratio.error.df).filter(|df| df.is_finite()),
            dispersion: dispersion.factor,
            normalized,
        }
    }
}

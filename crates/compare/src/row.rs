//! One row on both sides: the figures, their ratio, and what their verdicts
//! let be said.

mod basis;
mod compared;
mod limits;
mod units;

pub(crate) use basis::{Basis, FigureClass, Rule, family, readings};
pub use compared::{ComparedRow, Direction, Ends, RatioFigure, SideFigure};
pub(crate) use limits::{modes_shifted, no_ratio_of};
pub(crate) use units::{in_unit, turned, unit_name};

use super::shared::{Has, RunFigure};
use crate::obstacle::Obstacle;
use limits::{apart, flaws};
use model::compare::between::Dispersion;
use model::compare::finding;
use model::compare::gate::Grown;
use model::compare::measure::Measure;
use model::compare::multiplicity::Family;
use model::compare::ratio::{Ratio, Side};
use model::compare::runs::{Support, Tested, p_grown};
use model::estimate::{Estimate, Verdict};
use model::summary::Key;
use model::unit::Unit;

/// A row that both sides have.
pub(super) struct RowPair {
    key: Key,
    unit: Unit,
    family: Family,
    measure: Option<Measure>,
    by_mode: Option<String>,
    figures: [SideFigure; 2],
    ratio: Option<Ratio>,
    /// The ratio before a reference workload was taken out of it.
    raw: Option<Ratio>,
    normalized: bool,
    dispersion: Dispersion,
    support: Support,
    in_modes: bool,
    why: Vec<Obstacle>,
}

impl RowPair {
    /// The row, if both sides have it; `prior` is what is known of its kind.
    pub(super) fn from_sides(
        key: &Key,
        [a, b]: [&Has; 2],
        basis: &Basis,
        prior: Dispersion,
    ) -> Option<RowPair> {
        if matches!(a, Has::Nothing) || matches!(b, Has::Nothing) {
            return None;
        }
        let Basis { measure, wander, family, unit, .. } = *basis;
        let of_runs: Vec<&RunFigure> = [a, b].into_iter().flat_map(Has::figures).collect();
        let estimates: Vec<&Estimate> = of_runs.iter().map(|f| &f.estimate).collect();
        let published = [a, b].into_iter().find_map(Has::published);
        let dispersion = prior.of_row(basis.scatter);
        let sides = [a, b].map(|has| match has {
            Has::Published(p) => {
                Side { readings: p.reading(&unit, measure).into_iter().collect(), measured: false }
            }
            _ => Side {
                readings: measure.map_or_else(Vec::new, |m| readings(has.figures().as_slice(), m)),
                measured: true,
            },
        });
        let verdicts: Vec<Verdict> = estimates.iter().map(|e| e.verdict).collect();
        // A published figure has no samples that could lie apart from ours, and
        // what is inconclusive in the run itself is no figure to hold against it.
        let both_reliable = published.is_none() || !verdicts.contains(&Verdict::CannotTell);
        let by_state = measure == Some(Measure::TypicalP10) || basis.by_mode.is_some();
        let mut support = Support::of_compared(&verdicts, both_reliable && apart(a, b), by_state);
        let mut why = Vec::new();
        let shift = modes_shifted(&estimates);
        if let Some(shift) = &shift
            && support != Support::Nothing
        {
            // What differs may be how often each mode came, and nothing else.
            support = Support::Mixture { apart: false };
            why.push(shift.clone());
        }
        let same_unit = of_runs.iter().all(|f| f.unit == unit);
        if !same_unit {
            why.push(Obstacle::Units);
        }
        let no_ratio = published.and_then(|p| p.no_ratio.clone());
        let may = same_unit && no_ratio.is_none() && support != Support::Nothing;
        let ratio = Ratio::between(&sides[0], &sides[1], wander, &dispersion).filter(|_| may);
        let figures = [(a, &sides[0]), (b, &sides[1])].map(|(has, side)| {
            SideFigure::from_side(has, side, measure, &unit, wander, &dispersion)
        });
        why.extend(no_ratio);
        why.extend(flaws("A", a));
        why.extend(flaws("B", b));
        if ratio.is_none() && why.is_empty() {
            why.push(no_ratio_of(&estimates, measure));
        }
        Some(RowPair {
            key: key.clone(),
            unit,
            family,
            measure,
            by_mode: basis.by_mode.clone(),
            figures,
            ratio,
            raw: ratio,
            normalized: false,
            dispersion,
            support,
            in_modes: shift.is_some() || verdicts.contains(&Verdict::TwoStates),
            why,
        })
    }

    pub(super) fn id(&self) -> &str {
        &self.key.id
    }

    /// Row, point and mode in words.
    pub(super) fn name(&self) -> String {
        self.key.label()
    }

    /// Whether its modes must be compared one by one.
    pub(super) fn is_in_modes(&self) -> bool {
        self.in_modes
    }

    /// Whether more of it is slower: only then has a gate on time a say.
    pub(super) fn is_time(&self) -> bool {
        self.unit.is_time()
    }

    /// The test that it takes part in, if it has a ratio with a spread.
    pub(super) fn tested(&self) -> Option<Tested<'_>> {
        let ratio = self.ratio.as_ref()?;
        ratio.p_value()?;
        Some(Tested { ratio, support: self.support, family: self.family })
    }

    /// Its ratio, if the interval is all there is to say.
    pub(super) fn reliable_ratio(&self) -> Option<Ratio> {
        self.ratio.filter(|_| self.support == Support::Interval)
    }

    /// The same row with a reference workload's ratio taken out.
    pub(super) fn normalized(self, reference: &Ratio) -> RowPair {
        // What counts cycles is free of the drift already; events and bytes
        // don't take longer on a slower machine.
        if self.measure == Some(Measure::QuietCycles) || !self.is_time() {
            return self;
        }
        RowPair {
            ratio: self.ratio.map(|ratio| ratio.over(reference)),
            normalized: self.ratio.is_some(),
            ..self
        }
    }

    pub(super) fn answered(
        self,
        finding: finding::Verdict,
        detectable: Option<f64>,
        fail_above: Option<f64>,
    ) -> ComparedRow {
        let grown = fail_above.filter(|_| self.is_time()).and_then(|share| {
            let tested = self.tested()?;
            Some(Grown {
                time_ratio: tested.ratio.value(),
                raw_time_ratio: self.raw.as_ref().unwrap_or(tested.ratio).value(),
                p_value: p_grown(&tested, 1.0 + share),
            })
        });
        let direction = self.ratio.map(|ratio| Direction::from_ratio(&ratio, &self.unit));
        ComparedRow {
            unit: unit_name(&self.unit, self.measure),
            ratio: self.ratio.map(|ratio| {
                RatioFigure::from_ratio(&ratio, &self.unit, &self.dispersion, self.normalized)
            }),
            direction: direction.filter(|_| finding == finding::Verdict::Different),
            id: self.key.id,
            at: self.key.at,
            mode: self.key.mode,
            measure: self.measure,
            by_mode: self.by_mode,
            a: self.figures[0].clone(),
            b: self.figures[1].clone(),
            finding,
            family: self.family,
            detectable,
            grown,
            why: self.why,
        }
    }
}

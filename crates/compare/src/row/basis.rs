//! By which figure a row is compared, and what its kept runs differed by.

use crate::shared::{Has, RunFigure};
use model::compare::between::{Scatter, Wander};
use model::compare::measure::{Measure, steadier};
use model::compare::multiplicity::Family;
use model::compare::reading::Reading;
use model::estimate::Estimate;
use model::run::Bound;
use model::unit::Unit;

/// What holds for all rows of a comparison.
pub(crate) struct Rule {
    /// Whether cycles of both sides are alike.
    pub(crate) cores_alike: bool,
    /// Groups of runs that are alike: how many, and their figures by key.
    pub(crate) kept: Vec<(usize, Vec<Vec<RunFigure>>)>,
    /// So many of them, the first, are the sides' own runs.
    pub(crate) own: usize,
}

/// Rows that say something of each other: compared by the same figure.
pub(crate) type FigureClass = (Wander, Family, Option<Measure>);

/// By which figure a row is compared, and what its kept runs differed by: all
/// that is decided before the two sides are set against each other.
pub(crate) struct Basis {
    pub(crate) measure: Option<Measure>,
    /// The mode that its medians are of.
    pub(crate) by_mode: Option<String>,
    pub(crate) wander: Wander,
    pub(crate) family: Family,
    pub(crate) scatter: Scatter,
    pub(crate) unit: Unit,
}

impl Basis {
    /// Of the figure at this place among the keys.
    pub(crate) fn from_side(at: usize, a: &Has, b: &Has, rule: &Rule) -> Basis {
        let of_runs: Vec<&RunFigure> = [a, b].into_iter().flat_map(Has::figures).collect();
        let unit = of_runs.first().map_or(Unit::Time, |f| f.unit);
        let bound = of_runs.first().map_or(Bound::Memory, |f| f.bound);
        let estimates: Vec<&Estimate> = of_runs.iter().map(|f| &f.estimate).collect();
        let published = [a, b].into_iter().find_map(Has::published);
        // Published cycles are compared with cycles, whatever the cores are.
        let in_cycles = |has: &Has| has.published().is_none_or(|of| of.cycles.is_some());
        let in_cycles = published.is_some() && in_cycles(a) && in_cycles(b);
        let alike = in_cycles || rule.cores_alike && published.is_none();
        let shared = match estimates.is_empty() {
            true => in_cycles.then_some(Measure::QuietCycles),
            false => Measure::shared(&estimates, bound, alike),
        };
        let groups = |measure: Measure| -> Vec<Vec<Reading>> {
            let of = |(_, by_key): &(usize, Vec<Vec<RunFigure>>)| readings(&by_key[at], measure);
            rule.kept.iter().map(of).collect()
        };
        // A published figure is a median, or nothing that is known.
        let measure = match published {
            Some(_) => shared,
            None => shared.map(|measure| steadier(measure, &groups)),
        };
        // Medians of two modes are two quantities.
        let one_mode = estimates.windows(2).all(|e| e[0].mode() == e[1].mode());
        let measure = measure.filter(|&m| m != Measure::TypicalNs || one_mode);
        let by_mode = estimates.first().filter(|_| measure == Some(Measure::TypicalNs));
        let wander = measure.map_or(Wander::Distribution, |m| m.wander(bound));
        Basis {
            measure,
            by_mode: by_mode.and_then(|e| Some(e.mode()?.to_owned())),
            wander,
            family: family(&unit, wander),
            scatter: measure
                .map_or_else(Scatter::default, |m| Scatter::from_groups(wander, &groups(m))),
            unit,
        }
    }

    /// Whether more of it is slower.
    pub(crate) fn is_time(&self) -> bool {
        self.unit.is_time()
    }

    /// The kind of rows that it says something of.
    pub(crate) fn kind(&self) -> FigureClass {
        (self.wander, self.family, self.measure)
    }
}

/// The rows that one is tested with.
pub(crate) fn family(unit: &Unit, wander: Wander) -> Family {
    match (unit.is_time(), wander) {
        (false, _) => Family::Count,
        (true, Wander::Cycles | Wander::NsOfCore) => Family::Quiet,
        (true, Wander::Ns) => Family::Memory,
        (true, Wander::Distribution) => Family::Distribution,
    }
}

/// What runs say of it on the logarithmic scale.
pub(crate) fn readings(figures: &[RunFigure], measure: Measure) -> Vec<Reading> {
    let of = |f: &RunFigure| measure.reading(&f.estimate, f.repeats);
    figures.iter().filter_map(of).collect()
}

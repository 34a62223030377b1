//! One row on both sides: the figures, their ratio, and what their verdicts
//! let be said.

use super::shared::{Figure, Has, Published, SHARE_OF_A_MODE};
use crate::obstacle::{Flaw, Obstacle};
use model::compare::between::{Dispersion, Scatter, Wander};
use model::compare::finding::{Finding, Support, Tested, p_grown};
use model::compare::measure::{Measure, steadier};
use model::compare::multiplicity::Family;
use model::compare::ratio::{Ratio, Side};
use model::compare::reading::Reading;
use model::estimate::{Estimate, Verdict};
use model::run::Bound;
use model::stats::Interval;
use model::summary::Key;
use model::unit::Unit;
use schemars::JsonSchema;
use serde::Serialize;

/// What holds for all rows of a comparison.
pub(super) struct Rule {
    /// Whether cycles of both sides are alike.
    pub(super) cores_alike: bool,
    /// Groups of runs that are alike: how many, and their figures by key.
    pub(super) kept: Vec<(usize, Vec<Vec<Figure>>)>,
    /// So many of them, the first, are the sides' own runs.
    pub(super) own: usize,
}

/// Rows that say something of each other: compared by the same figure.
pub(super) type Kind = (Wander, Family, Option<Measure>);

/// By which figure a row is compared, and what its kept runs differed by: all
/// that is decided before the two sides are set against each other.
pub(super) struct Basis {
    pub(super) measure: Option<Measure>,
    /// The mode that its medians are of.
    by_mode: Option<String>,
    wander: Wander,
    pub(super) family: Family,
    pub(super) scatter: Scatter,
    unit: Unit,
}

impl Basis {
    /// Of the figure at this place among the keys.
    pub(super) fn of(at: usize, a: &Has, b: &Has, rule: &Rule) -> Basis {
        let of_runs: Vec<&Figure> = [a, b].into_iter().flat_map(figures_of).collect();
        let unit = of_runs.first().map_or(Unit::Time, |f| f.unit);
        let bound = of_runs.first().map_or(Bound::Memory, |f| f.bound);
        let estimates: Vec<&Estimate> = of_runs.iter().map(|f| &f.estimate).collect();
        let published = [a, b].into_iter().find_map(published_of);
        let alike = rule.cores_alike && published.is_none();
        let shared = Measure::shared(&estimates, bound, alike).filter(|_| !estimates.is_empty());
        let groups = |measure: Measure| -> Vec<Vec<Reading>> {
            let of = |(_, by_key): &(usize, Vec<Vec<Figure>>)| readings(&by_key[at], measure);
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
        let by_mode = estimates
            .first()
            .filter(|_| measure == Some(Measure::TypicalNs));
        let wander = measure.map_or(Wander::Distribution, |m| m.wander(bound));
        Basis {
            measure,
            by_mode: by_mode.and_then(|e| Some(e.mode()?.to_owned())),
            wander,
            family: family(&unit, wander),
            scatter: measure.map_or_else(Scatter::default, |m| Scatter::of(wander, &groups(m))),
            unit,
        }
    }

    /// Whether more of it is slower.
    pub(super) fn is_time(&self) -> bool {
        self.unit.is_time()
    }

    /// The kind of rows that it says something of.
    pub(super) fn kind(&self) -> Kind {
        (self.wander, self.family, self.measure)
    }
}

/// The rows that one is tested with.
pub(super) fn family(unit: &Unit, wander: Wander) -> Family {
    match (unit.is_time(), wander) {
        (false, _) => Family::Count,
        (true, Wander::Cycles | Wander::NsOfCore) => Family::Quiet,
        (true, Wander::Ns) => Family::Memory,
        (true, Wander::Distribution) => Family::Distribution,
    }
}

/// What runs say of it on the logarithmic scale.
pub(super) fn readings(figures: &[Figure], measure: Measure) -> Vec<Reading> {
    let of = |f: &Figure| measure.reading(&f.estimate, f.repeats);
    figures.iter().filter_map(of).collect()
}

/// A row that both sides have.
pub(super) struct Row {
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

/// A row with its answer.
#[derive(Serialize, JsonSchema, Clone, Debug)]
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
    pub finding: Finding,
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

/// A row's time against a gate.
#[derive(Serialize, JsonSchema, Clone, Copy, Debug, PartialEq)]
pub struct Grown {
    /// B's time over A's, whatever unit the row is shown in.
    pub time_ratio: f64,
    /// The same without the reference workload taken out, where one is.
    pub raw_time_ratio: f64,
    /// Chance of one so large or larger where it grew by no more than the gate
    /// allows; of this row alone. 1 where the row may not be called different.
    pub p_value: f64,
}

/// Which way B differs.
#[derive(Serialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// An operation takes longer, fewer bytes pass.
    Slower,
    /// The other way.
    Faster,
    /// More events or bytes: of itself neither good nor bad.
    More,
    /// Fewer.
    Less,
}

impl Direction {
    fn of(ratio: &Ratio, unit: &Unit) -> Direction {
        match (unit.is_time(), ratio.ln > 0.0) {
            (true, true) => Direction::Slower,
            (true, false) => Direction::Faster,
            (false, true) => Direction::More,
            (false, false) => Direction::Less,
        }
    }

    /// As printed.
    pub fn text(self) -> &'static str {
        match self {
            Direction::Slower => "slower",
            Direction::Faster => "faster",
            Direction::More => "more",
            Direction::Less => "less",
        }
    }
}

/// One side's figure in the row's unit.
#[derive(Serialize, JsonSchema, Clone, Debug, Default, PartialEq)]
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

/// The ratio.
#[derive(Serialize, JsonSchema, Clone, Copy, Debug, PartialEq)]
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
    pub fn ends(&self) -> Ends {
        match (self.low, self.high) {
            (Some(low), Some(high)) if high <= low * TOO_WIDE => Ends::At([low, high]),
            (Some(_), Some(_)) => Ends::TooWide,
            _ => Ends::NoSpread,
        }
    }
}

impl ComparedRow {
    /// Row, point and mode in words.
    pub fn name(&self) -> String {
        let key = Key {
            id: self.id.clone(),
            at: self.at.clone(),
            mode: self.mode.clone(),
        };
        key.name()
    }
}

impl Row {
    /// The row, if both sides have it; `prior` is what is known of its kind.
    pub(super) fn of(
        key: &Key,
        [a, b]: [&Has; 2],
        basis: &Basis,
        prior: Dispersion,
    ) -> Option<Row> {
        if matches!(a, Has::Nothing) || matches!(b, Has::Nothing) {
            return None;
        }
        let Basis {
            measure,
            wander,
            family,
            unit,
            ..
        } = *basis;
        let of_runs: Vec<&Figure> = [a, b].into_iter().flat_map(figures_of).collect();
        let estimates: Vec<&Estimate> = of_runs.iter().map(|f| &f.estimate).collect();
        let published = [a, b].into_iter().find_map(published_of);
        let dispersion = prior.of_row(basis.scatter);
        let sides = [a, b].map(|has| match has {
            Has::Published(p) => Side {
                readings: p.reading(&unit).into_iter().collect(),
                measured: false,
            },
            _ => Side {
                readings: measure
                    .map_or_else(Vec::new, |m| readings(figures_of(has).as_slice(), m)),
                measured: true,
            },
        });
        let verdicts: Vec<Verdict> = estimates.iter().map(|e| e.verdict).collect();
        // A published figure has no samples that could lie apart from ours, and
        // what the run itself can't tell is no figure to hold against it.
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
        let ratio = Ratio::of(&sides[0], &sides[1], wander, &dispersion).filter(|_| may);
        let figures = [(a, &sides[0]), (b, &sides[1])]
            .map(|(has, side)| SideFigure::of(has, side, measure, &unit, wander, &dispersion));
        why.extend(no_ratio);
        why.extend(flaws("A", a));
        why.extend(flaws("B", b));
        if ratio.is_none() && why.is_empty() {
            why.push(no_ratio_of(&estimates, measure));
        }
        Some(Row {
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
        self.key.name()
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
        Some(Tested {
            ratio,
            support: self.support,
            family: self.family,
        })
    }

    /// Its ratio, if the interval is all there is to say.
    pub(super) fn reliable_ratio(&self) -> Option<Ratio> {
        self.ratio.filter(|_| self.support == Support::Interval)
    }

    /// The same row with a reference workload's ratio taken out.
    pub(super) fn normalized(self, reference: &Ratio) -> Row {
        // What counts cycles is free of the drift already; events and bytes
        // don't take longer on a slower machine.
        if self.measure == Some(Measure::QuietCycles) || !self.is_time() {
            return self;
        }
        Row {
            ratio: self.ratio.map(|ratio| ratio.over(reference)),
            normalized: self.ratio.is_some(),
            ..self
        }
    }

    pub(super) fn answered(
        self,
        finding: Finding,
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
        let direction = self.ratio.map(|ratio| Direction::of(&ratio, &self.unit));
        ComparedRow {
            unit: unit_name(&self.unit, self.measure),
            ratio: self.ratio.map(|ratio| {
                RatioFigure::of(&ratio, &self.unit, &self.dispersion, self.normalized)
            }),
            direction: direction.filter(|_| finding == Finding::Different),
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

fn figures_of(has: &Has) -> std::slice::Iter<'_, Figure> {
    match has {
        Has::Runs(figures) => figures.iter(),
        _ => [].iter(),
    }
}

fn published_of(has: &Has) -> Option<&Published> {
    match has {
        Has::Published(published) => Some(published),
        _ => None,
    }
}

impl Published {
    /// The figure as ns an operation of this unit.
    fn ns(&self, unit: &Unit) -> Option<f64> {
        match (self.ns, self.mb_per_s, unit) {
            (Some(ns), _, _) => Some(ns),
            // 1 GB/s is one byte a ns.
            (None, Some(speed), Unit::Bandwidth { bytes_per_op }) => {
                Some(bytes_per_op / (speed / 1000.0))
            }
            _ => None,
        }
    }

    fn reading(&self, unit: &Unit) -> Option<Reading> {
        Reading::published(self.ns(unit)?)
    }
}

/// Why figures that nothing is wrong with have no ratio.
pub(super) fn no_ratio_of(estimates: &[&Estimate], measure: Option<Measure>) -> Obstacle {
    let values = |m: Measure| {
        estimates
            .iter()
            .map(move |e| m.interval(e).map(|i| i.value))
    };
    match measure {
        None => Obstacle::NoCommonFigure,
        Some(m) if values(m).any(|v| v.is_some_and(|v| v <= 0.0)) => Obstacle::NotAboveZero,
        Some(_) => Obstacle::NoSpread,
    }
}

/// Whether some run was in a mode much more often than another: by more than
/// the share that makes a mode a figure of its own.
pub(super) fn modes_shifted(estimates: &[&Estimate]) -> Option<Obstacle> {
    let share = |e: &Estimate, name: &str| {
        let own = e.modes.iter().find(|mode| mode.name == name);
        own.map_or(0.0, |mode| mode.share)
    };
    let names = estimates
        .iter()
        .flat_map(|e| &e.modes)
        .map(|mode| &mode.name);
    names
        .map(|name| {
            let shares = estimates.iter().map(|e| share(e, name));
            let least = shares.clone().fold(f64::INFINITY, f64::min);
            let most = shares.fold(0.0, f64::max);
            (name, least, most)
        })
        .find(|(_, least, most)| most - least > SHARE_OF_A_MODE)
        .map(|(name, least, most)| Obstacle::ModesShifted {
            name: name.clone(),
            least_percent: least * 100.0,
            most_percent: most * 100.0,
        })
}

/// Whether the middle 80 % of everything seen on one side lie beyond those of
/// the other.
fn apart(a: &Has, b: &Has) -> bool {
    let range = |has: &Has| -> Option<(f64, f64)> {
        if let Has::Published(p) = has {
            return p.ns.map(|ns| (ns, ns));
        }
        let typical: Option<Vec<_>> = figures_of(has).map(|f| f.estimate.typical).collect();
        let typical = typical.filter(|all| !all.is_empty())?;
        let low = typical
            .iter()
            .map(|t| t.p10_ns)
            .fold(f64::INFINITY, f64::min);
        let high = typical
            .iter()
            .map(|t| t.p90_ns)
            .fold(f64::NEG_INFINITY, f64::max);
        Some((low, high))
    };
    match (range(a), range(b)) {
        (Some(a), Some(b)) => a.1 < b.0 || b.1 < a.0,
        _ => false,
    }
}

/// What the verdicts of a side's runs take from its figure.
fn flaws(side: &'static str, has: &Has) -> Vec<Obstacle> {
    let mut flaws: Vec<Obstacle> = Vec::new();
    for flaw in figures_of(has).filter_map(|figure| Flaw::of(&figure.estimate)) {
        let flaw = Obstacle::Side(side, flaw);
        if !flaws.contains(&flaw) {
            flaws.push(flaw);
        }
    }
    flaws
}

pub(crate) fn unit_name(unit: &Unit, measure: Option<Measure>) -> &'static str {
    let cycles = measure == Some(Measure::QuietCycles);
    match (unit, cycles) {
        (Unit::Time, false) => "ns",
        (Unit::Time, true) => "cycles",
        (Unit::Bandwidth { .. }, false) => "GB/s",
        (Unit::Bandwidth { .. }, true) => "bytes per cycle",
        (Unit::Frequency, _) => "GHz",
        (Unit::Count, _) => "",
        (Unit::Bytes, _) => "bytes",
    }
}

/// An interval of time (or cycles) an operation in a unit, the smaller end
/// first.
pub(crate) fn in_unit(interval: &Interval, unit: &Unit) -> Interval {
    let ends = [interval.low, interval.high].map(|end| unit.of_ns(end));
    let [low, high] = match unit.inverted() {
        true => [ends[1], ends[0]],
        false => ends,
    };
    Interval {
        value: unit.of_ns(interval.value),
        low,
        high,
    }
}

/// A ratio of times as one of a row's unit: speeds fall where times grow.
pub(crate) fn turned(ratio: &Interval, unit: &Unit) -> Interval {
    match unit.inverted() {
        true => Interval {
            value: 1.0 / ratio.value,
            low: 1.0 / ratio.high,
            high: 1.0 / ratio.low,
        },
        false => *ratio,
    }
}

impl SideFigure {
    fn of(
        has: &Has,
        side: &Side,
        measure: Option<Measure>,
        unit: &Unit,
        wander: Wander,
        dispersion: &Dispersion,
    ) -> SideFigure {
        if let Has::Published(published) = has {
            return SideFigure {
                value: published.ns(unit).map(|ns| unit.of_ns(ns)),
                ..SideFigure::default()
            };
        }
        let figures: Vec<&Figure> = figures_of(has).collect();
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

impl RatioFigure {
    fn of(ratio: &Ratio, unit: &Unit, dispersion: &Dispersion, normalized: bool) -> RatioFigure {
        let shown = |i: Interval| turned(&i, unit);
        let value = ratio.value();
        let alone = Interval {
            value,
            low: value,
            high: value,
        };
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

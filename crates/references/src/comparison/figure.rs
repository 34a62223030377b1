//! A published figure against one of a run.

use crate::machine::{MatchCertainty, MatchedBy};
use crate::source::Source;
use model::estimate::Estimate;
use model::figure::leaves_a_digit;
use model::run::{Outcome, Run};
use model::size;
use model::stats::Interval;
use model::unit::Unit;
use serde::Serialize;

/// Which row a figure belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowName {
    /// A row, a level (`memory.latency/L2`) or a point of a curve (`memory.copy/1MiB`).
    Row(String),
    /// The point of a curve with the largest working set, far beyond the caches.
    LargestOf(String),
}

impl RowName {
    /// Whether it is this row, or a level or point of it.
    pub fn is_within(&self, asked: &str) -> bool {
        let (RowName::Row(id) | RowName::LargestOf(id)) = self;
        id.strip_prefix(asked).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The row, level or point of this name.
    pub fn row(id: impl Into<String>) -> RowName {
        RowName::Row(id.into())
    }
}

/// What a figure counts in.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum PublishedUnit {
    /// Clock cycles an operation.
    Cycles,
    /// Nanoseconds an operation.
    Ns,
    /// Nanoseconds a byte: a bandwidth as a time.
    NsPerByte,
}

/// A published figure of this machine's CPU, or of CPUs like it.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedFigure {
    /// Whose.
    pub row: RowName,
    /// Median of the records, and the ends within which a machine's own figure is expected.
    pub expected: Interval,
    /// Of `expected`.
    pub unit: PublishedUnit,
    /// Records behind it.
    pub records: usize,
    /// Where they are from.
    pub source: Source,
    /// How they were found.
    pub matched_by: MatchedBy,
    /// How sure that is.
    pub certainty: MatchCertainty,
}

model::words! {
    /// Whether two figures may be the same.
    #[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum Agreement: word {
        /// The intervals overlap.
        Agrees = "agrees",
        /// This machine takes longer.
        Slower = "slower",
        /// This machine takes less.
        Faster = "faster",
    }
}

/// This machine's time over the published one.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedRatio {
    /// With the ends that both intervals span.
    pub ratio: Interval,
    /// Whether the ratio may be 1.
    pub agreement: Agreement,
    /// What was published.
    pub published: PublishedFigure,
}

/// A run's figure of a row, a level or a point of a curve.
pub(super) struct OwnFigure<'r> {
    estimate: &'r Estimate,
    ns: Interval,
    unit: Unit,
    /// Bytes that its name speaks of: `1MiB`.
    bytes: Option<u64>,
}

impl<'r> OwnFigure<'r> {
    /// The one of this name, if it says enough to be compared: of a usable verdict, above 0, with a digit that its
    /// interval supports. Without its counts of operations: they are in the samples, which take long to unpack.
    pub(super) fn in_run(run: &'r Run, id: &str) -> Option<OwnFigure<'r>> {
        let point = || id.rsplit_once('/').and_then(|(of, x)| Some((of, size::parse_size(x)?)));
        let (row, estimate) = match run.row(id) {
            Some(row) => (row, row.estimate()?),
            None => {
                let (curve, x) = point()?;
                let row = run.row(curve)?;
                let Outcome::Curve { points, .. } = &row.outcome else { return None };
                (row, &points.iter().find(|point| point.x == x)?.estimate)
            }
        };
        let ns = estimate.ns()?;
        let says_enough = estimate.verdict.is_usable() && leaves_a_digit(&ns);
        let is_known = says_enough && estimate.below_ns.is_none() && ns.low > 0.0;
        let bytes = point().map(|(_, bytes)| bytes);
        is_known.then_some(OwnFigure { estimate, ns, unit: row.unit, bytes })
    }

    /// In a unit; none where it has none in it. Cycles are never made of ns: the record's clock is not ours.
    pub(super) fn in_unit(&self, unit: PublishedUnit) -> Option<Interval> {
        match unit {
            PublishedUnit::Cycles => self.estimate.quiet.and_then(|quiet| quiet.cycles),
            PublishedUnit::Ns => matches!(self.unit, Unit::Time).then_some(self.ns),
            PublishedUnit::NsPerByte => match (self.unit, self.bytes) {
                (Unit::Bandwidth { bytes_per_op }, _) => Some(self.ns.scaled(1.0 / bytes_per_op)),
                (Unit::Time, Some(bytes)) => Some(self.ns.scaled(1.0 / bytes as f64)),
                _ => None,
            },
        }
    }
}

impl PublishedFigure {
    /// The run's figure over this one.
    pub(super) fn ratio_of(&self, measured: &OwnFigure) -> Option<PublishedRatio> {
        let own = measured.in_unit(self.unit).filter(|own| own.low > 0.0)?;
        let ratio = Interval {
            value: own.value / self.expected.value,
            low: own.low / self.expected.high,
            high: own.high / self.expected.low,
        };
        let agreement = match ratio {
            Interval { low, .. } if low > 1.0 => Agreement::Slower,
            Interval { high, .. } if high < 1.0 => Agreement::Faster,
            _ => Agreement::Agrees,
        };
        Some(PublishedRatio { ratio, agreement, published: self.clone() })
    }
}

//! One figure a machine: the median over the repetitions of the figure that is shown, and how well it is known.

use model::stats::{self, Interval};
use model::summary::KeptResult;
use serde::Serialize;

/// Half of a 95 % interval in standard errors.
const HALF: f64 = 1.96;
/// The standard error of a median of normal figures over that of their mean.
const MEDIAN: f64 = 1.2533;

/// The figure of one host.
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
pub struct HostFigure {
    /// Place of the host.
    pub host: usize,
    /// Median over its repetitions, ns per operation; counts and bytes as they are.
    pub value_ns: f64,
    /// The smallest of the repetitions; with one, the lower end of its interval.
    pub low_ns: f64,
    /// The largest; with one, the upper end of its interval.
    pub high_ns: f64,
    /// Repetitions that have a figure.
    pub repetitions: usize,
    /// Standard error of its logarithm: from the intervals of the repetitions, or from what these differ by,
    /// whichever is larger.
    pub error: f64,
}

impl HostFigure {
    /// Of the repetitions that have a usable figure; `None` without one.
    pub(super) fn from_results(host: usize, results: &[&KeptResult]) -> Option<HostFigure> {
        let figures: Vec<Interval> = results.iter().filter_map(|result| usable(result)).collect();
        let values = stats::sorted(figures.iter().map(|figure| figure.value));
        let value_ns = stats::quantile_sorted(&values, 0.5)?;
        let count = values.len();
        let (low_ns, high_ns) = match figures.as_slice() {
            [only] => (only.low, only.high),
            _ => (values[0], values[count - 1]),
        };
        let own = figures.iter().map(|f| (f.relative_half_width() / HALF).powi(2));
        let own = own.sum::<f64>() / count as f64;
        let logarithms: Vec<f64> = values.iter().filter(|v| **v > 0.0).map(|v| v.ln()).collect();
        let between = stats::standard_deviation(&logarithms).map_or(0.0, |sd| sd * sd);
        let median = if count > 2 { MEDIAN } else { 1.0 };
        Some(HostFigure {
            host,
            value_ns,
            low_ns,
            high_ns,
            repetitions: count,
            error: median * (own.max(between) / count as f64).sqrt(),
        })
    }
}

/// The figure, if a conclusion may be drawn from it.
pub(super) fn usable(result: &KeptResult) -> Option<Interval> {
    let usable = result.verdict.is_some_and(|verdict| verdict.is_usable());
    let figure = result.value_ns.filter(|_| usable && result.below_ns.is_none())?;
    (figure.value.is_finite() && figure.half_width().is_finite()).then_some(figure)
}

/// Quantiles over hosts, ns.
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
pub struct Quantiles {
    /// The smallest.
    pub min_ns: f64,
    /// 5 %.
    pub p5_ns: f64,
    /// Median, with its 95 % interval over hosts where there are at least six.
    pub median_ns: f64,
    /// That interval.
    pub interval_ns: Option<Interval>,
    /// 95 %.
    pub p95_ns: f64,
    /// The largest.
    pub max_ns: f64,
}

impl Quantiles {
    /// Of sorted figures; `None` of none.
    pub(super) fn from_sorted(sorted: &[f64]) -> Option<Quantiles> {
        let at = |q| stats::quantile_sorted(sorted, q);
        Some(Quantiles {
            min_ns: at(0.0)?,
            p5_ns: at(0.05)?,
            median_ns: at(0.5)?,
            interval_ns: stats::quantile_interval_sorted(sorted, 0.5),
            p95_ns: at(0.95)?,
            max_ns: at(1.0)?,
        })
    }
}

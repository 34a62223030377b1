//! Single operations by percentile, as HdrHistogram plots them: an axis on which
//! 90, 99 and 99.9 % are equally far apart shows the rare ones as well as the
//! usual.

use super::figure::{PlottedFigure, joined, log};
use super::{Axis, Body, ChartLine, CurveKind, Lines, Point, Quantity};
use model::estimate::{Tail, Verdict};
use model::stats::{self, Interval};
use model::unit::Unit;

/// Each operation drawn is so many times rarer than the one before; the three
/// rarest all are.
const STEP: f64 = 1.3;

/// Where the median lies: one of two operations takes at least as long.
pub(super) const MEDIAN: f64 = 2.0;

/// The body of a picture of such curves.
pub(super) fn body(what: &str, series: Vec<ChartLine>) -> Body {
    Body::Lines(Lines::new(axis("percentile"), log(what, Quantity::Nanoseconds), series))
}

fn axis(label: &str) -> Axis {
    log(label, Quantity::Percentile)
}

/// What an estimate says of some of the percentiles.
#[derive(Clone, Copy, Default)]
pub(super) struct KnownPercentiles<'e> {
    pub(super) median: Option<(Interval, Verdict)>,
    pub(super) tail: Option<&'e Tail>,
}

/// The curve of these times; none without any.
pub(super) fn percentile_line(
    name: impl Into<String>,
    times_ns: &[f64],
    known: KnownPercentiles,
) -> Option<ChartLine> {
    let sorted = stats::sorted(times_ns.iter().copied());
    let count = sorted.len();
    if count == 0 {
        return None;
    }
    // How many took at least as long: all, then fewer and fewer, last one.
    let mut longer = count;
    let mut points = Vec::new();
    loop {
        points.push(Point::bare(count as f64 / longer as f64, sorted[count - longer]));
        if longer == 1 {
            break;
        }
        longer = ((longer as f64 / STEP) as usize).clamp(1, longer - 1);
    }
    let figures = known.median.map(|(ns, verdict)| (MEDIAN, ns, Some(verdict)));
    let tail = known.tail.into_iter().flat_map(|tail| {
        let p99 = tail.p99_ns.map(|ns| (100.0, ns, tail.verdict));
        let p999 = tail.p999_ns.map(|ns| (1000.0, ns, None));
        p99.into_iter().chain(p999)
    });
    for (one_of, ns, verdict) in figures.into_iter().chain(tail) {
        if let Some(figure) = PlottedFigure::from_interval(&ns, &Unit::Time) {
            points.push(figure.as_point(one_of, verdict));
        }
    }
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    Some(joined(name, CurveKind::Measured, points))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_point_is_as_rare_as_it_stands() {
        let times: Vec<f64> = (1..=1000).map(f64::from).collect();
        let line = percentile_line("a", &times, KnownPercentiles::default()).expect("a curve");
        let ends = [line.points.first(), line.points.last()].map(|p| p.map(|p| (p.x, p.y)));
        assert_eq!(ends, [Some((1.0, 1.0)), Some((1000.0, 1000.0))]);
        for point in &line.points {
            let at_least = times.iter().filter(|&&ns| ns >= point.y).count();
            assert!((1000.0 / at_least as f64 - point.x).abs() < 1e-9, "{point:?}");
        }
        // The three rarest are all there.
        let rare = line.points.iter().filter(|p| p.y > 997.0).count();
        assert_eq!((rare, line.points.len() < 50), (3, true));
        assert_eq!(super::percentile_line("none", &[], KnownPercentiles::default()), None);
    }

    #[test]
    fn figures_of_the_document_stand_among_them() {
        let known = KnownPercentiles {
            median: Some((Interval::about(42.0, 2.0), Verdict::Noisy)),
            tail: None,
        };
        let line = percentile_line("a", &[1.0, 90.0], known).expect("a curve");
        let median = line.points.iter().find(|p| p.verdict.is_some());
        let median = median.map(|p| (p.x, p.y, p.low, p.high));
        assert_eq!(median, Some((2.0, 42.0, Some(40.0), Some(44.0))));
    }
}

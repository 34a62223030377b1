//! The curve in logarithms, with what speaks against its points.

use super::level::Point;
use super::rules::WIDE;

/// A point in logarithms, with what speaks against it.
pub(super) struct Dot {
    pub(super) point: Point,
    /// log2 of the working set.
    pub(super) x: f64,
    /// log2 of the time.
    pub(super) y: f64,
    /// Its repeats disagree.
    pub(super) unsteady: bool,
    /// log2 of the time of the monotone curve nearest to all points.
    pub(super) monotone: f64,
}

/// All points, smallest working sets first.
pub(super) struct Curve {
    pub(super) dots: Vec<Dot>,
}

impl Curve {
    pub(super) fn new(points: &[Point]) -> Curve {
        let mut points: Vec<Point> = points
            .iter()
            .filter(|p| p.bytes > 0 && p.ns.is_finite() && p.ns > 0.0)
            .copied()
            .collect();
        points.sort_by(|a, b| a.bytes.cmp(&b.bytes).then(a.ns.total_cmp(&b.ns)));
        let mut dots: Vec<Dot> = points.chunk_by(|a, b| a.bytes == b.bytes).map(Dot::new).collect();
        let times: Vec<f64> = dots.iter().map(|d| d.y).collect();
        for (dot, fitted) in dots.iter_mut().zip(monotone(&times)) {
            dot.monotone = fitted;
        }
        Curve { dots }
    }
}

impl Dot {
    /// All points of one size, sorted by time, as one.
    fn new(same: &[Point]) -> Dot {
        let mut times: Vec<f64> = same.iter().map(|p| p.ns).collect();
        let known = |end: f64, ns: f64| if end.is_finite() { end } else { ns };
        let (mut low, mut high) = (lowest(&times), highest(&times));
        for p in same {
            low = low.min(known(p.low, p.ns)).max(0.0);
            high = high.max(known(p.high, p.ns));
        }
        let point = Point {
            bytes: same[0].bytes,
            ns: median(&mut times),
            low,
            high,
            two_states: same.iter().any(|p| p.two_states),
        };
        Dot {
            point,
            x: (point.bytes as f64).log2(),
            y: point.ns.log2(),
            unsteady: point.two_states || high > WIDE * low,
            monotone: f64::NAN,
        }
    }
}

/// The rising curve with the least sum of absolute distances from `values`:
/// neighbours that fall are pooled, and a pool stands at its median.
fn monotone(values: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(Vec<f64>, f64)> = Vec::new();
    for &value in values {
        let mut pool = (vec![value], value);
        while let Some((mut earlier, _)) = pools.pop_if(|(_, level)| *level > pool.1) {
            earlier.append(&mut pool.0);
            let level = median(&mut earlier.clone());
            pool = (earlier, level);
        }
        pools.push(pool);
    }
    pools.iter().flat_map(|(pool, level)| std::iter::repeat_n(*level, pool.len())).collect()
}

/// The median; of an even number of values, the mean of the middle two.
/// `values` is reordered. NaN of none.
pub(super) fn median(values: &mut [f64]) -> f64 {
    let count = values.len();
    if count == 0 {
        return f64::NAN;
    }
    let (below, &mut upper, _) = values.select_nth_unstable_by(count / 2, f64::total_cmp);
    if count % 2 == 1 { upper } else { (highest(below) + upper) / 2.0 }
}

pub(super) fn lowest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

pub(super) fn highest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

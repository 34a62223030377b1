//! Order statistics and the t interval: the arithmetic that the estimate
//! stands on, apart from any measuring.

/// Values count up to so many standard deviations (Huber's second proposal,
/// Ann. Math. Statist. 35, 1964, 73-101):
const REACH: f64 = 1.5;
/// then the mean square of normal ones is this.
const MEAN_SQUARE: f64 = 0.778_46;
/// Upper quartile of the absolute value of a standard normal one.
const UPPER_QUARTILE: f64 = 1.150_35;

/// A figure with the interval that holds it.
#[derive(serde::Serialize, serde::Deserialize, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// The estimate itself.
    pub value: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
}

impl Interval {
    /// Half of the interval's width, in the unit of the value.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Half of the interval's width as a share of the value; infinite where
    /// the value is 0.
    pub fn relative_half_width(&self) -> f64 {
        if self.value == 0.0 { f64::INFINITY } else { (self.half_width() / self.value).abs() }
    }

    /// The same interval on another scale.
    pub fn scaled(&self, factor: f64) -> Interval {
        Interval { value: self.value * factor, low: self.low * factor, high: self.high * factor }
    }

    /// Product of two independent figures; relative errors add in quadrature.
    pub fn times(&self, other: &Interval) -> Interval {
        let value = self.value * other.value;
        let relative = self.relative_half_width().hypot(other.relative_half_width());
        let half = if relative.is_finite() {
            value.abs() * relative
        } else {
            self.half_width() * other.value.abs()
        };
        Interval { value, low: value - half, high: value + half }
    }
}

/// Quantile of sorted values with linear interpolation between the two
/// neighbours (Hyndman and Fan's type 7). `None` for no values.
pub fn quantile_sorted(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = q.clamp(0.0, 1.0) * last as f64;
    let below = at.floor() as usize;
    let above = at.ceil() as usize;
    let share = at - below as f64;
    Some(sorted[below] + (sorted[above] - sorted[below]) * share)
}

/// Sorts a copy; values that are not numbers are left out.
pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().filter(|v| !v.is_nan()).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The largest of some values, and their median.
pub fn largest_and_median(values: impl IntoIterator<Item = f64>) -> Option<[f64; 2]> {
    let sorted = sorted(values);
    Some([*sorted.last()?, quantile_sorted(&sorted, 0.5)?])
}

/// Median; `None` for no values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    quantile_sorted(&sorted(values), 0.5)
}

/// The middle one of whole numbers, the larger of two; `None` of none.
pub fn middle(mut values: Vec<u64>) -> Option<u64> {
    let at = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable(at).1)
}

/// Standard deviation of normal values from the median of how far values lie from a middle; `None` for none.
pub fn deviation_from(middle: f64, values: impl IntoIterator<Item = f64>) -> Option<f64> {
    Some(1.4826 * median(values.into_iter().map(|value| (value - middle).abs()))?)
}

/// Mean; `None` for no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Sample standard deviation (n - 1); `None` below two values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    (values.len() >= 2).then(|| {
        let sum: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        (sum / (values.len() - 1) as f64).sqrt()
    })
}

/// The 97.5 % quantile of Student's t with `df` degrees of freedom.
///
/// The first thirty from the usual printed table; beyond, the
/// Cornish-Fisher expansion about the normal quantile, which is right to four
/// digits there (Abramowitz and Stegun 26.7.5).
pub fn t_quantile_975(df: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042,
    ];
    match df {
        0 => f64::INFINITY,
        1..=30 => TABLE[df - 1],
        _ => {
            let z = 1.959_964_f64;
            let n = df as f64;
            z + (z.powi(3) + z) / (4.0 * n)
                + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
        }
    }
}

/// 95 % t interval about the mean of independent figures (here: one per
/// worker process). `None` below two.
///
/// Eight workers' medians cover a nominal 95 % in 92-95 % of simulated runs,
/// where a percentile bootstrap covers 92 % and resampling inside one process
/// far less (docs/method.md).
pub fn t_interval(values: &[f64]) -> Option<Interval> {
    let value = mean(values)?;
    let deviation = standard_deviation(values)?;
    let half = t_quantile_975(values.len() - 1) * deviation / (values.len() as f64).sqrt();
    Some(Interval { value, low: value - half, high: value + half })
}

/// Sums of parts and of wholes.
pub(crate) fn shares_sum(parts: &[(u64, u64)]) -> (u64, u64) {
    parts.iter().fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
}

/// Intervals of shares come from this many equal parts.
const GROUPS: usize = 20;

/// The share of all parts together, with a 95 % t interval from twenty groups of them
/// (not clipped to 0..1); `None` where there are fewer, or one is empty.
pub(crate) fn time_share(parts: &[(u64, u64)]) -> Option<Interval> {
    if parts.len() < GROUPS {
        return None;
    }
    let share = |parts: &[(u64, u64)]| {
        let (part, whole) = shares_sum(parts);
        (whole > 0).then(|| part as f64 / whole as f64)
    };
    let bound = |group: usize| group * parts.len() / GROUPS;
    let groups: Option<Vec<f64>> =
        (0..GROUPS).map(|group| share(&parts[bound(group)..bound(group + 1)])).collect();
    let half = t_interval(&groups?)?.half_width();
    let value = share(parts)?;
    Some(Interval { value, low: value - half, high: value + half })
}

/// 95 % interval about the mean of what is left without the smallest and the
/// largest, from six values on (Yuen, Biometrika 61, 1974, 165-170: the
/// standard error is from the winsorised squares, with as many degrees of
/// freedom as values are left less one). One process or one stretch of time
/// that landed badly neither moves the figure nor widens the interval; two do.
/// Of fewer values it is [`t_interval`].
pub fn trimmed_t_interval(values: &[f64]) -> Option<Interval> {
    let sorted = sorted(values.iter().copied());
    let n = sorted.len();
    if n < 6 {
        return t_interval(values);
    }
    let value = mean(&sorted[1..n - 1])?;
    let winsorised: Vec<f64> = sorted.iter().map(|v| v.clamp(sorted[1], sorted[n - 2])).collect();
    let middle = mean(&winsorised)?;
    let squares: f64 = winsorised.iter().map(|v| (v - middle) * (v - middle)).sum();
    let left = n - 2;
    let half = t_quantile_975(left - 1) * (squares / (left * (left - 1)) as f64).sqrt();
    Some(Interval { value, low: value - half, high: value + half })
}

/// Distribution-free 95 % interval of a quantile by order statistics: the two
/// ranks whose binomial coverage is at least 95 %. `None` where the sample is
/// too small to hold one.
pub fn quantile_interval_sorted(sorted: &[f64], q: f64) -> Option<Interval> {
    quantile_interval_sorted_at(sorted, q, 0.95)
}

/// The same for another level than 95 %.
pub fn quantile_interval_sorted_at(sorted: &[f64], q: f64, level: f64) -> Option<Interval> {
    let value = quantile_sorted(sorted, q)?;
    let (low, high) = quantile_ranks(sorted.len(), q, (1.0 - level) / 2.0);
    Some(Interval { value, low: sorted[low?], high: sorted[high?] })
}

/// The 95 % interval of a quantile of values that say as much as `independent`
/// ones would: the ranks are those of so many values (Korn and Graubard,
/// Survey Methodology 24, 1998, 193-201), and whether these were enough for an
/// upper end. Where they were not, it is the largest value.
pub fn quantile_interval_of(sorted: &[f64], q: f64, independent: f64) -> Option<(Interval, bool)> {
    let n = (independent.floor() as usize).clamp(2, sorted.len().max(2));
    let value = quantile_sorted(sorted, q)?;
    let at = |rank: usize| quantile_sorted(sorted, rank as f64 / (n - 1) as f64);
    let ranks = quantile_ranks(n, q, 0.025);
    let interval =
        Interval { value, low: at(ranks.0.unwrap_or(0))?, high: at(ranks.1.unwrap_or(n - 1))? };
    Some((interval, ranks.1.is_some()))
}

/// The ranks, from 0, that hold a quantile of `n` independent values but for
/// this tail to either side; none where `n` is too small for one.
fn quantile_ranks(n: usize, q: f64, tail: f64) -> (Option<usize>, Option<usize>) {
    // Binomial(n, q) cumulative, summed up directly: n is at most some 1e5.
    let mut cumulative = Vec::with_capacity(n + 1);
    let mut log_p = n as f64 * (1.0 - q).ln();
    let odds = (q / (1.0 - q)).ln();
    let mut sum = 0.0;
    for k in 0..=n {
        sum += log_p.exp();
        cumulative.push(sum);
        log_p += ((n - k) as f64 / (k + 1) as f64).ln() + odds;
    }
    // Largest rank whose lower tail is at most 2.5 % (for a level of 95 %),
    // smallest whose upper is. Sums of rounded numbers may be off a little.
    let low = cumulative.iter().rposition(|&c| c <= tail + 1e-12);
    let high = cumulative.iter().position(|&c| c >= 1.0 - tail - 1e-12);
    (low, high.filter(|&high| high < n))
}

/// The 95 % interval of a share of which `hits` of `tries` were seen, exact
/// (Clopper and Pearson, Biometrika 26, 1934, 404-413). `None` without a try.
pub fn share_interval(hits: u64, tries: u64) -> Option<Interval> {
    use statrs::distribution::{Beta, ContinuousCDF};
    if tries == 0 || hits > tries {
        return None;
    }
    let (hit, missed) = (hits as f64, (tries - hits) as f64);
    let low = match hits {
        0 => 0.0,
        _ => Beta::new(hit, missed + 1.0).ok()?.inverse_cdf(0.025),
    };
    let high = match tries - hits {
        0 => 1.0,
        _ => Beta::new(hit + 1.0, missed).ok()?.inverse_cdf(0.975),
    };
    Some(Interval { value: hit / tries as f64, low, high })
}

/// Mean square of values about 0 without the weight of the few large ones; 0 for
/// none.
pub(crate) fn robust_mean_square(values: &[f64]) -> f64 {
    let sizes = sorted(values.iter().map(|value| value.abs()));
    let Some(quartile) = quantile_sorted(&sizes, 0.75) else {
        return 0.0;
    };
    let mut square = (quartile / UPPER_QUARTILE).powi(2);
    for _ in 0..20 {
        let most = REACH * REACH * square;
        let sum: f64 = sizes.iter().map(|size| (size * size).min(most)).sum();
        let next = sum / sizes.len() as f64 / MEAN_SQUARE;
        let settled = (next - square).abs() <= 1e-3 * square;
        square = next;
        if settled {
            break;
        }
    }
    square
}

/// How many sorted values lie more than one and a half interquartile ranges
/// beyond the quartiles (Tukey's fences).
pub fn outliers_sorted(sorted: &[f64]) -> usize {
    let (Some(q1), Some(q3)) = (quantile_sorted(sorted, 0.25), quantile_sorted(sorted, 0.75))
    else {
        return 0;
    };
    let reach = 1.5 * (q3 - q1);
    let outside = |v: &&f64| **v < q1 - reach || **v > q3 + reach;
    sorted.iter().filter(outside).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_lie_beyond_the_fences() {
        let mut values: Vec<f64> = (0..=20).map(f64::from).collect();
        assert_eq!(outliers_sorted(&values), 0);
        // Quartiles 5 and 17: fences -13 and 35.
        values.extend([29.0, 36.0, 1000.0]);
        values.insert(0, -40.0);
        assert_eq!(outliers_sorted(&values), 3);
        assert_eq!(outliers_sorted(&[]), 0);
    }

    #[test]
    fn a_wider_level_takes_farther_ranks() {
        let v: Vec<f64> = (1..=20).map(f64::from).collect();
        let at = |level| quantile_interval_sorted_at(&v, 0.5, level).expect("enough");
        assert_eq!((at(0.95).low, at(0.95).high), (6.0, 15.0));
        assert_eq!((at(0.99).low, at(0.99).high), (4.0, 17.0));
    }

    #[test]
    fn quantiles_interpolate() {
        let v = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(quantile_sorted(&v, 0.5), Some(3.0));
        assert_eq!(quantile_sorted(&v, 0.0), Some(1.0));
        assert_eq!(quantile_sorted(&v, 1.0), Some(8.0));
        assert_eq!(quantile_sorted(&[], 0.5), None);
        assert_eq!(median([3.0, f64::NAN, 1.0]), Some(2.0));
    }

    #[test]
    fn t_interval_of_known_values() {
        // Mean 5, deviation 1.5811, t(4) = 2.776: half width 1.963.
        let i = t_interval(&[3.0, 4.0, 5.0, 6.0, 7.0]).expect("five values");
        assert!((i.value - 5.0).abs() < 1e-12);
        assert!((i.half_width() - 1.963).abs() < 1e-3, "{i:?}");
        assert_eq!(t_interval(&[1.0]), None);
    }

    #[test]
    fn t_quantiles_join_smoothly() {
        assert!((t_quantile_975(31) - 2.0395).abs() < 1e-3);
        assert!((t_quantile_975(1000) - 1.9623).abs() < 1e-3);
        assert!(t_quantile_975(30) > t_quantile_975(31));
    }

    #[test]
    fn median_interval_by_ranks() {
        // n = 10, q = 1/2: ranks 2 and 9 (counted from 1), coverage 97.9 %.
        let v: Vec<f64> = (1..=10).map(f64::from).collect();
        let i = quantile_interval_sorted(&v, 0.5).expect("ten are enough");
        assert_eq!((i.low, i.high), (2.0, 9.0));
        assert_eq!(quantile_interval_sorted(&v[..5], 0.5), None);
        // A p99 needs more than two hundred.
        let v: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!(quantile_interval_sorted(&v, 0.99), None);
    }

    #[test]
    fn one_stray_of_eight_neither_moves_the_figure_nor_widens_its_interval() {
        let steady = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0];
        let with = |last: f64| {
            let workers: Vec<f64> = steady.into_iter().chain([last]).collect();
            trimmed_t_interval(&workers).expect("eight")
        };
        // Winsorised: 0.99 twice, 1.00 three times, 1.01, 1.02 twice; squares
        // 0.000988 about 1.00375, over 6 times 5; t(5) = 2.571.
        let stray = with(7.0);
        assert!((stray.value - 6.02 / 6.0).abs() < 1e-12, "{stray:?}");
        assert!((stray.half_width() - 0.01475).abs() < 1e-4, "{stray:?}");
        assert_eq!(with(7.0), with(700.0));
        // Two of them are no stray, and of few there is none to spare.
        let two = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 7.0, 7.0];
        assert!(trimmed_t_interval(&two).expect("eight").half_width() > 1.0);
        let three = trimmed_t_interval(&[1.0, 1.0, 4.0]).expect("three");
        assert_eq!(three.value, 2.0);
    }

    #[test]
    fn products_add_relative_errors_in_quadrature() {
        let a = Interval { value: 10.0, low: 9.7, high: 10.3 };
        let b = Interval { value: 2.0, low: 1.92, high: 2.08 };
        let p = a.times(&b);
        assert!((p.value - 20.0).abs() < 1e-12);
        assert!((p.relative_half_width() - 0.05).abs() < 1e-12);
    }

    #[test]
    fn the_interval_of_a_share_is_that_of_the_printed_tables() {
        let of = |hits, tries| {
            let share = share_interval(hits, tries).expect("tries");
            [share.low, share.high].map(|end| (end * 10_000.0).round() / 10_000.0)
        };
        // Of 300 tries without a hit: 1 - 0.025^(1/300).
        assert_eq!(of(0, 300), [0.0, 0.0122]);
        assert_eq!(of(50, 50), [0.9289, 1.0]);
        assert_eq!(of(5, 10), [0.1871, 0.8129]);
        assert_eq!(share_interval(0, 0), None);
        assert_eq!(share_interval(3, 2), None);
    }
}

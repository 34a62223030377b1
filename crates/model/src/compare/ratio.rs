//! The ratio of two figures with everything that makes it uncertain, on the
//! logarithmic scale: a ratio and its inverse are then the same statement.

use super::between::{Dispersion, Wander};
use super::reading::{Reading, Variance};
use super::student;
use crate::stats::{self, Interval};

/// One side of a comparison: the same row in one run, in several runs of one
/// machine, or as it was published.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// One a run; at least one.
    pub readings: Vec<Reading>,
    /// Whether it was measured: a published figure has no run that could
    /// have come out otherwise.
    pub measured: bool,
}

impl Side {
    /// Logarithm of the side's figure: the mean over its runs. `None` without
    /// any.
    pub fn ln(&self) -> Option<f64> {
        let all: Vec<f64> = self.readings.iter().map(|r| r.ln).collect();
        stats::mean(&all)
    }

    /// The side's figure with its 95 % interval, where one was measured.
    pub fn figure(&self, wander: Wander, dispersion: &Dispersion) -> Option<Interval> {
        Ratio { ln: self.ln()?, error: Variance::of_sides(&[self], wander, dispersion) }
            .interval(0.95)
    }
}

impl Variance {
    /// Of all runs on these sides: what each is assumed to have among runs,
    /// times what the row's runs are found to differ by in addition.
    ///
    /// Two things about it are uncertain, that factor and each run's own
    /// variance over its workers; their relative errors add, as in
    /// Satterthwaite's formula (Biometrics Bulletin 2, 1946, 110-114).
    fn of_sides(sides: &[&Side], wander: Wander, dispersion: &Dispersion) -> Variance {
        let (mut assumed, mut squares) = (0.0, 0.0);
        for side in sides.iter().filter(|side| side.measured) {
            let runs = side.readings.len() as f64;
            for reading in &side.readings {
                assumed += wander.among_runs(reading) / (runs * runs);
                let of_workers = 2.0 * reading.within.value / (runs * runs);
                squares += of_workers * of_workers / reading.within.df;
            }
        }
        let relative = if assumed > 0.0 { squares / (assumed * assumed) } else { 0.0 };
        Variance { value: assumed * dispersion.factor, df: 1.0 / (1.0 / dispersion.df + relative) }
    }
}

/// B over A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Logarithm of the ratio.
    pub ln: f64,
    /// Variance of it.
    pub error: Variance,
}

impl Ratio {
    /// The ratio of two sides.
    pub fn between(a: &Side, b: &Side, wander: Wander, dispersion: &Dispersion) -> Option<Ratio> {
        Some(Ratio {
            ln: b.ln()? - a.ln()?,
            error: Variance::of_sides(&[a, b], wander, dispersion),
        })
    }

    /// This ratio over another one, such as that of a reference workload: what
    /// both share cancels, and what the other does not know is added. The
    /// fewer degrees of freedom of the two hold for both.
    pub fn over(&self, other: &Ratio) -> Ratio {
        Ratio {
            ln: self.ln - other.ln,
            error: Variance {
                value: self.error.value + other.error.value,
                df: self.error.df.min(other.error.df),
            },
        }
    }

    /// The ratio itself.
    pub fn value(&self) -> f64 {
        self.ln.exp()
    }

    /// Standard error of the logarithm.
    pub fn standard_error(&self) -> f64 {
        self.error.value.sqrt()
    }

    /// The interval that holds the true ratio with this confidence; `None`
    /// where nothing on either side has a spread.
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        let error = self.standard_error();
        if error <= 0.0 {
            return None;
        }
        let half = student::quantile(0.5 + confidence / 2.0, self.error.df) * error;
        Some(Interval {
            value: self.value(),
            low: (self.ln - half).exp(),
            high: (self.ln + half).exp(),
        })
    }

    /// The 95 % interval; the ratio alone where nothing has a spread.
    pub fn interval_or_value(&self) -> Interval {
        let value = self.value();
        self.interval(0.95).unwrap_or(Interval { value, low: value, high: value })
    }

    /// Chance of a ratio as far from 1, in either direction, where there is no
    /// difference.
    pub fn p_value(&self) -> Option<f64> {
        let error = self.standard_error();
        (error > 0.0)
            .then(|| (2.0 * student::share_above(self.ln.abs() / error, self.error.df)).min(1.0))
    }

    /// Chance of a ratio this large or larger where the true one is no more
    /// than `factor`.
    pub fn p_above(&self, factor: f64) -> Option<f64> {
        let error = self.standard_error();
        (error > 0.0).then(|| student::share_above((self.ln - factor.ln()) / error, self.error.df))
    }
}

/// The smallest change that a comparison with this standard error finds with
/// this power at this two-sided level, as a share: 0.05 is 5 %.
///
/// The usual sum of two quantiles of t; it is a little too large for few
/// degrees of freedom, never too small (`tests/compare.rs`).
pub fn detectable(standard_error: f64, df: f64, level: f64, power: f64) -> f64 {
    let t = student::quantile(1.0 - level / 2.0, df) + student::quantile(power, df);
    (t * standard_error).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::reading::Repeats;

    fn interval(value: f64, half: f64) -> Interval {
        Interval { value, low: value - half, high: value + half }
    }

    fn side_of_run(value: f64, deviation: f64) -> Side {
        let half = value * deviation * stats::t_quantile_975(7);
        Side {
            readings: vec![Reading::from_interval(&interval(value, half), 8).expect("positive")],
            measured: true,
        }
    }

    const AS_ASSUMED: Dispersion = Dispersion { factor: 1.0, df: 6.0 };

    fn ratio(a: &Side, b: &Side) -> Ratio {
        Ratio::between(a, b, Wander::Ns, &AS_ASSUMED).expect("both")
    }

    #[test]
    fn two_runs_make_an_interval_of_t_about_the_logarithm() {
        let r = ratio(&side_of_run(10.0, 0.03), &side_of_run(20.0, 0.04));
        assert!((r.value() - 2.0).abs() < 1e-12);
        // Each run's variance doubled, and 1 % each on top.
        let variance = 2.0 * (0.03_f64.powi(2) + 0.04_f64.powi(2)) + 2.0 * 0.01_f64.powi(2);
        assert!((r.error.value - variance).abs() < 1e-9);
        let relative = (0.0018_f64.powi(2) + 0.0032_f64.powi(2)) / 7.0 / variance.powi(2);
        let df = 1.0 / (1.0 / 6.0 + relative);
        assert!((r.error.df - df).abs() < 1e-6, "{r:?}");
        let i = r.interval(0.95).expect("a spread");
        let half = student::quantile(0.975, df) * variance.sqrt();
        assert!((i.low - 2.0 * (-half).exp()).abs() < 1e-9, "{i:?}");
        assert!((i.high - 2.0 * half.exp()).abs() < 1e-9, "{i:?}");
        // The other way round it is the same statement.
        let back = ratio(&side_of_run(20.0, 0.04), &side_of_run(10.0, 0.03));
        let j = back.interval(0.95).expect("a spread");
        assert!((i.low * j.high - 1.0).abs() < 1e-12);
        assert_eq!(r.p_value(), back.p_value());
    }

    #[test]
    fn what_runs_differ_by_widens_the_interval() {
        let [a, b] = [side_of_run(1.0, 0.0), side_of_run(1.0, 0.0)];
        assert!((ratio(&a, &b).standard_error() - 0.01 * 2_f64.sqrt()).abs() < 1e-12);
        let four_times = Dispersion { factor: 4.0, df: 9.0 };
        let wide = Ratio::between(&a, &b, Wander::Ns, &four_times).expect("both");
        assert!((wide.standard_error() - 0.02 * 2_f64.sqrt()).abs() < 1e-12);
        assert!((wide.error.df - 9.0).abs() < 1e-9);
        // Four runs on one side: a quarter of its share.
        let mut four = side_of_run(1.0, 0.0);
        four.readings = vec![four.readings[0]; 4];
        let error = ratio(&four, &side_of_run(1.0, 0.0)).standard_error();
        assert!((error - 0.01 * 1.25_f64.sqrt()).abs() < 1e-12);
        let figure = four.figure(Wander::Ns, &AS_ASSUMED).expect("a spread");
        let half = student::quantile(0.975, 6.0) * 0.005;
        assert!((figure.high - half.exp()).abs() < 1e-12, "{figure:?}");
    }

    #[test]
    fn a_published_figure_adds_no_spread_and_two_of_them_have_none() {
        let published = |value: f64| Side {
            readings: vec![Reading::published(value, 0.0).expect("positive")],
            measured: false,
        };
        let r = ratio(&published(7.0), &side_of_run(3.5, 0.0));
        assert!((r.standard_error() - 0.01).abs() < 1e-12, "ours alone");
        let both = ratio(&published(7.0), &published(3.5));
        assert_eq!((both.interval(0.95), both.p_value()), (None, None));
        assert!((both.value() - 0.5).abs() < 1e-12);
        assert_eq!(published(7.0).figure(Wander::Ns, &AS_ASSUMED), None);
    }

    #[test]
    fn a_reference_takes_its_drift_along_and_leaves_its_doubt() {
        let row = ratio(&side_of_run(1.0, 0.03), &side_of_run(1.2, 0.0));
        let reference = ratio(&side_of_run(5.0, 0.0), &side_of_run(6.0, 0.04));
        let normalized = row.over(&reference);
        assert!(normalized.ln.abs() < 1e-12);
        let sum = row.error.value + reference.error.value;
        assert!((normalized.error.value - sum).abs() < 1e-12);
        assert_eq!(normalized.error.df, row.error.df.min(reference.error.df));
    }

    #[test]
    fn runs_that_resemble_each_other_count_as_fewer() {
        let all = Reading::from_interval(&interval(10.0, 0.3), 30).expect("a spread");
        let of = |values, independent| {
            let repeats = Repeats { values, independent };
            Reading::of_repeats(&interval(10.0, 0.3), repeats)
        };
        let few = of(30, 8).expect("a spread");
        assert_eq!(few.within.value, all.within.value, "as wide as it is");
        assert_eq!((few.within.df, all.within.df), (7.0, 29.0));
        assert_eq!(of(30, 1), None, "one stretch knows no spread");
    }

    #[test]
    fn what_is_not_above_zero_has_no_ratio() {
        assert_eq!(Reading::from_interval(&interval(0.0, 1.0), 8), None);
        assert_eq!(Reading::from_interval(&interval(-2.0, 1.0), 8), None);
        assert_eq!(Reading::from_interval(&interval(2.0, f64::INFINITY), 8), None);
        assert_eq!(Reading::from_interval(&interval(2.0, 0.1), 1), None, "no spread known");
        assert_eq!(Reading::published(f64::NAN, 0.0), None);
        let expected = |error_ln| Reading::published(100.0, error_ln).expect("positive").within;
        assert_eq!(expected(0.0).value, 0.0);
        assert!((expected(0.2).value - (0.2_f64 / 1.96).powi(2)).abs() < 1e-15);
        let nothing = Side { readings: Vec::new(), measured: true };
        let none = Ratio::between(&nothing, &side_of_run(1.0, 0.1), Wander::Ns, &AS_ASSUMED);
        assert_eq!(none, None);
    }

    #[test]
    fn one_sided_against_a_threshold() {
        let ratio = ratio(&side_of_run(1.0, 0.0), &side_of_run(1.10, 0.0));
        let at = ratio.p_above(1.10).expect("a spread");
        assert!((at - 0.5).abs() < 1e-9, "{at}");
        assert!(ratio.p_above(1.05).expect("a spread") < 0.02);
        assert!(ratio.p_above(1.20).expect("a spread") > 0.98);
    }

    #[test]
    fn the_detectable_change_grows_with_error_and_with_what_is_asked() {
        let normal = detectable(0.01, f64::INFINITY, 0.05, 0.8);
        // 1.960 + 0.842 standard errors, of the logarithm.
        assert!((normal - (0.02802_f64).exp_m1()).abs() < 1e-4, "{normal}");
        assert!(detectable(0.02, f64::INFINITY, 0.05, 0.8) > normal);
        assert!(detectable(0.01, 4.0, 0.05, 0.8) > normal);
        assert!(detectable(0.01, f64::INFINITY, 0.0005, 0.8) > normal);
    }
}

//! Student's t with any degrees of freedom, at any level.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// More degrees of freedom than this are the normal distribution to six
/// digits, and let the arithmetic stay finite.
const MANY: f64 = 1e6;

fn distribution(df: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, df.min(MANY)).ok()
}

/// The quantile below which a share `q` of Student's t lies; infinite where
/// there are no degrees of freedom (nothing is known of the spread).
pub fn quantile(q: f64, df: f64) -> f64 {
    if q < 0.5 {
        return -quantile(1.0 - q, df);
    }
    match distribution(df) {
        Some(t) if df > 0.0 => t.inverse_cdf(q),
        _ => f64::INFINITY,
    }
}

/// Share of Student's t above `t`; 1/2 where there are no degrees of freedom.
pub fn share_above(t: f64, df: f64) -> f64 {
    match distribution(df) {
        // Of the lower tail, which keeps its digits when it is tiny.
        Some(student) if df > 0.0 => student.cdf(-t),
        _ => 0.5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_printed_tables() {
        for (q, df, expected) in [
            (0.975, 1.0, 12.706),
            (0.975, 4.0, 2.776),
            (0.975, 14.0, 2.145),
            (0.8, 7.0, 0.896),
            (0.9995, 10.0, 4.587),
            (0.975, f64::INFINITY, 1.960),
            (0.5, 3.0, 0.0),
        ] {
            let found = quantile(q, df);
            assert!((found - expected).abs() < 1e-3, "{q} {df}: {found}");
            assert!((quantile(1.0 - q, df) + expected).abs() < 1e-3);
        }
        // Between whole degrees, and far out: t(6.5) from R's qt.
        assert!((quantile(0.975, 6.5) - 2.401_7).abs() < 2e-3);
        assert!((crate::stats::t_quantile_975(12) - quantile(0.975, 12.0)).abs() < 1e-3);
        assert_eq!(quantile(0.975, 0.0), f64::INFINITY);
    }

    #[test]
    fn the_share_above_undoes_the_quantile() {
        for df in [1.0, 2.5, 7.0, 40.0] {
            for q in [0.6, 0.975, 0.999_9, 0.999_999] {
                let share = share_above(quantile(q, df), df);
                assert!(((share - (1.0 - q)) / (1.0 - q)).abs() < 1e-3, "{df} {q}: {share}");
            }
        }
        // A tiny share is not rounded to nothing.
        assert!(share_above(200.0, 12.0) > 0.0);
        assert_eq!(share_above(3.0, 0.0), 0.5);
    }
}

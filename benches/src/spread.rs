//! How far figures of repeated runs lie apart.

use model::stats;

/// Median; `None` for no values.
pub fn median(values: &[f64]) -> Option<f64> {
    stats::median(values.iter().copied())
}

/// Largest minus smallest.
pub fn absolute(values: &[f64]) -> Option<f64> {
    let sorted = stats::sorted(values.iter().copied());
    Some(sorted.last()? - sorted.first()?)
}

/// (largest - smallest) / median; needs two values.
pub fn relative(values: &[f64]) -> Option<f64> {
    let median = median(values)?;
    (values.len() >= 2 && median != 0.0).then_some(absolute(values)? / median.abs())
}

/// Median and largest of some values.
pub fn median_and_worst(values: &[f64]) -> (Option<f64>, Option<f64>) {
    let worst = stats::sorted(values.iter().copied()).last().copied();
    (median(values), worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads() {
        assert_eq!(
            relative(&[2.0, 1.9, 2.1, 2.0, 2.2]),
            Some((2.2 - 1.9) / 2.0)
        );
        assert_eq!(relative(&[2.0]), None);
        assert_eq!(absolute(&[-1.0, 2.0]), Some(3.0));
        assert_eq!(median_and_worst(&[1.0, 5.0, 2.0]), (Some(2.0), Some(5.0)));
        assert_eq!(median(&[]), None);
    }
}

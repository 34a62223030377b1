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

/// (third quartile - first) / median; needs four values.
pub fn between_quartiles(values: &[f64]) -> Option<f64> {
    let sorted = stats::sorted(values.iter().copied());
    let at = |q| stats::quantile_sorted(&sorted, q);
    let (low, middle, high) = (at(0.25)?, at(0.5)?, at(0.75)?);
    (values.len() >= 4 && middle != 0.0).then_some((high - low) / middle.abs())
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
        assert_eq!(relative(&[2.0, 1.9, 2.1, 2.0, 2.2]), Some((2.2 - 1.9) / 2.0));
        assert_eq!(relative(&[2.0]), None);
        assert_eq!(between_quartiles(&[4.0, 1.0, 3.0, 2.0, 5.0]), Some(2.0 / 3.0));
        assert_eq!(between_quartiles(&[1.0, 2.0, 3.0]), None);
        assert_eq!(absolute(&[-1.0, 2.0]), Some(3.0));
        assert_eq!(median_and_worst(&[1.0, 5.0, 2.0]), (Some(2.0), Some(5.0)));
        assert_eq!(median(&[]), None);
    }
}

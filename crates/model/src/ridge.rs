//! Ridge regression on sparse rows, with weights that take from the few values far off (Huber, "Robust estimation of a
//! location parameter", 1964).

use crate::stats::deviation_from;

/// Residuals beyond so many standard deviations count less.
const HUBER: f64 = 1.5;
/// From weights to residuals and back: then they stand still.
const ROUNDS: usize = 8;
/// A pivot below this is a column that nothing determines.
const LEAST_PIVOT: f64 = 1e-12;

/// The columns of a row that are not 0, with their values.
pub type SparseRow = Vec<(usize, f64)>;

/// A fitted model.
#[derive(Clone, Debug)]
pub struct RobustRidge {
    /// Lower triangle of the Cholesky factor of the normal equations, row by row.
    factor: Vec<f64>,
    coefficients: Vec<f64>,
    weights: Vec<f64>,
}

/// The value that coefficients give a row.
pub fn predicted(coefficients: &[f64], row: &SparseRow) -> f64 {
    row.iter().map(|&(column, value)| coefficients[column] * value).sum()
}

impl RobustRidge {
    /// Of rows and their values; each column's coefficient is drawn to 0 with the weight of so many rows. `None` where a
    /// column is not determined.
    pub fn fitted(rows: &[SparseRow], values: &[f64], penalties: &[f64]) -> Option<RobustRidge> {
        let mut fit = RobustRidge::weighted(rows, values, penalties, vec![1.0; rows.len()])?;
        for _ in 1..ROUNDS {
            let off = rows.iter().zip(values).map(|(row, y)| y - predicted(&fit.coefficients, row));
            let off: Vec<f64> = off.collect();
            let most = HUBER * deviation_from(0.0, off.iter().copied())?;
            let weight = |off: &f64| if off.abs() <= most { 1.0 } else { most / off.abs() };
            let weights = off.iter().map(weight).collect();
            fit = RobustRidge::weighted(rows, values, penalties, weights)?;
        }
        Some(fit)
    }

    /// One for each column.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The coefficients as they were without a row, whose weight is kept.
    pub fn coefficients_without(&self, index: usize, row: &SparseRow, value: f64) -> Vec<f64> {
        let mut turned = vec![0.0; self.coefficients.len()];
        for &(column, x) in row {
            turned[column] += x;
        }
        solve(&self.factor, &mut turned);
        let weight = self.weights[index];
        let leverage = weight * predicted(&turned, row);
        let off = (value - predicted(&self.coefficients, row)) / (1.0 - leverage);
        let both = self.coefficients.iter().zip(&turned);
        both.map(|(own, turned)| own - turned * weight * off).collect()
    }

    fn weighted(
        rows: &[SparseRow],
        values: &[f64],
        penalties: &[f64],
        weights: Vec<f64>,
    ) -> Option<RobustRidge> {
        let columns = penalties.len();
        let mut normal = vec![0.0; columns * columns];
        let mut sums = vec![0.0; columns];
        for (column, penalty) in penalties.iter().enumerate() {
            normal[column * columns + column] = *penalty;
        }
        for ((row, value), weight) in rows.iter().zip(values).zip(&weights) {
            for &(a, x) in row {
                sums[a] += weight * x * value;
                for &(b, y) in row.iter().filter(|(b, _)| *b <= a) {
                    normal[a * columns + b] += weight * x * y;
                }
            }
        }
        factorize(&mut normal, columns)?;
        solve(&normal, &mut sums);
        Some(RobustRidge { factor: normal, coefficients: sums, weights })
    }
}

/// The lower triangle becomes its Cholesky factor.
fn factorize(matrix: &mut [f64], columns: usize) -> Option<()> {
    for row in 0..columns {
        let (above, own) = matrix.split_at_mut(row * columns);
        for column in 0..row {
            let other = &above[column * columns..][..=column];
            let sum: f64 = own[..column].iter().zip(other).map(|(a, b)| a * b).sum();
            own[column] = (own[column] - sum) / other[column];
        }
        let pivot = own[row] - own[..row].iter().map(|a| a * a).sum::<f64>();
        if pivot.is_nan() || pivot <= LEAST_PIVOT {
            return None;
        }
        own[row] = pivot.sqrt();
    }
    Some(())
}

/// Solves the normal equations for one right side, in place.
fn solve(factor: &[f64], side: &mut [f64]) {
    let columns = side.len();
    for row in 0..columns {
        let own = &factor[row * columns..][..=row];
        let sum: f64 = own[..row].iter().zip(&*side).map(|(a, b)| a * b).sum();
        side[row] = (side[row] - sum) / own[row];
    }
    for row in (0..columns).rev() {
        let own = &factor[row * columns..][..=row];
        side[row] /= own[row];
        let value = side[row];
        for (below, a) in side[..row].iter_mut().zip(own) {
            *below -= a * value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two groups with means 5 and 7 and a common slope of 0.5.
    fn two_groups() -> (Vec<SparseRow>, Vec<f64>) {
        let rows = (0..40).map(|n| vec![(n % 2, 1.0), (2, (n / 2) as f64)]).collect();
        let noise = |n: usize| [0.01, -0.02, 0.015, -0.005][n / 2 % 4];
        let value = |n: usize| [5.0, 7.0][n % 2] + 0.5 * (n / 2) as f64 + noise(n);
        (rows, (0..40).map(value).collect())
    }

    #[test]
    fn means_and_slope_come_back_and_one_wild_value_moves_them_little() {
        let (rows, mut values) = two_groups();
        values[7] += 100.0;
        let fit = RobustRidge::fitted(&rows, &values, &[1e-6; 3]).expect("determined");
        for (own, wanted) in fit.coefficients().iter().zip([5.0, 7.0, 0.5]) {
            assert!((own - wanted).abs() < 0.02, "{own} is not {wanted}");
        }
    }

    #[test]
    fn a_penalty_is_worth_so_many_rows_at_0() {
        let rows: Vec<SparseRow> = (0..6).map(|_| vec![(0, 1.0)]).collect();
        let fit = RobustRidge::fitted(&rows, &[3.0; 6], &[3.0]).expect("determined");
        assert!((fit.coefficients()[0] - 2.0).abs() < 1e-9, "6 of 9 parts of 3");
        assert!(RobustRidge::fitted(&rows, &[3.0; 6], &[3.0, 0.0]).is_none(), "a column of none");
    }

    #[test]
    fn without_a_row_is_as_if_it_had_not_been_there() {
        let (rows, values) = two_groups();
        let penalties = [0.5, 0.5, 0.1];
        let fit = RobustRidge::fitted(&rows, &values, &penalties).expect("determined");
        for index in [0, 13, 39] {
            let mut weights = fit.weights.clone();
            weights[index] = 0.0;
            let again = RobustRidge::weighted(&rows, &values, &penalties, weights);
            let again = again.expect("determined");
            let without = fit.coefficients_without(index, &rows[index], values[index]);
            for (a, b) in without.iter().zip(again.coefficients()) {
                assert!((a - b).abs() < 1e-9, "{a} is not {b}");
            }
        }
    }
}

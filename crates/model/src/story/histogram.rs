//! Single operations in bins of equal factors.

use super::{Cell, Table, left, right};
use crate::estimate::Estimate;
use crate::figure::time;
use crate::run::Cell as Samples;
use crate::sample_columns::DamagedColumns;

/// Rows of the table.
const BINS: usize = 24;
/// Characters of the bars: of one distribution alone, and of each of two.
const ALONE: usize = 64;
const SIDE_BY_SIDE: usize = 23;

/// Edges of bins over a logarithmic axis, from the shortest value to the
/// longest.
#[derive(Clone, Debug, PartialEq)]
pub struct Bins {
    low: f64,
    high: f64,
    number: usize,
}

/// How many values fell where: together all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct BinCounts {
    /// 0 or less: not on a logarithmic axis.
    pub not_above_zero: usize,
    /// By bin, the shortest first.
    pub bins: Vec<usize>,
}

impl Bins {
    /// Bins over finite values; none where no value is above 0, one where all
    /// of those are alike.
    pub fn over(values: impl Iterator<Item = f64> + Clone, number: usize) -> Option<Bins> {
        let above = values.filter(|&v| v > 0.0);
        let low = above.clone().fold(f64::INFINITY, f64::min);
        let high = above.fold(0.0, f64::max);
        let number = if high > low { number.max(1) } else { 1 };
        (high > 0.0 && high.is_finite()).then_some(Bins { low, high, number })
    }

    /// How many bins there are.
    pub fn bin_count(&self) -> usize {
        self.number
    }

    /// Where a bin begins.
    pub fn bin_start(&self, bin: usize) -> f64 {
        self.low * (self.high / self.low).powf(bin as f64 / self.number as f64)
    }

    /// The bin of a value that the axis was made over.
    pub fn bin_index(&self, value: f64) -> Option<usize> {
        if value <= 0.0 || value.is_nan() {
            return None;
        }
        let share = match self.number {
            1 => 0.0,
            _ => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        // The longest value closes the last bin.
        Some(((share * self.number as f64) as usize).min(self.number - 1))
    }

    /// Counts values.
    pub fn count_values(&self, values: &[f64]) -> BinCounts {
        let mut counts = BinCounts { not_above_zero: 0, bins: vec![0; self.number] };
        for &value in values {
            match self.bin_index(value) {
                Some(bin) => counts.bins[bin] += 1,
                None => counts.not_above_zero += 1,
            }
        }
        counts
    }
}

/// Why a cell's operations can't be shown: its document is damaged.
#[derive(thiserror::Error, Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum DamagedCell {
    /// Its columns don't fit together.
    #[error(transparent)]
    Columns(#[from] DamagedColumns),
    #[error("a recorded time is not finite")]
    NotFinite,
}

/// Every operation of a cell, ns.
pub fn values(cell: &Samples, ns_per_tick: f64) -> Result<Vec<f64>, DamagedCell> {
    let samples = cell.samples.samples()?;
    let values = samples.iter().map(|s| s.ns_per_op(cell.ops_per_turn, ns_per_tick));
    let values: Vec<f64> = values.collect();
    match values.iter().all(|v| v.is_finite()) {
        true => Ok(values),
        false => Err(DamagedCell::NotFinite),
    }
}

/// A row, or a point of a curve, with its operations.
pub(super) struct Distribution<'r> {
    pub(super) name: String,
    pub(super) estimate: &'r Estimate,
    pub(super) values_ns: Vec<f64>,
}

/// Counts of every operation over the same bins, with a bar to each
/// distribution's own scale; `None` where no operation took longer than 0.
pub(super) fn histogram_table(distributions: &[Distribution]) -> Option<Table> {
    let all = distributions.iter().flat_map(|d| d.values_ns.iter().copied());
    let bins = Bins::over(all, BINS)?;
    let width = if distributions.len() == 1 { ALONE } else { SIDE_BY_SIDE };
    let mut table = Table::new([right("  from")]);
    let mut counts = Vec::new();
    for one in distributions {
        table.columns.extend([left(one.name.clone()), right(""), left("")]);
        counts.push(bins.count_values(&one.values_ns));
    }
    let mut row = |from: String, bin: Option<usize>| {
        let mut cells: Vec<Cell> = vec![from.into()];
        for (one, counts) in distributions.iter().zip(&counts) {
            let most = counts.bins.iter().copied().max().unwrap_or(0);
            let most = most.max(counts.not_above_zero).max(1);
            let count = bin.map_or(counts.not_above_zero, |bin| counts.bins[bin]);
            let number = if count == 0 { String::new() } else { count.to_string() };
            cells.extend([
                Cell::bar(0.0, count as f64 / most as f64, width),
                number.into(),
                percentiles(one.estimate, &bins, bin).into(),
            ]);
        }
        table.row(cells);
    };
    if counts.iter().any(|c| c.not_above_zero > 0) {
        row("0 or less".into(), None);
    }
    for bin in 0..bins.bin_count() {
        row(time(bins.bin_start(bin)), Some(bin));
    }
    Some(table)
}

/// The percentiles that lie in a bin.
fn percentiles(estimate: &Estimate, bins: &Bins, bin: Option<usize>) -> String {
    let names: Vec<&str> = [
        ("p50", estimate.ns()),
        ("p99", estimate.tail.and_then(|t| t.p99_ns)),
        ("p99.9", estimate.tail.and_then(|t| t.p999_ns)),
    ]
    .into_iter()
    .filter(|(_, ns)| ns.is_some_and(|ns| bins.bin_index(ns.value) == bin))
    .map(|(name, _)| name)
    .collect();
    names.join(" ")
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{Block, Row, Value};
    use super::*;

    fn bins(values: &[f64], number: usize) -> Bins {
        Bins::over(values.iter().copied(), number).expect("values above 0")
    }

    /// Operations in the last table of a story that begins with `from`.
    pub(in super::super) fn counted(story: &[Block]) -> usize {
        let tables = story.iter().filter_map(|block| match block {
            Block::Table(table) if table.columns[0].title.trim() == "from" => Some(table),
            _ => None,
        });
        let cells = tables.flat_map(|table| &table.rows).flat_map(|row| match row {
            Row::Cells(cells) => cells[1..].iter(),
            Row::Note(_) => [].iter(),
        });
        let counts = cells.filter_map(|cell| match &cell.value {
            Value::Text(text) => text.parse::<usize>().ok(),
            _ => None,
        });
        counts.sum()
    }

    #[test]
    fn every_value_is_counted_once() {
        let values: Vec<f64> =
            (0..1000).map(|k| 2_000.0 * (f64::from(k) / 100.0).exp()).chain([0.0, -5.0]).collect();
        for number in [1, 2, 7, 16] {
            let counts = bins(&values, number).count_values(&values);
            assert_eq!(counts.bins.len(), number);
            assert_eq!(counts.not_above_zero, 2);
            let sum: usize = counts.bins.iter().sum();
            assert_eq!(sum + counts.not_above_zero, values.len());
            // Equal factors between: equal counts, but for rounding.
            let even = 1000 / number;
            assert!(counts.bins.iter().all(|&n| n.abs_diff(even) <= 2), "{counts:?}");
        }
    }

    #[test]
    fn edges_lie_at_equal_factors() {
        let bins = bins(&[1.0, 10.0, 100.0, 10_000.0], 4);
        let edges: Vec<f64> = (0..4).map(|k| bins.bin_start(k).round()).collect();
        assert_eq!(edges, [1.0, 10.0, 100.0, 1_000.0]);
        let of = [1.0, 9.99, 10.01, 999.0, 10_000.0].map(|value| bins.bin_index(value));
        assert_eq!(of, [0, 0, 1, 2, 3].map(Some));
    }

    #[test]
    fn values_that_are_all_alike_have_one_bin() {
        let bins = bins(&[7.0, 7.0, -1.0], 16);
        assert_eq!(bins.bin_count(), 1);
        assert_eq!(bins.count_values(&[7.0, 7.0, -1.0]).bins, [2]);
        assert_eq!(Bins::over([0.0, -1.0].into_iter(), 16), None);
        assert_eq!(Bins::over(std::iter::empty(), 16), None);
    }
}

//! Values in bins of equal factors, and bars for their counts: the whole
//! distribution of single operations, of one row or of several side by side.

use super::layout::{Entry, Grid, left, right};
use model::estimate::Estimate;
use model::figure::time;
use model::run::Cell;

/// Lines of the picture.
const BINS: usize = 24;
/// Columns of the bars: of one row alone, and of each of two.
pub(super) const ALONE: usize = 64;
const SIDE_BY_SIDE: usize = 23;

/// One row, or point of a curve, with its operations.
pub(super) struct Panel<'r> {
    pub(super) name: String,
    pub(super) estimate: &'r Estimate,
    pub(super) values_ns: Vec<f64>,
}

/// Edges of bins over a logarithmic axis, from the shortest value to the
/// longest.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bins {
    low: f64,
    high: f64,
    number: usize,
}

/// How many values fell where: together all of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counts {
    /// 0 or less: a logarithmic axis has no place for them.
    pub(crate) not_above_zero: usize,
    /// By bin, the shortest first.
    pub(crate) bins: Vec<usize>,
}

impl Bins {
    /// Bins over finite values; none where no value is above 0, one where all
    /// that are, are alike.
    pub(crate) fn over(values: impl Iterator<Item = f64> + Clone, number: usize) -> Option<Bins> {
        let above = values.filter(|&v| v > 0.0);
        let low = above.clone().fold(f64::INFINITY, f64::min);
        let high = above.fold(0.0, f64::max);
        let number = if high > low { number.max(1) } else { 1 };
        (high > 0.0 && high.is_finite()).then_some(Bins { low, high, number })
    }

    /// How many bins there are.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Where a bin begins.
    pub(crate) fn begin(&self, bin: usize) -> f64 {
        self.low * (self.high / self.low).powf(bin as f64 / self.number as f64)
    }

    /// The bin of a value that the axis was made over.
    pub(crate) fn of(&self, value: f64) -> Option<usize> {
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
    pub(crate) fn count(&self, values: &[f64]) -> Counts {
        let mut counts = Counts {
            not_above_zero: 0,
            bins: vec![0; self.number],
        };
        for &value in values {
            match self.of(value) {
                Some(bin) => counts.bins[bin] += 1,
                None => counts.not_above_zero += 1,
            }
        }
        counts
    }
}

/// A bar of eighths of a character, as long beside `columns` as `count` beside
/// `most`; never nothing for something.
fn bar(count: usize, most: usize, columns: usize) -> String {
    const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
    if count == 0 || most == 0 {
        return String::new();
    }
    let eighths = (count as f64 / most as f64 * columns as f64 * 8.0).round() as usize;
    let eighths = eighths.clamp(1, columns * 8);
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8 - 1]);
    }
    bar
}

/// The operations of a cell, ns.
pub(crate) fn values(cell: &Cell, ns_per_tick: f64) -> Result<Vec<f64>, String> {
    let values: Vec<f64> = cell
        .samples
        .samples()?
        .iter()
        .map(|s| s.ns_per_op(cell.ops_per_turn, ns_per_tick))
        .collect();
    match values.iter().all(|v| v.is_finite()) {
        true => Ok(values),
        false => Err("an operation was recorded that is no time".into()),
    }
}

/// Draws every operation, each panel to its own scale beside the same bins;
/// nothing where none is above 0.
pub(super) fn draw(grid: &mut Grid, panels: &[Panel]) -> bool {
    let all = panels.iter().flat_map(|p| p.values_ns.iter().copied());
    let bins = Bins::over(all, BINS);
    if let Some(bins) = &bins {
        picture(grid, panels, bins);
    }
    bins.is_some()
}

fn picture(grid: &mut Grid, panels: &[Panel], bins: &Bins) {
    let columns = if panels.len() == 1 {
        ALONE
    } else {
        SIDE_BY_SIDE
    };
    let counts: Vec<Counts> = panels.iter().map(|p| bins.count(&p.values_ns)).collect();
    let mut heading = vec![right("from")];
    for panel in panels {
        heading.extend([left(panel.name.clone()), left(""), left("")]);
    }
    grid.entries(heading);
    let mut line = |from: String, number: &dyn Fn(&Counts) -> usize, bin: Option<usize>| {
        let mut line = vec![right(format!("  {from}"))];
        for (panel, counts) in panels.iter().zip(&counts) {
            // Each panel has its own scale: the numbers beside tell which.
            let most = counts.bins.iter().copied().max().unwrap_or(0);
            let most = most.max(counts.not_above_zero);
            line.extend(of_panel(panel, number(counts), most, columns, bins, bin));
        }
        grid.entries(line);
    };
    if counts.iter().any(|c| c.not_above_zero > 0) {
        line("0 or less".into(), &|c| c.not_above_zero, None);
    }
    for bin in 0..bins.number() {
        line(time(bins.begin(bin)), &|c| c.bins[bin], Some(bin));
    }
}

/// Bar, count and marks of one bin of a panel.
fn of_panel(
    panel: &Panel,
    count: usize,
    most: usize,
    columns: usize,
    bins: &Bins,
    bin: Option<usize>,
) -> [Entry; 3] {
    let tail = panel.estimate.tail;
    let marks: Vec<&str> = [
        ("p50", panel.estimate.ns()),
        ("p99", tail.and_then(|t| t.p99_ns)),
        ("p99.9", tail.and_then(|t| t.p999_ns)),
    ]
    .into_iter()
    .filter(|(_, ns)| ns.is_some_and(|ns| bins.of(ns.value) == bin))
    .map(|(name, _)| name)
    .collect();
    let number = match count {
        0 => String::new(),
        n => n.to_string(),
    };
    let drawn = bar(count, most, columns);
    let fill = " ".repeat(columns - drawn.chars().count());
    [
        left(format!("{drawn}{fill}")),
        right(number),
        left(marks.join(" ")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::layout::width;

    fn bins(values: &[f64], number: usize) -> Bins {
        Bins::over(values.iter().copied(), number).expect("values above 0")
    }

    #[test]
    fn every_value_is_counted_once() {
        let values: Vec<f64> = (0..1000)
            .map(|k| 2_000.0 * (f64::from(k) / 100.0).exp())
            .chain([0.0, -5.0])
            .collect();
        for number in [1, 2, 7, 16] {
            let counts = bins(&values, number).count(&values);
            assert_eq!(counts.bins.len(), number);
            assert_eq!(counts.not_above_zero, 2);
            let sum: usize = counts.bins.iter().sum();
            assert_eq!(sum + counts.not_above_zero, values.len());
            // Equal factors between: equal counts, but for rounding.
            let even = 1000 / number;
            assert!(
                counts.bins.iter().all(|&n| n.abs_diff(even) <= 2),
                "{counts:?}"
            );
        }
    }

    #[test]
    fn edges_lie_at_equal_factors() {
        let bins = bins(&[1.0, 10.0, 100.0, 10_000.0], 4);
        let edges: Vec<f64> = (0..4).map(|k| bins.begin(k).round()).collect();
        assert_eq!(edges, [1.0, 10.0, 100.0, 1_000.0]);
        assert_eq!(bins.of(1.0), Some(0));
        assert_eq!(bins.of(9.99), Some(0));
        assert_eq!(bins.of(10.01), Some(1));
        assert_eq!(bins.of(999.0), Some(2));
        assert_eq!(bins.of(10_000.0), Some(3));
    }

    #[test]
    fn values_that_are_all_alike_have_one_bin() {
        let bins = bins(&[7.0, 7.0, -1.0], 16);
        assert_eq!(bins.number(), 1);
        assert_eq!(bins.count(&[7.0, 7.0, -1.0]).bins, [2]);
        assert_eq!(Bins::over([0.0, -1.0].into_iter(), 16), None);
        assert_eq!(Bins::over(std::iter::empty(), 16), None);
    }

    #[test]
    fn bars_are_in_proportion_and_never_nothing_for_something() {
        assert_eq!(bar(0, 100, 10), "");
        assert_eq!(bar(1, 100_000, 10), "▏");
        assert_eq!(bar(50, 100, 10), "█████");
        assert_eq!(bar(55, 100, 10), "█████▌");
        assert_eq!(bar(100, 100, 10), "█".repeat(10));
        assert_eq!(width(&bar(99, 100, 10)), 10);
    }
}

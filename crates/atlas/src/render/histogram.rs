//! Values in bins of equal factors, and bars for their counts.

/// Edges of bins over a logarithmic axis, from the shortest value to the
/// longest.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bins {
    low: f64,
    high: f64,
    number: usize,
}

/// How many values fell where: together all of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counts {
    /// 0 or less: a logarithmic axis has no place for them.
    pub(super) not_above_zero: usize,
    /// By bin, the shortest first.
    pub(super) bins: Vec<usize>,
}

impl Bins {
    /// Bins over finite values; none where no value is above 0, one where all
    /// that are, are alike.
    pub(super) fn over(values: impl Iterator<Item = f64> + Clone, number: usize) -> Option<Bins> {
        let above = values.filter(|&v| v > 0.0);
        let low = above.clone().fold(f64::INFINITY, f64::min);
        let high = above.fold(0.0, f64::max);
        let number = if high > low { number.max(1) } else { 1 };
        (high > 0.0 && high.is_finite()).then_some(Bins { low, high, number })
    }

    /// How many bins there are.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Where a bin begins.
    pub(super) fn begin(&self, bin: usize) -> f64 {
        self.low * (self.high / self.low).powf(bin as f64 / self.number as f64)
    }

    /// The bin of a value that the axis was made over.
    pub(super) fn of(&self, value: f64) -> Option<usize> {
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
    pub(super) fn count(&self, values: &[f64]) -> Counts {
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
pub(super) fn bar(count: usize, most: usize, columns: usize) -> String {
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

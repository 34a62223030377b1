//! Where machines stand among all, by row.
//!
//! Counted are reliable figures ([`super::KeptResult::reliable`]) of every
//! kept run that latlas itself measured on real hardware: no run of another
//! program, of commands, or under an emulator.

use super::MachineKey;
use model::unit::Unit;
use serde::Serialize;

/// Where one machine stands among all, for one row.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Percentile {
    /// The row.
    pub row: String,
    /// The point; empty for a single figure.
    pub at: Vec<u64>,
    /// Unit that people are shown.
    pub unit: Unit,
    /// This machine's latest reliable figure: ns per operation, counts and
    /// bytes as they are.
    pub value: f64,
    /// Percent of the figures of all machines that are slower than it (for
    /// counts and bytes: larger).
    pub percentile: f64,
    /// How many figures there are of all machines.
    pub results: u64,
    /// Of how many machines.
    pub machines: u64,
}

/// The figures of one row over all machines.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct RowStanding {
    /// The row.
    pub row: String,
    /// The point; empty for a single figure.
    pub at: Vec<u64>,
    /// How many figures there are.
    pub results: u64,
    /// Quantiles of them, rising, by the method of [`quantile`].
    pub quantiles: Vec<Quantile>,
    /// Each machine that has one, the fastest first.
    pub machines: Vec<MachineStanding>,
}

/// A quantile of the figures.
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
pub struct Quantile {
    /// Which, percent.
    pub percent: u32,
    /// The figure: ns per operation, counts and bytes as they are.
    pub value: f64,
}

/// Where one machine stands.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct MachineStanding {
    /// Which.
    pub machine: MachineKey,
    /// Its latest reliable figure.
    pub value: f64,
    /// Percent of all figures that are slower than it.
    pub percentile: f64,
    /// How many figures it has.
    pub results: u64,
}

/// The quantiles that are told.
const TOLD: [u32; 9] = [0, 5, 10, 25, 50, 75, 90, 95, 100];

/// One figure of one machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figure {
    /// Number of the machine.
    pub(super) machine: u32,
    /// Place of its run among all by time, the oldest first.
    pub(super) when: u32,
    /// The figure.
    pub(super) value: f64,
}

/// The latest figure of a machine.
pub(super) fn latest(figures: &[Figure], machine: u32) -> Option<Figure> {
    let own = figures.iter().filter(|figure| figure.machine == machine);
    own.max_by_key(|figure| figure.when).copied()
}

/// Percent of the figures that are slower.
pub(super) fn percentile(figures: &[Figure], value: f64) -> f64 {
    let slower = figures.iter().filter(|figure| figure.value > value).count();
    100.0 * slower as f64 / figures.len() as f64
}

/// How many machines the figures are of.
pub(super) fn machines(figures: &[Figure]) -> Vec<u32> {
    let mut all: Vec<u32> = figures.iter().map(|figure| figure.machine).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// All quantiles that are told; none of no figures.
pub(super) fn quantiles(figures: &[Figure]) -> Vec<Quantile> {
    let mut values: Vec<f64> = figures.iter().map(|figure| figure.value).collect();
    values.sort_by(f64::total_cmp);
    TOLD.iter()
        .filter_map(|&percent| {
            let value = quantile(&values, f64::from(percent) / 100.0)?;
            Some(Quantile { percent, value })
        })
        .collect()
}

/// The smallest of the rising values that is not below the given share of
/// them: an observed figure, none between two (type 1 of Hyndman and Fan,
/// "Sample Quantiles in Statistical Packages", 1996).
pub fn quantile(rising: &[f64], share: f64) -> Option<f64> {
    let place = (share * rising.len() as f64).ceil() as usize;
    rising.get(place.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(all: &[(u32, u32, f64)]) -> Vec<Figure> {
        let figure = |&(machine, when, value)| Figure {
            machine,
            when,
            value,
        };
        all.iter().map(figure).collect()
    }

    #[test]
    fn a_machine_stands_where_its_latest_figure_does() {
        let all = figures(&[
            (1, 1, 9.0),
            (1, 3, 2.0),
            (1, 2, 1.0),
            (2, 9, 2.0),
            (3, 9, 4.0),
        ]);
        assert_eq!(latest(&all, 1).map(|f| f.value), Some(2.0));
        assert!(latest(&all, 4).is_none());
        assert_eq!(percentile(&all, 2.0), 40.0, "9 and 4 are slower, 2 is not");
        assert_eq!(machines(&all), [1, 2, 3]);
    }

    #[test]
    fn a_quantile_is_a_figure_that_was_seen() {
        let rising = [1.0, 2.0, 4.0, 8.0];
        let at = |share| quantile(&rising, share).expect("of four");
        assert_eq!(
            [at(0.0), at(0.25), at(0.26), at(0.5), at(1.0)],
            [1.0, 1.0, 2.0, 2.0, 8.0]
        );
        assert_eq!(quantile(&[], 0.5), None);
    }
}

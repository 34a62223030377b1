//! Where machines stand among all, by row: each machine counts once, by its
//! latest figure, however many runs of it are kept.
//!
//! Counted are reliable figures ([`model::summary::KeptResult::reliable`]) of every
//! kept run that latlas itself measured on real hardware: no run of another
//! program, of commands, or under an emulator. Figures of two kinds (quiet and
//! typical, or of two modes) are never set against each other.

use model::summary::MachineKey;
use model::unit::Unit;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Where one machine stands among all, for one row.
#[derive(Serialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Percentile {
    /// The row.
    pub row: String,
    /// The point; empty for a single figure.
    pub at: Vec<u64>,
    /// The mode that all the figures are of, where modes lie apart.
    pub mode: Option<String>,
    /// Unit that people are shown.
    pub unit: Unit,
    /// This machine's latest reliable figure: ns per operation, counts and
    /// bytes as they are.
    pub value_ns: f64,
    /// Percent of the machines whose latest figure is slower than it (for
    /// counts and bytes: larger).
    pub percentile: f64,
    /// How many figures there are of all machines.
    pub results: u64,
    /// Of how many machines: each counts once.
    pub machines: u64,
}

/// The figures of one row over all machines.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct RowStanding {
    /// The row.
    pub row: String,
    /// The point; empty for a single figure.
    pub at: Vec<u64>,
    /// The mode that all the figures are of, where modes lie apart: the one that
    /// most machines have.
    pub mode: Option<String>,
    /// How many figures there are.
    pub results: u64,
    /// Quantiles of the machines' latest figures, rising, by the method of
    /// [`quantile`].
    pub quantiles: Vec<Quantile>,
    /// Each machine that has one, the fastest first.
    pub machines: Vec<MachineStanding>,
}

/// A quantile of the figures.
#[derive(Serialize, JsonSchema, Clone, Copy, Debug, PartialEq)]
pub struct Quantile {
    /// Which, percent.
    pub percent: u32,
    /// The figure: ns per operation, counts and bytes as they are.
    pub value_ns: f64,
}

/// Where one machine stands.
#[derive(Serialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct MachineStanding {
    /// Which.
    pub machine: MachineKey,
    /// Its latest reliable figure: ns per operation, counts and bytes as they
    /// are.
    pub value_ns: f64,
    /// Percent of the machines whose latest figure is slower.
    pub percentile: f64,
    /// How many figures it has.
    pub results: u64,
}

/// The quantiles that are reported.
const QUANTILES_SHOWN: [u32; 9] = [0, 5, 10, 25, 50, 75, 90, 95, 100];

/// One figure of one machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figure {
    /// Number of the machine.
    pub(super) machine: u32,
    /// Place of its run among all by time, the oldest first.
    pub(super) when: u32,
    /// Number of its form: figures of two forms are two quantities.
    pub(super) form: i64,
    /// The figure.
    pub(super) value: f64,
}

/// Those of one form.
pub(super) fn of_form(figures: &[Figure], form: i64) -> Vec<Figure> {
    let own = figures.iter().filter(|figure| figure.form == form);
    own.copied().collect()
}

/// The form that most machines have a figure of; of several the one that was
/// measured last.
pub(super) fn usual_form(figures: &[Figure]) -> Option<i64> {
    let machines = |form| latest(&of_form(figures, form)).len();
    let of_each = figures.iter().map(|f| (f.form, f.when));
    let newest: BTreeMap<i64, u32> = of_each.fold(BTreeMap::new(), |mut all, (form, when)| {
        let newest = all.entry(form).or_insert(when);
        *newest = when.max(*newest);
        all
    });
    let usual = newest
        .into_iter()
        .max_by_key(|&(form, when)| (machines(form), when));
    usual.map(|(form, _)| form)
}

/// The latest figure of each machine, by the machine's number.
pub(super) fn latest(figures: &[Figure]) -> Vec<Figure> {
    let mut all = figures.to_vec();
    all.sort_unstable_by_key(|figure| (figure.machine, std::cmp::Reverse(figure.when)));
    all.dedup_by_key(|figure| figure.machine);
    all
}

/// Percent of the figures that are slower.
pub(super) fn percentile(figures: &[Figure], value: f64) -> f64 {
    let slower = figures.iter().filter(|figure| figure.value > value).count();
    100.0 * slower as f64 / figures.len() as f64
}

/// All quantiles that are reported; none of no figures.
pub(super) fn quantiles(figures: &[Figure]) -> Vec<Quantile> {
    let mut values: Vec<f64> = figures.iter().map(|figure| figure.value).collect();
    values.sort_by(f64::total_cmp);
    QUANTILES_SHOWN
        .iter()
        .filter_map(|&percent| {
            let value = quantile(&values, f64::from(percent) / 100.0)?;
            Some(Quantile {
                percent,
                value_ns: value,
            })
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
            form: 1,
            value,
        };
        all.iter().map(figure).collect()
    }

    #[test]
    fn a_machine_counts_once_by_its_latest_figure() {
        let all = figures(&[
            (1, 1, 9.0),
            (1, 3, 2.0),
            (1, 2, 1.0),
            (2, 9, 2.0),
            (3, 9, 4.0),
        ]);
        let latest = latest(&all);
        let values: Vec<(u32, f64)> = latest.iter().map(|f| (f.machine, f.value)).collect();
        assert_eq!(values, [(1, 2.0), (2, 2.0), (3, 4.0)]);
        let slower = percentile(&latest, 2.0);
        assert!((slower - 100.0 / 3.0).abs() < 1e-9, "one machine of three");
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

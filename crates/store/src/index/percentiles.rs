//! Where machines stand among all, by row: each machine counts once, by its
//! latest figure, however many runs of it are kept.
//!
//! Counted are reliable figures ([`model::summary::KeptResult::reliable`]) of every
//! kept run that latlas itself measured on real hardware: no run of another
//! program, of commands, or under an emulator. Figures of two kinds (quiet and
//! typical, or of two modes) are never set against each other.

use model::summary::{KeptResult, MachineKey};
use model::unit::Unit;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Where one machine stands among all, for one row.
#[derive(Serialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quantile {
    /// Which, percent.
    pub percent: u32,
    /// The figure: ns per operation, counts and bytes as they are.
    pub value_ns: f64,
}

/// Where one machine stands.
#[derive(Serialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

const QUANTILES_SHOWN: [u32; 9] = [0, 5, 10, 25, 50, 75, 90, 95, 100];

#[derive(Clone, Copy, Debug)]
pub(crate) struct RankedFigure {
    pub(crate) machine: u32,
    /// Place of its run among all by time, the oldest first.
    pub(crate) when: u32,
    /// Number of its form: figures of two forms are two quantities.
    pub(crate) form: i64,
    pub(crate) value: f64,
}

/// The runs whose figures count: of each its machine's number and its place in time.
#[derive(Default)]
pub(crate) struct CountedRuns {
    runs: HashMap<i64, (u32, u32)>,
    /// The numbers by place in time.
    by_time: Vec<i64>,
    numbers: HashMap<MachineKey, u32>,
    machines: Vec<MachineKey>,
}

impl CountedRuns {
    /// Adds one by its number; the oldest come first, before them those of the future.
    pub(crate) fn add_run(&mut self, run: i64, machine: String) {
        let new = self.machines.len() as u32;
        let key = MachineKey(machine);
        let number = *self.numbers.entry(key).or_insert_with_key(|key| {
            self.machines.push(key.clone());
            new
        });
        self.runs.insert(run, (number, self.by_time.len() as u32));
        self.by_time.push(run);
    }

    /// A figure of a run; `None` if its figures don't count.
    pub(crate) fn figure(&self, run: i64, form: i64, value: f64) -> Option<RankedFigure> {
        self.runs.get(&run).map(|&(machine, when)| RankedFigure { machine, when, form, value })
    }

    pub(crate) fn numbers(&self) -> &[i64] {
        &self.by_time
    }

    /// Number of a machine that has one.
    pub(crate) fn machine_number(&self, key: &MachineKey) -> Option<u32> {
        self.numbers.get(key).copied()
    }

    /// The machine's latest figure of a quantity among all: its run's number, and where it
    /// stands.
    pub(crate) fn rank(&self, figures: &[RankedFigure], machine: u32) -> Option<(i64, Rank)> {
        let own = figures.iter().filter(|figure| figure.machine == machine);
        let own = own.max_by_key(|figure| figure.when)?;
        let figures = of_form(figures, own.form);
        let latest = latest(&figures);
        let rank = Rank {
            value_ns: own.value,
            percentile: percentile(&latest, own.value),
            results: figures.len() as u64,
            machines: latest.len() as u64,
        };
        Some((self.by_time[own.when as usize], rank))
    }

    /// A row over all machines, with the form that its figures are of.
    pub(crate) fn standing(
        &self,
        (row, at): (&str, &[u64]),
        figures: &[RankedFigure],
    ) -> (RowStanding, Option<i64>) {
        let form = usual_form(figures);
        let figures = form.map_or_else(Vec::new, |form| of_form(figures, form));
        let mut results = vec![0; self.machines.len()];
        for figure in &figures {
            results[figure.machine as usize] += 1;
        }
        let latest = latest(&figures);
        let mut values: Vec<f64> = latest.iter().map(|figure| figure.value).collect();
        values.sort_by(f64::total_cmp);
        let standing = |own: &RankedFigure| MachineStanding {
            machine: self.machines[own.machine as usize].clone(),
            value_ns: own.value,
            percentile: percentile_in(&values, own.value),
            results: results[own.machine as usize],
        };
        let mut machines: Vec<MachineStanding> = latest.iter().map(standing).collect();
        machines
            .sort_by(|a, b| (a.value_ns.total_cmp(&b.value_ns)).then(a.machine.cmp(&b.machine)));
        let standing = RowStanding {
            row: row.to_owned(),
            at: at.to_vec(),
            mode: None,
            results: figures.len() as u64,
            quantiles: quantiles(&values),
            machines,
        };
        (standing, form)
    }
}

/// Where one figure stands among all.
pub(crate) struct Rank {
    value_ns: f64,
    percentile: f64,
    results: u64,
    machines: u64,
}

impl Rank {
    /// With the figure that it is of.
    pub(crate) fn percentile(self, result: KeptResult) -> Percentile {
        Percentile {
            row: result.row,
            at: result.at,
            mode: result.mode,
            unit: result.unit,
            value_ns: self.value_ns,
            percentile: self.percentile,
            results: self.results,
            machines: self.machines,
        }
    }
}

/// Those of one form.
fn of_form(figures: &[RankedFigure], form: i64) -> Vec<RankedFigure> {
    let own = figures.iter().filter(|figure| figure.form == form);
    own.copied().collect()
}

/// The form that most machines have a figure of; of several the one that was
/// measured last.
fn usual_form(figures: &[RankedFigure]) -> Option<i64> {
    let machines = |form| latest(&of_form(figures, form)).len();
    let of_each = figures.iter().map(|f| (f.form, f.when));
    let newest: BTreeMap<i64, u32> = of_each.fold(BTreeMap::new(), |mut all, (form, when)| {
        let newest = all.entry(form).or_insert(when);
        *newest = when.max(*newest);
        all
    });
    let usual = newest.into_iter().max_by_key(|&(form, when)| (machines(form), when));
    usual.map(|(form, _)| form)
}

/// The latest figure of each machine, by the machine's number.
fn latest(figures: &[RankedFigure]) -> Vec<RankedFigure> {
    let mut all = figures.to_vec();
    all.sort_unstable_by_key(|figure| (figure.machine, std::cmp::Reverse(figure.when)));
    all.dedup_by_key(|figure| figure.machine);
    all
}

/// Percent of the figures that are slower.
fn percentile(figures: &[RankedFigure], value: f64) -> f64 {
    let slower = figures.iter().filter(|figure| figure.value > value).count();
    100.0 * slower as f64 / figures.len() as f64
}

/// The same of rising values.
fn percentile_in(rising: &[f64], value: f64) -> f64 {
    let slower = rising.len() - rising.partition_point(|one| *one <= value);
    100.0 * slower as f64 / rising.len() as f64
}

/// All quantiles of rising values that are reported; none of no figures.
fn quantiles(values: &[f64]) -> Vec<Quantile> {
    QUANTILES_SHOWN
        .iter()
        .filter_map(|&percent| {
            let value = quantile(values, f64::from(percent) / 100.0)?;
            Some(Quantile { percent, value_ns: value })
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

    fn made_figures(all: &[(u32, u32, f64)]) -> Vec<RankedFigure> {
        let figure = |&(machine, when, value)| RankedFigure { machine, when, form: 1, value };
        all.iter().map(figure).collect()
    }

    #[test]
    fn a_machine_counts_once_by_its_latest_figure() {
        let all = made_figures(&[(1, 1, 9.0), (1, 3, 2.0), (1, 2, 1.0), (2, 9, 2.0), (3, 9, 4.0)]);
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
        assert_eq!([at(0.0), at(0.25), at(0.26), at(0.5), at(1.0)], [1.0, 1.0, 2.0, 2.0, 8.0]);
        assert_eq!(quantile(&[], 0.5), None);
    }
}

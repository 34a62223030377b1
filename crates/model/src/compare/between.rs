//! What two runs of the same thing differ by beyond what each one's interval
//! says: another layout of code and pages, another state of the clock, other
//! neighbours. One run alone can't know it.

use super::reading::{Reading, Variance};
use crate::stats;
use serde::{Deserialize, Serialize};
use statrs::function::gamma::digamma;

/// What kind of figure it is that wanders between runs.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Wander {
    /// Quiet clock cycles: free of the clock and of most neighbours.
    Cycles,
    /// Quiet ns of memory and the kernel.
    Ns,
    /// Quiet ns of what is bound by the core: the clock's wandering is in it.
    NsOfCore,
    /// Medians of distributions: on several CPUs, long, or in modes.
    Distribution,
}

impl Wander {
    /// All of them.
    pub const ALL: [Wander; 4] =
        [Wander::Cycles, Wander::Ns, Wander::NsOfCore, Wander::Distribution];

    /// As printed.
    pub fn printed(self) -> &'static str {
        match self {
            Wander::Cycles => "cycles",
            Wander::Ns => "ns",
            Wander::NsOfCore => "ns of core-bound rows",
            Wander::Distribution => "medians of distributions",
        }
    }

    /// The standard deviation between runs that is assumed at least, as a
    /// share of the figure.
    pub fn least(self) -> f64 {
        self.assumed().0
    }

    /// The least standard deviation, and the degrees of freedom that the whole
    /// assumption is worth against kept runs. `docs/compare.md` says from which
    /// runs they are.
    fn assumed(self) -> (f64, f64) {
        match self {
            Wander::Cycles => (0.003, 6.0),
            Wander::Ns => (0.010, 6.0),
            Wander::NsOfCore => (0.050, 6.0),
            Wander::Distribution => (0.040, 4.0),
        }
    }

    /// The variance (of the logarithm) that one run's figure is assumed to
    /// have among runs: the least of its kind, its own over workers, and as
    /// much again, since where processes of one run disagree, runs do too.
    pub fn among_runs(self, reading: &Reading) -> f64 {
        self.least().powi(2) + 2.0 * reading.within.value
    }
}

/// By how much more (or less) a row's runs differ than was assumed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dispersion {
    /// Of the variance; 1 is as assumed.
    pub factor: f64,
    /// How well it is known.
    pub df: f64,
}

/// What the runs of one row differed by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scatter {
    /// Squares of the differences from each group's mean, over what was assumed.
    pub squares: f64,
    /// Degrees of freedom of their sum.
    pub df: f64,
}

impl Scatter {
    /// From groups of runs that should have come out alike (Birge's ratio, Phys.
    /// Rev. 40, 1932, 207-227).
    pub fn from_groups(wander: Wander, groups: &[Vec<Reading>]) -> Scatter {
        let mut all = Scatter::default();
        for group in groups {
            let weights: Vec<f64> = group.iter().map(|r| 1.0 / wander.among_runs(r)).collect();
            let total: f64 = weights.iter().sum();
            let pairs = || group.iter().zip(&weights);
            let mean = pairs().map(|(r, w)| r.ln * w).sum::<f64>() / total;
            all.squares += pairs().map(|(r, w)| w * (r.ln - mean).powi(2)).sum::<f64>();
            all.df += group.len().saturating_sub(1) as f64;
        }
        all
    }
}

impl Dispersion {
    /// What is assumed of a row of which no other run is known.
    pub fn assumed(wander: Wander) -> Dispersion {
        Dispersion { factor: 1.0, df: wander.assumed().1 }
    }

    /// What rows of one kind have in common, from the scatter of each: by how
    /// much more than assumed they vary, and how unlike they are in that (Smyth,
    /// Stat. Appl. Genet. Mol. Biol. 3, 2004, article 3, section 6.2: the mean
    /// and the variance of the logarithms). What is assumed counts as
    /// [`ASSUMED_ROWS`] rows more, and is the least: where most rows are steadier
    /// than assumed, the few that are not must not be taken for steady too.
    pub fn learned(wander: Wander, rows: &[Scatter]) -> Dispersion {
        let assumed = Dispersion::assumed(wander);
        let usable: Vec<&Scatter> =
            rows.iter().filter(|row| row.df > 0.0 && row.squares > 0.0).collect();
        // Logarithms of each row's factor, without their bias.
        let logs: Vec<f64> =
            usable.iter().map(|row| (row.squares / row.df).ln() - log_bias(row.df)).collect();
        let Some(of_rows) = stats::mean(&logs) else {
            return assumed;
        };
        let (rows, assumed_rows) = (logs.len() as f64, ASSUMED_ROWS);
        let share = rows / (rows + assumed_rows);
        let mean = share * of_rows - (1.0 - share) * log_bias(assumed.df);
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        let of_chance: f64 = usable.iter().map(|row| trigamma(row.df / 2.0)).sum();
        let unlike = (squares - of_chance + assumed_rows * trigamma(assumed.df / 2.0))
            / (rows + assumed_rows);
        let df = df_of(unlike);
        Dispersion { factor: (mean + log_bias(df)).exp().max(assumed.factor), df }
    }

    /// The dispersion of one row: what is known of its kind, moderated by (as
    /// Smyth's moderated t is) what its own runs differed by.
    pub fn of_row(self, row: Scatter) -> Dispersion {
        let df = self.df + row.df;
        Dispersion { factor: (self.df * self.factor + row.squares) / df, df }
    }
}

/// Rows that the assumption counts as, in addition to those that were seen.
const ASSUMED_ROWS: f64 = 6.0;
/// What rows of a kind have in common is never worth more degrees of freedom
/// than this: a row that is unlike all others must be able to show it.
const MOST_DF: f64 = 20.0;

/// Mean of the logarithm of a mean square with so many degrees of freedom, of
/// values of variance 1.
fn log_bias(df: f64) -> f64 {
    digamma(df / 2.0) - (df / 2.0).ln()
}

/// The derivative of digamma: the variance of the logarithm of a chi-squared
/// value. By its recurrence and asymptotic series (Abramowitz and Stegun 6.4.6
/// and 6.4.12).
fn trigamma(x: f64) -> f64 {
    let steps = (10.0 - x).ceil().max(0.0) as u32;
    let shifted = x + f64::from(steps);
    let below: f64 = (0..steps).map(|k| (x + f64::from(k)).powi(-2)).sum();
    let i = 1.0 / shifted;
    below + i + i * i / 2.0 + i.powi(3) / 6.0 - i.powi(5) / 30.0 + i.powi(7) / 42.0
}

/// The degrees of freedom at which the logarithms of variances vary by so much.
fn df_of(unlike: f64) -> f64 {
    let (mut low, mut high) = (1.0, MOST_DF);
    if unlike <= trigamma(high / 2.0) {
        return high;
    }
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if trigamma(middle / 2.0) > unlike { low = middle } else { high = middle }
    }
    high
}

/// The dispersion of a row of which nothing is known but its own runs.
pub fn dispersion(wander: Wander, groups: &[Vec<Reading>]) -> Dispersion {
    Dispersion::assumed(wander).of_row(Scatter::from_groups(wander, groups))
}

/// The variance that runs of these groups really had about their group's mean;
/// `None` without two runs of one.
pub fn variance(groups: &[Vec<Reading>]) -> Option<Variance> {
    let (mut squares, mut df) = (0.0, 0.0);
    for group in groups {
        let all: Vec<f64> = group.iter().map(|r| r.ln).collect();
        let Some(deviation) = stats::standard_deviation(&all) else {
            continue;
        };
        let of_group = (all.len() - 1) as f64;
        squares += deviation * deviation * of_group;
        df += of_group;
    }
    (df > 0.0).then(|| Variance { value: squares / df, df })
}

/// The same as a standard deviation, a share of the figure.
pub fn seen(groups: &[Vec<Reading>]) -> Option<f64> {
    variance(groups).map(|variance| variance.value.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(ln: f64, within: f64) -> Reading {
        Reading { ln, within: Variance { value: within, df: 7.0 } }
    }

    #[test]
    fn without_other_runs_it_is_the_assumption() {
        let assumed = dispersion(Wander::Ns, &[]);
        assert_eq!((assumed.factor, assumed.df), (1.0, 6.0));
        let alone = vec![reading(3.0, 1e-6)];
        assert_eq!(dispersion(Wander::Ns, &[alone, Vec::new()]), assumed);
    }

    #[test]
    fn kept_runs_weigh_by_their_number() {
        // Least 1 %: squares 2 * 0.1^2 / 1e-4 = 200 with two degrees.
        let group = vec![reading(1.0, 0.0), reading(1.1, 0.0), reading(0.9, 0.0)];
        let found = dispersion(Wander::Ns, std::slice::from_ref(&group));
        assert!((found.factor - 206.0 / 8.0).abs() < 1e-9, "{found:?}");
        assert_eq!(found.df, 8.0);
        // Of a machine of another speed only what its own runs differ by.
        let other: Vec<Reading> = group.iter().map(|r| reading(r.ln + 5.0, 0.0)).collect();
        let both = dispersion(Wander::Ns, &[group.clone(), other]);
        assert!((both.factor - 406.0 / 10.0).abs() < 1e-9, "{both:?}");
        let deviation = seen(&[group]).expect("three runs");
        assert!((deviation - 0.1).abs() < 1e-12);
        assert_eq!(seen(&[vec![reading(1.0, 0.0)]]), None);
    }

    #[test]
    fn rows_of_a_kind_teach_what_they_have_in_common() {
        let scatter = |factor: f64| Scatter { squares: 3.0 * factor, df: 3.0 };
        let assumed = Dispersion::assumed(Wander::Cycles);
        assert_eq!(Dispersion::learned(Wander::Cycles, &[]), assumed);
        let none = Scatter::default();
        assert_eq!(Dispersion::learned(Wander::Cycles, &[none; 9]), assumed);
        // Fifty rows that all vary four times as much as assumed.
        let alike = Dispersion::learned(Wander::Cycles, &[scatter(4.0); 50]);
        assert!((3.0..8.0).contains(&alike.factor) && alike.df == MOST_DF, "{alike:?}");
        // As many of which some hardly vary and others wildly: none says much of
        // another.
        let unlike: Vec<Scatter> = (0..50).map(|k| scatter(10_f64.powi(k % 5 - 2))).collect();
        let unlike = Dispersion::learned(Wander::Cycles, &unlike);
        assert!(unlike.df < assumed.df, "{unlike:?}");
        // What is assumed is the least.
        let calm = Dispersion::learned(Wander::Cycles, &[scatter(0.01); 50]);
        assert_eq!(calm.factor, 1.0);
        // One row's runs move what is known of its kind by their number.
        let row = alike.of_row(scatter(100.0));
        assert_eq!(row.df, alike.df + 3.0);
        assert!(row.factor > 3.0 * alike.factor, "{row:?}");
    }

    #[test]
    fn trigamma_is_that_of_the_printed_tables() {
        for (x, expected) in
            [(0.5, 4.934_802), (1.0, 1.644_934), (1.5, 0.934_802), (3.0, 0.394_934)]
        {
            assert!((trigamma(x) - expected).abs() < 1e-5, "{x}");
            assert!((df_of(expected) - 2.0 * x).abs() < 1e-3, "{x}");
        }
    }

    #[test]
    fn a_run_that_knows_little_weighs_little() {
        // The second says of itself that it may be off by 14 %.
        let group = |within| vec![reading(1.0, 0.0), reading(1.1, within), reading(1.0, 0.0)];
        let sure = dispersion(Wander::Ns, &[group(0.0)]);
        let unsure = dispersion(Wander::Ns, &[group(0.01)]);
        assert!(sure.factor > 8.0, "{sure:?}");
        assert!(unsure.factor < 1.0, "{unsure:?}");
    }

    #[test]
    fn rows_whose_workers_disagree_are_assumed_to_wander_as_much() {
        for wander in Wander::ALL {
            let least = wander.least().powi(2);
            assert_eq!(wander.among_runs(&reading(1.0, 0.0)), least);
            let rough = wander.among_runs(&reading(1.0, 0.01));
            assert!((rough - least - 0.02).abs() < 1e-12);
        }
    }
}

//! A machine set against itself: what a comparison of two of its runs could
//! tell now, and whether it calls different what is the same.

use super::row::no_ratio_of;
use super::shared::{Figure, Key, keys, of_runs};
use super::{CompareError, Comparison, Operand, Options, compare};
use model::compare::between::{dispersion, seen};
use model::compare::finding::{Finding, LEVEL, Support};
use model::compare::measure::Measure;
use model::compare::ratio::{Ratio, Reading, Side, Variance, detectable};
use model::run::Run;
use serde::Serialize;

/// The share of changes of the smallest detectable size that are detected.
pub const POWER: f64 = 0.8;

/// What came of it.
#[derive(Serialize, Clone, Debug)]
pub struct SelfTest {
    /// The sets in the order in which they were measured, `A` or `B` each.
    pub order: String,
    /// Level of a test of one row, two-sided.
    pub level: f64,
    /// Share of changes of the size given that are found.
    pub power: f64,
    /// How many rows have a ratio: among so many is the other size given.
    pub among: usize,
    /// What two single runs would tell, the most sensitive row first.
    pub rows: Vec<Detectable>,
    /// Names of rows called different though nothing is.
    pub false_alarms: Vec<String>,
    /// The sets A against the sets B, by the very code of `compare`.
    pub comparison: Comparison,
}

/// One row.
#[derive(Serialize, Clone, Debug)]
pub struct Detectable {
    /// Row, and mode where it ran in several.
    pub row: String,
    /// Which of its figures.
    pub measure: Option<Measure>,
    /// Standard deviation of the sets about their mean, as a share.
    pub sets_differ: Option<f64>,
    /// Half of one run's own 95 % interval, as a share: the mean over sets.
    pub half_width: Option<f64>,
    /// Smallest change that comparing two runs finds, this row alone being
    /// watched, as a share; absent where it can't tell any.
    pub alone: Option<f64>,
    /// The same where it is one of all these rows and the only one that
    /// changed.
    pub among_all: Option<f64>,
    /// Why it can't tell, if so.
    pub why: Option<String>,
}

impl SelfTest {
    /// How many rows could tell a change of this share, watched alone.
    pub fn tell(&self, share: f64) -> usize {
        let told = |row: &&Detectable| row.alone.is_some_and(|alone| alone <= share);
        self.rows.iter().filter(told).count()
    }
}

/// From full sets in the order in which they were measured, each `'A'` or
/// `'B'`; there must be one of both at least.
pub fn selftest(sets: &[(char, Run)], margin: f64) -> Result<SelfTest, CompareError> {
    let of = |letter: char| -> Vec<Run> {
        let own = sets.iter().filter(|(l, _)| *l == letter);
        own.map(|(_, run)| run.clone()).collect()
    };
    let a = Operand::of_runs("sets A", of('A'));
    let b = Operand::of_runs("sets B", of('B'));
    let options = Options {
        margin,
        fail_above: None,
        normalize: None,
    };
    let comparison = compare(&a, &b, &[], &|_| true, &options)?;
    let among = comparison.rows.iter().filter(|r| r.ratio.is_some()).count();

    let all = Operand::of_runs("all", sets.iter().map(|(_, run)| run.clone()).collect());
    let keys = keys(&[&all]);
    let figures = of_runs(all.runs(), &keys);
    // Modes are rows of their own exactly where the comparison has them so.
    let compared = |key: &Key| {
        let same = |r: &&super::ComparedRow| r.id == key.id && r.at == key.at && r.mode == key.mode;
        comparison.rows.iter().any(|r| same(&r))
    };
    let mut rows: Vec<Detectable> = keys
        .iter()
        .zip(&figures)
        .filter(|(key, _)| compared(key))
        .map(|(key, figures)| Detectable::of(key, figures, among))
        .collect();
    let size = |row: &Detectable| row.alone.unwrap_or(f64::INFINITY);
    rows.sort_by(|a, b| size(a).total_cmp(&size(b)));
    let alarms = comparison
        .rows
        .iter()
        .filter(|r| r.finding == Finding::Different);
    Ok(SelfTest {
        order: sets.iter().map(|(letter, _)| letter).collect(),
        level: LEVEL,
        power: POWER,
        among,
        rows,
        false_alarms: alarms.map(super::ComparedRow::name).collect(),
        comparison,
    })
}

impl Detectable {
    fn of(key: &Key, figures: &[Figure], among: usize) -> Detectable {
        let estimates: Vec<_> = figures.iter().map(|f| &f.estimate).collect();
        let bound = figures.first().map(|f| f.bound);
        let measure = bound.and_then(|bound| Measure::shared(&estimates, bound, true));
        let verdicts: Vec<_> = estimates.iter().map(|e| e.verdict).collect();
        let worst = estimates
            .iter()
            .find(|e| Support::of(&[e.verdict], false) != Support::Interval);
        let mut row = Detectable {
            row: key.name(),
            measure,
            sets_differ: None,
            half_width: None,
            alone: None,
            among_all: None,
            why: worst.map(|e| match e.reason.is_empty() {
                true => e.verdict.text().to_owned(),
                false => format!("{}: {}", e.verdict.text(), e.reason),
            }),
        };
        let (Some(measure), Some(bound)) = (measure, bound) else {
            row.why.get_or_insert("no figure in every set".into());
            return row;
        };
        let wander = measure.wander(bound);
        let readings: Vec<Reading> = figures
            .iter()
            .filter_map(|f| measure.reading(&f.estimate, f.workers))
            .collect();
        let halves: Option<Vec<f64>> = estimates
            .iter()
            .map(|e| Some(measure.interval(e)?.relative_half_width()))
            .collect();
        row.half_width = halves.and_then(|all| model::stats::mean(&all));
        row.sets_differ = seen(std::slice::from_ref(&readings));
        let groups = [readings];
        let Some(one) = usual(&groups[0]) else {
            row.why
                .get_or_insert(no_ratio_of(&estimates, Some(measure)));
            return row;
        };
        // All sets are of one machine: all of them say what runs differ by.
        let dispersion = dispersion(wander, &groups);
        let ratio = Ratio::of(&one, &one, wander, &dispersion);
        if let Some(ratio) = ratio.filter(|_| Support::of(&verdicts, false) == Support::Interval) {
            let at = |level| detectable(ratio.standard_error(), ratio.error.df, level, POWER);
            row.alone = Some(at(LEVEL));
            row.among_all = Some(at(LEVEL / among.max(1) as f64));
        }
        row
    }
}

/// A single run such as these usually are.
fn usual(readings: &[Reading]) -> Option<Side> {
    let mean = |of: &dyn Fn(&Reading) -> f64| {
        let all: Vec<f64> = readings.iter().map(of).collect();
        model::stats::mean(&all)
    };
    Some(Side {
        readings: vec![Reading {
            ln: mean(&|r| r.ln)?,
            within: Variance {
                value: mean(&|r| r.within.value)?,
                df: mean(&|r| r.within.df)?,
            },
        }],
        measured: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::synthetic;

    fn sets(count: usize) -> Vec<(char, Run)> {
        "ABBAABBA"
            .chars()
            .take(count)
            .map(|letter| (letter, synthetic::run()))
            .collect()
    }

    fn row<'a>(test: &'a SelfTest, name: &str) -> &'a Detectable {
        test.rows.iter().find(|r| r.row == name).expect(name)
    }

    #[test]
    fn a_machine_that_never_differs_can_tell_little_changes() {
        let test = selftest(&sets(4), 0.05).expect("sets");
        assert_eq!(test.order, "ABBA");
        assert_eq!(test.false_alarms, [""; 0]);
        let add = row(&test, "cpu.add_i32");
        assert_eq!(add.sets_differ, Some(0.0));
        let [alone, among] = [add.alone, add.among_all].map(|size| size.expect("told"));
        assert!(alone > 0.0 && among > alone, "{add:?}");
        assert!(test.tell(0.5) >= test.tell(0.05));
        // More sets that agree make it know more.
        let more = selftest(&sets(8), 0.05).expect("sets");
        assert!(row(&more, "cpu.add_i32").alone < Some(alone));
        // The most sensitive first, those that can't tell last, with a reason.
        let sizes: Vec<f64> = test
            .rows
            .iter()
            .map(|r| r.alone.unwrap_or(f64::INFINITY))
            .collect();
        assert!(sizes.is_sorted(), "{sizes:?}");
        let untold: Vec<&Detectable> = test.rows.iter().filter(|r| r.alone.is_none()).collect();
        assert!(!untold.is_empty());
        assert!(untold.iter().all(|r| r.why.is_some()), "{untold:?}");
    }

    #[test]
    fn sets_that_differ_cost_sensitivity_and_a_change_is_an_alarm() {
        let calm = selftest(&sets(4), 0.05).expect("sets");
        let scaled = |factors: [f64; 4]| {
            let mut sets = sets(4);
            for ((_, run), factor) in sets.iter_mut().zip(factors) {
                *run = synthetic::slower(run, "cpu.add_i32", factor);
            }
            selftest(&sets, 0.05).expect("sets")
        };
        let rough = scaled([1.0, 0.9, 1.1, 1.0]);
        let size = |test: &SelfTest| row(test, "cpu.add_i32").alone.expect("told");
        assert!(size(&rough) > 3.0 * size(&calm));
        assert!(row(&rough, "cpu.add_i32").sets_differ > Some(0.05));
        assert!(rough.false_alarms.is_empty(), "{:?}", rough.false_alarms);
        let drifted = scaled([1.0, 1.5, 1.5, 1.0]);
        assert_eq!(drifted.false_alarms, ["cpu.add_i32"]);
    }
}

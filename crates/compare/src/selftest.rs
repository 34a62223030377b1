//! A machine set against itself: what a comparison of two of its runs could
//! tell now, and whether it calls different what is the same.

use super::row::{FigureClass, family, modes_shifted, no_ratio_of};
use super::shared::{RunFigure, keys, of_runs};
use super::{CompareError, Comparison, Operand, Options, compare};
use crate::obstacle::{Flaw, FlawKind, Obstacle};
use model::compare::between::{Dispersion, Scatter, seen};
use model::compare::finding::{self, LEVEL, POWER};
use model::compare::measure::{Measure, steadier};
use model::compare::multiplicity::Family;
use model::compare::ratio::{Ratio, Side, detectable};
use model::compare::reading::{Reading, Variance};
use model::compare::runs::{Support, Tested, detectable_changes};
use model::estimate::Estimate;
use model::run::Run;
use model::summary::Key;
use serde::Serialize;
use std::collections::HashSet;

#[derive(Clone, Debug)]
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
    /// Smallest change that comparing two runs finds once these sets are kept,
    /// this row alone being watched, as a share; absent where it is
    /// inconclusive.
    pub alone: Option<f64>,
    /// The same where it is one of all these rows and the only one that
    /// changed.
    pub among_all: Option<f64>,
    /// Why it is inconclusive, if so.
    pub why: Option<Obstacle>,
}

impl SelfTest {
    /// How many rows could tell a change of this share, watched alone.
    pub fn detecting(&self, share: f64) -> usize {
        let detects = |row: &&Detectable| row.alone.is_some_and(|alone| alone <= share);
        self.rows.iter().filter(detects).count()
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
    let options = Options { margin, fail_above: None, normalize: None };
    let comparison = compare(&a, &b, &[], &|_| true, &options)?;
    let among = comparison.rows.iter().filter(|r| r.ratio.is_some()).count();

    let all = Operand::of_runs("all", sets.iter().map(|(_, run)| run.clone()).collect());
    let keys = keys(&[&all]);
    let figures = of_runs(all.runs(), &keys);
    let (first, other) = (a.runs().first(), b.runs().first());
    let cores_alike =
        first.zip(other).is_some_and(|(a, b)| super::alike::cores_alike(a, b).is_ok());
    // Modes are rows of their own exactly where the comparison has them so.
    let rows = comparison.rows.iter();
    let compared: HashSet<_> = rows.map(|r| (&r.id, &r.at, &r.mode)).collect();
    let compared = |key: &Key| compared.contains(&(&key.id, &key.at, &key.mode));
    let (mut rows, known): (Vec<Detectable>, Vec<Option<KnownRow>>) = keys
        .iter()
        .zip(&figures)
        .filter(|(key, _)| compared(key))
        .map(|(key, figures)| Detectable::from_figures(key, figures, sets.len(), cores_alike))
        .unzip();
    could_find(&mut rows, &known);
    let size = |row: &Detectable| row.alone.unwrap_or(f64::INFINITY);
    rows.sort_by(|a, b| size(a).total_cmp(&size(b)));
    let alarms = comparison.rows.iter().filter(|r| r.finding == finding::Verdict::Different);
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

/// What the sets say of a row that two runs can be compared by.
struct KnownRow {
    /// A single run such as these usually are.
    one: Side,
    kind: FigureClass,
    scatter: Scatter,
}

/// What comparing two single runs finds, once all sets are kept: by the
/// statistics of a comparison.
fn could_find(rows: &mut [Detectable], known: &[Option<KnownRow>]) {
    let ratio = |own: &KnownRow| {
        let (wander, ..) = own.kind;
        let alike = known.iter().flatten().filter(|k| k.kind == own.kind);
        let scatters: Vec<Scatter> = alike.map(|k| k.scatter).collect();
        let dispersion = Dispersion::learned(wander, &scatters).of_row(own.scatter);
        Ratio::between(&own.one, &own.one, wander, &dispersion)
    };
    let ratios: Vec<Option<(Family, Ratio)>> =
        known.iter().map(|known| Some((known.as_ref()?.kind.1, ratio(known.as_ref()?)?))).collect();
    let tests = ratios.iter().flatten().map(|(family, ratio)| Tested {
        ratio,
        support: Support::Interval,
        family: *family,
    });
    let mut among_all = detectable_changes(&tests.collect::<Vec<_>>()).into_iter();
    for (row, (_, ratio)) in
        rows.iter_mut().zip(&ratios).filter_map(|(row, ratio)| Some((row, ratio.as_ref()?)))
    {
        let error = ratio.standard_error();
        row.alone = Some(detectable(error, ratio.error.df, LEVEL, POWER));
        row.among_all = among_all.next().flatten();
    }
}

impl Detectable {
    /// From the figures of those of so many sets that have the row.
    fn from_figures(
        key: &Key,
        figures: &[RunFigure],
        sets: usize,
        cores_alike: bool,
    ) -> (Detectable, Option<KnownRow>) {
        let mut row = Detectable {
            row: key.label(),
            measure: None,
            sets_differ: None,
            half_width: None,
            alone: None,
            among_all: None,
            why: unable(figures, sets),
        };
        let able: Vec<&RunFigure> = figures.iter().filter(|f| is_able(f)).collect();
        let estimates: Vec<&Estimate> = able.iter().map(|f| &f.estimate).collect();
        let Some((bound, unit)) = able.first().map(|f| (f.bound, f.unit)) else {
            return (row, None);
        };
        let Some(measure) = Measure::shared(&estimates, bound, cores_alike) else {
            row.why.get_or_insert(no_ratio_of(&estimates, None));
            return (row, None);
        };
        let readings = |measure: Measure| -> Vec<Reading> {
            able.iter().filter_map(|f| measure.reading(&f.estimate, f.repeats)).collect()
        };
        let measure = steadier(measure, &|measure| vec![readings(measure)]);
        let readings = readings(measure);
        row.measure = Some(measure);
        let half = |e: &&Estimate| Some(measure.interval(e)?.relative_half_width());
        let halves: Option<Vec<f64>> = estimates.iter().map(half).collect();
        row.half_width = halves.and_then(|all| model::stats::mean(&all));
        row.sets_differ = seen(std::slice::from_ref(&readings));
        let groups = [readings];
        let Some(one) = usual(&groups[0]).filter(|_| row.sets_differ.is_some()) else {
            row.why.get_or_insert(no_ratio_of(&estimates, Some(measure)));
            return (row, None);
        };
        if row.why.is_none() {
            row.why = modes_shifted(&estimates);
        }
        // All sets are of one machine: all of them say what runs differ by.
        let wander = measure.wander(bound);
        let known = row.why.is_none().then(|| KnownRow {
            one,
            kind: (wander, family(&unit, wander), Some(measure)),
            scatter: Scatter::from_groups(wander, &groups),
        });
        (row, known)
    }
}

fn is_able(figure: &RunFigure) -> bool {
    let e = &figure.estimate;
    e.below_ns.is_none() && Support::from_verdicts(&[e.verdict], false) == Support::Interval
}

/// Why the row has no figure in too many sets: comparing two runs needs
/// both, and is to succeed with [`POWER`].
fn unable(figures: &[RunFigure], sets: usize) -> Option<Obstacle> {
    let able = figures.iter().filter(|f| is_able(f)).count();
    if (able as f64 / sets as f64).powi(2) >= POWER {
        return None;
    }
    let none = || Flaw { kind: FlawKind::NoFigure, reason: String::new() };
    let unable = figures.iter().find(|f| !is_able(f));
    Some(Obstacle::Sets {
        count: sets - able,
        sets,
        flaw: unable.and_then(|f| Flaw::from_estimate(&f.estimate)).unwrap_or_else(none),
    })
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
            within: Variance { value: mean(&|r| r.within.value)?, df: mean(&|r| r.within.df)? },
        }],
        measured: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::estimate::Verdict;
    use model::run::Outcome;
    use model::synthetic;

    fn sets(count: usize) -> Vec<(char, Run)> {
        "ABBA".chars().cycle().take(count).map(|letter| (letter, synthetic::run())).collect()
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
        let [alone, among] = [add.alone, add.among_all].map(|size| size.expect("detectable"));
        assert!(alone > 0.0 && among > alone, "{add:?}");
        assert!(test.detecting(0.5) >= test.detecting(0.05));
        // More sets that agree make it know more.
        let more = selftest(&sets(8), 0.05).expect("sets");
        assert!(row(&more, "cpu.add_i32").alone < Some(alone));
        // The most sensitive first, the inconclusive ones last, with a reason.
        let sizes: Vec<f64> = test.rows.iter().map(|r| r.alone.unwrap_or(f64::INFINITY)).collect();
        assert!(sizes.is_sorted(), "{sizes:?}");
        let undetectable: Vec<&Detectable> =
            test.rows.iter().filter(|r| r.alone.is_none()).collect();
        assert!(!undetectable.is_empty());
        assert!(undetectable.iter().all(|r| r.why.is_some()), "{undetectable:?}");
    }

    #[test]
    fn rows_are_judged_by_the_figure_that_would_be_compared() {
        let mut sets = sets(4);
        for (_, run) in &mut sets {
            run.machine.cpu_model = model::machine::Fact::unknown("no file");
        }
        let test = selftest(&sets, 0.05).expect("sets");
        let compared = test.comparison.rows.iter();
        for row in compared.filter(|row| row.measure.is_some()) {
            let own = test.rows.iter().find(|own| own.row == row.name());
            let own = own.unwrap_or_else(|| panic!("{} is missing", row.name()));
            assert_ne!(own.measure, Some(Measure::QuietCycles));
        }
        let cycles = selftest(&self::sets(4), 0.05).expect("sets");
        let add = row(&cycles, "cpu.add_i32");
        assert_eq!(add.measure, Some(Measure::QuietCycles));
    }

    #[test]
    fn a_row_that_some_sets_can_not_tell_needs_most_of_the_others() {
        let with_one_bad = |count: usize| {
            let mut sets = sets(count);
            for row in sets[0].1.rows.iter_mut().filter(|r| r.id == "cpu.add_i32") {
                let Outcome::Figure(e) = &mut row.outcome else {
                    panic!("a figure");
                };
                e.verdict = Verdict::CannotTell;
            }
            selftest(&sets, 0.05).expect("sets")
        };
        let few = with_one_bad(8);
        let add = row(&few, "cpu.add_i32");
        assert_eq!((add.alone, add.sets_differ), (None, Some(0.0)));
        let why = add.why.as_ref().map(ToString::to_string);
        assert_eq!(why.as_deref(), Some("in 1 of 8 sets inconclusive"));
        // With 1 bad set of 12, both runs of a pair are reliable in 84 % of cases.
        let many = with_one_bad(12);
        let add = row(&many, "cpu.add_i32");
        assert!(add.alone.is_some(), "{add:?}");
        let mut one_lacks_it = sets(4);
        one_lacks_it[2].1.rows.retain(|r| r.id != "cpu.add_i32");
        let test = selftest(&one_lacks_it, 0.05).expect("sets");
        let why = row(&test, "cpu.add_i32").why.as_ref();
        assert_eq!(why.map(ToString::to_string).as_deref(), Some("in 1 of 4 sets no figure"));
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
        let size = |test: &SelfTest| row(test, "cpu.add_i32").alone.expect("detectable");
        assert!(size(&rough) > 3.0 * size(&calm));
        assert!(row(&rough, "cpu.add_i32").sets_differ > Some(0.05));
        assert!(rough.false_alarms.is_empty(), "{:?}", rough.false_alarms);
        let drifted = scaled([1.0, 1.5, 1.5, 1.0]);
        assert_eq!(drifted.false_alarms, ["cpu.add_i32"]);
    }
}

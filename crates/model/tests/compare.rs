//! Comparisons of simulated machines: what is called different where nothing
//! is, and what is found where something is. Everything is seeded.

mod dice;

use dice::Dice;
use model::compare::between::{Dispersion, Wander, dispersion};
use model::compare::finding::{Correction, Finding, LEVEL, SummarizedSamples, Verdict, judge};
use model::compare::multiplicity::Family;
use model::compare::ratio::{Ratio, Side, detectable};
use model::compare::reading::Reading;
use model::compare::runs::{Support, Tested, findings, p_grown};
use model::stats::trimmed_t_interval;

/// Sum of `df` squared normal values.
fn chi_squared(dice: &mut Dice, df: u32) -> f64 {
    (0..df).map(|_| dice.normal().powi(2)).sum()
}

/// What a row is like on a simulated machine.
#[derive(Clone, Copy)]
struct SimulatedRow {
    /// Its cost.
    cost: f64,
    /// Standard deviation of its workers' medians, as a share.
    workers_differ: f64,
    /// Standard deviation of its runs in addition.
    runs_differ: f64,
}

/// One run of it: eight workers, shifted together by what the run is like;
/// the estimate is the one that latlas makes.
fn drawn_reading(dice: &mut Dice, row: &SimulatedRow, common: f64) -> Reading {
    let shift = row.runs_differ * dice.normal() + common;
    let workers: Vec<f64> =
        (0..8).map(|_| row.cost * (shift + row.workers_differ * dice.normal()).exp()).collect();
    let interval = trimmed_t_interval(&workers).expect("eight workers");
    Reading::from_interval(&interval, 8).expect("above 0")
}

fn side(readings: &[Reading]) -> Side {
    Side { readings: readings.to_vec(), measured: true }
}

/// A machine of a hundred rows such as this project's: most of them steady,
/// some rough. How far the runs of a row differ scatters about the assumption
/// with the degrees of freedom that it claims.
fn rows(dice: &mut Dice) -> Vec<SimulatedRow> {
    (0..100)
        .map(|k| {
            let workers_differ = 0.001 * 30_f64.powf(f64::from(k % 10) / 9.0);
            let about = Wander::Ns.least().powi(2) + workers_differ * workers_differ / 8.0;
            let df = dispersion(Wander::Ns, &[]).df;
            let scatter = df / chi_squared(dice, df as u32);
            SimulatedRow {
                cost: 3.0 + f64::from(k),
                workers_differ,
                runs_differ: (about * scatter).sqrt(),
            }
        })
        .collect()
}

/// How the runs of a row are compared.
#[derive(Clone, Copy)]
struct Design {
    /// Kept runs other than the two.
    kept: usize,
    /// Whether the spread between runs is part of the interval at all.
    between: bool,
    /// Error that all rows of a run share.
    shared: f64,
}

/// The ratios of all rows, B's costs multiplied by `factor(row)`.
fn compare(
    dice: &mut Dice,
    rows: &[SimulatedRow],
    design: Design,
    factor: impl Fn(usize) -> f64,
) -> Vec<Ratio> {
    let common = [dice.normal(), dice.normal()].map(|z| z * design.shared);
    rows.iter()
        .enumerate()
        .map(|(k, row)| {
            let a = drawn_reading(dice, row, common[0]);
            let changed = SimulatedRow { cost: row.cost * factor(k), ..*row };
            let b = drawn_reading(dice, &changed, common[1]);
            let kept: Vec<Reading> = (0..design.kept)
                .map(|_| {
                    let common = design.shared * dice.normal();
                    drawn_reading(dice, row, common)
                })
                .collect();
            let between = match design.between {
                true => dispersion(Wander::Ns, &[kept]),
                // What the intervals alone would say: half of the variance
                // of a rough row, hardly any of a steady one.
                false => Dispersion {
                    factor: (a.within.value + b.within.value)
                        / (Wander::Ns.among_runs(&a) + Wander::Ns.among_runs(&b)),
                    df: f64::INFINITY,
                },
            };
            Ratio::between(&side(&[a]), &side(&[b]), Wander::Ns, &between).expect("two figures")
        })
        .collect()
}

fn tested(ratios: &[Ratio]) -> Vec<Tested<'_>> {
    ratios
        .iter()
        .map(|ratio| Tested { ratio, support: Support::Interval, family: Family::Quiet })
        .collect()
}

fn count_verdicts(found: &[Verdict], wanted: Verdict) -> usize {
    found.iter().filter(|&&f| f == wanted).count()
}

/// Rows called different, and comparisons in which any is, of unchanged
/// machines.
fn false_alarms(seed: u64, comparisons: u32, design: Design) -> (f64, f64) {
    let mut dice = Dice(seed);
    let (mut called, mut any) = (0, 0);
    for _ in 0..comparisons {
        let machine = rows(&mut dice);
        let ratios = compare(&mut dice, &machine, design, |_| 1.0);
        let different = count_verdicts(&findings(&tested(&ratios), 0.05), Verdict::Different);
        called += different;
        any += usize::from(different > 0);
    }
    let comparisons = f64::from(comparisons);
    (called as f64 / comparisons / 100.0, any as f64 / comparisons)
}

const USUAL: Design = Design { kept: 0, between: true, shared: 0.0 };

#[test]
fn an_unchanged_machine_is_rarely_called_different() {
    for kept in [0, 3, 8] {
        let (rows, comparisons) = false_alarms(1, 400, Design { kept, ..USUAL });
        // 5 % of 400 comparisons, and three standard errors of that.
        assert!(comparisons <= 0.05 + 0.033, "{kept} kept: {comparisons}");
        assert!(rows <= 0.001, "{kept} kept: {rows}");
    }
}

#[test]
fn errors_that_all_rows_share_add_no_false_alarms() {
    let design = Design { kept: 3, shared: 0.01, ..USUAL };
    let (rows, comparisons) = false_alarms(2, 400, design);
    assert!(comparisons <= 0.05 + 0.033, "{comparisons}");
    assert!(rows <= 0.01, "{rows}");
}

#[test]
fn without_the_spread_between_runs_every_comparison_would_cry_wolf() {
    let design = Design { between: false, ..USUAL };
    let (rows, comparisons) = false_alarms(3, 50, design);
    assert!(comparisons > 0.9 && rows > 0.1, "{comparisons} {rows}");
}

#[test]
fn an_increase_of_ten_percent_is_found_where_it_is_detectable() {
    let mut dice = Dice(4);
    // Half of the rows are 10 % slower.
    let slower = |k: usize| if k.is_multiple_of(2) { 1.1 } else { 1.0 };
    for (kept, least) in [(0, 0.6), (8, 0.8)] {
        let (mut found, mut wrong, mut called, mut gate) = (0, 0, 0, 0);
        for _ in 0..100 {
            let machine = rows(&mut dice);
            let design = Design { kept, ..USUAL };
            let ratios = compare(&mut dice, &machine, design, slower);
            let tested = tested(&ratios);
            for (k, finding) in findings(&tested, 0.05).into_iter().enumerate() {
                let different = finding == Verdict::Different;
                called += u32::from(different);
                found += u32::from(different && slower(k) > 1.0);
                wrong += u32::from(different && slower(k) == 1.0);
            }
            let grown: Vec<SummarizedSamples> =
                tested.iter().map(|row| SummarizedSamples(Some(p_grown(row, 1.1)), None)).collect();
            let crossed = judge(&grown, Correction::Holm(LEVEL), None);
            gate += u32::from(crossed.iter().any(Finding::is_different));
        }
        let power = f64::from(found) / (100.0 * 50.0);
        assert!(power >= least, "{kept} kept: {power}");
        let false_share = f64::from(wrong) / f64::from(called);
        assert!(false_share <= 0.05, "{kept} kept: {false_share}");
        // Half of the rows lie exactly at the threshold: the hardest case.
        assert!(gate <= 5 + 7, "{kept} kept: gate crossed {gate} times of 100");
    }
}

#[test]
fn well_known_rows_give_the_same_findings() {
    let mut dice = Dice(5);
    let calm: Vec<SimulatedRow> = (0..100)
        .map(|_| SimulatedRow { cost: 10.0, workers_differ: 0.002, runs_differ: 0.002 })
        .collect();
    let design = Design { kept: 8, ..USUAL };
    let same = compare(&mut dice, &calm, design, |_| 1.0);
    let found = findings(&tested(&same), 0.05);
    assert!(count_verdicts(&found, Verdict::SameWithinNoise) >= 95, "{found:?}");
    // A change just beyond the margin is called the same in hardly any row.
    let changed = compare(&mut dice, &calm, design, |_| 1.055);
    let found = findings(&tested(&changed), 0.05);
    assert!(count_verdicts(&found, Verdict::SameWithinNoise) <= 2, "{found:?}");
}

#[test]
fn the_interval_covers_what_it_promises() {
    for (kept, seed) in [(0, 6), (8, 7)] {
        let mut dice = Dice(seed);
        let mut held = 0;
        for _ in 0..100 {
            let machine = rows(&mut dice);
            let design = Design { kept, ..USUAL };
            for ratio in compare(&mut dice, &machine, design, |_| 1.3) {
                let interval = ratio.interval(0.95).expect("a spread");
                held += u32::from((interval.low..=interval.high).contains(&1.3));
            }
        }
        let coverage = f64::from(held) / 1e4;
        assert!((0.93..=0.99).contains(&coverage), "{kept} kept: {coverage}");
    }
}

#[test]
fn the_detectable_change_is_detected_as_often_as_it_says() {
    let row = SimulatedRow { cost: 5.0, workers_differ: 0.01, runs_differ: 0.01 };
    // Known well: the dispersion is that of the design.
    let assumed = Wander::Ns.least().powi(2) + 2.0 * 1e-4 / 8.0;
    let between = Dispersion { factor: (1e-4 + 1e-4 / 8.0) / assumed, df: 40.0 };
    let error = (2.0 * assumed * between.factor).sqrt();
    let change = detectable(error, 40.0, 0.05, 0.8);
    let mut dice = Dice(8);
    let mut found = 0;
    for _ in 0..4000 {
        let a = drawn_reading(&mut dice, &row, 0.0);
        let slower = SimulatedRow { cost: row.cost * (1.0 + change), ..row };
        let b = drawn_reading(&mut dice, &slower, 0.0);
        let ratio =
            Ratio::between(&side(&[a]), &side(&[b]), Wander::Ns, &between).expect("two figures");
        found += u32::from(ratio.p_value().expect("a spread") < 0.05);
    }
    let power = f64::from(found) / 4000.0;
    assert!((0.77..=0.85).contains(&power), "{power}");
}

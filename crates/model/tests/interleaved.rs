//! Coverage of the intervals that commands are judged by, simulated with
//! seeds: skewed noise, drift, sticky states, outliers, and a stop rule that
//! looks at the width.

mod dice;
mod worlds;

use dice::Dice;
use model::compare::finding::Verdict;
use model::interleaved;
use model::repeats;
use worlds::{WORLDS, World, rounds};

#[test]
fn the_interval_of_a_ratio_covers_it() {
    const TIMES: usize = 1000;
    let mut random = Dice(20_261_121);
    for world in WORLDS {
        for (n, ratio) in [(10, 1.0), (20, 1.2), (60, 0.8)] {
            let held = (0..TIMES)
                .filter(|_| {
                    let (a, b) = rounds(world, n, ratio, &mut random);
                    let r = interleaved::interleaved_ratio(&a, &b, 1).expect("enough rounds");
                    r.low <= ratio && ratio <= r.high
                })
                .count();
            let share = held as f64 / TIMES as f64;
            // Three standard errors of 95 % are 2 %.
            assert!(share >= 0.93, "{world:?} {n} rounds, {ratio}: {share}");
        }
    }
}

#[test]
fn the_same_is_rarely_called_different_and_a_tenth_is_found() {
    const TIMES: usize = 500;
    let mut random = Dice(7);
    for world in WORLDS {
        let mut said = |ratio: f64| {
            (0..TIMES)
                .filter(|_| {
                    let (a, b) = rounds(world, 40, ratio, &mut random);
                    interleaved::finding(&a, &b, 1, 0.05).verdict == Verdict::Different
                })
                .count() as f64
                / TIMES as f64
        };
        let (alarms, found) = (said(1.0), said(1.1));
        assert!(alarms <= 0.07, "{world:?}: {alarms} false alarms");
        assert!(found >= 0.9, "{world:?}: {found} found");
    }
}

#[test]
fn several_comparisons_together_are_as_careful_as_one() {
    const TIMES: usize = 600;
    let mut random = Dice(11);
    let wrong = (0..TIMES)
        .filter(|_| {
            let (a, _) = rounds(World::Even, 30, 1.0, &mut random);
            (0..5).any(|_| {
                let (_, b) = rounds(World::Even, 30, 1.0, &mut random);
                interleaved::finding(&a, &b, 5, 0.05).verdict == Verdict::Different
            })
        })
        .count() as f64
        / TIMES as f64;
    assert!(wrong <= 0.07, "{wrong}");
}

/// How often the interval of a median holds the true one, where the runs end
/// as soon as it is narrow: looked at when there are a tenth more.
fn covered(world: World, truth: f64, random: &mut Dice) -> f64 {
    const TIMES: usize = 400;
    let held = (0..TIMES)
        .filter(|_| {
            let (mut all, _) = rounds(world, 400, 1.0, random);
            let mut n = 10;
            while n < 400 && repeats::relative_half_width(&all[..n]) > 0.02 {
                n = (n as f64 * 1.1).ceil() as usize;
            }
            all.truncate(n);
            let t = repeats::estimate(&all, &model::unit::Unit::Time, 0.0).typical;
            let ns = t.expect("runs").ns;
            ns.low <= truth && truth <= ns.high
        })
        .count();
    held as f64 / TIMES as f64
}

#[test]
fn ending_when_it_is_narrow_costs_little_coverage() {
    let mut random = Dice(3);
    let skewed = 1.0 + 0.05 * std::f64::consts::LN_2;
    for (world, truth, least) in [
        (World::Even, 1.0, 0.92),
        (World::Skewed, skewed, 0.92),
        // Runs that resemble each other for twenty runs: what stretches tell.
        (World::Drift, 1.0, 0.88),
    ] {
        let share = covered(world, truth, &mut random);
        assert!(share >= least, "{world:?}: {share}");
    }
}

//! Coverage of the intervals that commands are judged by, simulated with
//! seeds: skewed noise, drift, sticky states, outliers, and a stop rule that
//! looks at the width.

mod dice;

use dice::Dice;
use model::compare::finding::Verdict;
use model::interleaved;
use model::repeats;

#[derive(Clone, Copy, Debug)]
enum World {
    /// Independent, 5 % to either side.
    Even,
    /// A floor with an exponential tail.
    Skewed,
    /// The machine's speed wanders, 15 %, over some twenty runs.
    Drift,
    /// The machine is half as fast again for ten runs or so.
    States,
    /// A run in ten takes twice as long.
    Outliers,
}

const WORLDS: [World; 5] =
    [World::Even, World::Skewed, World::Drift, World::States, World::Outliers];

/// Interleaved runs of two commands; the second takes `ratio` times as long.
fn rounds(world: World, n: usize, ratio: f64, random: &mut Dice) -> (Vec<f64>, Vec<f64>) {
    let (mut wander, mut slow) = (0.15 * random.normal(), random.uniform() < 0.5);
    let mut once = || {
        wander = 0.95 * wander + 0.15 * (1.0_f64 - 0.95 * 0.95).sqrt() * random.normal();
        slow = if random.uniform() < 0.1 { !slow } else { slow };
        match world {
            World::Even => (0.05 * random.normal()).exp(),
            World::Skewed => 1.0 - 0.05 * (1.0 - random.uniform()).ln(),
            World::Drift => (wander + 0.02 * random.normal()).exp(),
            World::States => f64::from(u8::from(slow)) * 0.5 + 1.0 + 0.02 * random.normal(),
            World::Outliers => {
                let twice = if random.uniform() < 0.1 { 2.0 } else { 1.0 };
                twice * (0.03 * random.normal()).exp()
            }
        }
    };
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for round in 0..n {
        if round % 2 == 0 {
            a.push(once());
            b.push(ratio * once());
        } else {
            b.push(ratio * once());
            a.push(once());
        }
    }
    (a, b)
}

#[test]
fn the_interval_of_a_ratio_covers_it() {
    const TIMES: usize = 1000;
    let mut random = Dice(20_261_121);
    for world in WORLDS {
        for (n, ratio) in [(10, 1.0), (20, 1.2), (60, 0.8)] {
            let held = (0..TIMES)
                .filter(|_| {
                    let (a, b) = rounds(world, n, ratio, &mut random);
                    let r = interleaved::ratio(&a, &b, 1).expect("enough rounds");
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

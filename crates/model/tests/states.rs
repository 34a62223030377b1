//! How often two states are seen where there is one, and missed where there
//! are two: through the estimate of runs, as `exec` makes it, since its values
//! are plain numbers. Run with `--nocapture` for the rates.

#[path = "dice/mod.rs"]
mod dice;

use dice::Dice;
use model::estimate::Verdict;
use model::repeats;
use model::unit::Unit;

const SIZES: [usize; 7] = [24, 40, 80, 200, 500, 1000, 3000];

/// Trials at this size: more than a thousand where they are cheap.
fn trials(n: usize) -> usize {
    (60_000 / n).clamp(150, 1500)
}

/// Share of trials that end in *two states*.
fn rate(n: usize, seed: u64, draw: impl Fn(&mut Dice) -> f64) -> f64 {
    let mut dice = Dice(seed);
    let trials = trials(n);
    let found = (0..trials).filter(|_| {
        let values: Vec<f64> = (0..n).map(|_| draw(&mut dice)).collect();
        repeats::estimate(&values, &Unit::Time, 0.0).verdict == Verdict::TwoStates
    });
    found.count() as f64 / trials as f64
}

/// Gamma with shape 2: the sum of two exponential times.
fn gamma(dice: &mut Dice) -> f64 {
    exponential(dice) + exponential(dice)
}

fn exponential(dice: &mut Dice) -> f64 {
    -(1.0 - dice.uniform()).ln()
}

fn with_outliers(dice: &mut Dice, value: f64) -> f64 {
    if dice.uniform() < 0.01 { value * 20.0 } else { value }
}

#[test]
fn one_broad_mode_is_not_two_states() {
    type Draw = fn(&mut Dice) -> f64;
    let modes: [(&str, Draw); 6] = [
        ("log-normal, sigma 0.3", |d| (0.3 * d.normal()).exp()),
        ("log-normal, sigma 0.8", |d| (0.8 * d.normal()).exp()),
        ("gamma, shape 2", gamma),
        ("exponential from 1", |d| 1.0 + exponential(d)),
        ("exponential from 0.1", |d| 0.1 + exponential(d)),
        ("uniform 1 to 3", |d| 1.0 + 2.0 * d.uniform()),
    ];
    for (name, draw) in modes {
        for n in SIZES {
            let plain = rate(n, 1, draw);
            let outliers = rate(n, 2, |d| {
                let value = draw(d);
                with_outliers(d, value)
            });
            println!(
                "{name:<22} n {n:<5} false {:.2} %, with outliers {:.2} %",
                plain * 100.0,
                outliers * 100.0
            );
            // 1 %, and what so many trials leave to chance.
            let bar = 0.01 + 3.0 * (0.01 * 0.99 / trials(n) as f64).sqrt();
            assert!(plain <= bar && outliers <= bar, "{name} at {n}: {plain} {outliers}");
        }
    }
}

#[test]
fn an_even_mixture_is_found_among_outliers() {
    for apart in [1.25, 1.4, 2.0, 5.0] {
        for n in SIZES {
            let found = rate(n, 3, |d| {
                let middle = if d.uniform() < 0.5 { 1.0 } else { apart };
                let value = middle * (1.0 + 0.01 * d.normal());
                with_outliers(d, value)
            });
            println!("{apart} times apart, n {n:<5} found {:.1} %", found * 100.0);
            assert!(found >= 0.95, "{apart} times at {n}: {found}");
        }
    }
}

#[test]
fn a_smaller_state_needs_more_samples() {
    let found = |share: f64, n: usize| {
        rate(n, 4, |d| {
            let middle = if d.uniform() < share { 2.0 } else { 1.0 };
            middle * (1.0 + 0.02 * d.normal())
        })
    };
    for share in [0.2, 0.3, 0.4] {
        let rates = [24, 80, 200, 1000].map(|n| found(share, n));
        println!("share {share}: found {rates:.2?} at n 24, 80, 200, 1000");
        assert!(rates[3] >= 0.95, "{share}: {rates:?}");
    }
}

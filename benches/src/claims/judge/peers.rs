//! The rules of two other tools, on the slots that `latlas judge` has.

use judge::experiment::MeasuredSlot;
use judge::slot::Arm;
use model::stats;

/// Runs a side of benchstat, as its manual asks for.
const RUNS: usize = 10;
/// With so many a side the smaller of both U has a chance below 5 % (exact, two-sided) up to here.
const MOST_U: f64 = 23.0;
/// Changes that criterion takes for noise, and the quantile for its 95 %.
const NOISE: f64 = 0.01;
const DEVIATIONS: f64 = 1.96;

fn slots(all: &[MeasuredSlot], arm: Arm) -> impl Iterator<Item = &[f64]> {
    all.iter().filter(move |slot| slot.arm == arm).map(|slot| &slot.samples.ns[..])
}

/// Whether benchstat calls the medians of the first ten processes of head and base different: Mann and Whitney's test.
pub fn benchstat(all: &[MeasuredSlot]) -> bool {
    let of = |arm| -> Vec<f64> {
        let medians = slots(all, arm).filter_map(|ns| stats::median(ns.iter().copied()));
        medians.take(RUNS).collect()
    };
    let [base, head] = [Arm::Base, Arm::Head].map(of);
    if base.len() < RUNS || head.len() < RUNS {
        return false;
    }
    let pairs = base.iter().flat_map(|a| head.iter().map(move |b| a.total_cmp(b)));
    let u: f64 = pairs.map(|order| (order as i8 + 1) as f64 / 2.0).sum();
    u.min((RUNS * RUNS) as f64 - u) <= MOST_U
}

/// Whether criterion calls the samples of one process each different: means, and beyond 1 % (the normal distribution
/// in place of its bootstrap).
pub fn criterion(all: &[MeasuredSlot]) -> bool {
    let of = |arm| {
        let ns = slots(all, arm).next()?;
        let deviation = stats::standard_deviation(ns)?;
        Some((stats::mean(ns)?, deviation / (ns.len() as f64).sqrt()))
    };
    let [Some((base, of_base)), Some((head, of_head))] = [Arm::Base, Arm::Head].map(of) else {
        return false;
    };
    let ratio = head / base;
    let half = DEVIATIONS * ratio * ((of_base / base).powi(2) + (of_head / head).powi(2)).sqrt();
    ratio - half > 1.0 + NOISE || ratio + half < 1.0 - NOISE
}

//! What the low end can't see: more processes that are slow from beginning to end, as in a slower mode or a slower tail.
//! Their number is compared by the same permutation of arms within rounds; no regression is called by it.

use crate::compare::finding::Samples;
use crate::compare::permuted::chance;
use crate::stats;
use serde::Serialize;

/// Slow is what is above this quantile of the processes of both arms.
const SLOW: f64 = 0.9;

/// Whether more or fewer processes of the second arm are slow ones.
#[derive(Clone, Debug)]
pub struct TailQuestion {
    first: Vec<f64>,
    second: Vec<f64>,
    limit_ns: f64,
}

impl TailQuestion {
    /// Of the samples of both arms' slots, round by round. What stands for a slot is its median.
    pub fn new(first: &[Vec<f64>], second: &[Vec<f64>]) -> TailQuestion {
        let [first, second] = [first, second].map(medians);
        let both = stats::sorted(first.iter().chain(&second).copied());
        let limit_ns = stats::quantile_sorted(&both, SLOW).unwrap_or(f64::NAN);
        TailQuestion { first, second, limit_ns }
    }

    fn is_slow(&self, ns: f64) -> f64 {
        f64::from(u8::from(ns > self.limit_ns))
    }

    /// The shares of slow processes.
    pub fn shares(&self) -> SlowProcesses {
        let share = |arm: &[f64]| {
            arm.iter().map(|ns| self.is_slow(*ns)).sum::<f64>() / arm.len().max(1) as f64
        };
        let (base, head) = (share(&self.first), share(&self.second));
        SlowProcesses { limit_ns: self.limit_ns, base, head }
    }
}

impl Samples for TailQuestion {
    fn p_value(&self) -> Option<f64> {
        let rounds = self.first.iter().zip(&self.second);
        let differences: Vec<f64> =
            rounds.map(|(a, b)| self.is_slow(*a) - self.is_slow(*b)).collect();
        (differences.len() > 1 && self.limit_ns.is_finite()).then(|| chance(&differences))
    }
}

fn medians(slots: &[Vec<f64>]) -> Vec<f64> {
    let median = |slot: &Vec<f64>| stats::median(slot.iter().copied()).unwrap_or(f64::NAN);
    slots.iter().map(median).collect()
}

/// Processes that are slow as a whole.
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
pub struct SlowProcesses {
    /// The median sample of a slow one is longer, ns.
    pub limit_ns: f64,
    /// Their share in the base.
    pub base: f64,
    /// Their share in the head.
    pub head: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::finding::{Correction, judge};
    use crate::synthetic::slots::SlotNoise;

    /// Arms of so many rounds; of the second, one process of `each` takes `times` as long.
    fn arms(mut noise: SlotNoise, rounds: usize, each: usize, times: f64) -> [Vec<Vec<f64>>; 2] {
        let slots = (0..rounds).map(|round| {
            let slow = if round % each == each - 1 { times } else { 1.0 };
            (noise.samples_ns(500.0, 30), noise.samples_ns(500.0 * slow, 30))
        });
        let (first, second) = slots.unzip();
        [first, second]
    }

    #[test]
    fn a_slower_mode_is_found_and_noise_is_none() {
        let found = |seed: u64, shared: bool, times: f64| {
            let noise = match shared {
                true => SlotNoise::of_shared_machine(seed),
                false => SlotNoise::of_quiet_machine(seed, 0.004),
            };
            let [first, second] = arms(noise, 60, 4, times);
            let question = TailQuestion::new(&first, &second);
            judge([&question], Correction::Holm(0.01), None)[0].is_different()
        };
        // One process of four takes three times as long: more than any neighbour makes it.
        let of = |shared, times| (1..=40).filter(|seed| found(*seed, shared, times)).count();
        assert_eq!([of(true, 3.0), of(false, 3.0)], [40, 40]);
        let alarms = [of(true, 1.0), of(false, 1.0)];
        assert!(alarms[0] <= 3 && alarms[1] <= 3, "of 40, at 1 %: {alarms:?}");
    }

    #[test]
    fn shares_are_counted_above_the_slow_end_of_both() {
        let slots = |ns: &[f64]| ns.iter().map(|ns| vec![*ns]).collect::<Vec<_>>();
        let base = slots(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
        let head = slots(&[11.0, 12.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 9.5]);
        let shares = TailQuestion::new(&base, &head).shares();
        assert!((10.0..11.0).contains(&shares.limit_ns), "{shares:?}");
        assert_eq!((shares.base, shares.head), (0.0, 0.2));
        assert_eq!(TailQuestion::new(&base, &base).p_value(), Some(1.0));
        assert_eq!(TailQuestion::new(&[], &[]).p_value(), None);
        let none = [vec![], vec![]];
        assert_eq!(TailQuestion::new(&none, &none).p_value(), None);
    }
}

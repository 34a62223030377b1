//! What reading the clock itself costs.

use super::{Calibration, Counter};

/// Empty brackets read.
const SAMPLES: usize = 4096;
/// Below this many ticks a median is mostly rounding.
const COARSE_TICKS: u64 = 16;

/// Cost and grain of a clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockCost {
    /// What one start/stop bracket around nothing reads, in ns: the median,
    /// or on a coarse counter (where the median is a few ticks or 0) the mean
    /// without the longest tenth.
    pub cost_ns: f64,
    /// The smallest difference but 0 that two readings had, in ns: what the
    /// clock can tell apart, its own cost included.
    pub resolution_ns: f64,
    /// Brackets read.
    pub samples: u32,
}

/// Reads empty brackets of `counter` (about 0.3 ms).
pub fn measure_cost(counter: &Counter, cal: &Calibration) -> ClockCost {
    let mut ticks = [0; SAMPLES];
    for slot in &mut ticks {
        let start = counter.start();
        *slot = counter.stop().saturating_sub(start);
    }
    summarise(&mut ticks, cal.ns_per_tick)
}

fn summarise(ticks: &mut [u64], ns_per_tick: f64) -> ClockCost {
    ticks.sort_unstable();
    let median = ticks[ticks.len() / 2];
    let cost_ticks = if median >= COARSE_TICKS {
        median as f64
    } else {
        // Where a bracket is shorter than a tick, the share of brackets that
        // saw a tick pass is its length; the longest tenth holds interrupts.
        let kept = &ticks[..(ticks.len() * 9).div_ceil(10)];
        kept.iter().sum::<u64>() as f64 / kept.len() as f64
    };
    let smallest = ticks.iter().copied().find(|&t| t > 0).unwrap_or(1);
    ClockCost {
        cost_ns: cost_ticks * ns_per_tick,
        resolution_ns: smallest as f64 * ns_per_tick,
        samples: ticks.len() as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fine_counter_gives_its_median() {
        let cost = summarise(&mut [90, 60, 1_000_000, 70, 80], 0.5);
        assert_eq!(cost.cost_ns, 40.0);
        assert_eq!(cost.resolution_ns, 30.0);
        assert_eq!(cost.samples, 5);
    }

    #[test]
    fn a_coarse_counter_gives_a_mean_without_its_tail() {
        // A 10 ns bracket under 40 ns ticks: one in four sees a tick.
        let mut ticks = [0; 100];
        for (i, t) in ticks.iter_mut().enumerate() {
            *t = u64::from(i % 4 == 0);
        }
        ticks[1] = 1_000_000;
        let cost = summarise(&mut ticks, 40.0);
        assert!((6.0..10.0).contains(&cost.cost_ns), "{cost:?}");
        assert_eq!(cost.resolution_ns, 40.0);
    }

    #[test]
    fn a_real_clock_has_a_cost() {
        let counter = Counter::best();
        let cal = super::super::calibrate(&counter, std::time::Duration::from_millis(5));
        let cost = measure_cost(&counter, &cal);
        assert_eq!(cost.samples as usize, SAMPLES);
        assert!(cost.cost_ns > 0.0 && cost.resolution_ns > 0.0, "{cost:?}");
    }
}

//! How evenly CPUs were used.

use super::{CpuHistory, Ticks};
use serde::Serialize;

/// How evenly work was spread over CPUs in a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BusySpread {
    /// The busiest CPU's share of all busy time; 1 / CPUs where all are alike.
    pub busiest_share: f64,
    /// Standard deviation of the CPUs' busy times over their mean; 0 where all are
    /// alike.
    pub variation: f64,
}

/// How evenly CPUs were used.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Imbalance {
    /// CPUs that were online all the time.
    pub cpus: usize,
    /// The busiest over the whole recording.
    pub busiest: u32,
    /// By busy times of the whole recording.
    pub whole: BusySpread,
    /// Mean over intervals, by their busy time: work that moves from CPU to CPU is
    /// even over the whole, and not here. Whole ticks make it too large where
    /// an interval has few.
    pub intervals: BusySpread,
}

impl BusySpread {
    /// Of busy times; `None` where there is none.
    fn from_busy_times(busy: &[f64]) -> Option<BusySpread> {
        let sum: f64 = busy.iter().sum();
        let mean = sum / busy.len().max(1) as f64;
        let squares = busy.iter().map(|time| (time - mean).powi(2));
        let variance = squares.sum::<f64>() / busy.len().max(1) as f64;
        (sum > 0.0).then(|| BusySpread {
            busiest_share: busy.iter().copied().fold(0.0, f64::max) / sum,
            variation: variance.sqrt() / mean,
        })
    }
}

impl CpuHistory {
    /// How evenly the CPUs were used that were online all the time; `None` if these
    /// are fewer than two, or did nothing.
    pub fn imbalance(&self) -> Option<Imbalance> {
        let there = self.cpus.iter();
        let there = there.filter(|strip| strip.ticks.iter().all(Option::is_some));
        let there: Vec<_> = there.collect();
        let busy = |ticks: Ticks| ticks.busy() as f64;
        let sums: Vec<f64> = there.iter().map(|strip| busy(strip.sum())).collect();
        let whole = BusySpread::from_busy_times(&sums).filter(|_| there.len() > 1)?;
        let busiest = sums.iter().enumerate().rev();
        let (busiest, _) = busiest.max_by(|a, b| a.1.total_cmp(b.1))?;
        let (mut weights, mut share, mut variation) = (0.0, 0.0, 0.0);
        for at in 0..self.ends_ns.len() {
            let ticks = there.iter().filter_map(|strip| *strip.ticks.get(at)?);
            let times: Vec<f64> = ticks.map(busy).collect();
            if let Some(spread) = BusySpread::from_busy_times(&times) {
                let weight: f64 = times.iter().sum();
                weights += weight;
                share += weight * spread.busiest_share;
                variation += weight * spread.variation;
            }
        }
        Some(Imbalance {
            cpus: there.len(),
            busiest: there[busiest].cpu,
            whole,
            intervals: BusySpread {
                busiest_share: share / weights,
                variation: variation / weights,
            },
        })
    }
}

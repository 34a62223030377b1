//! Whether values are of two states of the machine instead of one.
//!
//! A wide distribution is no two states: what must be there is a valley that
//! so many values don't show by chance. It is tested by Hartigan's dip, whose
//! critical value is that of evenly spread values, the worst case of one mode.

use crate::dip::dip;
use crate::estimate::{LEAST_SHARE, SAMPLES_IN_ALL};
use crate::spread;
use crate::stats;

/// The slower state takes at least this many times as long.
const APART: f64 = 1.2;
/// Part of the way from one median to the other that is nearly empty.
const VALLEY: f64 = 0.4;
/// Beyond these quantiles values say nothing of where the valley is: each
/// state reaches further in.
const CLIP: f64 = 0.1;

/// Two states, by the value that divides them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct States {
    /// Values up to this one are of the lower state.
    pub(crate) split: f64,
}

/// The 99 % quantile of sqrt(n) times the dip of so many evenly spread values
/// (simulated: `tests/states.rs` prints and checks the error rates).
fn critical(n: f64) -> f64 {
    const TABLE: [(f64, f64); 7] = [
        (24.0, 0.545),
        (50.0, 0.575),
        (100.0, 0.580),
        (200.0, 0.586),
        (500.0, 0.592),
        (1000.0, 0.595),
        (5000.0, 0.600),
    ];
    let above = TABLE.iter().position(|&(known, _)| n <= known);
    match above {
        Some(0) => TABLE[0].1,
        Some(k) => {
            let ((a, from), (b, to)) = (TABLE[k - 1], TABLE[k]);
            from + (to - from) * (n.ln() - a.ln()) / (b.ln() - a.ln())
        }
        None => TABLE[TABLE.len() - 1].1,
    }
}

/// Looks for two states in values, each with its visit: the split of the
/// logarithms with the largest variance between the parts (Otsu's), of those
/// that leave each a sixth; believed only where the medians lie 20 % apart, a
/// valley lies between them, and the dip is one that a single mode shows in
/// less than one case of a hundred.
pub(crate) fn find_two_states(values: &[(u64, f64)]) -> Option<States> {
    let sorted = stats::sorted(values.iter().map(|&(_, value)| value));
    let n = sorted.len();
    if n < 2 * SAMPLES_IN_ALL {
        return None;
    }
    let split = best_split(&sorted)?;
    let (low, high) = sorted.split_at(split);
    let low_median = stats::quantile_sorted(low, 0.5)?;
    let high_median = stats::quantile_sorted(high, 0.5)?;
    let valley = stats::quantile_sorted(high, CLIP)? - stats::quantile_sorted(low, 1.0 - CLIP)?;
    if low_median <= 0.0
        || high_median <= APART * low_median
        || valley <= VALLEY * (high_median - low_median)
    {
        return None;
    }
    let split = low[low.len() - 1];
    // Values of one visit resemble each other: of three visits in one state and
    // five in the other, many samples say no more than eight would.
    let hits: Vec<(u64, bool)> = values.iter().map(|&(visit, v)| (visit, v > split)).collect();
    let independent = n as f64 / spread::design_effect(&hits);
    (dip(&sorted) * independent.sqrt() > critical(independent)).then_some(States { split })
}

/// How many of the values are of the lower part of the best split.
fn best_split(sorted: &[f64]) -> Option<usize> {
    let n = sorted.len();
    let ends = [stats::quantile_sorted(sorted, CLIP)?, stats::quantile_sorted(sorted, 1.0 - CLIP)?];
    if ends[0] <= 0.0 {
        return None;
    }
    let logs: Vec<f64> = sorted.iter().map(|v| v.clamp(ends[0], ends[1]).ln()).collect();
    let total: f64 = logs.iter().sum();
    let least = ((n as f64 * LEAST_SHARE).ceil() as usize).max(1);
    let mut below: f64 = logs[..least - 1].iter().sum();
    let mut best = (None, 0.0);
    for split in least..=n - least {
        below += logs[split - 1];
        let (a, b) = (split as f64, (n - split) as f64);
        let apart = below / a - (total - below) / b;
        let between = a * b * apart * apart;
        // Equal values are of one part.
        if between > best.1 && sorted[split] > sorted[split - 1] {
            best = (Some(split), between);
        }
    }
    best.0
}

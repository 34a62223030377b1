//! What a host's own curve shows of it, against those of its group.

use crate::record::{CloudType, Membench};
use model::stats::median;

/// Samples of the largest set may vary by 5 %; sets within L2, and sets that L3 should hold, may be so much slower than
/// the group's.
const SMALL_SETS_WITHIN: f64 = 0.16;
const SETS_OF_L3_WITHIN: f64 = 0.65;

/// As many hosts of the group must have measured a set.
const LEAST_OTHERS: usize = 5;

/// A set that is no larger than this share of L3 is held by it, unless neighbours take from it.
const HELD: f64 = 0.5;
/// From there to so many times L3 a set is at its edge.
const EDGE: f64 = 2.0;
/// A set within this share of L3 costs what a cache costs.
const CACHED: f64 = 0.25;

/// How much longer a host's sets take than those of its group, as logarithms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CurveExcess {
    /// Mean of the sets within L2: the clock.
    pub(super) small: f64,
    /// The largest of the sets that L3 holds, 0 or more: neighbours.
    pub(super) held: f64,
    /// Mean of the sets at the edge of L3.
    pub(super) edge: f64,
}

impl CurveExcess {
    /// Of a curve, given the group's time of a set.
    pub(super) fn against(
        host: &CloudType,
        curve: &Membench,
        usual_ns: impl Fn(u64) -> Option<f64>,
    ) -> CurveExcess {
        let [_, l2, l3] = host.cache_kib.map(|kib| f64::from(kib.unwrap_or(0)));
        let beyond_last = curve.kib.len().saturating_sub(1);
        let sets: Vec<(f64, f64)> = curve.kib[..beyond_last]
            .iter()
            .zip(&curve.ns)
            .filter_map(|(&kib, ns)| Some((kib as f64, (ns / usual_ns(kib)?).ln())))
            .collect();
        let between = |low: f64, high: f64| {
            let within = move |(kib, _): &&(f64, f64)| *kib > low && *kib <= high;
            sets.iter().filter(within).map(|(_, off)| *off).collect::<Vec<f64>>()
        };
        let mean = |all: &[f64]| model::stats::mean(all).unwrap_or(0.0);
        CurveExcess {
            small: mean(&between(0.0, l2)),
            held: between(l2, l3 * HELD).into_iter().fold(0.0, f64::max),
            edge: mean(&between(l3 * HELD, l3 * EDGE)),
        }
    }

    /// Whether neither the host nor its neighbours were busy: otherwise nothing is said of its memory.
    pub(super) fn is_quiet(&self, curve: &Membench) -> bool {
        let steady = curve.kib.last().is_some_and(|largest| !curve.unsteady.contains(largest));
        steady && self.small <= SMALL_SETS_WITHIN.ln_1p() && self.held <= SETS_OF_L3_WITHIN.ln_1p()
    }
}

/// The time of a set over some hosts; `None` where too few have it.
pub(super) fn usual_ns<'h>(hosts: impl Iterator<Item = &'h Membench>, kib: u64) -> Option<f64> {
    let at = |curve: &Membench| Some(curve.ns[curve.kib.iter().position(|&own| own == kib)?]);
    let all: Vec<f64> = hosts.filter_map(at).collect();
    (all.len() >= LEAST_OTHERS).then(|| median(all)).flatten()
}

/// The curve if memory took longer by a share: the largest set by all of it, smaller ones by the part of their loads that
/// memory serves.
pub(super) fn with_slower_memory(host: &CloudType, curve: &Membench, share: f64) -> Membench {
    let [_, l2, l3] = host.cache_kib.map(|kib| f64::from(kib.unwrap_or(0)));
    let largest = curve.ns.last().copied().unwrap_or(f64::NAN);
    let in_cache = curve.kib.iter().zip(&curve.ns).filter(|(kib, _)| **kib as f64 <= l3 * CACHED);
    let cached = in_cache.map(|(_, ns)| *ns).fold(0.0, f64::max);
    let mut slower = curve.clone();
    for (kib, ns) in curve.kib.iter().zip(&mut slower.ns) {
        if *kib as f64 > l2 {
            *ns += share * largest * ((*ns - cached) / (largest - cached)).clamp(0.0, 1.0);
        }
    }
    slower.dram = curve.dram.map(|dram| dram * (1.0 + share));
    slower
}

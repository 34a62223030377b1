//! Names of levels after the caches that the machine states.

use super::level::Plateau;
use crate::machine::{CacheFact, CacheKind};
use crate::size;
use std::collections::BTreeMap;

/// A cache for data as the operating system states it. In a virtual machine
/// that is what the hypervisor chose to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated {
    /// 1 is nearest to the core.
    pub level: u32,
    /// Capacity.
    pub bytes: u64,
}

/// Farthest from a private cache's size that its level may end, in octaves.
const FAR: f64 = 2.0;
/// Beyond this multiple of the last cache's size, working sets are no longer
/// served by it.
const BEYOND: f64 = 1.5;

impl Stated {
    /// One a level, the largest of those that `cpus` reach, in order. None at
    /// all unless every level has a size: one that is left out would give its
    /// level to the next.
    pub fn from_caches(caches: &[CacheFact], cpus: &[u32]) -> Vec<Stated> {
        let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
        for cache in caches.iter().filter(|c| c.kind != CacheKind::Instruction) {
            let reached = |cpu: &u32| cache.shared_cpus.contains(cpu);
            if !cache.shared_cpus.is_empty() && !cpus.iter().any(reached) {
                continue;
            }
            let known = sizes.entry(cache.level).or_default();
            *known = cache.size_bytes.unwrap_or(0).max(*known);
        }
        let whole = (1..).zip(&sizes).all(|(n, (level, bytes))| n == *level && *bytes > 0);
        let stated = sizes.into_iter().filter(|_| whole);
        stated.map(|(level, bytes)| Stated { level, bytes }).collect()
    }
}

/// Names levels, smallest first, after the caches that are stated (of which
/// there is one at least).
///
/// - A private cache (any but the last) names the level that ends nearest to
///   its size, at most two octaves from it, and nearer to it than to any other.
/// - The last cache names the first level after those that ends beyond the
///   cache before it and not beyond its own size: one core of a guest may
///   reach a small part of what is stated.
/// - "DRAM" is the last level, if it reaches the end of the curve, at least
///   64 MiB and 1.5 times the last cache.
/// - Any other is named by its end to a power of two, `to_32MiB`: a step in the
///   reach of the TLB, say, or a cache that the machine does not state. The end
///   moves by a point of the curve from run to run, and a row's name must not.
pub(super) fn name_levels(levels: &mut [Plateau], dram: bool, stated: &[Stated]) {
    let Some((last, private)) = stated.split_last() else {
        return;
    };
    let mut least = 1;
    for level in &mut *levels {
        let end = about(level.to_bytes).max(least);
        level.name = format!("to_{}", size::format_size(end));
        // No two levels have one name.
        least = end.saturating_mul(2);
    }
    let beyond = last.bytes as f64 * BEYOND;
    if let Some(level) = levels.last_mut()
        && dram
        && level.to_bytes as f64 > beyond
    {
        level.name = "DRAM".to_owned();
    }
    let octaves = |level: &Plateau, cache: &Stated| {
        let ratio = level.to_bytes as f64 / cache.bytes as f64;
        ratio.log2().abs()
    };
    let mut next = 0;
    for cache in private {
        let is_nearest = |level: &Plateau| {
            let far = octaves(level, cache);
            far <= FAR && stated.iter().all(|other| octaves(level, other) >= far)
        };
        let candidates = levels[next..].iter().enumerate();
        let nearest = candidates
            .filter(|(_, level)| level.name != "DRAM" && is_nearest(level))
            .min_by(|(_, a), (_, b)| octaves(a, cache).total_cmp(&octaves(b, cache)))
            .map(|(place, _)| next + place);
        if let Some(place) = nearest {
            levels[place].name = format!("L{}", cache.level);
            next = place + 1;
        }
    }
    let from = private.last().map_or(0, |cache| cache.bytes);
    let served = |level: &&mut Plateau| {
        level.name != "DRAM" && level.to_bytes > from && level.to_bytes as f64 <= beyond
    };
    if let Some(level) = levels[next..].iter_mut().find(served) {
        level.name = format!("L{}", last.level);
    }
}

/// The nearest power of two, in octaves: of half an octave, where curves have a
/// point, it is always the upper one.
fn about(bytes: u64) -> u64 {
    let octaves = (bytes as f64).log2() + 0.1;
    1 << octaves.round().clamp(0.0, 62.0) as u32
}

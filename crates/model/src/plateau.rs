//! The levels of a memory hierarchy, found in a curve of latency over working
//! set.
//!
//! Nothing is assumed of cache sizes to find a level: it is a stretch of the
//! curve that is flat, and a level that the curve does not show is not reported
//! (Saavedra & Smith 1995 read caches off such curves; here a program does the
//! reading). What the machine states of its caches only names the levels.
//!
//! **Idea.** In logarithms of size and of time, cut the curve into stretches by
//! dynamic programming (optimal partitioning, Jackson et al. 2005), with a
//! bounded loss, so that a point far away costs no more than one moderately
//! away (Fearnhead & Rigaill 2019). A point may belong to
//!
//! - a *flat* stretch: it earns up to 1, less the farther it lies from the
//!   stretch's line, and at worst costs 1;
//! - a *disputed* stretch, where times jump up and down between points: 0.3;
//! - no stretch, a ramp or an outlier between levels: 0.
//!
//! Each stretch costs `PRICE`, is at least `POINTS` points and `OCTAVES`
//! wide, and starts at least `STEP` above the end of the one before it. The
//! best sum wins.
//!
//! A flat stretch may lean a little (TLB misses, a shared cache slowly
//! losing hits): the slope is the Theil-Sen estimate, and a stretch that is
//! steeper than `SLOPE`, or rises by more than `RISE`, is a ramp.
//!
//! Where points disagree is told by the monotone curve nearest to all points
//! (isotonic regression by pooling adjacent violators, with medians: a larger
//! working set is never faster). A ramp, however noisy, stays near it; of
//! points that come at random from 15 and 97 ns, a good part does not.
//!
//! A second look mends what chance does to points in two states, where a few
//! neighbours in one state may pass for a level: a level that the curve comes
//! back to after it seemed over, or that slower points come before, was in
//! doubt all the while.
//!
//! **Limits.**
//!
//! - Two levels less than 1.4x apart are one.
//! - A level needs four points and 0.65 octaves; with fewer than four points
//!   an octave it must be that much wider. An outlier in a level of four
//!   or five points hides it.
//! - A rise of up to 1.15x per octave, and 1.52x in all, is a level that
//!   leans; one of up to 1.23x per octave too, but never `certain`. On ramps
//!   not much steeper, four neighbouring points may look level by chance of
//!   noise.
//! - A disputed level ends where its points stop jumping; slow ones at its end
//!   that look like the next level are counted there. Points in two states
//!   that happen to lie in order, all fast ones before all slow ones but for
//!   two or three, look like two levels and are reported as such, in doubt only
//!   where [`Point::two_states`] or the intervals tell.
//! - Points jumping by chance on a ramp between levels can look like a
//!   disputed level; it is then reported, in doubt.
//! - Where the machine states no caches, names are by order: a curve that starts
//!   beyond L1 calls its first level "L1" all the same.
//! - "DRAM" needs the curve to go beyond the caches: see [`find`].
//! - Time grows with the third power of the points on a level: under a
//!   millisecond for 73 points on four levels; this is not for thousands.

mod curve;
mod describe;
mod settled;
mod stated;
mod stretch;

use curve::Curve;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use stated::Stated;

/// Fewest points of a level.
const POINTS: usize = 4;
/// Narrowest level in octaves of working set: four points at four an octave,
/// also where they are at 1, 1.25, 1.5 and 1.75 times a power of two.
const OCTAVES: f64 = 0.65;
/// Distance from the line, in log2 of time, where a point stops earning (15 %).
const NEAR: f64 = 0.2;
/// Distance from where on a point lies apart, and more distance costs no more (32 %).
const APART: f64 = 2.0 * NEAR;
/// What a stretch must earn.
const PRICE: f64 = 2.0;
/// Steepest slope of a level: log2 of time per octave (23 % per octave).
const SLOPE: f64 = 0.3;
/// Slope from which on a level is in doubt (15 % per octave).
const LEANS: f64 = 0.2;
/// Largest rise of a level from end to end: log2 of time (1.52x).
const RISE: f64 = 0.6;
/// Smallest step from the end of a level to the start of the next (1.4x).
const STEP: f64 = 0.485;
/// What a point of a disputed stretch earns.
const DISPUTED: f64 = 0.3;
/// Fewest points of a disputed stretch, and how many of them must be off the
/// monotone curve.
const DISPUTED_POINTS: usize = 5;
const DISPUTED_OFF: usize = 3;
/// Share of unsteady points from which on a level is in doubt.
const DOUBT: f64 = 0.25;
/// Two gains this close are equal but for rounding: the earlier one wins.
const ROUNDING: f64 = 1e-6;
/// A point whose interval's ends are farther apart than this is unsteady.
const WIDE: f64 = 1.5;
/// DRAM is this much slower than the level before it,
const DRAM_RATIO: f64 = 2.5;
/// and its working sets reach at least this size.
const DRAM_BYTES: u64 = 64 << 20;

/// One point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Working set.
    pub bytes: u64,
    /// Time of one load.
    pub ns: f64,
    /// Lower end of its interval. An end that is not finite is taken as unknown.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Whether the repeats of this point fell into two states.
    pub two_states: bool,
}

/// One level of the hierarchy, as far as the curve shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plateau {
    /// "L1", "L2", …, "DRAM", or by its end, "to_32MiB" (see [`find`]).
    pub name: String,
    /// First working set on the level.
    pub from_bytes: u64,
    /// Last working set on the level.
    pub to_bytes: u64,
    /// Median of its points.
    pub ns: f64,
    /// Lowest of its points; where the level is in doubt for its points'
    /// intervals, their lowest end.
    pub low_ns: f64,
    /// Highest of its points, likewise. Where the level is certain, a single
    /// point that lies apart from all others counts for neither the median
    /// nor the range.
    pub high_ns: f64,
    /// Whether the figure can be taken.
    pub certain: bool,
    /// Why not, in words.
    pub reason: Option<String>,
}

/// Finds the levels in a curve, smallest working sets first.
///
/// Points may come in any order; several of one size are taken as one, with
/// their median and the union of their intervals. Points without a size or
/// with a time that is not finite and positive are ignored. A curve of fewer
/// than four points has no levels.
///
/// **Names** come from the caches that the machine states: see [`Stated`] and
/// its module. Where it states none they go by order: L1, L2, … The last level
/// is then "DRAM" if it reaches the end of the curve (all but at most two
/// points) and at least 64 MiB, and is at least 2.5x slower than the level
/// before it, of which there must be one. That rule fails where the curve ends
/// inside a cache of 64 MiB or more (it is then called DRAM), and where DRAM is
/// less than 2.5x slower than the last cache, or slower TLB levels follow it (it
/// is then called by number).
pub fn find(points: &[Point], stated: &[Stated]) -> Vec<Plateau> {
    let curve = Curve::new(points);
    let levels = curve.settled(curve.best_stretches());
    let mut found: Vec<Plateau> = levels.iter().map(|s| curve.describe(s)).collect();
    let at_the_end = levels.last().is_some_and(|s| s.to + 3 >= curve.dots.len());
    let large = found.last().is_some_and(|l| l.to_bytes >= DRAM_BYTES);
    let may_be_dram = at_the_end && large;
    if stated.is_empty() {
        name_in_order(&mut found, may_be_dram);
    } else {
        stated::name(&mut found, may_be_dram, stated);
    }
    found
}

fn name_in_order(found: &mut [Plateau], may_be_dram: bool) {
    for (place, level) in found.iter_mut().enumerate() {
        level.name = format!("L{}", place + 1);
    }
    if let [.., before, last] = found {
        // Of a level in doubt, the better end: that is the cache's own time.
        let before_ns = if before.certain {
            before.ns
        } else {
            before.low_ns
        };
        if may_be_dram && last.ns >= DRAM_RATIO * before_ns {
            last.name = "DRAM".to_string();
        }
    }
}

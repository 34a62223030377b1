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
//! Where points disagree is found by the monotone curve nearest to all points
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
//! - "DRAM" needs the curve to go beyond the caches: see [`find_plateaus`].
//! - Time grows with the third power of the points on a level: under a
//!   millisecond for 73 points on four levels; this is not for thousands.

mod curve;
mod describe;
mod level;
mod rules;
mod settled;
mod stated;
mod stretch;

use curve::Curve;
pub use level::{Plateau, Point};
use rules::{DRAM_BYTES, DRAM_RATIO};
pub use stated::Stated;

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
pub fn find_plateaus(points: &[Point], stated: &[Stated]) -> Vec<Plateau> {
    let curve = Curve::new(points);
    let levels = curve.settled(curve.best_stretches());
    let mut found: Vec<Plateau> = levels.iter().map(|s| curve.describe(s)).collect();
    let at_the_end = levels.last().is_some_and(|s| s.to + 3 >= curve.dots.len());
    let large = found.last().is_some_and(|l| l.to_bytes >= DRAM_BYTES);
    let may_be_dram = at_the_end && large;
    if stated.is_empty() {
        name_in_order(&mut found, may_be_dram);
    } else {
        stated::name_levels(&mut found, may_be_dram, stated);
    }
    found
}

fn name_in_order(found: &mut [Plateau], may_be_dram: bool) {
    for (place, level) in found.iter_mut().enumerate() {
        level.name = format!("L{}", place + 1);
    }
    if let [.., before, last] = found {
        // Of a level in doubt, the better end: that is the cache's own time.
        let before_ns = if before.certain { before.ns } else { before.low_ns };
        if may_be_dram && last.ns >= DRAM_RATIO * before_ns {
            last.name = "DRAM".to_string();
        }
    }
}

//! The levels of a memory hierarchy, found in a curve of latency over working
//! set.
//!
//! Nothing is read from the operating system and nothing is assumed of cache
//! sizes: a level is a stretch of the curve that is flat, and a level that the
//! curve does not show is not reported (Saavedra & Smith 1995 read caches off
//! such curves; here a program does the reading).
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
//! - Names are by order: a curve that starts beyond L1 calls its first level
//!   "L1" all the same.
//! - "DRAM" needs the curve to go beyond the caches: see [`find`].
//! - Time grows with the third power of the points on a level: under a
//!   millisecond for 73 points on four levels; this is not for thousands.

use crate::{figure, size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// "L1", "L2", … in order, and "DRAM" (see [`find`]).
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
/// **Names** go by order: L1, L2, … The last level is "DRAM" if it reaches the
/// end of the curve (all but at most two points) and at least 64 MiB, and is at
/// least 2.5x slower than the level before it, of which there must be one.
/// The rule fails where the curve ends inside a cache of 64 MiB or more (it
/// is then called DRAM), and where DRAM is less than 2.5x slower than the last
/// cache, or slower TLB levels follow it (it is then called by number).
pub fn find(points: &[Point]) -> Vec<Plateau> {
    let curve = Curve::new(points);
    let levels = curve.settled(curve.best_stretches());
    let mut found: Vec<Plateau> = levels.iter().map(|s| curve.describe(s)).collect();
    for (place, level) in found.iter_mut().enumerate() {
        level.name = format!("L{}", place + 1);
    }
    if let ([.., before, last], Some(stretch)) = (found.as_mut_slice(), levels.last()) {
        // Of a level in doubt, the better end: that is the cache's own time.
        let before_ns = if before.certain {
            before.ns
        } else {
            before.low_ns
        };
        if stretch.to + 3 >= curve.dots.len()
            && last.to_bytes >= DRAM_BYTES
            && last.ns >= DRAM_RATIO * before_ns
        {
            last.name = "DRAM".to_string();
        }
    }
    found
}

/// A point in logarithms, with what speaks against it.
struct Dot {
    point: Point,
    /// log2 of the working set.
    x: f64,
    /// log2 of the time.
    y: f64,
    /// Its repeats disagree.
    unsteady: bool,
    /// log2 of the time of the monotone curve nearest to all points.
    monotone: f64,
}

/// A part of the curve that might be a level.
#[derive(Clone, Copy)]
struct Stretch {
    from: usize,
    to: usize,
    kind: Kind,
    /// What it earns, its price paid.
    gain: f64,
    /// log2 of the time at its start …
    start: f64,
    /// … and at its end.
    end: f64,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Around `y = at + slope * (x - x of the first point)`.
    Flat {
        at: f64,
        slope: f64,
    },
    Disputed,
}

impl Stretch {
    /// Whether a point lies on the stretch, whose first one is at `origin`.
    fn holds(&self, dot: &Dot, origin: f64) -> bool {
        match self.kind {
            Kind::Flat { at, slope } => (dot.y - at - slope * (dot.x - origin)).abs() <= APART,
            Kind::Disputed => true,
        }
    }
}

/// Whether so many stray points of `count` are more than outliers: one always
/// may be, and one more for every ten.
fn too_many(strays: usize, count: usize) -> bool {
    strays > 1 + count / 10
}

struct Curve {
    dots: Vec<Dot>,
}

impl Curve {
    fn new(points: &[Point]) -> Curve {
        let mut points: Vec<Point> = points
            .iter()
            .filter(|p| p.bytes > 0 && p.ns.is_finite() && p.ns > 0.0)
            .copied()
            .collect();
        points.sort_by(|a, b| a.bytes.cmp(&b.bytes).then(a.ns.total_cmp(&b.ns)));
        let mut dots: Vec<Dot> = points
            .chunk_by(|a, b| a.bytes == b.bytes)
            .map(Dot::new)
            .collect();
        let times: Vec<f64> = dots.iter().map(|d| d.y).collect();
        for (dot, fitted) in dots.iter_mut().zip(monotone(&times)) {
            dot.monotone = fitted;
        }
        Curve { dots }
    }

    /// The stretches, in order, whose gains have the greatest sum.
    fn best_stretches(&self) -> Vec<Stretch> {
        /// A chain of stretches: the last one and the chain before it.
        struct Chain {
            last: Stretch,
            before: Option<usize>,
            sum: f64,
        }
        let mut chains: Vec<Chain> = Vec::new();
        // Of the chains that end before point `from`, those that no other one
        // beats in both sum and end.
        let mut open: Vec<usize> = Vec::new();
        let mut ending: Vec<Vec<usize>> = vec![Vec::new(); self.dots.len()];
        for from in 0..self.dots.len() {
            if from > 0 {
                for new in std::mem::take(&mut ending[from - 1]) {
                    let beats = |a: &Chain, b: &Chain| {
                        a.sum >= b.sum - ROUNDING && a.last.end <= b.last.end
                    };
                    if !open.iter().any(|&old| beats(&chains[old], &chains[new])) {
                        open.retain(|&old| !beats(&chains[new], &chains[old]));
                        open.push(new);
                    }
                }
            }
            for (to, ending) in ending.iter_mut().enumerate().skip(from + POINTS - 1) {
                for last in [self.flat(from, to), self.disputed(from, to)] {
                    let Some(last) = last else { continue };
                    let mut before = None;
                    let mut sum = 0.0;
                    for &chain in &open {
                        let Chain {
                            last: lower,
                            sum: earned,
                            ..
                        } = &chains[chain];
                        if lower.end + STEP <= last.start && *earned > sum + ROUNDING {
                            before = Some(chain);
                            sum = *earned;
                        }
                    }
                    ending.push(chains.len());
                    chains.push(Chain {
                        last,
                        before,
                        sum: sum + last.gain,
                    });
                }
            }
        }

        let mut best: Option<usize> = None;
        for (index, chain) in chains.iter().enumerate() {
            if best.is_none_or(|b| chain.sum > chains[b].sum + ROUNDING) {
                best = Some(index);
            }
        }
        let mut stretches = Vec::new();
        while let Some(index) = best {
            stretches.push(chains[index].last);
            best = chains[index].before;
        }
        stretches.reverse();
        stretches
    }

    /// Points `from` to `to` as a level, if they are flat enough to earn their
    /// price.
    fn flat(&self, from: usize, to: usize) -> Option<Stretch> {
        let dots = &self.dots[from..=to];
        let width = dots[dots.len() - 1].x - dots[0].x;
        // The second spares most fits: too far up, whatever the outliers.
        if width < OCTAVES || dots[dots.len() - 1].monotone - dots[0].monotone > RISE + APART {
            return None;
        }
        // Theil-Sen between the halves; of long ones, some eight points each.
        let (left, right) = dots.split_at(dots.len() / 2);
        let step = 1 + left.len() / 8;
        let mut slopes = Vec::new();
        for a in left.iter().step_by(step) {
            let rises = right.iter().rev().step_by(step);
            slopes.extend(rises.map(|b| (b.y - a.y) / (b.x - a.x)));
        }
        let slope = median(&mut slopes);
        if slope.abs() > SLOPE || (slope * width).abs() > RISE {
            return None;
        }
        // Level or, at a cost, along the slope.
        let level = self.along(from, to, 0.0);
        if (slope * width).abs() < NEAR / 2.0 {
            return level;
        }
        let leaning = self.along(from, to, slope);
        let worth = |s: &Stretch| s.gain + ROUNDING;
        if leaning.as_ref().map(|s| s.gain) > level.as_ref().map(worth) {
            leaning
        } else {
            level
        }
    }

    /// Points `from` to `to` along a line of a given slope.
    fn along(&self, from: usize, to: usize, slope: f64) -> Option<Stretch> {
        let dots = &self.dots[from..=to];
        let origin = dots[0].x;
        let rise = slope * (dots[dots.len() - 1].x - origin);
        let mut level: Vec<f64> = dots.iter().map(|d| d.y - slope * (d.x - origin)).collect();
        let at = median(&mut level);
        let distance = |d: &Dot| (d.y - at - slope * (d.x - origin)).abs();
        // A stretch starts and ends on itself.
        if distance(&dots[0]) > APART || distance(&dots[dots.len() - 1]) > APART {
            return None;
        }
        let earned: f64 = dots
            .iter()
            .map(|d| {
                let earns = 1.0 - distance(d).min(APART) / NEAR;
                if d.unsteady { 0.5 * earns } else { earns }
            })
            .sum();
        let gain = earned - PRICE - rise.abs() / NEAR;
        (gain > 0.0).then_some(Stretch {
            from,
            to,
            kind: Kind::Flat { at, slope },
            gain,
            start: at,
            end: at + rise,
        })
    }

    /// Points `from` to `to` as a level whose points disagree: a good part is
    /// off the monotone curve, and the times go both up and down again.
    fn disputed(&self, from: usize, to: usize) -> Option<Stretch> {
        let dots = &self.dots[from..=to];
        let off = dots
            .iter()
            .filter(|d| (d.y - d.monotone).abs() > APART)
            .count();
        let enough = dots.len() >= DISPUTED_POINTS
            && off >= DISPUTED_OFF
            && off as f64 >= DOUBT * dots.len() as f64
            && dots[dots.len() - 1].x - dots[0].x >= OCTAVES;
        if !enough {
            return None;
        }
        let mut times: Vec<f64> = dots.iter().map(|d| d.y).collect();
        let (first, last) = (times[0], times[times.len() - 1]);
        times.sort_by(f64::total_cmp);
        let low = times[times.len() * 15 / 100];
        // The ramps before and after it are not part of it: it starts in its
        // low state or above a later point, and ends below an earlier one.
        let starts = first <= low + NEAR && first >= low - APART || first > times[0] + APART;
        let ends = last < times[times.len() - 1] - APART;
        let gain = DISPUTED * dots.len() as f64 - PRICE;
        (starts && ends && gain > 0.0).then_some(Stretch {
            from,
            to,
            kind: Kind::Disputed,
            gain,
            start: low,
            end: low,
        })
    }

    /// The stretches after a second look at points that jump between two
    /// states: by chance, a few neighbours of one state may have been taken for
    /// a level of their own.
    fn settled(&self, stretches: Vec<Stretch>) -> Vec<Stretch> {
        let mut settled: Vec<Stretch> = Vec::new();
        let mut rest = std::collections::VecDeque::from(stretches);
        while let Some(mut stretch) = rest.pop_front() {
            let gap = settled.last().map_or(0, |s| s.to + 1);
            // Slower before it: it had begun there.
            let slower: Vec<usize> = (gap..stretch.from)
                .filter(|&i| self.dots[i].y > stretch.start + APART)
                .collect();
            if !slower.is_empty()
                && too_many(
                    slower.len() + self.apart(&stretch),
                    stretch.to - slower[0] + 1,
                )
            {
                stretch.from = slower[0];
                stretch.kind = Kind::Disputed;
            }
            // Back at it, or below, after it seemed over: it was not.
            let after = stretch.to + 1;
            let mut slowest = stretch.end;
            let back: Vec<usize> = (after..self.dots.len())
                .filter(|&i| {
                    let y = self.dots[i].y;
                    slowest = slowest.max(y);
                    y < stretch.end + NEAR && y < slowest - APART
                })
                .collect();
            let until = back.last().map_or(after, |&last| last + 1);
            if too_many(back.len(), until - after) {
                stretch.to = until - 1;
                stretch.kind = Kind::Disputed;
            }
            // What is left of those after it.
            while let Some(next) = rest.front().copied().filter(|n| n.from <= stretch.to) {
                rest.pop_front();
                let from = stretch.to + 1;
                if let Some(left) = (from..next.to).find_map(|from| self.flat(from, next.to)) {
                    rest.push_front(left);
                }
            }
            // Level at its slow state, shorter, and not the last: still it.
            let unsure = matches!(stretch.kind, Kind::Disputed) || self.apart(&stretch) > 1;
            if let (true, [next, _, ..]) = (unsure, &*rest.make_contiguous()) {
                let points = self.dots[stretch.from..=stretch.to].iter();
                let slowest = points.map(|d| d.y).fold(f64::NEG_INFINITY, f64::max);
                if next.end < slowest + NEAR && next.to - next.from < stretch.to - stretch.from {
                    stretch.to = next.to;
                    stretch.kind = Kind::Disputed;
                    rest.pop_front();
                }
            }
            settled.push(stretch);
        }
        settled
    }

    /// How many points of a flat stretch lie apart from its line.
    fn apart(&self, stretch: &Stretch) -> usize {
        let dots = &self.dots[stretch.from..=stretch.to];
        dots.iter().filter(|d| !stretch.holds(d, dots[0].x)).count()
    }

    /// The level in figures and, where it is in doubt, in words.
    fn describe(&self, stretch: &Stretch) -> Plateau {
        let dots = &self.dots[stretch.from..=stretch.to];
        let count = dots.len();
        let (from_bytes, to_bytes) = (dots[0].point.bytes, dots[count - 1].point.bytes);
        let all: Vec<f64> = dots.iter().map(|d| d.point.ns).collect();
        let unsteady = dots.iter().filter(|d| d.unsteady).count();

        let mut counted = all.clone();
        let mut range = (lowest(&all), highest(&all));
        let reason = match stretch.kind {
            Kind::Disputed => Some(format!(
                "the points disagree: from size to size they jump between {} and {}",
                figure::time(range.0),
                figure::time(range.1),
            )),
            Kind::Flat { slope, .. } => {
                let agreeing: Vec<f64> = dots
                    .iter()
                    .filter(|d| stretch.holds(d, dots[0].x))
                    .map(|d| d.point.ns)
                    .collect();
                let apart = count - agreeing.len();
                if too_many(apart, count) {
                    Some(format!(
                        "{apart} of {count} points lie apart from the others: {} to {} in all",
                        figure::time(range.0),
                        figure::time(range.1),
                    ))
                } else if unsteady as f64 >= DOUBT * count as f64 {
                    for d in dots {
                        range = (range.0.min(d.point.low), range.1.max(d.point.high));
                    }
                    Some(format!(
                        "repeats disagree at {unsteady} of {count} points: {} to {}",
                        figure::time(range.0),
                        figure::time(range.1),
                    ))
                } else if agreeing.len() < POINTS {
                    Some(format!(
                        "short: only {} points from {} to {} agree",
                        agreeing.len(),
                        size::text(from_bytes),
                        size::text(to_bytes),
                    ))
                } else if slope > LEANS {
                    Some(format!(
                        "not level: it rises from {} to {} over {count} points and may be a ramp",
                        figure::time(stretch.start.exp2()),
                        figure::time(stretch.end.exp2()),
                    ))
                } else {
                    range = (lowest(&agreeing), highest(&agreeing));
                    counted = agreeing;
                    None
                }
            }
        };
        Plateau {
            name: String::new(),
            from_bytes,
            to_bytes,
            ns: median(&mut counted),
            low_ns: range.0,
            high_ns: range.1,
            certain: reason.is_none(),
            reason,
        }
    }
}

impl Dot {
    /// All points of one size, sorted by time, as one.
    fn new(same: &[Point]) -> Dot {
        let mut times: Vec<f64> = same.iter().map(|p| p.ns).collect();
        let known = |end: f64, ns: f64| if end.is_finite() { end } else { ns };
        let (mut low, mut high) = (lowest(&times), highest(&times));
        for p in same {
            low = low.min(known(p.low, p.ns)).max(0.0);
            high = high.max(known(p.high, p.ns));
        }
        let point = Point {
            bytes: same[0].bytes,
            ns: median(&mut times),
            low,
            high,
            two_states: same.iter().any(|p| p.two_states),
        };
        Dot {
            point,
            x: (point.bytes as f64).log2(),
            y: point.ns.log2(),
            unsteady: point.two_states || high > WIDE * low,
            monotone: f64::NAN,
        }
    }
}

/// The rising curve with the least sum of absolute distances from `values`:
/// neighbours that fall are pooled, and a pool stands at its median.
fn monotone(values: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(Vec<f64>, f64)> = Vec::new();
    for &value in values {
        let mut pool = (vec![value], value);
        while let Some((mut earlier, _)) = pools.pop_if(|(_, level)| *level > pool.1) {
            earlier.append(&mut pool.0);
            let level = median(&mut earlier.clone());
            pool = (earlier, level);
        }
        pools.push(pool);
    }
    pools
        .iter()
        .flat_map(|(pool, level)| std::iter::repeat_n(*level, pool.len()))
        .collect()
}

/// The median; of an even number of values, the mean of the middle two.
/// `values` is reordered. NaN of none.
fn median(values: &mut [f64]) -> f64 {
    let count = values.len();
    if count == 0 {
        return f64::NAN;
    }
    let (below, &mut upper, _) = values.select_nth_unstable_by(count / 2, f64::total_cmp);
    if count % 2 == 1 {
        upper
    } else {
        (highest(below) + upper) / 2.0
    }
}

fn lowest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn highest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

//! The stretches that a curve is best cut into.

use super::curve::{Curve, Dot, median};
use super::rules::{
    APART, DISPUTED, DISPUTED_OFF, DISPUTED_POINTS, DOUBT, NEAR, OCTAVES, POINTS, PRICE, RISE,
    ROUNDING, SLOPE, STEP,
};

/// A part of the curve that might be a level.
#[derive(Clone, Copy)]
pub(super) struct LevelCandidate {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: StretchKind,
    /// What it earns, its price paid.
    pub(super) gain: f64,
    /// log2 of the time at its start …
    pub(super) start: f64,
    /// … and at its end.
    pub(super) end: f64,
}

#[derive(Clone, Copy)]
pub(super) enum StretchKind {
    /// Around `y = at + slope * (x - x of the first point)`.
    Flat {
        at: f64,
        slope: f64,
    },
    Disputed,
}

impl LevelCandidate {
    /// Whether a point lies on the stretch, whose first one is at `origin`.
    pub(super) fn holds(&self, dot: &Dot, origin: f64) -> bool {
        match self.kind {
            StretchKind::Flat { at, slope } => {
                (dot.y - at - slope * (dot.x - origin)).abs() <= APART
            }
            StretchKind::Disputed => true,
        }
    }
}

/// Whether so many stray points of `count` are more than outliers: one always
/// may be, and one more for every ten.
pub(super) fn too_many(strays: usize, count: usize) -> bool {
    strays > 1 + count / 10
}

impl Curve {
    /// The stretches, in order, whose gains have the greatest sum.
    pub(super) fn best_stretches(&self) -> Vec<LevelCandidate> {
        /// A chain of stretches: the last one and the chain before it.
        struct Chain {
            last: LevelCandidate,
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
                        let Chain { last: lower, sum: earned, .. } = &chains[chain];
                        if lower.end + STEP <= last.start && *earned > sum + ROUNDING {
                            before = Some(chain);
                            sum = *earned;
                        }
                    }
                    ending.push(chains.len());
                    chains.push(Chain { last, before, sum: sum + last.gain });
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
    pub(super) fn flat(&self, from: usize, to: usize) -> Option<LevelCandidate> {
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
        let worth = |s: &LevelCandidate| s.gain + ROUNDING;
        if leaning.as_ref().map(|s| s.gain) > level.as_ref().map(worth) { leaning } else { level }
    }

    /// Points `from` to `to` along a line of a given slope.
    fn along(&self, from: usize, to: usize, slope: f64) -> Option<LevelCandidate> {
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
        (gain > 0.0).then_some(LevelCandidate {
            from,
            to,
            kind: StretchKind::Flat { at, slope },
            gain,
            start: at,
            end: at + rise,
        })
    }

    /// Points `from` to `to` as a level whose points disagree: a good part is
    /// off the monotone curve, and the times go both up and down again.
    fn disputed(&self, from: usize, to: usize) -> Option<LevelCandidate> {
        let dots = &self.dots[from..=to];
        let off = dots.iter().filter(|d| (d.y - d.monotone).abs() > APART).count();
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
        (starts && ends && gain > 0.0).then_some(LevelCandidate {
            from,
            to,
            kind: StretchKind::Disputed,
            gain,
            start: low,
            end: low,
        })
    }
}

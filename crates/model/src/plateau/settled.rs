//! The second look, which mends what chance does to points in two states.

use super::curve::Curve;
use super::rules::{APART, NEAR};
use super::stretch::{LevelCandidate, StretchKind, too_many};

impl Curve {
    /// The stretches after a second look at points that jump between two
    /// states: by chance, a few neighbours of one state may have been taken for
    /// a level of their own.
    pub(super) fn settled(&self, stretches: Vec<LevelCandidate>) -> Vec<LevelCandidate> {
        let mut settled: Vec<LevelCandidate> = Vec::new();
        let mut rest = std::collections::VecDeque::from(stretches);
        while let Some(mut stretch) = rest.pop_front() {
            let gap = settled.last().map_or(0, |s| s.to + 1);
            // Slower before it: it had begun there.
            let slower: Vec<usize> =
                (gap..stretch.from).filter(|&i| self.dots[i].y > stretch.start + APART).collect();
            if !slower.is_empty()
                && too_many(slower.len() + self.apart(&stretch), stretch.to - slower[0] + 1)
            {
                stretch.from = slower[0];
                stretch.kind = StretchKind::Disputed;
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
                stretch.kind = StretchKind::Disputed;
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
            let unsure = matches!(stretch.kind, StretchKind::Disputed) || self.apart(&stretch) > 1;
            if let (true, [next, _, ..]) = (unsure, &*rest.make_contiguous()) {
                let points = self.dots[stretch.from..=stretch.to].iter();
                let slowest = points.map(|d| d.y).fold(f64::NEG_INFINITY, f64::max);
                if next.end < slowest + NEAR && next.to - next.from < stretch.to - stretch.from {
                    stretch.to = next.to;
                    stretch.kind = StretchKind::Disputed;
                    rest.pop_front();
                }
            }
            settled.push(stretch);
        }
        settled
    }

    /// How many points of a flat stretch lie apart from its line.
    fn apart(&self, stretch: &LevelCandidate) -> usize {
        let dots = &self.dots[stretch.from..=stretch.to];
        dots.iter().filter(|d| !stretch.holds(d, dots[0].x)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plateau::Point;

    /// A curve of eight equal points that such points follow.
    fn curve(after: &[f64]) -> Curve {
        let times = [1.0; 8].iter().chain(after).enumerate();
        let points: Vec<Point> = times
            .map(|(place, &ns)| Point {
                bytes: 1024 << place,
                ns,
                low: ns,
                high: ns,
                two_states: false,
            })
            .collect();
        Curve::new(&points)
    }

    /// Where the level of the eight points ends.
    fn end_of_level(after: &[f64]) -> usize {
        let curve = curve(after);
        let level = curve.flat(0, 7).expect("eight equal points");
        curve.settled(vec![level])[0].to
    }

    #[test]
    fn a_level_lasts_until_the_last_point_that_is_back_at_it() {
        assert_eq!(end_of_level(&[4.0; 6]), 7);
        assert_eq!(end_of_level(&[4.0, 1.0, 4.0, 1.0, 4.0, 1.0, 4.0, 4.0]), 13);
        // One may be an outlier.
        assert_eq!(end_of_level(&[4.0, 1.0, 4.0, 4.0, 4.0, 4.0]), 7);
    }

    #[test]
    fn the_next_level_begins_where_one_that_lasts_longer_ends() {
        let [slow, back] = [4.0, 1.0];
        let curve = curve(&[[slow, back].repeat(3), vec![slow; 8]].concat());
        let levels = [(0, 7), (12, 21)].map(|(from, to)| curve.flat(from, to).expect("level"));
        let settled = curve.settled(levels.into());
        let ends: Vec<[usize; 2]> = settled.iter().map(|level| [level.from, level.to]).collect();
        assert_eq!(ends, [[0, 13], [14, 21]]);
    }
}

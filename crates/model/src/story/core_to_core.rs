//! `memory.core_to_core`: which CPUs are near to which.

use super::Block;
use crate::clusters::{Clusters, CpuPair, find_clusters, shared_by};
use crate::estimate::Verdict;
use crate::figure::time;
use crate::run::{MapPoint, Outcome, Run};
use crate::shown::time_with_half;
use crate::stats;
use crate::tally::Verdicts;
use std::fmt::{self, Display};

/// The row.
pub const PROBE: &str = "memory.core_to_core";

/// What the figures of all pairs of CPUs say together.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs<'r> {
    /// The pairs that can be relied on, the nearest first.
    reliable: Vec<(&'r MapPoint, f64)>,
    /// All pairs by verdict.
    verdicts: Verdicts,
}

impl<'r> Pairs<'r> {
    /// The pairs of a run; none where it has no such row.
    pub fn measured_in(run: &'r Run) -> Option<Pairs<'r>> {
        let Outcome::Map { points, .. } = &run.row(PROBE)?.outcome else {
            return None;
        };
        let mut verdicts = Verdicts::default();
        points.iter().for_each(|p| verdicts.count_estimate(&p.estimate));
        let figure = |point: &'r MapPoint| Some((point, reliable_ns(point)?));
        let mut reliable: Vec<_> = points.iter().filter_map(figure).collect();
        reliable.sort_by(|a, b| a.1.total_cmp(&b.1));
        (!points.is_empty()).then_some(Pairs { reliable, verdicts })
    }

    /// The pair with the shortest time.
    pub fn nearest(&self) -> Option<&'r MapPoint> {
        self.reliable.first().map(|(point, _)| *point)
    }

    /// The pair with the longest time.
    pub fn farthest(&self) -> Option<&'r MapPoint> {
        self.reliable.last().map(|(point, _)| *point)
    }

    /// Median of all pairs, ns.
    pub fn median_ns(&self) -> Option<f64> {
        stats::median(self.reliable.iter().map(|(_, ns)| *ns))
    }
}

/// The figure of a pair that may be built on.
fn reliable_ns(point: &MapPoint) -> Option<f64> {
    let unknown = matches!(point.estimate.verdict, Verdict::CannotTell | Verdict::Invalid);
    let ns = point.estimate.ns().filter(|_| !unknown)?.value;
    Some(ns).filter(|ns| ns.is_finite())
}

impl Display for Pairs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let pair = |p: &MapPoint| {
            let ns = p.estimate.ns().map_or("-".into(), |ns| time_with_half(&ns));
            format!("{ns} (CPUs {} and {})", p.y.min(p.x), p.y.max(p.x))
        };
        match (self.nearest(), self.median_ns(), self.farthest()) {
            (Some(only), ..) if self.reliable.len() == 1 => {
                let ns = only.estimate.ns().map_or("-".into(), |ns| time_with_half(&ns));
                let (first, second) = (only.y.min(only.x), only.y.max(only.x));
                write!(f, "CPUs {first} and {second} hand over a cache line in {ns}, one way")
            }
            (Some(nearest), Some(median_ns), Some(farthest)) => write!(
                f,
                "{} pairs: nearest {}, median {}, farthest {}",
                self.reliable.len(),
                pair(nearest),
                time(median_ns),
                pair(farthest)
            ),
            _ => match self.verdicts.total() {
                1 => f.write_str(
                    "handing over a cache line: the one pair of CPUs has no usable figure",
                ),
                all => write!(
                    f,
                    "handing over a cache line: none of {all} pairs of CPUs has a usable figure"
                ),
            },
        }
    }
}

/// What is said of a run with one pair of CPUs, which is no picture.
pub fn only_pair(run: &Run) -> Option<String> {
    let pairs = Pairs::measured_in(run).filter(|pairs| pairs.verdicts.total() == 1)?;
    Some(pairs.to_string())
}

/// The clusters of CPUs that the figures show, and, in a sentence each, what the system describes that they don't.
pub fn clusters(run: &Run) -> Option<(Clusters, Vec<String>)> {
    let pairs = Pairs::measured_in(run)?;
    let pair = |(point, ns): &(&MapPoint, f64)| CpuPair {
        cpus: [point.y, point.x],
        ns: *ns,
        relative_half: point.estimate.ns().map_or(f64::INFINITY, |ns| ns.relative_half_width()),
    };
    let mut found = find_clusters(&pairs.reliable.iter().map(pair).collect::<Vec<_>>());
    let unseen = shared_by(&mut found, &run.machine).into_iter();
    let unseen = unseen.map(|(shared, count)| {
        format!("The system describes {count} groups of CPUs with the {shared}: these figures don't show them.")
    });
    Some((found, unseen.collect()))
}

/// The nearest pair, the median and the farthest, the clusters, and how many are not ok.
pub fn story(run: &Run) -> Vec<Block> {
    let Some(pairs) = Pairs::measured_in(run) else {
        return Vec::new();
    };
    let mut blocks = vec![Block::note(pairs.to_string())];
    if let Some((found, unseen)) = clusters(run) {
        blocks.extend(found.lines().into_iter().chain(unseen).map(Block::note));
    }
    let verdicts = pairs.verdicts;
    if verdicts.ok < verdicts.total() {
        let text = format!("pairs: {}", verdicts.tally_text());
        blocks.push(Block::note(text));
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Row;
    use crate::synthetic::{self, core_to_core_row};

    fn run_of(row: Row) -> Run {
        let mut run = synthetic::run();
        run.rows = vec![row].into();
        run
    }

    #[test]
    fn the_nearest_and_the_farthest_of_what_can_be_relied_on() {
        let mut run = run_of(core_to_core_row(4, |y, x| match (y, x) {
            (2, 1) => 25.0,
            (3, 0) => 140.0,
            _ => 60.0,
        }));
        let ends = |run: &Run| {
            let pairs = Pairs::measured_in(run).expect("pairs");
            let name = |point: Option<&MapPoint>| point.map(|p| (p.y, p.x));
            (name(pairs.nearest()), name(pairs.farthest()))
        };
        assert_eq!(ends(&run), (Some((2, 1)), Some((3, 0))));
        assert_eq!(Pairs::measured_in(&run).expect("pairs").median_ns(), Some(60.0));
        let Outcome::Map { points, .. } = &mut run.rows[0].outcome else {
            panic!("a map");
        };
        let nearest = points.iter_mut().find(|p| (p.y, p.x) == (2, 1));
        nearest.expect("the pair").estimate.verdict = Verdict::Invalid;
        assert_ne!(ends(&run).0, Some((2, 1)));
        let Outcome::Map { points, .. } = &mut run.rows[0].outcome else {
            panic!("a map");
        };
        for point in points {
            point.estimate.verdict = Verdict::CannotTell;
        }
        assert_eq!(ends(&run), (None, None));
        assert_eq!(
            Pairs::measured_in(&run).expect("pairs").to_string(),
            "handing over a cache line: none of 6 pairs of CPUs has a usable figure"
        );
        let mut alone = run_of(core_to_core_row(2, |_, _| 60.0));
        let Outcome::Map { points, .. } = &mut alone.rows[0].outcome else {
            panic!("a map");
        };
        points[0].estimate.verdict = Verdict::CannotTell;
        assert_eq!(
            only_pair(&alone).as_deref(),
            Some("handing over a cache line: the one pair of CPUs has no usable figure")
        );
        assert_eq!(story(&run).len(), 2);
        assert_eq!(story(&run_of(core_to_core_row(1, |_, _| 1.0))), []);
    }
}

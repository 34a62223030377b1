//! `memory.latency_tlb`: the same loads on base and on huge pages; the
//! difference is the walk of the page tables.

use super::{Block, Note, by_x, curve};
use crate::estimate::{Estimate, Verdict};
use crate::run::{Axis, Run};
use crate::shown::time_with_half;
use crate::size;
use crate::stats::Interval;
use std::fmt::{self, Display};

const BASE: &str = "memory.latency_tlb/4KiB";
const HUGE: &str = "memory.latency_tlb/huge";

/// One load at the largest working set with both figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageWalk {
    /// Working set.
    pub bytes: u64,
    /// A load on base pages, ns.
    pub base_ns: Interval,
    /// A load on huge pages, ns.
    pub huge_ns: Interval,
}

impl PageWalk {
    /// What a load takes longer on base pages, ns.
    pub fn cost_ns(&self) -> Interval {
        self.base_ns.minus(&self.huge_ns)
    }

    /// The comparison of a run that has both curves.
    pub fn measured_in(run: &Run) -> Option<PageWalk> {
        let huge = curve(run, HUGE, Axis::WorkingSetBytes);
        let base = curve(run, BASE, Axis::WorkingSetBytes);
        let huge = by_x(huge);
        base.iter().rev().find_map(|base| {
            Some(PageWalk {
                bytes: base.x,
                base_ns: estimate_interval(&base.estimate)?,
                huge_ns: estimate_interval(huge.get(&base.x)?)?,
            })
        })
    }
}

fn estimate_interval(estimate: &Estimate) -> Option<Interval> {
    let one_figure = matches!(estimate.verdict, Verdict::Ok | Verdict::Noisy);
    estimate.ns_of_run().filter(|_| one_figure)
}

impl Display for PageWalk {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "a load from one line in each 4 KiB of {} takes {} on 4 KiB pages and {} on huge pages; ",
            size::format_size(self.bytes),
            time_with_half(&self.base_ns),
            time_with_half(&self.huge_ns),
        )?;
        let cost = self.cost_ns();
        match cost.excludes_zero() {
            true => write!(f, "the page walk costs {}.", time_with_half(&cost)),
            false => write!(
                f,
                "the difference ({}) is not distinguishable from 0.",
                time_with_half(&cost)
            ),
        }
    }
}

/// One sentence, where the run has both curves.
pub fn story(run: &Run) -> Vec<Block> {
    let sentence =
        PageWalk::measured_in(run).map(|walk| Note::new("page walk   ", walk.to_string()));
    sentence.map(Block::Note).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_includes_0_shows_no_page_walk() {
        let walk = |base, half| PageWalk {
            bytes: 64 << 20,
            base_ns: Interval::about(base, half),
            huge_ns: Interval::about(90.0, half),
        };
        assert!(!walk(97.0, 6.4).cost_ns().excludes_zero());
        assert_eq!(
            walk(97.0, 6.4).to_string(),
            "a load from one line in each 4 KiB of 64MiB takes 97 ns ±7 on 4 KiB pages and 90 ns ±7 \
             on huge pages; the difference (7 ns ±10) is not distinguishable from 0."
        );
        assert!(walk(136.0, 1.0).cost_ns().excludes_zero());
        assert!(walk(136.0, 1.0).to_string().ends_with("the page walk costs 46 ns ±2."));
    }

    #[test]
    fn without_huge_pages_there_is_no_story() {
        let mut run = crate::synthetic::run();
        run.rows.retain(|row| row.id != HUGE);
        assert_eq!(story(&run), []);
    }
}

//! Which cells get extra visits: those whose intervals are widest compared to what
//! they should be, for each second that it costs to narrow them.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A cell that has no figure yet counts as one whose interval is this many
/// times too wide.
const UNKNOWN: f64 = 20.0;

/// A cell that may get extra visits. A lap is one visit of each of its workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Width of its interval over the width wanted; infinite where there is
    /// none yet.
    pub over_target: f64,
    /// Laps made so far.
    pub laps: u32,
    /// What one more should take, ns.
    pub lap_ns: f64,
    /// Laps it may get.
    pub most: u32,
}

impl Candidate {
    /// Width over target after so many more laps: intervals narrow with the
    /// square root of what they rest on.
    fn after(&self, more: u32) -> f64 {
        let before = f64::from(self.laps.max(1));
        self.over_target.min(UNKNOWN) * (before / (before + f64::from(more))).sqrt()
    }

    /// What the lap after so many gains for each ns.
    fn gain(&self, more: u32) -> f64 {
        (self.after(more) - self.after(more + 1)) / self.lap_ns.max(1.0)
    }

    fn is_good(&self, more: u32) -> bool {
        more >= self.most || self.after(more) <= 1.0
    }
}

struct Next {
    gain: f64,
    cell: usize,
}

impl Ord for Next {
    fn cmp(&self, other: &Next) -> Ordering {
        let by_gain = self.gain.total_cmp(&other.gain);
        by_gain.then(other.cell.cmp(&self.cell))
    }
}
impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Next) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Next {
    fn eq(&self, other: &Next) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Next {}

/// Laps that each cell gets of the time left, ns.
pub fn laps(cells: &[Candidate], left_ns: f64) -> Vec<u32> {
    let mut laps = vec![0; cells.len()];
    let mut left_ns = left_ns;
    let mut queue: BinaryHeap<Next> = (0..cells.len())
        .filter(|&cell| !cells[cell].is_good(0))
        .map(|cell| Next { gain: cells[cell].gain(0), cell })
        .collect();
    while let Some(Next { cell, .. }) = queue.pop() {
        let candidate = &cells[cell];
        if candidate.lap_ns > left_ns {
            // Another may be cheaper.
            continue;
        }
        left_ns -= candidate.lap_ns;
        laps[cell] += 1;
        if !candidate.is_good(laps[cell]) {
            let gain = candidate.gain(laps[cell]);
            queue.push(Next { gain, cell });
        }
    }
    laps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(over_target: f64, laps: u32, lap_ns: f64) -> Candidate {
        Candidate { over_target, laps, lap_ns, most: 100 }
    }

    #[test]
    fn good_cells_get_nothing_and_the_time_is_not_exceeded() {
        let cells = [candidate(0.9, 10, 1.0), candidate(3.0, 10, 1.0), candidate(1.0, 10, 1.0)];
        assert_eq!(laps(&cells, 30.0), [0, 30, 0]);
        // Three times too wide takes nine times the visits.
        assert_eq!(laps(&cells, 1e9), [0, 80, 0]);
        assert_eq!(laps(&cells, 0.5), [0, 0, 0]);
    }

    #[test]
    fn the_wider_and_the_cheaper_come_first() {
        let given = laps(&[candidate(8.0, 10, 1.0), candidate(4.0, 10, 1.0)], 40.0);
        assert!(given[0] > given[1] && given.iter().sum::<u32>() == 40, "{given:?}");
        let given = laps(&[candidate(4.0, 10, 1.0), candidate(4.0, 10, 4.0)], 60.0);
        assert!(given[0] > 2 * given[1] && given[1] > 0, "{given:?}");
    }

    #[test]
    fn a_cell_without_a_figure_is_the_widest_and_no_cell_takes_all() {
        let unknown = Candidate { most: 12, ..candidate(f64::INFINITY, 3, 1.0) };
        let given = laps(&[candidate(3.0, 3, 1.0), unknown], 100.0);
        assert_eq!(given, [24, 12], "its most, and the rest to the other");
    }

    #[test]
    fn a_dear_lap_that_does_not_fit_leaves_the_time_to_others() {
        let given = laps(&[candidate(100.0, 2, 50.0), candidate(2.0, 4, 1.0)], 20.0);
        assert_eq!(given, [0, 12]);
    }
}

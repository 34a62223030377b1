//! In which order cells are visited: repeatable by seed, every cell spread
//! over the whole run, everything shuffled in between.

use fastrand::Rng;

/// Visits sent to a worker at once: few enough that one worker has the
/// machine for some milliseconds only, enough that pipes cost little.
pub const BATCH: usize = 8;

/// One visit: which worker, which cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// Worker.
    pub worker: u32,
    /// Cell.
    pub cell: u32,
}

/// How often a cell is visited, and by which workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Visits of each worker.
    pub visits: u32,
    /// Number of the first worker.
    pub first_worker: u32,
    /// How many they are.
    pub workers: u32,
    /// Whether another worker is the first for each such cell. Not for cells
    /// in a worker's buffers: touching those takes long on a busy machine, and
    /// one worker's are enough for a first visit to all of them.
    pub rotates: bool,
}

/// Whether a visit of a cell falls into round `round` of `rounds`. They are
/// spread evenly. One of the cell's workers begins in the first round, so that
/// each cell is soon seen once, whatever happens to the run; where the others
/// begin differs from cell to cell, so that a cell's workers see different
/// times.
pub fn takes_part(cell: Share, rounds: u32, round: u32, visit: &Visit) -> bool {
    let rounds = rounds.max(1);
    let workers = cell.workers.max(1);
    let begins = match worker_index(cell, visit) {
        0 => 0,
        place => {
            let (others, later) = (workers - 1, (rounds - 1).max(1));
            let step = later.div_ceil(others);
            (1 + (place - 1) * later / others + visit.cell / workers % step) % rounds
        }
    };
    let round = (round + 2 * rounds - 1 - begins) % rounds;
    let before = u64::from(round) * u64::from(cell.visits) / u64::from(rounds);
    let after = u64::from(round + 1) * u64::from(cell.visits) / u64::from(rounds);
    after > before
}

/// Among the workers of a cell; the first of all is another one for each cell.
fn worker_index(cell: Share, visit: &Visit) -> u32 {
    let turn = if cell.rotates { visit.cell } else { 0 };
    (visit.worker - cell.first_worker + turn) % cell.workers.max(1)
}

/// Whether a visit of the first round is the one that each cell has there.
pub fn is_first(cell: Share, visit: &Visit) -> bool {
    worker_index(cell, visit) == 0
}

/// Visits as batches, each for one worker, the cheapest first.
pub fn cheapest_first(
    visits: &[Visit],
    size: usize,
    visit_ns: impl Fn(&Visit) -> f64,
) -> Vec<Vec<Visit>> {
    let mut sorted = visits.to_vec();
    sorted.sort_by(|a, b| {
        let by_cost = visit_ns(a).total_cmp(&visit_ns(b));
        by_cost.then(a.cell.cmp(&b.cell))
    });
    sorted.sort_by_key(|visit| visit.worker);
    let mut batches: Vec<Vec<Visit>> = sorted
        .chunk_by(|a, b| a.worker == b.worker)
        .flat_map(|of_worker| of_worker.chunks(size.max(1)))
        .map(<[Visit]>::to_vec)
        .collect();
    batches.sort_by(|a, b| visit_ns(&a[0]).total_cmp(&visit_ns(&b[0])));
    batches
}

/// The visits of one round as batches, each for one worker: each worker's
/// cells shuffled, cut into batches of `size` visits or `most_ns` of expected
/// time, and the batches shuffled.
pub fn batches(
    visits: &[Visit],
    rng: &mut Rng,
    size: usize,
    most_ns: f64,
    visit_ns: impl Fn(&Visit) -> f64,
) -> Vec<Vec<Visit>> {
    let mut shuffled = visits.to_vec();
    rng.shuffle(&mut shuffled);
    shuffled.sort_by_key(|visit| visit.worker);
    let mut batches: Vec<Vec<Visit>> = Vec::new();
    let mut batch_ns = 0.0;
    for visit in shuffled {
        let ns = visit_ns(&visit);
        match batches.last_mut() {
            Some(batch)
                if batch[0].worker == visit.worker
                    && batch.len() < size
                    && batch_ns + ns <= most_ns =>
            {
                batch.push(visit);
                batch_ns += ns;
            }
            _ => {
                batches.push(vec![visit]);
                batch_ns = ns;
            }
        }
    }
    rng.shuffle(&mut batches);
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_visits(workers: u32, cells: u32) -> Vec<Visit> {
        (0..workers).flat_map(|worker| (0..cells).map(move |cell| Visit { worker, cell })).collect()
    }

    #[test]
    fn every_visit_is_made_once_and_seeds_repeat() {
        let visits = all_visits(8, 50);
        let order = |seed| batches(&visits, &mut Rng::with_seed(seed), BATCH, 1e9, |_| 1.0);
        let mut made: Vec<Visit> = order(1).concat();
        made.sort_by_key(|v| (v.worker, v.cell));
        assert_eq!(made, visits);
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        assert!(order(1).iter().all(|b| b.iter().all(|v| v.worker == b[0].worker)));
    }

    #[test]
    fn dear_visits_are_sent_in_smaller_batches() {
        let of = |ns: f64| {
            let batches = batches(&all_visits(2, 30), &mut Rng::with_seed(3), BATCH, 100.0, |_| ns);
            batches.iter().map(Vec::len).max()
        };
        assert_eq!([of(1.0), of(40.0), of(500.0)].map(Option::unwrap), [8, 2, 1]);
    }

    fn share(visits: u32, workers: u32) -> Share {
        Share { visits, first_worker: 0, workers, rotates: true }
    }

    #[test]
    fn cells_with_one_visit_fall_into_all_rounds() {
        let mut seen = [0; 16];
        for visit in all_visits(8, 40) {
            for round in 0..16 {
                seen[round as usize] += u32::from(takes_part(share(1, 8), 16, round, &visit));
            }
        }
        assert_eq!(seen.iter().sum::<u32>(), 320);
        assert!(seen.iter().all(|&n| n >= 8), "{seen:?}");
    }

    #[test]
    fn the_cheapest_come_first_whichever_worker_they_are_for() {
        let visits = all_visits(3, 20);
        let batches = cheapest_first(&visits, 4, |visit| f64::from(visit.cell));
        assert_eq!(batches.iter().map(Vec::len).sum::<usize>(), 60);
        assert!(batches.iter().all(|b| b.iter().all(|v| v.worker == b[0].worker)));
        let dearest: Vec<u32> = batches.iter().map(|b| b[b.len() - 1].cell).collect();
        assert!(dearest.is_sorted(), "{dearest:?}");
    }

    #[test]
    fn the_first_round_sees_each_cell() {
        for (visits, workers, first_worker) in [(1, 8, 0), (2, 5, 3), (10, 3, 0), (4, 1, 2)] {
            let cell = Share { visits, first_worker, workers, rotates: visits > 1 };
            for (rounds, number) in [(10, 0), (10, 7), (16, 8), (11, 23), (20, 39), (37, 160)] {
                let first = (first_worker..first_worker + workers).filter(|&worker| {
                    let visit = Visit { worker, cell: number };
                    let is_first = is_first(cell, &visit);
                    assert!(!is_first || takes_part(cell, rounds, 0, &visit));
                    is_first
                });
                assert!(first.count() == 1, "{cell:?} in {rounds} rounds");
            }
        }
    }

    #[test]
    fn visits_are_spread_over_the_rounds() {
        for (visits, rounds) in [(12, 12), (4, 12), (1, 12), (5, 7), (0, 3)] {
            let of = |visit: &Visit| -> Vec<u32> {
                (0..rounds).filter(|&r| takes_part(share(visits, 8), rounds, r, visit)).collect()
            };
            for visit in all_visits(8, 20) {
                assert_eq!(of(&visit).len() as u32, visits);
            }
            let taken = of(&Visit { worker: 0, cell: 0 });
            if visits > 1 {
                let widest = taken.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
                assert!(widest <= rounds.div_ceil(visits), "{visits}/{rounds}: {taken:?}");
            }
        }
    }
}

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

/// Whether a visit of a cell that has `visits` visits in `rounds` rounds falls
/// into round `round`. They are spread evenly; where they begin differs from
/// cell to cell and from worker to worker, so that cells with few visits don't
/// crowd into the same rounds and a cell's workers see different times.
pub fn takes_part(visits: u32, rounds: u32, round: u32, visit: &Visit) -> bool {
    let rounds = rounds.max(1);
    let phase = visit
        .cell
        .wrapping_mul(5)
        .wrapping_add(visit.worker.wrapping_mul(3));
    let round = (round + phase % rounds) % rounds;
    let before = u64::from(round) * u64::from(visits) / u64::from(rounds);
    let after = u64::from(round + 1) * u64::from(visits) / u64::from(rounds);
    after > before
}

/// The visits of one round as batches, each for one worker: each worker's
/// cells shuffled, cut into batches, and the batches shuffled.
pub fn batches(visits: &[Visit], rng: &mut Rng, size: usize) -> Vec<Vec<Visit>> {
    let mut shuffled = visits.to_vec();
    rng.shuffle(&mut shuffled);
    shuffled.sort_by_key(|visit| visit.worker);
    let mut batches: Vec<Vec<Visit>> = shuffled
        .chunk_by(|a, b| a.worker == b.worker)
        .flat_map(|of_worker| of_worker.chunks(size.max(1)))
        .map(<[Visit]>::to_vec)
        .collect();
    rng.shuffle(&mut batches);
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(workers: u32, cells: u32) -> Vec<Visit> {
        (0..workers)
            .flat_map(|worker| (0..cells).map(move |cell| Visit { worker, cell }))
            .collect()
    }

    #[test]
    fn every_visit_is_made_once_and_seeds_repeat() {
        let visits = all(8, 50);
        let order = |seed| batches(&visits, &mut Rng::with_seed(seed), BATCH);
        let mut made: Vec<Visit> = order(1).concat();
        made.sort_by_key(|v| (v.worker, v.cell));
        assert_eq!(made, visits);
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        assert!(
            order(1)
                .iter()
                .all(|b| b.iter().all(|v| v.worker == b[0].worker))
        );
    }

    #[test]
    fn cells_with_one_visit_fall_into_all_rounds() {
        let mut seen = [0; 16];
        for visit in all(8, 40) {
            for round in 0..16 {
                seen[round as usize] += u32::from(takes_part(1, 16, round, &visit));
            }
        }
        assert_eq!(seen.iter().sum::<u32>(), 320);
        assert!(seen.iter().all(|&n| n >= 10), "{seen:?}");
    }

    #[test]
    fn visits_are_spread_over_the_rounds() {
        for (visits, rounds) in [(12, 12), (4, 12), (1, 12), (5, 7), (0, 3)] {
            let of = |visit: &Visit| -> Vec<u32> {
                (0..rounds)
                    .filter(|&r| takes_part(visits, rounds, r, visit))
                    .collect()
            };
            for visit in all(8, 20) {
                assert_eq!(of(&visit).len() as u32, visits);
            }
            let taken = of(&Visit { worker: 0, cell: 0 });
            if visits > 1 {
                let widest = taken.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
                assert!(
                    widest <= rounds.div_ceil(visits),
                    "{visits}/{rounds}: {taken:?}"
                );
            }
        }
    }
}

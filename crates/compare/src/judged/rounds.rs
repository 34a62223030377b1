//! The slots of a benchmark, from the cells of a run.

use model::judged::{ARMS, JudgedBenchmark};
use model::run::Run;
use std::collections::BTreeMap;

/// Rounds that have a slot of each arm, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    /// Which round each is.
    numbers: Vec<u32>,
    pub(super) base: Vec<Vec<f64>>,
    pub(super) head: Vec<Vec<f64>>,
    pub(super) again: Vec<Vec<f64>>,
    /// What a round took, ms.
    pub(super) round_ms: f64,
}

impl Rounds {
    /// Of a benchmark.
    pub(super) fn of_benchmark(run: &Run, benchmark: &JudgedBenchmark) -> Rounds {
        let mut rounds: BTreeMap<u32, [Vec<f64>; 3]> = BTreeMap::new();
        let (mut wall_ms, mut slots) = (0.0, 0);
        for (arm, name) in ARMS.iter().enumerate() {
            let Some(cell) = run.cell(&benchmark.row_id(name), &[]) else { continue };
            wall_ms += cell.wall_ms;
            let samples = cell.samples.samples().unwrap_or_default();
            for slot in samples.chunk_by(|a, b| a.worker == b.worker) {
                let ns =
                    slot.iter().map(|one| one.ns_per_op(cell.ops_per_turn, run.clock.ns_per_tick));
                rounds.entry(slot[0].worker).or_default()[arm].extend(ns);
            }
        }
        let mut all = Rounds::default();
        for (number, [base, head, again]) in rounds {
            slots += [&base, &head, &again].iter().filter(|slot| !slot.is_empty()).count();
            if [&base, &head, &again].iter().all(|slot| !slot.is_empty()) {
                all.numbers.push(number);
                all.base.push(base);
                all.head.push(head);
                all.again.push(again);
            }
        }
        all.round_ms = ARMS.len() as f64 * wall_ms / slots.max(1) as f64;
        all
    }

    /// Those before a round, and the others.
    pub(super) fn split_at(&self, round: u32) -> (Rounds, Rounds) {
        let at = self.numbers.partition_point(|number| *number < round);
        let part = |from: usize, to: usize| Rounds {
            numbers: self.numbers[from..to].to_vec(),
            base: self.base[from..to].to_vec(),
            head: self.head[from..to].to_vec(),
            again: self.again[from..to].to_vec(),
            round_ms: self.round_ms,
        };
        (part(0, at), part(at, self.numbers.len()))
    }
}

//! What a mispredicted branch costs.

use fastrand::Rng;
use meter::probe::{Probe, Work};

/// Branches a turn. Random data this long, and new for every sample, is
/// beyond what a predictor learns; with its twin it fits every L1.
const BRANCHES: usize = 8192;

pub(crate) fn branch_probe() -> Probe {
    Probe {
        title: "mispredicted branch".into(),
        operation: "One mispredicted conditional branch: what it costs more than the same branch predicted.".into(),
        method: "One loop with a branch on each byte of a block, over a block whose first half takes it and second half does not, and over one of random bits, in one bracket in alternating order; the difference divided by half the branches, since half the guesses about a random bit are wrong. New random bits for every sample.".into(),
        source: "The 2012 list's row; the method is the usual one of a predictable and an unpredictable run of the same code.".into(),
        make: Box::new(|worker, _| {
            let mut predictable = vec![0; BRANCHES];
            predictable[BRANCHES / 2..].fill(1);
            Ok(Box::new(Branches {
                predictable,
                coins: vec![0; BRANCHES],
                rng: worker.rng.fork(),
            }))
        }),
        ..Probe::blank("cpu.branch_mispredict")
    }
}

struct Branches {
    predictable: Vec<u8>,
    coins: Vec<u8>,
    rng: Rng,
}

impl Work for Branches {
    fn ops_per_turn(&self) -> f64 {
        BRANCHES as f64 / 2.0
    }
    fn paired(&self) -> bool {
        true
    }
    fn ready(&mut self) {
        self.rng.fill(&mut self.coins);
        kernels::checked::branches(&self.predictable);
    }
    fn run(&mut self, turns: u64, double: bool) {
        let data = if double { &self.coins } else { &self.predictable };
        for _ in 0..turns {
            kernels::checked::branches(data);
        }
    }
    /// More than one turn a sample would show the same coins again.
    fn turn_limits(&self) -> (u64, u64) {
        (1, 1)
    }
}

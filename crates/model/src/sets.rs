//! Sets of the same rows, measured one after the other: what a machine is set against itself by.

use crate::experiment::{Arm, Experiment, Order};
use crate::recording::{Repeated, Rows};
use crate::run::Run;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `latlas selftest` records.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Sets {
    /// Change that counts as none, as a share.
    pub margin: f64,
    /// The sets in the order in which they were measured.
    pub sets: Vec<Set>,
}

/// One of them.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Set {
    /// Its arm.
    pub arm: char,
    /// Its run, without samples but for which worker took them.
    pub run: Run,
}

/// Parts of a ns that a set's figure is kept in.
const PARTS: u64 = 1000;

impl Sets {
    /// The single figures of each arm, a sample a set.
    pub(crate) fn rows(&self) -> Rows {
        let mut rows = Rows::default();
        let mut arms: Vec<char> = self.sets.iter().map(|set| set.arm).collect();
        arms.sort_unstable();
        arms.dedup();
        let first = self.sets.first();
        for row in first.iter().flat_map(|set| &set.run.rows) {
            for arm in &arms {
                let of = |set: &Set| {
                    let ns = set.run.row(&row.id)?.estimate()?.ns()?.value;
                    let sum = Some((ns * PARTS as f64).round() as u64).filter(|_| ns > 0.0)?;
                    Some(Repeated { at_ms: 0, sum, count: PARTS })
                };
                let sets = self.sets.iter().filter(|set| set.arm == *arm);
                let samples: Vec<Repeated> = sets.filter_map(of).collect();
                if !samples.is_empty() {
                    rows.add_samples(&row.id, &arm.to_string(), row.unit, samples);
                }
            }
        }
        let rounds = (self.sets.len() / arms.len().max(1)) as u32;
        let arms = arms.into_iter().map(Arm::named).collect();
        rows.experiment = Some(Experiment { arms, rounds, order: Order::Mirrored, seed: 0 });
        rows
    }
}

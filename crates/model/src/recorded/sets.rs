//! The figures of a set, an arm for each letter.

use super::{RecordingRows, Repeated};
use crate::experiment::{Arm, Experiment, Order};
use crate::run::recording::{Set, Sets};

/// Parts of a ns that a set's figure is kept in.
const PARTS: u64 = 1000;

/// The single figures of each arm, a sample a set.
pub(super) fn sets_rows(of: &Sets) -> RecordingRows {
    let mut rows = RecordingRows::default();
    let mut arms: Vec<char> = of.sets.iter().map(|set| set.arm).collect();
    arms.sort_unstable();
    arms.dedup();
    let first = of.sets.first();
    for row in first.iter().flat_map(|set| &set.run.rows) {
        for arm in &arms {
            let sample = |set: &Set| {
                let ns = set.run.row(&row.id)?.estimate()?.ns()?.value;
                let sum = Some((ns * PARTS as f64).round() as u64).filter(|_| ns > 0.0)?;
                Some(Repeated { at_ms: 0, sum, count: PARTS })
            };
            let sets = of.sets.iter().filter(|set| set.arm == *arm);
            let samples: Vec<Repeated> = sets.filter_map(sample).collect();
            if !samples.is_empty() {
                rows.add_samples(&row.id, &arm.to_string(), row.unit, samples);
            }
        }
    }
    let rounds = (of.sets.len() / arms.len().max(1)) as u32;
    let arms = arms.into_iter().map(Arm::named).collect();
    rows.experiment = Some(Experiment { arms, rounds, order: Order::Mirrored, seed: 0 });
    rows
}

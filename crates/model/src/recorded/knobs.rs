//! Shares of CPU time, an arm for each knob.

use super::{RecordingRows, Repeated};
use crate::experiment::{self, Arm, Experiment, Order};
use crate::qos::knobs::Knobs;
use crate::unit::Unit;
use std::collections::BTreeMap;

/// Parts of a share that a sample is counted in.
const PARTS: u64 = 1_000_000_000;

/// The measured shares of each knob.
pub(super) fn knobs_rows(of: &Knobs) -> RecordingRows {
    let mut rows = RecordingRows::default();
    let mut arms = Vec::new();
    for knob in &of.knobs {
        let name = format!("{}:{}", experiment::slug(&knob.knob.label()), knob.session.text());
        let settings = BTreeMap::from([("knob".into(), knob.knob.label())]);
        arms.push(Arm { settings, ..Arm::named(&name) });
        for (place, shares) in [("one_cpu", &knob.one_cpu), ("all_cpus", &knob.all_cpus)] {
            let part = |share: &f64| Repeated {
                at_ms: 0,
                sum: (share * PARTS as f64).round() as u64,
                count: PARTS,
            };
            let samples = shares.measured.iter().map(part).collect();
            rows.add_samples(&format!("knobs.share/{place}"), &name, Unit::Count, samples);
        }
    }
    let (rounds, seed) = (of.rounds, of.seed);
    rows.experiment = Some(Experiment { arms, rounds, order: Order::Shuffled, seed });
    rows
}

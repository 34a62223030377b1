//! A row for each job and load, an arm for each state.

use super::{RecordingRows, Repeated};
use crate::experiment::{Arm, Experiment, Order};
use crate::noise::effect::{Effects, How, OneRun, Workload};
use crate::unit::Unit;

/// A row for each job and load in each arm, with a sample a run.
pub(super) fn effects_rows(of: &Effects) -> RecordingRows {
    let mut rows = RecordingRows::default();
    let mut arms: Vec<Arm> = Vec::new();
    for block in &of.blocks {
        for arm in &block.arms {
            if !arms.iter().any(|known| known.id == arm.name) {
                arms.push(named_arm(of, &arm.name));
            }
            let id = format!("ab.{}/{}", block.workload.name(), block.load.name());
            let judged = |run: &OneRun| judged(run, block.workload);
            rows.add_samples(&id, &arm.name, Unit::Time, arm.runs.iter().map(judged).collect());
        }
    }
    let How { rounds, seed, .. } = of.how;
    rows.experiment = Some(Experiment { arms, rounds, order: Order::Shuffled, seed });
    rows
}

fn named_arm(of: &Effects, name: &str) -> Arm {
    let control = of.controls.iter().find(|control| control.on_arm == name);
    let settings = control.map(|control| (control.name.clone(), control.on.clone()));
    Arm { settings: settings.into_iter().collect(), ..Arm::named(name) }
}

/// What a control is judged by, as a sample.
fn judged(run: &OneRun, workload: Workload) -> Repeated {
    let (sum, count) = match (workload, &run.wakeups) {
        (Workload::Wakeup, Some(wakeups)) => {
            let count = wakeups.count.max(1);
            ((wakeups.mean_ns * count as f64).round() as u64, count)
        }
        _ => (run.took_ns, 1),
    };
    Repeated { at_ms: run.at_ms, sum, count }
}

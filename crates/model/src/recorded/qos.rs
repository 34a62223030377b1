//! A row of times, an arm for each job of a case.

use super::{RecordingRows, Repeated};
use crate::experiment::{self, Arm, Experiment, Order};
use crate::qos::figures::wait_for_others;
use crate::qos::{Case, How, Qos};
use crate::unit::Unit;
use std::collections::BTreeMap;

/// A row for each job of a case: what it took in each round.
pub(super) fn qos_rows(of: &Qos) -> RecordingRows {
    let mut rows = RecordingRows::default();
    let mut arms = Vec::new();
    for runs in &of.cases {
        let names = arms_of(runs.case);
        for (job, (name, level)) in names.iter().zip(runs.case.levels()).enumerate() {
            let others = names.iter().filter(|other| *other != name);
            arms.push(Arm {
                settings: BTreeMap::from([("level".into(), level.label())]),
                with: others.cloned().collect(),
                ..Arm::named(name)
            });
            let walls = runs.runs.iter().filter_map(|run| {
                let sum = run.jobs.get(job)?.wall_ns;
                Some(Repeated { at_ms: run.at_ms, sum, count: 1 })
            });
            rows.add_samples("qos.wall", name, Unit::Time, walls.collect());
            if let Some(wait) = wait_for_others(of, runs) {
                rows.doubt_last(&wait.to_string());
            }
        }
    }
    let How { rounds, seed, .. } = of.how;
    rows.experiment = Some(Experiment { arms, rounds, order: Order::Shuffled, seed });
    rows
}

/// The arm of each of its jobs.
fn arms_of(own: Case) -> Vec<String> {
    let case = experiment::slug(&own.label());
    match own {
        Case::Pair { high, low } => {
            [high, low].map(|level| format!("{case}:{}", level.label())).to_vec()
        }
        Case::Same { .. } => [1, 2].map(|job| format!("{case}:{job}")).to_vec(),
        _ => vec![case],
    }
}

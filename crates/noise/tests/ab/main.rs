//! The experiment of `noise ab`: what is planned, and how it is conducted on a
//! scripted stage.

mod conduct;
mod plan;
mod stage;

use model::noise::effect::{Load, Workload};
use noise::ab::available::Here;
use noise::ab::control;
use noise::ab::planned::{AbPlan, AbRequest, Length};
use std::collections::BTreeMap;
use std::time::Duration;

const ALL_LOADS: [Load; 3] = [Load::None, Load::SameSession, Load::OtherSession];

fn request(controls: &[&str], workloads: &[Workload], loads: &[Load], length: Length) -> AbRequest {
    let found = controls.iter().map(|name| control::control_named(name).expect(name));
    AbRequest {
        controls: found.collect(),
        loads: loads.to_vec(),
        workloads: workloads.to_vec(),
        length,
        job: Duration::from_millis(60),
        busy_per_cpu: 1,
        cpus: vec![0, 1],
        pin: Ok(1),
        switch_ms: BTreeMap::new(),
    }
}

/// The plan where everything is to be had.
fn planned(request: &AbRequest) -> AbPlan {
    noise::ab::plan::plan(request, |_, _| Ok(Here::default()))
}

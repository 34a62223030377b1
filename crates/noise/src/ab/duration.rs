//! How long runs are expected to take.

use super::planned::{AbRequest, PlannedArm};
use model::noise::effect::{Load, Workload};
use std::time::Duration;

/// What one run takes, expected: a job gets its share of a CPU, and most of it
/// where it is before the load; a sleeper is preferred, and late by a part of
/// that; memory is written before it is walked through.
pub(super) fn run_ms(request: &AbRequest, workload: Workload, load: Load, arm: &PlannedArm) -> f64 {
    const START_MS: f64 = 2.0;
    const DROP_MS: f64 = 100.0;
    /// Where it was not tried yet.
    const SWITCH_MS: f64 = 60.0;
    const FILES_MS: f64 = 20.0;
    const BEFORE_THE_LOAD: f64 = 1.2;
    let job_ms = request.job.as_secs_f64() * 1e3;
    let share = match load {
        Load::None => 1.0,
        _ if is_before(load, arm) => BEFORE_THE_LOAD,
        _ => 1.0 + f64::from(request.busy_per_cpu),
    };
    let work_ms = match workload {
        Workload::Cpu | Workload::Command => job_ms * share,
        Workload::Memory => 1.4 * job_ms * share,
        Workload::Wakeup => job_ms * (0.5 + 0.5 * share),
        Workload::Files => FILES_MS,
    };
    let drop_ms = if arm.cold { DROP_MS } else { 0.0 };
    let switch_ms = match &arm.toggle {
        Some(name) => request.switch_ms.get(name).copied().unwrap_or(SWITCH_MS),
        None => 0.0,
    };
    START_MS + work_ms + drop_ms + switch_ms
}

/// Whether an arm is before the load, so that it hardly waits for a CPU.
fn is_before(load: Load, arm: &PlannedArm) -> bool {
    let settings = &arm.asked.settings;
    let raised = |nice: Option<i32>| nice.is_some_and(|nice| nice < 0);
    settings.policy.is_some()
        || raised(settings.autogroup)
        || raised(settings.nice) && load == Load::SameSession
        || arm.toggle.as_deref() == Some("shield")
}

/// Time that a load gets before anything is measured under it.
pub const SETTLING: Duration = Duration::from_millis(500);

pub(super) fn settling_ms(load: Load) -> f64 {
    match load {
        Load::None => 0.0,
        _ => SETTLING.as_secs_f64() * 1e3,
    }
}

//! Starts the workers of a run.

use super::Conductor;
use crate::controls::WorkerControls;
use crate::observer::Observer;
use crate::plan::Plan;
use crate::probe::MachineShape;
use crate::run_remark::RunRemark;
use crate::wire::Setup;
use crate::worker_pool::{WorkerHandle, WorkerLoss, WorkerProcesses};
use fastrand::Rng;
use model::conditions::Conditions;
use model::noise::applied::Applied;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use sys::clock::Calibration;

/// What a worker has of the controls; of those that have not the same, what
/// each is short of.
fn learn(
    conditions: &mut Conditions,
    controls: &WorkerControls,
    measuring_cpu: Option<u32>,
    handle: &WorkerHandle,
) {
    let mut asked = controls.asked.settings.clone();
    asked.cpus = measuring_cpu.into_iter().collect();
    let own = Applied::new(asked, handle.granted.clone());
    let refused = handle.refused.iter().chain(&own.refused).cloned();
    let refused: Vec<String> = refused.collect();
    let all = conditions.applied.get_or_insert(Applied {
        page_cache_dropped: controls.drop_page_cache,
        refused: Vec::new(),
        ..own
    });
    for why in refused {
        if !all.refused.contains(&why) {
            all.refused.push(why);
        }
    }
}

impl<'p> Conductor<'p, WorkerProcesses> {
    pub(crate) fn start(
        plan: &'p Plan,
        calibration: &Calibration,
        measuring_cpu: Option<u32>,
        machine_shape: &MachineShape,
        conditions: &mut Conditions,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Self, WorkerLoss> {
        let began_ns = sys::clock::monotonic_raw_ns();
        let mut rng = Rng::with_seed(plan.record.seed);
        let mut handles = BTreeMap::new();
        let mut failure = None;
        for worker in plan.workers() {
            let setup = Setup {
                began_ns,
                pin: measuring_cpu.into_iter().collect(),
                seed: rng.u64(..),
                ..setup(plan, worker, calibration, machine_shape)
            };
            match WorkerHandle::start(&setup, stop) {
                Ok(handle) => {
                    match &handle.pinned {
                        Ok(cpus) => conditions.pinned_cpus.clone_from(cpus),
                        Err(why) => conditions.not_pinned = Some(why.to_string()),
                    }
                    learn(conditions, &plan.controls, measuring_cpu, &handle);
                    handles.insert(worker, handle);
                }
                Err(WorkerLoss::Stopped { .. }) => break,
                Err(loss) => {
                    observer.warning(&RunRemark::NotStarted(loss.clone()));
                    failure = Some(loss);
                }
            }
        }
        if let (true, Some(loss)) = (handles.is_empty(), failure) {
            return Err(loss);
        }
        if let Some(why) = &conditions.not_pinned {
            observer.warning(&RunRemark::NotPinned(why.clone()));
        }
        let pool = WorkerProcesses {
            handles,
            began: Instant::now(),
        };
        Ok(Conductor::new(plan, calibration, rng, pool))
    }
}

/// What a worker of the plan is told first; it is pinned nowhere.
pub(crate) fn setup(
    plan: &Plan,
    worker: u32,
    calibration: &Calibration,
    machine_shape: &MachineShape,
) -> Setup {
    let (huge_bytes, base_bytes) = plan.buffers(worker);
    Setup {
        worker,
        pin: Vec::new(),
        asked: plan.controls.asked.clone(),
        ns_per_tick: calibration.ns_per_tick,
        began_ns: sys::clock::monotonic_raw_ns(),
        huge_bytes,
        base_bytes,
        last_level_canary_bytes: last_level_canary_bytes(plan),
        seed: plan.record.seed,
        machine_shape: machine_shape.clone(),
    }
}

/// Three times L2, but never more than half of the last level.
fn last_level_canary_bytes(plan: &Plan) -> u64 {
    let bytes = (3 * plan.machine_shape.l2_bytes).min(plan.machine_shape.last_level_bytes / 2);
    (bytes / 4096).max(1) * 4096
}

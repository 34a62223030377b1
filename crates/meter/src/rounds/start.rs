//! Starts the workers of a run.

use super::Conductor;
use crate::controls::WorkerControls;
use crate::in_process::InProcess;
use crate::observer::Observer;
use crate::plan::Plan;
use crate::probe::{MachineShape, Probe};
use crate::run_remark::RunRemark;
use crate::wire::WorkerSetup;
use crate::worker_pool::{WorkerHandle, WorkerProcesses};
use fastrand::Rng;
use model::conditions::Conditions;
use model::noise::applied::{Applied, Settings};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use sys::clock::Calibration;
use sys::role::{Loss, Lost};

/// What a worker has of the controls; of those that have not the same, what
/// each is short of.
fn learn(
    conditions: &mut Conditions,
    controls: &WorkerControls,
    measuring_cpu: Option<u32>,
    granted: Settings,
    refused: Option<&String>,
) {
    let mut asked = controls.asked.settings.clone();
    asked.cpus = measuring_cpu.into_iter().collect();
    let own = Applied::new(asked, granted);
    let refused = refused.into_iter().chain(&own.refused).cloned();
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

/// What workers are started for.
pub(crate) struct Start<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) calibration: &'p Calibration,
    pub(crate) measuring_cpu: Option<u32>,
    pub(crate) machine_shape: &'p MachineShape,
    /// When the run began.
    pub(crate) began: Instant,
}

impl<'p> Conductor<'p, WorkerProcesses> {
    pub(crate) fn start_workers(
        start: &Start<'p>,
        conditions: &mut Conditions,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Self, Lost> {
        let Start { plan, calibration, measuring_cpu, machine_shape, began } = *start;
        let began_ns = sys::clock::monotonic_raw_ns();
        let mut rng = Rng::with_seed(plan.record.seed);
        let mut handles = BTreeMap::new();
        let mut failure = None;
        for worker in plan.workers() {
            let setup = WorkerSetup {
                began_ns,
                pin: measuring_cpu.into_iter().collect(),
                seed: rng.u64(..),
                ..setup(plan, worker, calibration, machine_shape)
            };
            match WorkerHandle::start_worker(&setup, stop) {
                Ok(handle) => {
                    match &handle.pinned {
                        Ok(cpus) => conditions.pinned_cpus.clone_from(cpus),
                        Err(why) => conditions.not_pinned = Some(why.to_string()),
                    }
                    let refused = handle.refused.as_ref();
                    let granted = handle.granted.clone();
                    learn(conditions, &plan.controls, measuring_cpu, granted, refused);
                    handles.insert(worker, handle);
                }
                Err(Lost { how: Loss::Stopped, .. }) => break,
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
        let pool = WorkerProcesses { handles, began };
        Ok(Conductor::new(plan, calibration, rng, pool))
    }
}

impl<'p> Conductor<'p, InProcess<'p>> {
    /// The same workers in this process, whose calling thread is pinned for them.
    pub(crate) fn start_here(
        catalogue: &'p [Probe],
        start: &Start<'p>,
        conditions: &mut Conditions,
    ) -> Self {
        let Start { plan, calibration, measuring_cpu, machine_shape, began } = *start;
        let began_ns = sys::clock::monotonic_raw_ns();
        let mut rng = Rng::with_seed(plan.record.seed);
        if let Some(cpu) = measuring_cpu {
            match sys::affinity::pin_to(&[cpu]) {
                Ok(()) => conditions.pinned_cpus = vec![cpu],
                Err(error) => conditions.not_pinned = Some(error.to_string()),
            }
        }
        let granted = sys::controls::granted();
        learn(conditions, &plan.controls, measuring_cpu, granted, None);
        let mut pool = InProcess::new(catalogue, began);
        for worker in plan.workers() {
            pool.add_worker(&WorkerSetup {
                began_ns,
                seed: rng.u64(..),
                ..setup(plan, worker, calibration, machine_shape)
            });
        }
        Conductor::new(plan, calibration, rng, pool)
    }
}

/// What a worker of the plan is told first; it is pinned nowhere.
pub(crate) fn setup(
    plan: &Plan,
    worker: u32,
    calibration: &Calibration,
    machine_shape: &MachineShape,
) -> WorkerSetup {
    let (huge_bytes, base_bytes) = plan.buffers(worker);
    WorkerSetup {
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

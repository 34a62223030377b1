//! Rows, measured in this process.

use meter::conduct::{ConductError, Observer, conduct};
use meter::measuring_lock::{HeldBy, Holder, MeasuringLock};
use meter::plan::{self, PlanError};
use meter::program::program;
use model::run::Run;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

#[derive(Default)]
pub(crate) struct MeasureRequest {
    /// Ids of rows; none for the whole atlas.
    pub(crate) rows: Vec<String>,
    pub(crate) budget: Option<Duration>,
    /// Directory for files; chosen if absent.
    pub(crate) directory: Option<PathBuf>,
}

/// Why nothing was measured.
#[derive(thiserror::Error, Debug)]
pub(crate) enum MeasureError {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error("another measurement is running on this machine: {0}")]
    Held(HeldBy),
    #[error(transparent)]
    Conduct(#[from] ConductError),
}

pub(crate) fn measure(
    request: MeasureRequest,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Run, MeasureError> {
    let catalogue = probes::catalogue();
    let machine = sys::machine_facts(Path::new("/"));
    let request = plan::Request {
        asked: request.rows.clone(),
        rows: request.rows,
        seed: fastrand::u64(..1 << 32),
        budget: request.budget,
        dir: request.directory,
        in_process: true,
        ..plan::Request::default()
    };
    let plan = plan::plan(&catalogue, &request, &machine)?;
    let holder = Holder::this_process("latlas-core", Some(plan.total()));
    // What a lock can't be had for (an app's sandbox) is no reason not to measure.
    let _lock = MeasuringLock::take(&holder, false, |_| ()).map_err(MeasureError::Held)?;
    let program = program("latlas-core", env!("CARGO_PKG_VERSION"), &machine);
    Ok(conduct(&catalogue, &plan, machine, program, observer, stop)?)
}

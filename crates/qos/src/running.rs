//! Jobs from the controller's side: starting and waiting come apart, so that
//! several jobs begin together.

use crate::report::{EndedJob, Hello, JobOrder};
use model::qos::Part;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use sys::role::{self, Child, ChildSession, Loss, Lost, Role, Wait};

/// Why jobs did not run to their end.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// It could not be started, or ended before its report.
    #[error(transparent)]
    Lost(Lost),
    /// It said why.
    #[error("a job failed: {0}")]
    Failed(String),
    /// A request to end.
    #[error("interrupted")]
    Interrupted,
    /// The controller's own.
    #[error("can't wait for jobs: {0}")]
    System(#[from] io::Error),
}

impl From<Lost> for JobError {
    fn from(lost: Lost) -> JobError {
        match lost.how {
            Loss::Stopped => JobError::Interrupted,
            _ => JobError::Lost(lost),
        }
    }
}

/// A job that is ready, or runs. Killed when dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    parts: Vec<Part>,
}

impl Running {
    /// Starts a job in its own session and waits until it is ready. The calling
    /// thread must outlive it.
    ///
    /// # Errors
    /// Why it is not.
    pub fn start_job(order: &JobOrder, stop: &AtomicBool) -> Result<Running, JobError> {
        let mut child = Child::start(Role::QosJob, "a job", order, ChildSession::Own)?;
        match child.receive(Wait::until(stop))? {
            Hello::Ready(parts) => Ok(Running { child, parts }),
            Hello::Failed(why) => Err(JobError::Failed(why)),
        }
    }

    /// What came of the parts of its level.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }
}

/// Lets all jobs begin together and waits for all. Returns when they began
/// (CLOCK_MONOTONIC_RAW, ns) and what each did.
///
/// # Errors
/// The first job that failed or was killed, or a request to end; the others are
/// killed then.
pub fn run_jobs(
    mut jobs: Vec<Running>,
    stop: &AtomicBool,
) -> Result<(u64, Vec<EndedJob>), JobError> {
    let go_ns = sys::monotonic_raw_ns();
    for job in &mut jobs {
        job.child.send(&())?;
    }
    let mut ended: Vec<Option<EndedJob>> = vec![None; jobs.len()];
    while ended.iter().any(Option::is_none) {
        if stop.load(Ordering::Relaxed) {
            return Err(JobError::Interrupted);
        }
        let left: Vec<usize> = (0..jobs.len()).filter(|&job| ended[job].is_none()).collect();
        let children: Vec<&Child> = left.iter().map(|&job| &jobs[job].child).collect();
        let ready = role::ready(&children)?;
        for (job, _) in left.into_iter().zip(ready).filter(|(_, ready)| *ready) {
            let report = jobs[job].child.read_rest(Wait::until(stop), EndedJob::receive)?;
            match report.report.failed {
                Some(why) => return Err(JobError::Failed(why)),
                None => ended[job] = Some(report),
            }
        }
    }
    Ok((go_ns, ended.into_iter().flatten().collect()))
}

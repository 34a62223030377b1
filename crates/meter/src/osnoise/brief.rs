//! The brief measurement just before and just after a run or a command, on the
//! CPU that it measures on.
//!
//! Under controls that change the share of the CPU (nice, SCHED_FIFO, a shield)
//! a child process with the same controls measures: a thread of this process
//! has another weight and may be outside the cpuset.

use super::{OsnoiseError, OsnoiseRequest, measure_osnoise};
use crate::controls::RequestedControls;
use model::conditions::Conditions;
use model::noise::osnoise::{Osnoise, OsnoiseAround};
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use sys::clock::{Calibration, Counter};
use sys::role::{Child, ChildSession, Loss, Lost, Role, RoleTask, Wait};

/// Length: about forty ticks of a usual kernel, and short compared to a run.
pub const SHORT: Duration = Duration::from_millis(150);

/// Parts of the span in the document.
const STRETCHES: usize = 20;

/// What a child may take beyond [`SHORT`].
const PATIENCE: Duration = Duration::from_secs(10);

/// Length of the clock calibration in a child.
const CALIBRATION: Duration = Duration::from_millis(20);

/// Why there is no brief measurement. It never fails a run.
#[derive(thiserror::Error, Debug)]
pub enum BriefError {
    /// By a signal.
    #[error("interrupted")]
    Interrupted,
    /// The detector failed.
    #[error(transparent)]
    Detector(#[from] OsnoiseError),
    /// The child was lost.
    #[error(transparent)]
    Lost(Lost),
    /// The child's reason.
    #[error(transparent)]
    Child(#[from] ChildError),
    /// The controls were refused in the child.
    #[error(transparent)]
    Refused(#[from] sys::controls::NotSet),
    /// The clock is of no use.
    #[error("the clock {0} can't be calibrated")]
    NoClock(&'static str),
}

impl From<Lost> for BriefError {
    fn from(lost: Lost) -> BriefError {
        match lost.how {
            Loss::Stopped => BriefError::Interrupted,
            _ => BriefError::Lost(lost),
        }
    }
}

/// Why a child has no measurement, as it put it: its reason crosses a pipe.
#[derive(thiserror::Error, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[error("{0}")]
pub struct ChildError(String);

/// Measures in a thread of this process.
///
/// # Errors
/// Why it can't.
pub fn in_thread(
    (cpu, not_pinned): (Option<u32>, Option<&str>),
    span: Duration,
    counter: Counter,
    calibration: &Calibration,
    stop: &AtomicBool,
) -> Result<Osnoise, BriefError> {
    let request = OsnoiseRequest { cpu, span, stretches: STRETCHES };
    let (osnoise, ended_early) = measure_osnoise(&request, counter, calibration, stop)?;
    if ended_early {
        return Err(BriefError::Interrupted);
    }
    let not_pinned = || not_pinned.unwrap_or("it was not asked for").into();
    Ok(Osnoise { not_pinned: cpu.is_none().then(not_pinned), ..osnoise })
}

/// [`in_thread`] with a clock calibrated for so long.
///
/// # Errors
/// Why it can't.
pub fn calibrated(
    calibrating: Duration,
    place: (Option<u32>, Option<&str>),
    span: Duration,
    stop: &AtomicBool,
) -> Result<Osnoise, BriefError> {
    let counter = Counter::best();
    let calibration = sys::clock::calibrate(&counter, calibrating);
    if !calibration.is_usable() {
        return Err(BriefError::NoClock(counter.name()));
    }
    in_thread(place, span, counter, &calibration, stop)
}

/// Puts both measurements into the conditions; a missing one leaves a remark.
/// `after` is `None` if the run was interrupted.
pub fn record_osnoise(
    conditions: &mut Conditions,
    before: Result<Osnoise, BriefError>,
    after: Option<Result<Osnoise, BriefError>>,
) {
    let mut missed = |why: BriefError| {
        let remark = format!("OS noise was not measured: {why}");
        conditions.remarks.push(remark);
    };
    match before {
        Ok(before) => {
            let after = after.and_then(|after| after.map_err(&mut missed).ok());
            conditions.osnoise = Some(OsnoiseAround { before, after });
        }
        Err(why) => missed(why),
    }
}

/// What a child is to measure.
#[derive(Serialize, Deserialize)]
struct OsnoiseOrder {
    cpu: Option<u32>,
    not_pinned: Option<String>,
    span: Duration,
    asked: RequestedControls,
}

/// Measures in a child process under these controls.
///
/// # Errors
/// Why it can't.
pub fn in_child(
    asked: &RequestedControls,
    (cpu, not_pinned): (Option<u32>, Option<&str>),
    span: Duration,
    stop: &AtomicBool,
) -> Result<Osnoise, BriefError> {
    let not_pinned = not_pinned.map(Into::into);
    let order = OsnoiseOrder { cpu, not_pinned, span, asked: asked.clone() };
    let wait = Wait { patience: SHORT + PATIENCE, ..Wait::until(stop) };
    let session = ChildSession::under(asked.own_session());
    let mut child = Child::start(Role::Osnoise, "the spinning process", &order, session)?;
    Ok(child.receive::<Result<_, ChildError>>(wait)??)
}

/// Becomes a measuring child, and never returns, if this process was started
/// as one. A program that measures calls this first.
pub fn enter_if_child() {
    sys::role::enter_if(Role::Osnoise, serve);
}

/// Measures as the order says, and sends the result.
///
/// # Errors
/// A parent that has ended.
pub fn serve(task: &RoleTask) -> io::Result<()> {
    // It ends soon, and its result belongs to what the parent keeps.
    sys::stop::outlive_requests()?;
    let (order, mut parent) = task.with_parent()?;
    parent.send(&measure_order(&order).map_err(|why| ChildError(why.to_string())))
}

fn measure_order(order: &OsnoiseOrder) -> Result<Osnoise, BriefError> {
    sys::controls::apply(&order.asked.in_order())?;
    let never = AtomicBool::new(false);
    let place = (order.cpu, order.not_pinned.as_deref());
    calibrated(CALIBRATION, place, order.span, &never)
}

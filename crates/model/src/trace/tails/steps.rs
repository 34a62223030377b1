//! Waits that a step of the clock lengthened.

use super::Cause;
use super::sums::Touching;
use crate::trace::row::{ClockStep, TracedOperation};

/// Steps by which CLOCK_REALTIME was set back.
pub(super) struct Steps(Touching);

impl Steps {
    pub(super) fn from_clock_steps(steps: &[ClockStep]) -> Steps {
        let back = steps.iter().filter(|step| step.by_ns < 0);
        Steps(Touching::from_stretches(
            back.map(|step| ((step.before_ns, step.after_ns), step.by_ns.unsigned_abs())),
        ))
    }

    /// Time off a CPU without a known cause becomes that of the steps in the operation, at most as
    /// much: a wait for a time of that clock lasts as much longer.
    pub(super) fn name_steps(&self, operation: &TracedOperation, causes: &mut Vec<(Cause, f64)>) {
        let back_ns = self.0.sum(operation.from_ns, operation.to_ns) as f64;
        let mut left_ns = back_ns;
        for (cause, ns) in causes.iter_mut() {
            if matches!(cause, Cause::Blocked | Cause::OffCpu) {
                let taken_ns = ns.min(left_ns);
                (*ns, left_ns) = (*ns - taken_ns, left_ns - taken_ns);
            }
        }
        let named_ns = back_ns - left_ns;
        if named_ns > 0.0 {
            causes.retain(|(_, ns)| *ns > 0.0);
            causes.push((Cause::ClockStep, named_ns));
            causes.sort_by(|a, b| b.1.total_cmp(&a.1));
        }
    }
}

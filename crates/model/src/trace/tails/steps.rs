//! Waits that a step of the clock lengthened.

use super::Cause;
use crate::trace::row::{ClockStep, Operation};

/// Time off a CPU without a known cause becomes that of the steps by which CLOCK_REALTIME was set
/// back in the operation, at most as much: a wait for a time of that clock lasts as much longer.
pub(super) fn name(steps: &[ClockStep], operation: &Operation, causes: &mut Vec<(Cause, f64)>) {
    let within = |step: &&ClockStep| {
        step.before_ns < operation.to_ns && step.after_ns > operation.from_ns && step.by_ns < 0
    };
    let back_ns: u64 = steps.iter().filter(within).map(|s| s.by_ns.unsigned_abs()).sum();
    let mut left_ns = back_ns as f64;
    for (cause, ns) in causes.iter_mut() {
        if matches!(cause, Cause::Blocked | Cause::OffCpu) {
            let taken_ns = ns.min(left_ns);
            (*ns, left_ns) = (*ns - taken_ns, left_ns - taken_ns);
        }
    }
    let named_ns = back_ns as f64 - left_ns;
    if named_ns > 0.0 {
        causes.retain(|(_, ns)| *ns > 0.0);
        causes.push((Cause::ClockStep, named_ns));
        causes.sort_by(|a, b| b.1.total_cmp(&a.1));
    }
}

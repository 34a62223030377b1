//! Where and in what conditions a run is made: the CPU it measures on, the
//! noise before and after, and what a reader must know of the whole.

use crate::environment::{Environment, RealEnvironment};
use crate::machine_shape::MachineShape;
use model::conditions::{Conditions, Moment};
use model::estimate::{Estimate, Verdict};
use model::gate::looks_quiet;
use model::machine::Machine;
use model::run::{Outcome, Row};
use model::share::percent;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use sys::clock::{Calibration, Counter};

/// State of the machine now.
pub(crate) fn moment() -> Moment {
    Moment {
        load_average: sys::evidence::load_average(),
        cpu_pressure_percent: sys::evidence::pressure_cpu_some_avg10(),
        steal_ns: sys::evidence::steal_ns(),
        throttled_us: sys::evidence::throttled_us(),
    }
}

/// Why a process is on no CPU of its own.
#[derive(thiserror::Error, Serialize, Deserialize, Clone, Debug, PartialEq)]
pub enum NotPinned {
    /// There was no CPU to try.
    #[error("no CPU is known to be allowed")]
    NoCpu,
    /// The system refused.
    #[error("{0}")]
    Refused(String),
}

impl From<std::io::Error> for NotPinned {
    fn from(error: std::io::Error) -> NotPinned {
        NotPinned::Refused(error.to_string())
    }
}

/// The allowed CPU with the largest share of quiet readings in a short look, so
/// that the run does not begin next to a busy neighbour; of the fastest kind of
/// cores, where there are several kinds.
///
/// # Errors
/// Why the process can't be pinned to any.
pub fn quietest_cpu(
    cpus: &[u32],
    machine: &Machine,
    counter: &Counter,
    calibration: &Calibration,
    kept_quiet_ratio: Option<f64>,
) -> Result<u32, NotPinned> {
    const LOOKED_AT: usize = 8;
    const LOOK: Duration = Duration::from_millis(25);
    let home = sys::affinity::allowed_cpus()?;
    let fastest = machine.core_kinds.get().and_then(|kinds| kinds.first());
    let is_fast = |cpu: &u32| fastest.is_none_or(|kind| kind.cpus.contains(cpu));
    let (fast, other): (Vec<u32>, Vec<u32>) = cpus.iter().partition(|cpu| is_fast(cpu));
    let candidates = if fast.is_empty() { other } else { fast };
    let mut looks: Vec<(f64, u32)> = Vec::new();
    let l1_bytes = MachineShape::of(machine, candidates.clone(), None).l1_bytes;
    let mut around = RealEnvironment::new(*counter, calibration.ns_per_tick, l1_bytes, 0);
    let mut refused = NotPinned::NoCpu;
    for &cpu in candidates.iter().take(LOOKED_AT) {
        if let Err(e) = sys::affinity::pin_to(&[cpu]) {
            refused = e.into();
            continue;
        }
        around.core_figures();
        around.losses();
        let until = Instant::now() + LOOK;
        let (mut readings, mut quiet) = (0_u32, 0_u32);
        while Instant::now() < until {
            readings += 1;
            quiet += u32::from(looks_quiet(&around.canary(), kept_quiet_ratio));
        }
        let lost = around.losses().lost_ns as f64 / LOOK.as_nanos() as f64;
        looks.push((10.0 * lost - f64::from(quiet) / f64::from(readings.max(1)), cpu));
    }
    let _ = sys::affinity::pin_to(&home);
    looks.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, cpu)| cpu).ok_or(refused)
}

/// Moves the conducting process off the measuring CPU, where there is another.
pub(crate) fn step_aside(home: &[u32], measuring_cpu: Option<u32>) {
    let others: Vec<u32> = home.iter().copied().filter(|&cpu| Some(cpu) != measuring_cpu).collect();
    if !others.is_empty() {
        let _ = sys::affinity::pin_to(&others);
    }
}

/// Downgrades rows of a run that its CPU quota kept stopping: the samples
/// between the stops are right, but caches and clock were disturbed.
pub(crate) fn flag_throttled(rows: &mut [Row], conditions: &Conditions, wall: Duration) {
    let Some(throttled_us) = conditions.throttled_us() else {
        return;
    };
    let share = throttled_us as f64 / wall.as_micros().max(1) as f64;
    if share < 0.01 {
        return;
    }
    let downgrade = |estimate: &mut Estimate| {
        if estimate.verdict == Verdict::Ok {
            estimate.verdict = Verdict::Noisy;
            estimate.reason = format!(
                "the control group's CPU quota stopped the run for {} of its time",
                percent(share)
            );
        }
    };
    for row in rows {
        match &mut row.outcome {
            Outcome::Figure(estimate) | Outcome::Level { estimate, .. } => downgrade(estimate),
            Outcome::Curve { points, .. } => {
                points.iter_mut().for_each(|p| downgrade(&mut p.estimate));
            }
            Outcome::Map { points, .. } => {
                points.iter_mut().for_each(|p| downgrade(&mut p.estimate));
            }
            Outcome::Unavailable { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::run::Bound;
    use model::unit::Unit;

    fn row(verdict: Verdict) -> Row {
        let outcome = Outcome::Figure(Estimate::bare(None, verdict));
        Row::new("my.row", Unit::Time, Bound::Core, outcome)
    }

    fn flagged(before_us: Option<u64>, after_us: Option<u64>, verdict: Verdict) -> Verdict {
        let mut conditions = Conditions::default();
        conditions.before.throttled_us = before_us;
        conditions.after.throttled_us = after_us;
        let mut rows = [row(verdict)];
        flag_throttled(&mut rows, &conditions, Duration::from_secs(10));
        rows[0].estimate().expect("a figure").verdict
    }

    #[test]
    fn a_run_that_its_quota_kept_stopping_is_noisy_and_nothing_else_is() {
        let after = |us: u64| flagged(Some(7_000_000), Some(7_000_000 + us), Verdict::Ok);
        assert_eq!(after(5_000_000), Verdict::Noisy);
        assert_eq!(after(50_000), Verdict::Ok, "half a percent");
        assert_eq!(flagged(None, None, Verdict::Ok), Verdict::Ok);
        assert_eq!(
            flagged(Some(0), Some(9_000_000), Verdict::Invalid),
            Verdict::Invalid,
            "a worse verdict stays"
        );
    }
}

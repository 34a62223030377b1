//! Where and in what conditions a run is made: the CPU it measures on, the
//! noise before and after, and what a reader must know of the whole.

use crate::environment::{Environment, RealEnvironment};
use crate::machine_shape::MachineShape;
use model::conditions::{Conditions, Moment};
use model::estimate::{BUSY_CPU, Estimate};
use model::gate::looks_quiet;
use model::machine::Machine;
use model::run::{Bound, Row};
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
        others_ns: sys::evidence::others_cpu_ns(),
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
    let l1_bytes = MachineShape::from_machine(machine, candidates.clone(), None).l1_bytes;
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

/// CPUs that others used on average, from which on what they did to memory may be more than a figure's interval: on
/// two CPUs of a Zen 4 host two programs that stream through memory made loads from it 6 % slower, at ±2 %.
const OTHERS_FROM_CPUS: f64 = 0.25;

/// Share of all CPUs that others used on average, from which on they are in the way of threads that wake each other.
const OTHERS_FROM_SHARE: f64 = 0.25;

/// Downgrades what the conditions of the run contradict: everything where its CPU quota kept stopping it (the samples
/// between the stops are right, but caches and clock were disturbed), what waits for memory where other programs
/// ran, since all CPUs share it and no canary sees its bandwidth taken, and what depends on where the scheduler puts
/// threads (its modes) where others used the CPUs: beside programs that start processes a wake-up on the same CPU took
/// 4.6 µs at ±4 %, and 3.1 µs without them.
pub(crate) fn flag_conditions(
    rows: &mut [Row],
    conditions: &Conditions,
    wall: Duration,
    machine: &Machine,
) {
    let throttled = conditions.throttled_us().unwrap_or(0) as f64 / wall.as_micros().max(1) as f64;
    let others = conditions.others_ns().unwrap_or(0) as f64 / wall.as_nanos().max(1) as f64;
    let cpus = machine.online_cpus.get().map_or(1, Vec::len);
    let reason = |bound: Bound, estimate: &Estimate| {
        if throttled >= 0.01 {
            let share = percent(throttled);
            Some(format!("the control group's CPU quota stopped the run for {share} of its time"))
        } else if others >= OTHERS_FROM_CPUS && bound == Bound::Memory && estimate.quiet.is_some() {
            Some(format!("other programs used {others:.1} CPUs, and all share the memory"))
        } else if others >= OTHERS_FROM_SHARE * cpus as f64 && !estimate.modes.is_empty() {
            Some(format!(
                "other programs used {others:.1} of {cpus} CPUs while its threads woke each other"
            ))
        } else if estimate.modes.iter().any(|mode| mode.name == BUSY_CPU && mode.share >= 0.5) {
            Some("other programs kept the woken thread's CPU busy".into())
        } else {
            None
        }
    };
    for row in rows {
        row.downgrade(|figure| reason(figure.bound, figure.estimate));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::estimate::{Mode, Quiet, Typical, Verdict};
    use model::machine::Fact;
    use model::run::Outcome;
    use model::stats::Interval;
    use model::synthetic;
    use model::unit::Unit;

    fn two_cpus() -> Machine {
        let online_cpus = Fact::known(vec![0, 1]);
        Machine { online_cpus, ..synthetic::run().machine }
    }

    fn made_row(verdict: Verdict) -> Row {
        let outcome = Outcome::Figure(Estimate::bare(None, verdict));
        Row::new("my.row", Unit::Time, Bound::Core, outcome)
    }

    fn flagged(before_us: Option<u64>, after_us: Option<u64>, verdict: Verdict) -> Verdict {
        let mut conditions = Conditions::default();
        conditions.before.throttled_us = before_us;
        conditions.after.throttled_us = after_us;
        let mut rows = [made_row(verdict)];
        flag_conditions(&mut rows, &conditions, Duration::from_secs(10), &two_cpus());
        rows[0].estimate().expect("a figure").verdict
    }

    #[test]
    fn what_waits_for_memory_is_noisy_beside_other_programs() {
        let flagged = |bound: Bound, quiet: bool, others_ns: u64| {
            let mut conditions = Conditions::default();
            conditions.before.others_ns = Some(1_000);
            conditions.after.others_ns = Some(1_000 + others_ns);
            let ns = Interval { value: 100.0, low: 99.0, high: 101.0 };
            let figure = Quiet {
                ns,
                cycles: None,
                minimum_ns: 98.0,
                samples: 40,
                workers: 8,
                at_run_clock: false,
                clock_movement: None,
                low_end: false,
            };
            let latency =
                Estimate { quiet: quiet.then_some(figure), ..Estimate::bare(None, Verdict::Ok) };
            let mut rows = [Row::new("my.row", Unit::Time, bound, Outcome::Figure(latency))];
            flag_conditions(&mut rows, &conditions, Duration::from_secs(10), &two_cpus());
            let estimate = rows[0].estimate().expect("a figure");
            (estimate.verdict, estimate.reason.clone())
        };
        let (verdict, reason) = flagged(Bound::Memory, true, 9_960_000_000);
        assert_eq!(verdict, Verdict::Noisy);
        assert_eq!(reason, "other programs used 1.0 CPUs, and all share the memory");
        let ok = |bound, quiet, others_ns| flagged(bound, quiet, others_ns).0 == Verdict::Ok;
        assert!(ok(Bound::Memory, true, 2_000_000_000), "a fifth of a CPU");
        assert!(ok(Bound::Core, true, 9_960_000_000), "a cache of its own");
        assert!(ok(Bound::Memory, false, 9_960_000_000), "as it came");
    }

    #[test]
    fn what_depends_on_the_scheduler_is_noisy_where_others_have_the_cpus() {
        let flagged = |share: f64, others_ns: u64| {
            let mut conditions = Conditions::default();
            conditions.before.others_ns = Some(0);
            conditions.after.others_ns = Some(others_ns);
            let ns = Interval { value: 20e3, low: 19e3, high: 21e3 };
            let typical = Typical { ns, p10_ns: ns.low, p90_ns: ns.high, samples: 40 };
            let mode = |name: &str, share| Mode { name: name.into(), share, typical };
            let modes = vec![mode("other CPU", 1.0 - share), mode(BUSY_CPU, share)];
            let figure = Estimate { modes, ..Estimate::bare(Some(typical), Verdict::Ok) };
            let outcome = Outcome::Figure(figure);
            let mut rows = [Row::new("my.row", Unit::Time, Bound::Memory, outcome)];
            flag_conditions(&mut rows, &conditions, Duration::from_secs(10), &two_cpus());
            rows[0].estimate().expect("a figure").clone()
        };
        let busy = flagged(0.6, 0);
        assert_eq!(busy.verdict, Verdict::Noisy);
        assert_eq!(busy.reason, "other programs kept the woken thread's CPU busy");
        assert_eq!(flagged(0.4, 4_900_000_000).verdict, Verdict::Ok);
        let beside = flagged(0.4, 15_000_000_000);
        assert_eq!(beside.verdict, Verdict::Noisy);
        let why = "other programs used 1.5 of 2 CPUs while its threads woke each other";
        assert_eq!(beside.reason, why);
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

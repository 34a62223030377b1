//! From a timer's expiry to running, open loop: what cyclictest measures.

use crate::engine::clocks::{Counters, counters};
use crate::engine::reason::{Doing, Reason};
use crate::engine::switches::not_once;
use crate::engine::threads::on_free_thread;
use crate::engine::waits::watched;
use meter::probe::{Effort, Event, Probe, Work, WorkError};
use model::run::{Bound, Regime};
use sys::evidence::thread_switches;

/// Time between two expiries: cyclictest's default.
const PERIOD_NS: u64 = 1_000_000;

/// Expiries before the first that counts.
const WARM_UP: u32 = 3;

pub(crate) fn timer_wakeup_probe() -> Probe {
    Probe {
        variants: vec!["timer".into()],
        title: "from a timer's expiry to running".into(),
        operation: "One wake-up by a timer: from the time at which it is due to the return of the sleeping thread's call, read on the same clock.".into(),
        method: "Sleeps by clock_nanosleep with TIMER_ABSTIME on CLOCK_MONOTONIC, due every millisecond, of a thread that may use all allowed CPUs, at the priority that the run has. The loop is open: a due time is the one before plus a millisecond, however late that one was. Where a wake-up comes so late that others were due before it, each of those has its latency too, and the notes count them: a closed loop would leave out just the expiries that waited longest. The kernel may delay the timers of threads of ordinary priority by the slack that the notes give (usually 50 µs), to expire several at once; it is a part of the latency. The kernel must count a voluntary context switch for each sleep, or the row is invalid.".into(),
        source: "The cyclictest of rt-tests (`cyclictest -t1 -i1000`), at the same priority and with the same slack; it skips what it missed and, run by root, keeps CPUs out of deep idle states (/dev/cpu_dma_latency), which this row doesn't.".into(),
        bound: Bound::Memory,
        regime: Regime::Stamped,
        tail: true,
        effort: Effort {
            // 8 workers, so more than 1000 operations in all: enough for a
            // 99 % quantile.
            visits: 2,
            samples: 70,
            sample_ns: Some(PERIOD_NS as f64),
            ..Effort::SCALAR
        },
        unavailable: |_| {
            let sleep = sys::timer::sleep_until(0);
            sleep.err().map(|e| format!("needs clock_nanosleep: {e}"))
        },
        make: Box::new(|worker, _| {
            let cpus = worker.machine.cpus.clone();
            Ok(Box::new(Timer {
                counters: counters(&cpus)?,
                cpus,
                seen: None,
            }))
        }),
        ..Probe::blank("sched.wakeup")
    }
}

/// A clock that can be slept by.
trait Alarm {
    fn now_ns(&mut self) -> u64;
    fn sleep_until(&mut self, due_ns: u64) -> Result<(), Reason>;
}

struct Monotonic;

impl Alarm for Monotonic {
    fn now_ns(&mut self) -> u64 {
        sys::timer::now_ns()
    }
    fn sleep_until(&mut self, due_ns: u64) -> Result<(), Reason> {
        sys::timer::sleep_until(due_ns).doing("clock_nanosleep failed")
    }
}

/// How late each of so many expiries was, ns. The first is due a period from
/// now, each of the others a period after the one before.
fn latencies(alarm: &mut impl Alarm, expiries: u32) -> Result<Vec<u64>, Reason> {
    let mut due = alarm.now_ns();
    (0..expiries)
        .map(|_| {
            due += PERIOD_NS;
            alarm.sleep_until(due)?;
            // Never before: the call says so.
            Ok(alarm.now_ns().saturating_sub(due))
        })
        .collect()
}

/// Expiries that were over before the thread could sleep for them, since the
/// one before was a period late or more.
fn missed(latencies: &[u64]) -> usize {
    latencies.iter().filter(|&&ns| ns >= PERIOD_NS).count()
}

/// What a visit came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct TimerEvidence {
    sleeps: u64,
    missed: usize,
    /// Voluntary context switches of the sleeping thread.
    switches: Option<u64>,
    slack_ns: Option<u64>,
    /// How long that thread was due and had no CPU.
    run_delay_ns: Option<u64>,
}

struct Timer {
    cpus: Vec<u32>,
    counters: &'static Counters,
    seen: Option<TimerEvidence>,
}

impl Work for Timer {
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, WorkError> {
        let (late, seen) = on_free_thread(&self.cpus, || {
            let before = thread_switches();
            let (late, run_delay_ns) = watched(|| latencies(&mut Monotonic, WARM_UP + operations));
            let late = late?;
            let after = thread_switches();
            let switches = after
                .zip(before)
                .and_then(|(after, before)| after.voluntary.checked_sub(before.voluntary));
            let missed = missed(&late);
            let seen = TimerEvidence {
                sleeps: (late.len() - missed) as u64,
                missed,
                switches,
                slack_ns: sys::timer::slack_ns(),
                run_delay_ns,
            };
            Ok((late, seen))
        })?;
        self.seen = Some(seen);
        let ticks = |ns: u64| (ns as f64 / self.counters.ns_per_tick).round() as u64;
        let counted = late[WARM_UP as usize..].iter();
        Ok(counted.map(|&ns| crate::engine::threads::length(0, ticks(ns), 1, 0)).collect())
    }
    fn contradiction(&self) -> Option<String> {
        // It sleeps once for each expiry that it is in time for.
        not_once(self.seen?.switches, self.seen?.sleeps, "sleep")
    }
    fn run_delay_ns(&self, _series: usize, _own_ns: u64) -> Option<u64> {
        self.seen?.run_delay_ns
    }
    fn notes(&self) -> Vec<String> {
        let seen = self.seen.unwrap_or_default();
        let slack = seen.slack_ns.map(|ns| {
            let slack = model::figure::value_text(&model::unit::Unit::Time, ns as f64);
            format!("the kernel's slack for this thread's timers: {slack}")
        });
        let missed = (seen.missed > 0)
            .then(|| format!("expiries more than a period late: {} in one batch", seen.missed));
        slack.into_iter().chain(missed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{cpus, emulated};

    /// Wakes so long after it was due, or after the call.
    struct ScriptedTimer {
        now: u64,
        late: Vec<u64>,
        due: Vec<u64>,
    }

    impl Alarm for ScriptedTimer {
        fn now_ns(&mut self) -> u64 {
            self.now
        }
        fn sleep_until(&mut self, due_ns: u64) -> Result<(), Reason> {
            let late = self.late[self.due.len()];
            self.due.push(due_ns);
            self.now = self.now.max(due_ns) + late;
            Ok(())
        }
    }

    #[test]
    fn an_expiry_that_was_missed_waited_too() {
        let mut alarm = ScriptedTimer {
            now: 5_000_000,
            // The second is 2.5 periods late: two more were due by then.
            late: vec![100, 2_500_000, 10, 10, 30],
            due: Vec::new(),
        };
        let late = latencies(&mut alarm, 5).expect("scripted");
        assert_eq!(late, [100, 2_500_000, 1_500_010, 500_020, 30]);
        let periods: Vec<u64> = alarm.due.windows(2).map(|two| two[1] - two[0]).collect();
        assert_eq!(periods, [PERIOD_NS; 4], "an open loop");
        assert_eq!(alarm.due[0], 6_000_000);
        assert_eq!(missed(&late), 2);
    }

    #[test]
    fn the_timer_wakes_the_thread() {
        let Ok(counters) = counters(&cpus()) else {
            return;
        };
        let mut timer = Timer { cpus: cpus(), counters, seen: None };
        // Others may take a CPU for a while: not in every visit.
        let agrees = (0..5).any(|_| {
            let events = timer.stamped(8).expect("timers");
            assert_eq!(events.len(), 8);
            assert!(events.iter().all(|e| e.ops == 1 && e.from_ticks == 0));
            let seen = timer.seen.expect("a visit");
            assert_eq!(seen.sleeps + seen.missed as u64, 8 + u64::from(WARM_UP));
            timer.contradiction().is_none()
        });
        assert!(agrees || emulated(), "{:?}", timer.seen);
        let notes = timer.notes();
        assert!(notes[0].starts_with("the kernel's slack"), "{notes:?}");
    }
}

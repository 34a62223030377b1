//! From a wake to running.

use crate::engine::clocks::{Counters, counters};
use crate::engine::reason::Reason;
use crate::engine::switches::not_once;
use crate::engine::threads::{
    NO_CPU, join, length, mode, modes, own_id, run_on, some_cpu, spawn, stamps_origin,
};
use meter::probe::{Effort, Event, Probe, Work, WorkError};
use model::run::{Bound, Regime};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use sys::affinity::current_cpu;
use sys::child::family_cpu_ns;
use sys::clock::Counter;
use sys::evidence::{ThreadReading, ThreadWatch};

/// Sleep between two wakes: long enough for an idle CPU to go idle.
const PAUSE: Duration = Duration::from_micros(200);

/// Wakes before the first that counts.
const WARM_UP: u32 = 3;

/// How long one wake-up may take before the visit is given up: a thousand
/// times what a loaded CPU lets a thread wait.
const PATIENCE: Duration = Duration::from_secs(5);

const OPERATION: &str = "One wake-up: from just before the call that wakes a sleeping thread to that thread's first instruction after it.";
const SOURCE: &str = "Ours; cyclictest and schbench are the kernel developers' tools for it. cyclictest wakes by a timer, and is mostly run at a real-time priority; this row wakes by another thread, at the ordinary one.";

pub(crate) fn wakeup_probes() -> Vec<Probe> {
    let method = |load: &str| {
        format!(
            "The standard library's park and unpark, on Linux a futex wait and a futex wake. {load} Waker and sleeper may use all allowed CPUs; modes: whether the sleeper woke up on the CPU that the waker was on, where it may have to wait until the waker sleeps. The waker sleeps for 200 µs after each wake, so that the sleeper sleeps too and CPUs without work go idle; the time they take to leave idle is part of it. The kernel must count one voluntary context switch of the sleeper for each wake-up, or the row is invalid."
        )
        .into()
    };
    let probe = |variant: &'static str, samples: u32, sample_ns: f64| Probe {
        variants: vec![variant.into()],
        operation: OPERATION.into(),
        source: SOURCE.into(),
        bound: Bound::Memory,
        regime: Regime::Stamped,
        tail: true,
        effort: Effort {
            // 8 workers, so more than 1000 operations in all: enough for a
            // 99 % quantile.
            visits: 2,
            samples,
            sample_ns: Some(sample_ns),
            ..Effort::SCALAR
        },
        make: Box::new(|worker, site| {
            let cpus = &worker.machine.cpus;
            let busy = if site.variant == "loaded" { cpus.clone() } else { Vec::new() };
            Ok(Box::new(Wakeup {
                waker_cpus: cpus.clone(),
                sleeper_cpus: cpus.clone(),
                busy_cpus: busy,
                wait: thread::park,
                counter: Counter::best(),
                counters: counters(cpus)?,
                seen: None,
            }))
        }),
        ..Probe::blank("sched.wakeup")
    };
    vec![
        Probe {
            title: "from a wake to running, machine idle".into(),
            method: method("No other thread of latlas runs."),
            ..probe("idle", 80, 320_000.0)
        },
        Probe {
            title: "from a wake to running, all CPUs busy".into(),
            method: method(
                "A thread that only computes is pinned to each allowed CPU, at the ordinary priority.",
            ),
            ..probe("loaded", 66, 600_000.0)
        },
    ]
}

struct Wakeup {
    waker_cpus: Vec<u32>,
    sleeper_cpus: Vec<u32>,
    busy_cpus: Vec<u32>,
    /// How the sleeper waits.
    wait: fn(),
    counter: Counter,
    counters: &'static Counters,
    seen: Option<WakeupEvidence>,
}

/// What the kernel counted in a visit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct WakeupEvidence {
    wake_ups: u32,
    /// Voluntary context switches of the sleeper in that time.
    sleeps: Option<u64>,
    /// How long the sleeper was awake and had no CPU, ns, less the CPU time of the row's own
    /// threads, for which it may have waited.
    run_delay_ns: Option<u64>,
}

/// Where waker and sleeper meet.
struct WakeupBoard {
    /// Number of the wake.
    wake: AtomicU32,
    /// Number of the wake that the sleeper last answered; its stamp and CPU.
    awake: AtomicU32,
    stamp: AtomicU64,
    cpu: AtomicU32,
    /// Number of the sleeper's thread; 0 where the system has none.
    sleeper: AtomicU32,
    quit: AtomicBool,
}

impl Work for Wakeup {
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, WorkError> {
        let board = WakeupBoard {
            wake: AtomicU32::new(0),
            awake: AtomicU32::new(0),
            stamp: AtomicU64::new(0),
            cpu: AtomicU32::new(NO_CPU),
            sleeper: AtomicU32::new(0),
            quit: AtomicBool::new(false),
        };
        let wakes = operations.saturating_add(WARM_UP);
        let (this, board) = (&*self, &board);
        let (events, seen) = thread::scope(|scope| {
            let mut ending = Ending { board, sleeper: None };
            let sleeper = spawn(scope, || this.sleep(board, wakes))?;
            ending.sleeper = Some(sleeper.thread().clone());
            let mut busy = Vec::new();
            for &cpu in &this.busy_cpus {
                busy.push(spawn(scope, move || spin(board, cpu))?);
            }
            let target = sleeper.thread().clone();
            let waker = spawn(scope, move || this.wake(board, &target, wakes))?;
            let events = join(waker, "the waking thread")?;
            // The rest ends now, also if the waker gave up.
            drop(ending);
            let seen = join(sleeper, "the woken thread")??;
            for thread in busy {
                join(thread, "a busy thread")??;
            }
            Ok::<_, Reason>((events?, seen))
        })?;
        self.seen = Some(seen);
        Ok(events[WARM_UP as usize..].to_vec())
    }
    fn modes(&self) -> Vec<String> {
        modes()
    }
    fn contradiction(&self) -> Option<String> {
        // The sleeper sleeps once for each.
        not_once(self.seen?.sleeps, u64::from(self.seen?.wake_ups), "wake-up")
    }
    fn run_delay_ns(&self, _series: usize, _own_ns: u64) -> Option<u64> {
        self.seen?.run_delay_ns
    }
    fn notes(&self) -> Vec<String> {
        self.counters.note.iter().cloned().collect()
    }
}

impl Wakeup {
    /// The sleeper: gives what the kernel counted of it.
    fn sleep(&self, board: &WakeupBoard, wakes: u32) -> Result<WakeupEvidence, Reason> {
        let placed = run_on(&self.sleeper_cpus);
        if placed.is_err() {
            board.quit.store(true, Ordering::Relaxed);
        }
        placed?;
        let own = own_id().unwrap_or_default();
        board.sleeper.store(own, Ordering::Relaxed);
        let mut watch = ThreadWatch::for_this_thread();
        let (before, cpu_before_ns) = (watch.read(), family_cpu_ns());
        for wake in 1..=wakes {
            let stamp = loop {
                (self.wait)();
                let stamp = self.counter.start();
                if board.wake.load(Ordering::Acquire) == wake {
                    break stamp;
                }
                if board.quit.load(Ordering::Relaxed) {
                    return Ok(WakeupEvidence::default());
                }
            };
            board.cpu.store(current_cpu().unwrap_or(NO_CPU), Ordering::Relaxed);
            board.stamp.store(stamp, Ordering::Relaxed);
            board.awake.store(wake, Ordering::Release);
        }
        let (after, cpu_after_ns) = (watch.read(), family_cpu_ns());
        let cpu_ns = cpu_after_ns.zip(cpu_before_ns).map(|(after, before)| after - before);
        let since = |of: fn(&ThreadReading) -> Option<u64>| of(&after)?.checked_sub(of(&before)?);
        Ok(WakeupEvidence {
            wake_ups: wakes,
            sleeps: since(|reading| reading.voluntary_switches),
            run_delay_ns: since(|reading| reading.run_delay_ns)
                .zip(cpu_ns)
                .map(|(delay_ns, cpu_ns)| delay_ns.saturating_sub(cpu_ns)),
        })
    }

    /// The waker.
    fn wake(
        &self,
        board: &WakeupBoard,
        sleeper: &Thread,
        wakes: u32,
    ) -> Result<Vec<Event>, Reason> {
        run_on(&self.waker_cpus)?;
        // The sleeper settles first.
        thread::sleep(10 * PAUSE);
        (1..=wakes)
            .map(|wake| {
                let began = Instant::now();
                let here = current_cpu();
                board.wake.store(wake, Ordering::Release);
                let from = self.counter.start();
                sleeper.unpark();
                loop {
                    thread::sleep(PAUSE);
                    if board.awake.load(Ordering::Acquire) == wake {
                        break;
                    }
                    if board.quit.load(Ordering::Relaxed) || began.elapsed() > PATIENCE {
                        return Err(Reason::wrong("a woken thread did not run"));
                    }
                }
                let there = some_cpu(board.cpu.load(Ordering::Relaxed));
                let to = board.stamp.load(Ordering::Relaxed);
                let woken = Some(board.sleeper.load(Ordering::Relaxed)).filter(|&id| id > 0);
                Ok(Event {
                    place: stamps_origin(from, to, woken),
                    ..length(from, to, 1, mode(here, there))
                })
            })
            .collect()
    }
}

/// Computes on this CPU until the visit ends, at the ordinary priority.
fn spin(board: &WakeupBoard, cpu: u32) -> Result<(), Reason> {
    sys::settings::leave_real_time();
    let placed = run_on(&[cpu]);
    let mut turns = 0_u64;
    while placed.is_ok() && !board.quit.load(Ordering::Relaxed) {
        turns = std::hint::black_box(turns.wrapping_add(1));
    }
    placed
}

/// Ends all threads but the waker.
struct Ending<'b> {
    board: &'b WakeupBoard,
    sleeper: Option<Thread>,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.board.quit.store(true, Ordering::Relaxed);
        if let Some(sleeper) = &self.sleeper {
            sleeper.unpark();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{cpus, emulated, no_thread_is_left};

    fn wakeup(waker_cpus: &[u32], sleeper_cpus: &[u32]) -> Wakeup {
        Wakeup {
            waker_cpus: waker_cpus.to_vec(),
            sleeper_cpus: sleeper_cpus.to_vec(),
            busy_cpus: Vec::new(),
            wait: thread::park,
            counter: Counter::best(),
            counters: counters(&cpus()).expect("the counters agree"),
            seen: None,
        }
    }

    fn modes_of(work: &mut Wakeup) -> Vec<u8> {
        let events = work.stamped(8).expect("wake-ups");
        assert_eq!(events.len(), 8);
        assert!(events.iter().all(|e| (e.series, e.ops) == (0, 1)));
        events.iter().map(|e| e.mode).collect()
    }

    #[test]
    fn a_sleeper_sleeps_once_for_each_wake_up() {
        let cpus = cpus();
        let mut work = wakeup(&cpus, &cpus);
        // Others may take a CPU for a while: not in every visit.
        let agrees = (0..5).any(|_| {
            no_thread_is_left("wakeup", || {
                modes_of(&mut work);
            });
            let seen = work.seen.expect("a visit");
            assert_eq!(seen.wake_ups, 8 + WARM_UP);
            let slept = |sleeps: u64| sleeps.abs_diff(u64::from(seen.wake_ups)) <= 1;
            seen.sleeps.is_none_or(slept)
        });
        // An emulator's own sleeps are counted too.
        assert!(agrees || emulated(), "{:?}", work.seen);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_sleeper_that_spins_is_contradicted() {
        let cpus = cpus();
        let mut work = wakeup(&cpus, &cpus);
        work.wait = std::hint::spin_loop;
        modes_of(&mut work);
        let said = work.contradiction();
        if emulated() {
            // The emulator's own sleeps are counted too: nothing to be said.
            return;
        }
        let said = said.expect("it never slept");
        assert!(said.contains("per wake-up: 0."), "{said}");
        assert!(said.contains("assumes 1"), "{said}");
    }

    #[test]
    fn modes_are_right_where_the_threads_are_pinned() {
        let cpus = cpus();
        let [first, .., last] = cpus[..] else {
            return;
        };
        let same = modes_of(&mut wakeup(&[first], &[first]));
        assert!(same.iter().all(|&mode| mode == 0), "{same:?}");
        let other = modes_of(&mut wakeup(&[first], &[last]));
        assert!(other.iter().all(|&mode| mode == 1), "{other:?}");
    }

    #[test]
    fn the_load_ends_with_the_visit() {
        let cpus = cpus();
        let mut work = wakeup(&cpus, &cpus);
        work.busy_cpus = cpus.clone();
        no_thread_is_left("wakeup_loaded", || {
            assert_eq!(work.stamped(4).expect("wake-ups").len(), 4);
        });
    }

    #[test]
    fn a_thread_that_can_t_be_placed_is_a_reason_and_no_hang() {
        if cpus().is_empty() {
            return;
        }
        let all = cpus();
        let nowhere = [8191];
        for (waker, sleeper, busy) in [
            (&nowhere[..], &all[..], &all[..]),
            (&all[..], &nowhere[..], &all[..]),
            (&all[..], &all[..], &nowhere[..]),
        ] {
            let mut work = wakeup(waker, sleeper);
            work.busy_cpus = busy.to_vec();
            no_thread_is_left("wakeup_nowhere", || {
                let reason = work.stamped(3).expect_err("no such CPU");
                assert!(reason.to_string().contains("8191"), "{reason}");
            });
        }
    }
}

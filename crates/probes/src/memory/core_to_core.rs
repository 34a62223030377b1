//! One cache line handed over and back between two CPUs.

use crate::engine::reason::Reason;
use crate::engine::threads::{Pinned, run_on};
use crate::engine::waits::{Waits, waited_too_long};
use meter::probe::{Effort, MachineShape, Probe, Shape, SharedPart, Work, WorkError};
use model::estimate::LOST_ABOVE;
use model::run::{Axis, Bound, Regime, Scale};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Round trips in a sample: as core-to-core-latency has them.
const ROUND_TRIPS: u64 = 1000;

/// CPUs of the matrix, unless --full takes all.
const MOST_CPUS: usize = 16;

/// Attempts between two looks at whether the partner is still to be had.
const ATTEMPTS: u32 = 1 << 16;

/// How long the line may stay away.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn core_to_core_probe() -> Probe {
    Probe {
        title: "handing a cache line over, for each pair of CPUs".into(),
        operation: "One cache line handed over by compare-and-swap from a CPU to another, one way: half of a round trip.".into(),
        method: "Two threads pinned to the two CPUs, one flag alone on its line: one thread swaps it from ping to pong as soon as it can, the other back, both trying without pause and with relaxed ordering; a sample is 1000 round trips. Up to 16 of the allowed CPUs, spread evenly; --full takes all. One canary can't show that two CPUs are quiet, so the distribution is reported. The line also stays away while the partner waits for its CPU: a batch in which the kernel counts more than 2 % of the time for that is marked; a row most of whose batches are is invalid.".into(),
        source: "The compare-and-swap test of core-to-core-latency (nviennot), its first and default: same loops and sample length; it prints the mean of 300 samples, this row the median.".into(),
        bound: Bound::Memory,
        regime: Regime::Distribution,
        shape: Shape::Pairs(Axis::Cpu, points),
        effort: Effort {
            // 16 CPUs are 120 pairs.
            visits: 1,
            samples: 12,
            sample_ns: Some(200_000.0),
            ..Effort::SCALAR
        },
        unavailable: |machine| {
            (machine.cpus.len() < 2)
                .then(|| format!("{}: a line can't change cores", Reason::OneCpu))
        },
        make: Box::new(|_, site| match site.at[..] {
            [one, other] => Ok(Box::new(Handover::between(cpu_number(one)?, cpu_number(other)?)?)),
            _ => Err(Reason::wrong("a pair of CPUs is wanted").into()),
        }),
        depends_on: Some(SharedPart::CpuPlacement),
        ..Probe::blank("memory.core_to_core")
    }
}

fn cpu_number(cpu: u64) -> Result<u32, Reason> {
    u32::try_from(cpu).map_err(|_| Reason::missing(format!("there is no CPU {cpu}")))
}

fn points(machine: &MachineShape, scale: Scale) -> Vec<u64> {
    let most = match scale {
        Scale::Quick => MOST_CPUS / 2,
        Scale::Default => MOST_CPUS,
        Scale::Full => usize::MAX,
    };
    let taken = machine.cpus.len().min(most);
    (0..taken).map(|n| u64::from(machine.cpus[n * machine.cpus.len() / taken])).collect()
}

const PING: bool = false;
const PONG: bool = true;

/// The line that changes hands. Twice the usual length: some CPUs fetch lines
/// in pairs, and Apple's are that long.
#[repr(align(128))]
struct CacheLine(AtomicBool);

impl CacheLine {
    /// Takes the flag from one state to the other as soon as that can be;
    /// gives up after some attempts.
    #[inline(always)]
    fn hand_over(&self, from: bool, to: bool) -> bool {
        (0..ATTEMPTS).any(|_| {
            self.0.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        })
    }
}

/// The measuring thread on one CPU and its partner on another.
struct Handover {
    line: Arc<CacheLine>,
    quit: Arc<AtomicBool>,
    partner: Option<JoinHandle<()>>,
    /// How long the partner waits for its CPU.
    waits: Option<Waits>,
    /// The measuring thread on its CPU.
    here: Option<Pinned>,
    patience: Duration,
    failed: bool,
}

impl Handover {
    fn between(here: u32, there: u32) -> Result<Handover, Reason> {
        let mut handover = Handover {
            line: Arc::new(CacheLine(AtomicBool::new(PING))),
            quit: Arc::default(),
            partner: None,
            waits: None,
            here: None,
            patience: PATIENCE,
            failed: false,
        };
        let (line, quit) = (handover.line.clone(), handover.quit.clone());
        let (ready, placed) = mpsc::channel();
        let partner = sys::thread::spawn(Builder::new(), move || {
            sys::settings::take_turns();
            let outcome = run_on(&[there]);
            let on = outcome.is_ok();
            // The other side reports an error.
            let _ = ready.send(outcome.map(|()| sys::thread::current_id()));
            while on && !quit.load(Ordering::Relaxed) {
                black_box(line.hand_over(PING, PONG));
            }
        });
        handover.partner = Some(partner.map_err(|e| Reason::not_started("threads", &e))?);
        let partner = placed.recv().map_err(|_| Reason::Panicked("the partner thread"))??;
        handover.here = Some(Pinned::to(&[here])?);
        handover.waits = Waits::of_thread(partner);
        Ok(handover)
    }
}

impl Work for Handover {
    fn ops_per_turn(&self) -> f64 {
        2.0
    }
    fn turn_limits(&self) -> (u64, u64) {
        (ROUND_TRIPS, ROUND_TRIPS)
    }
    fn run(&mut self, turns: u64, _double: bool) {
        for _ in 0..turns {
            if !self.line.hand_over(PONG, PING) && !self.comes_back() {
                self.failed = true;
                return;
            }
        }
    }
    fn contradiction(&self) -> Option<String> {
        let waited = self.waits?.until_now()?;
        waited_too_long("the partner thread", waited, LOST_ABOVE)
    }
    fn verify(&self) -> Result<(), WorkError> {
        match self.failed {
            true => Err(Reason::wrong("the partner thread did not hand the line back").into()),
            false => Ok(()),
        }
    }
}

impl Handover {
    /// The line does not come back: the partner lost its CPU, or is gone.
    #[cold]
    fn comes_back(&self) -> bool {
        let began = Instant::now();
        while began.elapsed() < self.patience && !self.failed {
            if self.line.hand_over(PONG, PING) {
                return true;
            }
        }
        false
    }
}

impl Drop for Handover {
    fn drop(&mut self) {
        self.quit.store(true, Ordering::Relaxed);
        if let Some(partner) = self.partner.take() {
            let _ = partner.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{cpus, worker};
    use std::thread;

    #[test]
    fn a_matrix_has_all_cpus_or_sixteen_spread_evenly() {
        let of = |cpus: u32, scale| points(&worker((0..cpus).collect()).machine, scale);
        assert_eq!(of(2, Scale::Default), [0, 1]);
        assert_eq!(of(3, Scale::Quick), [0, 1, 2]);
        assert_eq!(of(64, Scale::Default), (0..16).map(|n| 4 * n).collect::<Vec<u64>>());
        let odd = of(24, Scale::Default);
        assert_eq!(odd.len(), 16);
        assert!(odd.windows(2).all(|two| two[0] < two[1]), "{odd:?}");
        assert_eq!(of(64, Scale::Full).len(), 64);
    }

    #[test]
    fn one_cpu_is_a_reason() {
        let reason = (core_to_core_probe().unavailable)(&worker(vec![3]).machine);
        assert_eq!(reason.as_deref(), Some("only one CPU may be used: a line can't change cores"));
        assert_eq!((core_to_core_probe().unavailable)(&worker(vec![3, 4]).machine), None);
    }

    /// In a separate thread: it is pinned.
    fn elsewhere<R: Send>(work: impl FnOnce(&[u32]) -> R + Send) -> Option<R> {
        let cpus = cpus();
        thread::scope(|scope| {
            (cpus.len() >= 2).then(|| scope.spawn(|| work(&cpus)).join().expect("no panic"))
        })
    }

    #[test]
    fn the_line_moves_to_the_other_cpu_and_back() {
        elsewhere(|cpus| {
            let (low, high) = (cpus[0], cpus[cpus.len() - 1]);
            let mut work = Handover::between(high, low).expect("two CPUs");
            assert_eq!(sys::allowed_cpus().expect("a set"), [high]);
            work.run(3, false);
            assert_eq!(work.verify(), Ok(()));
            // The partner has the last word.
            let begin = Instant::now();
            while work.line.0.load(Ordering::Relaxed) == PING {
                assert!(begin.elapsed() < 30 * PATIENCE, "no answer of the partner");
            }
            let line = work.line.clone();
            drop(work);
            assert_eq!(Arc::strong_count(&line), 1, "the partner is gone");
            assert_eq!(sys::allowed_cpus().expect("a set"), cpus);
        });
    }

    #[test]
    fn a_partner_whose_cpu_is_taken_contradicts() {
        elsewhere(|cpus| {
            let there = cpus[1];
            let quit = AtomicBool::new(false);
            let said = thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        run_on(&[there]).expect("one of ours");
                        while !quit.load(Ordering::Relaxed) {
                            std::hint::spin_loop();
                        }
                    });
                }
                let work = Handover::between(cpus[0], there).expect("two CPUs");
                // After several time slices, of which a busy machine may give it none for long.
                let begin = Instant::now();
                let said = loop {
                    thread::sleep(Duration::from_millis(200));
                    let said = work.contradiction();
                    let is_over = work.waits.is_none() || begin.elapsed() > 30 * PATIENCE;
                    if said.is_some() || is_over {
                        break said;
                    }
                };
                quit.store(true, Ordering::Relaxed);
                said.filter(|_| work.waits.is_some()).or_else(|| {
                    // A system that does not count says nothing.
                    work.waits.is_none().then(|| "other programs ran".into())
                })
            });
            let said = said.expect("three others had its CPU");
            assert!(said.starts_with("other programs ran"), "{said}");
        });
    }

    #[test]
    fn a_partner_that_is_gone_is_a_reason_and_no_hang() {
        elsewhere(|cpus| {
            let mut work = Handover::between(cpus[0], cpus[1]).expect("two CPUs");
            work.quit.store(true, Ordering::Relaxed);
            if let Some(partner) = work.partner.take() {
                partner.join().expect("no panic");
            }
            work.line.0.store(PING, Ordering::Relaxed);
            work.patience = Duration::from_millis(20);
            work.run(1000, false);
            let reason = work.verify().expect_err("no answer");
            assert!(reason.to_string().contains("partner"), "{reason}");
        });
    }

    #[test]
    fn a_cpu_that_is_not_there_is_a_reason() {
        elsewhere(|cpus| {
            for (here, there) in [(cpus[0], 8191), (8191, cpus[0])] {
                let reason = Handover::between(here, there).err().expect("no such CPU");
                assert!(reason.to_string().contains("8191"), "{reason}");
                assert_eq!(sys::allowed_cpus().expect("a set"), cpus);
            }
        });
    }
}

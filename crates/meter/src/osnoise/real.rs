//! The machine that this thread runs on.

use super::machine::{DetectorMachine, InterruptsSinceBoot};
use model::noise::osnoise::InterruptCount;
use std::sync::atomic::{AtomicBool, Ordering};
use sys::clock::{Counter, monotonic_raw_ns};
use sys::evidence::ThreadWatch;
use sys::interrupts::{InterruptCounts, NoInterrupts};

/// Time off the CPU, by two clocks, below which it is their reading's own: a
/// switch to another thread and back takes longer.
const TWO_CLOCKS_NS: u64 = 2_000;

enum Delay {
    /// The kernel's own count.
    Kernel(ThreadWatch),
    /// Wall clock less the thread's CPU time: it never waits, so it was ready.
    /// Without `/proc`, and on Apple systems.
    Clocks { ahead_ns: u64, reported_ns: u64 },
}

/// The real machine, watched by the thread that made it.
pub(super) struct RealMachine<'s> {
    counter: Counter,
    delay: Option<Delay>,
    interrupts: Option<InterruptCounts>,
    first: Vec<u64>,
    last: Vec<u64>,
    stop: &'s AtomicBool,
    /// What is missing, and why.
    pub(super) remarks: Vec<String>,
}

impl<'s> RealMachine<'s> {
    /// Opens the sources. `cpu`: the only one that the thread runs on.
    pub(super) fn open_sources(counter: Counter, cpu: Option<u32>, stop: &'s AtomicBool) -> Self {
        let mut remarks = Vec::new();
        let opened = match cpu {
            Some(cpu) => InterruptCounts::for_cpu(cpu),
            None => Err(NoInterrupts::NotPinned),
        };
        let interrupts =
            opened.map_err(|why| remarks.push(format!("interrupts are not counted: {why}"))).ok();
        let delay = delay();
        match &delay {
            Some(Delay::Kernel(_)) => {}
            Some(Delay::Clocks { .. }) => remarks.push(
                "no run delay in /proc/thread-self/schedstat: scheduler is the time that the \
                 thread's CPU clock fell behind, from 2 us on"
                    .into(),
            ),
            None => {
                remarks.push("no source of run delay: the causes of detours are unknown".into())
            }
        }
        RealMachine {
            counter,
            delay,
            interrupts,
            first: Vec::new(),
            last: Vec::new(),
            stop,
            remarks,
        }
    }

    /// Interrupts between the first reading and the last, those that
    /// occurred, the most frequent first.
    pub(super) fn counted(&self) -> Vec<InterruptCount> {
        let lines = self.interrupts.iter().flat_map(|i| i.lines());
        let mut counted: Vec<InterruptCount> = lines
            .zip(self.first.iter().zip(&self.last))
            .map(|(line, (first, last))| InterruptCount {
                name: line.name.clone(),
                timer: line.timer,
                count: last.saturating_sub(*first),
            })
            .filter(|line| line.count > 0)
            .collect();
        counted.sort_by_key(|line| std::cmp::Reverse(line.count));
        counted
    }
}

fn delay() -> Option<Delay> {
    let mut watch = ThreadWatch::for_this_thread();
    if watch.read_cheap().run_delay_ns.is_some() {
        return Some(Delay::Kernel(watch));
    }
    Some(Delay::Clocks { ahead_ns: ahead_ns()?, reported_ns: 0 })
}

/// How far the clock is ahead of the thread's CPU time, ns.
fn ahead_ns() -> Option<u64> {
    let cpu_ns = sys::evidence::thread_cpu_ns()?;
    monotonic_raw_ns().checked_sub(cpu_ns)
}

impl DetectorMachine for RealMachine<'_> {
    #[inline(always)]
    fn now(&mut self) -> u64 {
        self.counter.stop()
    }

    #[inline(always)]
    fn spin(&mut self, turns: u64) -> u64 {
        kernels::dependent_adds(turns);
        self.counter.stop()
    }

    fn run_delay_ns(&mut self) -> Option<u64> {
        match self.delay.as_mut()? {
            Delay::Kernel(watch) => watch.read_cheap().run_delay_ns,
            Delay::Clocks { ahead_ns, reported_ns } => {
                let now_ns = self::ahead_ns()?;
                let grown_ns = now_ns.saturating_sub(*ahead_ns);
                // What is less stays in the difference, and is reported with the
                // next if it adds up.
                if grown_ns >= TWO_CLOCKS_NS {
                    *reported_ns += grown_ns;
                    *ahead_ns = now_ns;
                }
                Some(*reported_ns)
            }
        }
    }

    fn interrupts(&mut self) -> Option<InterruptsSinceBoot> {
        let interrupts = self.interrupts.as_mut()?;
        self.last.clear();
        let Some(counts) = interrupts.read() else {
            self.first.clear();
            return None;
        };
        self.last.extend_from_slice(counts);
        if self.first.is_empty() {
            self.first.extend_from_slice(&self.last);
        }
        let mut sums = InterruptsSinceBoot::default();
        for (line, count) in interrupts.lines().iter().zip(&self.last) {
            if line.timer { sums.timer += count } else { sums.other += count }
        }
        Some(sums)
    }

    fn has_interrupts(&self) -> bool {
        self.interrupts.is_some()
    }

    fn should_stop(&mut self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

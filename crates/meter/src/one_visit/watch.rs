//! What the kernel counts around a visit, read at an interval by a thread of its own.

use model::trace::InterruptKind;
use model::trace::row::{ClockStep, Watch, WatchReading};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::Duration;
use sys::clock::{monotonic_raw_ns, realtime_unix_ns};
use sys::evidence::QuotaWatch;
use sys::interrupts::InterruptCounts;

/// Short stretches tell more, and each reading of the interrupts costs 60 µs of a CPU.
const INTERVAL: Duration = Duration::from_millis(1);

/// Interrupts of a CPU so far, in the order of [`InterruptKind::ALL`]; `None` where they can't
/// be read.
pub(super) struct InterruptReader(InterruptCounts);

impl InterruptReader {
    pub(super) fn open_for_cpu(cpu: u32) -> Option<InterruptReader> {
        InterruptCounts::for_cpu(cpu).ok().map(InterruptReader)
    }

    pub(super) fn read(&mut self) -> Option<[u64; 4]> {
        let kinds: Vec<Option<InterruptKind>> =
            self.0.lines().iter().map(|line| kind(&line.name)).collect();
        let counts = self.0.read()?;
        let mut by_kind = [0; 4];
        for (kind, count) in kinds.into_iter().zip(counts) {
            let at = InterruptKind::ALL.iter().position(|&known| Some(known) == kind);
            if let Some(at) = at {
                by_kind[at] += count;
            }
        }
        Some(by_kind)
    }
}

/// What a line of `/proc/interrupts` counts; `None` of what no operation waits for, or what another
/// line has, too.
fn kind(name: &str) -> Option<InterruptKind> {
    match name {
        "LOC" => Some(InterruptKind::Timer),
        "CAL" => Some(InterruptKind::CallFunction),
        "RES" => Some(InterruptKind::Reschedule),
        _ if name.starts_with(|c: char| c.is_ascii_digit()) => Some(InterruptKind::Device),
        _ => None,
    }
}

/// Does the work while another thread, on these CPUs, reads what the kernel counts: the interrupts
/// of the CPU where they are not recorded. Nothing if there can be no such thread.
pub(super) fn watched<T>(
    cpu: u32,
    others: &[u32],
    interrupts: bool,
    work: impl FnOnce() -> T,
) -> (T, Option<Watch>) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let thread = Builder::new().name("latlas-watch".into());
        let watching =
            sys::thread::spawn_scoped(scope, thread, || watch(cpu, others, interrupts, &stop));
        let done = work();
        stop.store(true, Ordering::Release);
        let watch = watching.ok().and_then(|watching| watching.join().ok());
        (done, watch)
    })
}

fn watch(cpu: u32, others: &[u32], interrupts: bool, stop: &AtomicBool) -> Watch {
    if !others.is_empty() {
        // Else it is in the way at times.
        let _ = sys::affinity::pin_to(others);
    }
    let quota = QuotaWatch::for_this_process();
    let mut counted = interrupts.then(|| InterruptReader::open_for_cpu(cpu)).flatten();
    let mut watch = Watch {
        thread: sys::thread::current_id().unwrap_or(0),
        cpu,
        readings: Vec::new(),
        clock_steps: Vec::new(),
    };
    let mut clocks = clocks_now();
    let mut before = (quota.throttled_us(), counted.as_mut().and_then(InterruptReader::read));
    loop {
        // What stops it is looked at after a last turn.
        let last = stop.load(Ordering::Acquire);
        if !last {
            std::thread::sleep(INTERVAL);
        }
        // The quota's sum is compared with moments; interrupts take longer to read.
        let throttled_us = quota.throttled_us();
        let at_ns = monotonic_raw_ns();
        let now = (throttled_us, counted.as_mut().and_then(InterruptReader::read));
        let more = |now: u64, before: u64| now.saturating_sub(before);
        watch.readings.push(WatchReading {
            at_ns,
            throttled_ns: match (now.0, before.0) {
                (Some(now), Some(before)) => more(now, before) * 1000,
                _ => 0,
            },
            interrupts: match (now.1, before.1) {
                (Some(now), Some(before)) => {
                    std::array::from_fn(|at| more(now[at], before[at]) as u32)
                }
                _ => [0; 4],
            },
        });
        before = now;
        if let Some(now) = clocks_now() {
            let before = clocks.replace(now);
            let step = before.and_then(|before| clock_step(before, now));
            watch.clock_steps.extend(step);
        }
        if last {
            return watch;
        }
    }
}

/// CLOCK_MONOTONIC_RAW and CLOCK_REALTIME of one moment; `None` if this thread lost its CPU
/// between them.
fn clocks_now() -> Option<(u64, u64)> {
    const MOMENT_NS: u64 = 20_000;
    let before_ns = monotonic_raw_ns();
    let real_ns = realtime_unix_ns();
    (monotonic_raw_ns() - before_ns < MOMENT_NS).then_some((before_ns, real_ns))
}

/// A step between two readings of both clocks: more than they run at different rates.
fn clock_step(before: (u64, u64), after: (u64, u64)) -> Option<ClockStep> {
    const LEAST_NS: u64 = 100_000;
    /// Adjusting the rate is limited to a part in 2000.
    const RATE: u64 = 1000;
    let raw_ns = after.0 - before.0;
    let by_ns = after.1.wrapping_sub(before.1).wrapping_sub(raw_ns) as i64;
    (by_ns.unsigned_abs() > LEAST_NS + raw_ns / RATE).then_some(ClockStep {
        before_ns: before.0,
        after_ns: after.0,
        by_ns,
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_step_of_the_clock_is_no_adjusted_rate() {
        const SECOND_NS: u64 = 1_000_000_000;
        let step = |real_ns: u64| {
            let step = clock_step((5, 900 * SECOND_NS), (5 + SECOND_NS, real_ns));
            step.map(|step| (step.before_ns, step.after_ns, step.by_ns))
        };
        assert_eq!(step(901 * SECOND_NS + 500_000), None);
        let (ahead, back) = (902 * SECOND_NS, 899 * SECOND_NS);
        assert_eq!(step(ahead), Some((5, 5 + SECOND_NS, 1_000_000_000)));
        assert_eq!(step(back), Some((5, 5 + SECOND_NS, -2_000_000_000)));
    }

    /// Whether this process has a thread of this name.
    fn has_thread(name: &str) -> bool {
        let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
        tasks.flatten().any(|task| {
            let comm = std::fs::read_to_string(task.path().join("comm"));
            comm.is_ok_and(|comm| comm.trim_end() == name)
        })
    }

    #[test]
    fn interrupts_are_counted_where_that_is_asked_for() {
        let home = sys::allowed_cpus().expect("CPUs");
        let cpu = home[0];
        sys::pin_to(&[cpu]).expect("allowed");
        let busy = || {
            let began = Instant::now();
            let mut is_named = false;
            while began.elapsed() < Duration::from_millis(100) {
                is_named |= has_thread("latlas-watch");
            }
            is_named
        };
        for is_asked in [false, true] {
            let (is_named, watch) = watched(cpu, &home, is_asked, busy);
            assert!(is_named);
            let readings = watch.expect("a thread").readings;
            assert!(!readings.is_empty());
            let counts = readings.iter().flat_map(|reading| reading.interrupts);
            let can_be = InterruptReader::open_for_cpu(cpu).is_some();
            assert_eq!(counts.sum::<u32>() > 0, is_asked && can_be);
        }
        let _ = sys::pin_to(&home);
    }
}

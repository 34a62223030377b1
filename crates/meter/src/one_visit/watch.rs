//! What the kernel counts around a visit, read at an interval by a thread of its own.

use model::trace::InterruptKind;
use model::trace::row::{Reading, Watch};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::clock::monotonic_raw_ns;
use sys::evidence::QuotaWatch;
use sys::interrupts::InterruptCounts;

/// Short stretches tell more, and each reading of the interrupts costs 60 µs of a CPU.
const INTERVAL: Duration = Duration::from_millis(1);

/// Interrupts of a CPU so far, in the order of [`InterruptKind::ALL`]; `None` where they can't
/// be read.
pub(super) struct Counted(InterruptCounts);

impl Counted {
    pub(super) fn open(cpu: u32) -> Option<Counted> {
        InterruptCounts::open(cpu).ok().map(Counted)
    }

    pub(super) fn read(&mut self) -> Option<[u64; 4]> {
        let kinds: Vec<Option<InterruptKind>> =
            self.0.lines().iter().map(|line| kind(&line.name)).collect();
        let counts = self.0.read()?;
        let mut by_kind = [0; 4];
        for (kind, count) in kinds.into_iter().zip(counts) {
            let at = InterruptKind::ALL
                .iter()
                .position(|&known| Some(known) == kind);
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

/// Does the work while another thread, on these CPUs, reads what the kernel counts.
pub(super) fn watched<T>(cpu: u32, others: &[u32], work: impl FnOnce() -> T) -> (T, Watch) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| watch(cpu, others, &stop));
        let done = work();
        stop.store(true, Ordering::Release);
        (done, watching.join().unwrap_or_default())
    })
}

fn watch(cpu: u32, others: &[u32], stop: &AtomicBool) -> Watch {
    if !others.is_empty() {
        // Else it is in the way at times.
        let _ = sys::affinity::pin_to(others);
    }
    let quota = QuotaWatch::open();
    let mut counted = Counted::open(cpu);
    let mut watch = Watch {
        thread: sys::thread::current_id().unwrap_or(0),
        cpu,
        readings: Vec::new(),
    };
    let mut before = (
        quota.throttled_us(),
        counted.as_mut().and_then(Counted::read),
    );
    loop {
        // What stops it is looked at after a last turn.
        let last = stop.load(Ordering::Acquire);
        if !last {
            std::thread::sleep(INTERVAL);
        }
        let now = (
            quota.throttled_us(),
            counted.as_mut().and_then(Counted::read),
        );
        let more = |now: u64, before: u64| now.saturating_sub(before);
        watch.readings.push(Reading {
            at_ns: monotonic_raw_ns(),
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
        if last {
            return watch;
        }
    }
}

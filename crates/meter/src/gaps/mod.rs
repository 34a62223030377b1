//! What takes the CPU from a thread that wants nothing but to run.
//!
//! A thread kept on one CPU runs short blocks of dependent adds, one cycle
//! each, and reads the counter between them. A block that takes too long
//! holds a gap; the others give the clock's frequency. The loop is that of
//! the selfish detour benchmark (Beckman, Iskra, Yoshii, Coghlan: "The
//! influence of operating systems on the performance of collective operations
//! at extreme scale", Cluster 2006), of sysjitter, and of the kernel's own
//! osnoise and hwlat tracers (Documentation/trace/osnoise-tracer.rst), which
//! need root. As osnoise counts threads and interrupts on both sides of a gap,
//! and calls hardware noise what neither explains, so do we, with what an
//! ordinary user may read: `/proc/thread-self/schedstat` and
//! `/proc/interrupts`.
//!
//! [`learn`] finds what a quiet block is, [`watch`](mod@watch) is the loop,
//! [`attribute`] divides each gap among its causes, [`tally`](mod@tally) sums
//! up. All four run on a scripted [`machine`] too.

pub mod apart;
pub mod around;
pub mod attribute;
pub mod learn;
pub mod machine;
mod real;
pub mod seen;
pub mod tally;
pub mod watch;

use model::noise::gaps::Gaps;
use real::RealMachine;
use seen::{Seen, Settings};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use sys::clock::{Calibration, Counter, monotonic_raw_ns};
use watch::{WatchError, watch};

/// Windows of the frequency: as many as fit at this length, within bounds.
const WINDOW: Duration = Duration::from_micros(100);
/// At most so many of them for each stretch.
const WINDOWS_A_STRETCH: usize = 250;

/// Share of the time that readings of the interrupts may take.
const READING_SHARE: f64 = 0.02;

/// Gaps that are kept at most, some 50 bytes each: as many as a minute with one
/// every 15 µs.
const MOST_GAPS: usize = 4 << 20;

/// What to watch.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The CPU to be kept on; nothing for wherever the scheduler wants.
    pub cpu: Option<u32>,
    /// For how long.
    pub span: Duration,
    /// Stretches that the span is told in: twenty or a multiple.
    pub stretches: usize,
}

/// Why there are no gaps to tell of.
#[derive(thiserror::Error, Debug)]
pub enum GapsError {
    /// The thread can't be kept there.
    #[error("no thread can be kept on CPU {cpu}: {why}")]
    NotPinned {
        /// The CPU.
        cpu: u32,
        /// What the system said.
        why: std::io::Error,
    },
    /// The counter is of no use.
    #[error(transparent)]
    NoCounter(#[from] WatchError),
    /// No thread.
    #[error("no thread could be started to spin: {0}")]
    NoThread(std::io::Error),
}

/// Spins in a thread of its own, at the calling thread's priority, and tells
/// what it saw. `stop` ends it early, and so do more gaps than are kept: then the
/// second value is true.
///
/// # Errors
/// If it can't be kept where it was asked to, or the counter stands still.
pub fn measure(
    request: &Request,
    counter: Counter,
    calibration: &Calibration,
    stop: &AtomicBool,
) -> Result<(Gaps, bool), GapsError> {
    let one = std::slice::from_ref(request);
    let mut all = measure_together(one, counter, calibration, stop);
    all.remove(0)
}

/// The same on several CPUs at the same time: each thread sees what is left
/// of its CPU beside all the others.
pub fn measure_together(
    requests: &[Request],
    counter: Counter,
    calibration: &Calibration,
    stop: &AtomicBool,
) -> Vec<Result<(Gaps, bool), GapsError>> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = requests
            .iter()
            .map(|request| {
                std::thread::Builder::new()
                    .name("latlas-gaps".into())
                    .spawn_scoped(scope, move || spin(request, counter, calibration, stop))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| match thread.map_err(GapsError::NoThread)?.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    })
}

/// What the thread does.
fn spin(
    request: &Request,
    counter: Counter,
    calibration: &Calibration,
    stop: &AtomicBool,
) -> Result<(Gaps, bool), GapsError> {
    if let Some(cpu) = request.cpu {
        sys::affinity::pin_to(&[cpu]).map_err(|why| GapsError::NotPinned { cpu, why })?;
    }
    let mut machine = RealMachine::open(counter, request.cpu, stop);
    let cpu_before = sys::current_cpu();
    let switches = || sys::evidence::thread_switches().map(|s| s.involuntary);
    let steal = || request.cpu.and_then(sys::evidence::steal_ns_of);
    let (switches_before, steal_before) = (switches(), steal());
    let (anchor_ns, anchor) = (monotonic_raw_ns(), counter.stop());
    let seen = watch(&mut machine, &settings(request, calibration))?;
    let (switches_after, steal_after) = (switches(), steal());
    let since = |after: Option<u64>, before| Some(after?.saturating_sub(before?));
    let mut gaps = tally::tally(&seen, calibration.ns_per_tick, request.stretches);
    gaps.cpu = request.cpu;
    gaps.thread = sys::thread::current_id();
    let learnt_ns = seen.began.saturating_sub(anchor) as f64 * calibration.ns_per_tick;
    gaps.began_ns = anchor_ns + learnt_ns.round() as u64;
    gaps.involuntary_switches = since(switches_after, switches_before);
    gaps.steal_ns = since(steal_after, steal_before);
    gaps.migrated = sys::current_cpu() != cpu_before;
    gaps.interrupts = machine.counted();
    gaps.remarks = machine.remarks;
    gaps.remarks.extend(remarks(&seen));
    Ok((gaps, seen.ended_early))
}

fn settings(request: &Request, calibration: &Calibration) -> Settings {
    let windows = request.span.as_nanos() / WINDOW.as_nanos() / request.stretches.max(1) as u128;
    let windows_a_stretch = (windows as usize).clamp(1, WINDOWS_A_STRETCH);
    Settings {
        span_ticks: (request.span.as_nanos() as f64 / calibration.ns_per_tick) as u64,
        windows: windows_a_stretch * request.stretches.max(1),
        reading_share: READING_SHARE,
        most_gaps: MOST_GAPS,
    }
}

/// What a reader must know of the watching itself.
fn remarks(seen: &Seen) -> Vec<String> {
    let mut remarks = Vec::new();
    if seen.full {
        remarks.push(format!(
            "it ended after {} gaps: more are not kept",
            seen.records.len()
        ));
    }
    if seen.broken_steps > 0 {
        remarks.push(format!(
            "the counter went back or stood still {} times: these blocks are left out",
            seen.broken_steps
        ));
    }
    let unknown = seen.groups.iter().filter(|group| group.is_none()).count();
    if seen.readings > 0 && unknown > 0 {
        remarks.push(format!(
            "{unknown} readings of the interrupts were of no use: a device came or went"
        ));
    }
    remarks
}

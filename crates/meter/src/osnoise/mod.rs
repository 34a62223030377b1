//! OS noise: the detour detector.
//!
//! A thread pinned to one CPU runs short blocks of dependent adds, one cycle
//! each, and reads the counter between them. A block that takes too long
//! contains a detour; the others give the clock frequency. The loop is that of
//! the selfish detour benchmark (Beckman, Iskra, Yoshii, Coghlan: "The
//! influence of operating systems on the performance of collective operations
//! at extreme scale", Cluster 2006), of sysjitter, and of the kernel's osnoise
//! and hwlat tracers (Documentation/trace/osnoise-tracer.rst), which need root.
//! As osnoise does, it counts threads and interrupts on both sides of a detour
//! and takes what neither explains for hardware noise, from sources that need
//! no privilege: `/proc/thread-self/schedstat` and `/proc/interrupts`.
//!
//! [`quiet`] learns the time of a quiet block, [`detector`] is the loop,
//! [`attribute`] divides each detour among its causes, [`summary`] adds up;
//! each runs on a scripted [`machine::DetectorMachine`] too.

pub mod attribute;
pub mod brief;
pub mod detector;
pub mod machine;
pub mod observe;
pub mod quiet;
mod real;
pub mod summary;

use detector::{DetectorError, observe};
use model::noise::osnoise::Osnoise;
use observe::{DetectorSettings, Observations};
use real::RealMachine;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use sys::clock::{Calibration, Counter, monotonic_raw_ns};

/// Windows of the frequency: as many as fit at this length, within bounds.
const WINDOW: Duration = Duration::from_micros(100);
/// Most windows in one stretch.
const WINDOWS_A_STRETCH: usize = 250;

/// Share of the time that readings of the interrupts may take.
const READING_SHARE: f64 = 0.02;

/// Most detours, about 50 bytes each: a minute with one every 15 us.
const MOST_DETOURS: usize = 4 << 20;

/// What to measure.
#[derive(Clone, Copy, Debug)]
pub struct OsnoiseRequest {
    /// The CPU to pin the thread to; `None` leaves it to the scheduler.
    pub cpu: Option<u32>,
    /// For how long.
    pub span: Duration,
    /// Parts of the span in the document: twenty or a multiple.
    pub stretches: usize,
}

/// Why nothing was measured.
#[derive(thiserror::Error, Debug)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum OsnoiseError {
    #[error("can't pin a thread to CPU {cpu}: {why}")]
    NotPinned { cpu: u32, why: io::Error },
    /// The counter is of no use.
    #[error(transparent)]
    Detector(#[from] DetectorError),
    #[error("can't start a thread to spin: {0}")]
    NoThread(io::Error),
}

/// Spins in a new thread at the calling thread's priority. The second value is
/// true if it ended early: `stop` was set, or there were too many detours.
///
/// # Errors
/// If the thread can't be pinned, or the counter stands still.
pub fn measure_osnoise(
    request: &OsnoiseRequest,
    counter: Counter,
    calibration: &Calibration,
    stop: &AtomicBool,
) -> Result<(Osnoise, bool), OsnoiseError> {
    let one = std::slice::from_ref(request);
    let mut all = measure_together(one, counter, calibration, stop);
    all.remove(0)
}

/// [`measure_osnoise`] on several CPUs at the same time: on all, or on none.
pub fn measure_together(
    requests: &[OsnoiseRequest],
    counter: Counter,
    calibration: &Calibration,
    stop: &AtomicBool,
) -> Vec<Result<(Osnoise, bool), OsnoiseError>> {
    let begin = OnceLock::new();
    std::thread::scope(|scope| {
        let begin = &begin;
        let threads: Vec<_> = requests
            .iter()
            .map(|request| {
                let thread = std::thread::Builder::new().name("latlas-osnoise".into());
                sys::thread::spawn_scoped(scope, thread, move || match begin.wait() {
                    true => spin(request, counter, calibration, stop),
                    false => Err(OsnoiseError::NoThread(io::ErrorKind::WouldBlock.into())),
                })
            })
            .collect();
        let _ = begin.set(threads.iter().all(Result::is_ok));
        threads
            .into_iter()
            .map(|thread| match thread.map_err(OsnoiseError::NoThread)?.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    })
}

fn spin(
    request: &OsnoiseRequest,
    counter: Counter,
    calibration: &Calibration,
    stop: &AtomicBool,
) -> Result<(Osnoise, bool), OsnoiseError> {
    sys::settings::take_turns();
    if let Some(cpu) = request.cpu {
        sys::affinity::pin_to(&[cpu]).map_err(|why| OsnoiseError::NotPinned { cpu, why })?;
    }
    let mut machine = RealMachine::open_sources(counter, request.cpu, stop);
    let cpu_before = sys::current_cpu();
    let switches = || sys::evidence::thread_switches().map(|s| s.involuntary);
    let steal = || request.cpu.and_then(sys::evidence::steal_ns_of);
    let (switches_before, steal_before) = (switches(), steal());
    let (anchor_ns, anchor) = (monotonic_raw_ns(), counter.stop());
    let observed = observe(&mut machine, &settings(request, calibration))?;
    let (switches_after, steal_after) = (switches(), steal());
    let since = |after: Option<u64>, before| Some(after?.saturating_sub(before?));
    let learned_ns = observed.began.saturating_sub(anchor) as f64 * calibration.ns_per_tick;
    let osnoise = Osnoise {
        cpu: request.cpu,
        thread: sys::thread::current_id(),
        began_ns: anchor_ns + learned_ns.round() as u64,
        involuntary_switches: since(switches_after, switches_before),
        steal_ns: since(steal_after, steal_before),
        migrated: sys::current_cpu() != cpu_before,
        interrupts: machine.counted(),
        remarks: [machine.remarks, remarks(&observed)].concat(),
        ..summary::summarize(&observed, calibration.ns_per_tick, request.stretches)
    };
    Ok((osnoise, observed.ended_early))
}

fn settings(request: &OsnoiseRequest, calibration: &Calibration) -> DetectorSettings {
    let windows = request.span.as_nanos() / WINDOW.as_nanos() / request.stretches.max(1) as u128;
    let windows_a_stretch = (windows as usize).clamp(1, WINDOWS_A_STRETCH);
    DetectorSettings {
        span_ticks: (request.span.as_nanos() as f64 / calibration.ns_per_tick) as u64,
        windows: windows_a_stretch * request.stretches.max(1),
        reading_share: READING_SHARE,
        most_detours: MOST_DETOURS,
    }
}

/// Caveats of the measurement itself.
fn remarks(observed: &Observations) -> Vec<String> {
    let mut remarks = Vec::new();
    if observed.full {
        remarks
            .push(format!("ended after {} detours, the most it records", observed.records.len()));
    }
    if observed.broken_steps > 0 {
        remarks.push(format!(
            "the counter went back or stood still {} times: these blocks are left out",
            observed.broken_steps
        ));
    }
    let unknown = observed.groups.iter().filter(|g| g.is_none()).count();
    if observed.readings > 0 && unknown > 0 {
        remarks.push(format!(
            "{unknown} readings of the interrupts are unusable: a device came or went"
        ));
    }
    remarks
}

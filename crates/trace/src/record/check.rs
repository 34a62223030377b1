//! Events of a known kind, provoked before a recording: what is not read as it
//! happened is not recorded. Other tools went on when the kernel's layout moved,
//! and attributed nothing.

use crate::decode::{Decoded, Layouts, Samples, Tracepoint};
use crate::event::What;
use std::hint::black_box;
use std::io;
use std::sync::mpsc;
use std::thread::Builder;
use std::time::Duration;
use sys::mapping::Mapping;
use sys::perf::{Begin, Event, Of, Ring, RingError, Source};
use sys::thread::spawn_scoped;

/// A switch may be missing in a hole of the tracepoints: it is tried again.
const ATTEMPTS: usize = 5;
/// Room for the few events.
const RING_BYTES: usize = 64 << 10;
/// Memory that is touched for the first time. The allocator might give some that was used before.
const TOUCHED_BYTES: usize = 1 << 20;

/// The tracepoints whose provoked events were not read as they happened.
pub(super) fn checked(layouts: &Layouts, cpus: &[u32]) -> Result<Vec<Tracepoint>, RingError> {
    let failed = |text: &str| RingError::Event(io::Error::other(text));
    let allowed = sys::allowed_cpus().map_err(RingError::Event)?;
    let cpu = cpus.iter().copied().find(|cpu| allowed.contains(cpu));
    let cpu = cpu.ok_or_else(|| failed("no CPU to check the tracepoints on"))?;
    std::thread::scope(|scope| {
        let checking = spawn_scoped(scope, Builder::new(), || {
            sys::pin_to(&[cpu]).map_err(RingError::Event)?;
            let mut wrong = attempt(layouts, cpu)?;
            for _ in 1..ATTEMPTS {
                if !wrong.is_empty() {
                    let again = attempt(layouts, cpu)?;
                    wrong.retain(|point| again.contains(point));
                }
            }
            Ok(wrong)
        });
        let ended = checking.map_err(RingError::Event)?.join();
        ended.unwrap_or_else(|_| Err(failed("the check of the tracepoints failed")))
    })
}

fn attempt(layouts: &Layouts, cpu: u32) -> Result<Vec<Tracepoint>, RingError> {
    let points: Vec<(Tracepoint, u64)> =
        Tracepoint::ALL.iter().filter_map(|&point| Some((point, layouts.id(point)?))).collect();
    let mut ring: Option<Ring> = None;
    for &(point, id) in &points {
        let of = match point {
            Tracepoint::Switch | Tracepoint::Waking => Of::Everyone,
            _ => Of::CallingThread,
        };
        let event =
            Event { source: Source::Tracepoint(id), of, cpu, inherit: false, begin: Begin::Now };
        match &mut ring {
            Some(ring) => ring.add(&event).map_err(RingError::Event)?,
            None => ring = Some(Ring::open(&event, &[RING_BYTES])?),
        }
    }
    let Some(mut ring) = ring else {
        return Ok(Vec::new());
    };
    let parent = sys::system_calls::parent_id().map_err(RingError::Event)?;
    let mut memory = Mapping::new(TOUCHED_BYTES).map_err(RingError::Event)?;
    let memory = memory.as_mut_slice();
    for page in memory.chunks_mut(4096) {
        page[0] = black_box(1);
    }
    let woken = sleep_and_wake()?;
    ring.disable().map_err(RingError::Event)?;
    let mut bytes = Vec::new();
    ring.drain(&mut bytes);
    let mut decoded = Decoded::default();
    decoded.add(&Samples::Tracepoints(layouts.clone()), cpu, &bytes);
    let me = sys::thread::current_id().unwrap_or(0);
    let getppid = number_of("getppid");
    let is_provoked = |point: Tracepoint, what: &What| match (point, what) {
        (Tracepoint::Switch, What::Switch { out, state, into }) => {
            *out == me && state & 0xff == 1 && *into != me
        }
        (Tracepoint::Waking, What::Waking { thread, .. }) => Some(*thread) == woken,
        (Tracepoint::Enter, What::Enter { thread, number, .. }) => {
            *thread == me && Some(*number) == getppid
        }
        (Tracepoint::Return, What::Return { thread, returned }) => {
            *thread == me && *returned == i64::from(parent)
        }
        (Tracepoint::Fault, What::Fault { thread, address, .. }) => {
            let start = memory.as_ptr() as u64;
            *thread == me && (start..start + TOUCHED_BYTES as u64).contains(address)
        }
        _ => false,
    };
    let wrong = points.into_iter().map(|(point, _)| point).filter(|&point| {
        let mut events = decoded.events.iter();
        !events.any(|event| is_provoked(point, &event.what))
    });
    Ok(wrong.collect())
}

/// Leaves the CPU for a while, then wakes a thread, whose number it returns. The thread is
/// not woken by a timer: a guest was seen where no event of one CPU's idle task is recorded.
fn sleep_and_wake() -> Result<Option<u32>, RingError> {
    let (started, starting) = mpsc::channel();
    let (sender, message) = mpsc::channel();
    std::thread::scope(|scope| {
        let wait = move || {
            let _ = started.send(sys::thread::current_id());
            let _ = message.recv();
        };
        spawn_scoped(scope, Builder::new(), wait).map_err(RingError::Event)?;
        let woken = starting.recv().ok().flatten();
        std::thread::sleep(Duration::from_millis(1));
        let _ = sender.send(());
        Ok(woken)
    })
}

/// The number of a system call by its name.
pub(super) fn number_of(name: &str) -> Option<u32> {
    /// No architecture has more numbers.
    const NUMBERS: u32 = 1024;
    (0..NUMBERS).find(|&number| sys::system_calls::name(number) == Some(name))
}

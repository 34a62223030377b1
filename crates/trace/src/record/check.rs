//! Events of a known kind, provoked before a recording: what is not read as it
//! happened is not recorded. Other tools went on when the kernel's layout moved,
//! and attributed nothing.

use super::buffers::Traced;
use super::kept::Drained;
use super::kernel_buffers::KernelBuffers;
use crate::decode::{Layouts, Samples, Tracepoint};
use crate::event::What;
use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::mpsc;
use std::thread::Builder;
use std::time::Duration;
use sys::mapping::Mapping;
use sys::thread::spawn_scoped;

/// A switch may be missing in a hole of the tracepoints: it is tried again.
const ATTEMPTS: usize = 5;
/// Memory that is touched for the first time. The allocator might give some that was used before.
const TOUCHED_BYTES: usize = 1 << 20;

/// The tracepoints whose provoked events were not read as they happened.
pub(super) fn checked(layouts: &Layouts, cpus: &[u32]) -> io::Result<Vec<Tracepoint>> {
    let failed = |text: &str| io::Error::other(text);
    let allowed = sys::allowed_cpus()?;
    let cpu = cpus.iter().copied().find(|cpu| allowed.contains(cpu));
    let cpu = cpu.ok_or_else(|| failed("no CPU to check the tracepoints on"))?;
    std::thread::scope(|scope| {
        let checking = spawn_scoped(scope, Builder::new(), || {
            sys::pin_to(&[cpu])?;
            let mut wrong = attempt(layouts, cpu)?;
            for _ in 1..ATTEMPTS {
                if !wrong.is_empty() {
                    let again = attempt(layouts, cpu)?;
                    wrong.retain(|point| again.contains(point));
                }
            }
            Ok(wrong)
        });
        let ended = checking?.join();
        ended.unwrap_or_else(|_| Err(failed("the check of the tracepoints failed")))
    })
}

fn attempt(layouts: &Layouts, cpu: u32) -> io::Result<Vec<Tracepoint>> {
    let points = Tracepoint::ALL.into_iter().chain(Tracepoint::TASKS);
    let points = points.chain([Tracepoint::FaultCount]);
    let buffers = KernelBuffers::begin(&Traced::Command, &[cpu], layouts, &[])?;
    buffers.begin_here()?;
    let parent = sys::system_calls::parent_id()?;
    let mut memory = Mapping::new(TOUCHED_BYTES)?;
    let memory = memory.as_mut_slice();
    for page in memory.chunks_mut(4096) {
        page[0] = black_box(1);
    }
    // The kernel writes to memory that was not touched either.
    let mut written = Mapping::new(TOUCHED_BYTES)?;
    let written = written.as_mut_slice();
    File::open("/dev/zero").and_then(|mut zeros| zeros.read_exact(written))?;
    let woken = sleep_and_wake()?;
    buffers.disable()?;
    let mut drained = Drained::default();
    buffers.drain(&mut drained)?;
    let decoded = drained.decoded(&Samples::Tracepoints(layouts.clone()));
    let me = sys::thread::current_id().unwrap_or(0);
    let getppid = number_of("getppid");
    let provoked = [touched(memory), touched(written)];
    let (mut begun, mut ended) = (0, 0);
    for event in &decoded.events {
        match event.what {
            What::Fault { thread, address, .. } if thread == me => {
                begun += usize::from(provoked.iter().any(|range| range.contains(&address)));
            }
            // Others may end, too.
            What::Served { thread, .. } if thread == me => ended += 1,
            _ => {}
        }
    }
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
            *thread == me && touched(memory).contains(address)
        }
        (Tracepoint::KernelFault, What::Fault { thread, address, .. }) => {
            *thread == me && touched(written).contains(address)
        }
        (Tracepoint::FaultCount, What::Served { thread, .. }) => *thread == me && ended >= begun,
        (Tracepoint::NewTask, What::Fork { process: None, thread, parent }) => {
            *parent == me && Some(*thread) == woken
        }
        // Nothing of that is sure to happen here. Their fields lie where the kernel says, like those of the others.
        (Tracepoint::TaskExit | Tracepoint::Rename | Tracepoint::Exec, _) => true,
        _ => false,
    };
    let wrong = points.filter(|&point| {
        let mut events = decoded.events.iter();
        !events.any(|event| is_provoked(point, &event.what))
    });
    Ok(wrong.filter(|&point| layouts.knows(point)).collect())
}

/// The addresses of memory.
fn touched(memory: &[u8]) -> Range<u64> {
    let start = memory.as_ptr() as u64;
    start..start + memory.len() as u64
}

/// Leaves the CPU for a while, then wakes a thread, whose number it returns. The thread is
/// not woken by a timer: a guest was seen where no event of one CPU's idle task is recorded.
fn sleep_and_wake() -> io::Result<Option<u32>> {
    let (started, starting) = mpsc::channel();
    let (sender, message) = mpsc::channel();
    std::thread::scope(|scope| {
        let wait = move || {
            let _ = started.send(sys::thread::current_id());
            let _ = message.recv();
        };
        spawn_scoped(scope, Builder::new(), wait)?;
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
    (0..NUMBERS).find(|&number| sys::system_calls::system_call_name(number) == Some(name))
}

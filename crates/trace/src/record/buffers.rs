//! Rings on all CPUs: opened in the largest size that the kernel grants, and emptied.

use std::collections::BTreeSet;
use sys::perf::{self, Begin, Body, EventSource, Of, PerfEvent, PerfRing, RingError, Threads};

/// Sizes of a ring, the first that the kernel grants: 8 MiB need a right or a
/// high RLIMIT_MEMLOCK, 512 KiB are what every user has.
pub(super) const RING_BYTES: [usize; 7] =
    [8 << 20, 4 << 20, 1 << 20, 512 << 10, 256 << 10, 128 << 10, 64 << 10];

/// The sizes that are smaller than this one.
pub(super) fn smaller_than(bytes: usize) -> &'static [usize] {
    &RING_BYTES[RING_BYTES.partition_point(|&size| size >= bytes)..]
}

/// Whose events are recorded.
#[derive(Clone, Debug)]
pub(super) enum Traced {
    /// Of a command that the calling thread will start.
    Command,
    /// Of a process that runs.
    Process(u32),
}

/// Moves what is there to the chunks; how many bytes.
pub(super) fn drain(rings: &mut [(u32, PerfRing)], chunks: &mut Vec<Chunk>) -> u64 {
    let mut drained = 0;
    for (cpu, ring) in rings {
        let mut bytes = Vec::new();
        ring.drain(&mut bytes);
        drained += bytes.len() as u64;
        if !bytes.is_empty() {
            chunks.push((*cpu, bytes));
        }
    }
    drained
}

/// Bytes of the CPU of this number.
pub(super) type Chunk = (u32, Vec<u8>);

/// Opens events on each CPU; the first ones ever make the rings.
pub(super) fn add_rings(
    rings: &mut Vec<(u32, PerfRing)>,
    sizes: &[usize],
    cpus: &[u32],
    asked: &[Asked],
) -> Result<(), RingError> {
    for &cpu in cpus {
        for &(source, of, inherit, begin) in asked {
            let event = PerfEvent { source, of, cpu, inherit, begin };
            match rings.iter_mut().find(|(of, _)| *of == cpu) {
                Some((_, ring)) => ring.add_event(&event).map_err(RingError::Event)?,
                None => rings.push((cpu, PerfRing::for_event(&event, sizes)?)),
            }
        }
    }
    Ok(())
}

pub(super) fn add_own(
    rings: &mut Vec<(u32, PerfRing)>,
    sizes: &[usize],
    chunks: &mut Vec<Chunk>,
    cpus: &[u32],
    own: &[EventSource],
    traced: &Traced,
) -> Result<(), RingError> {
    let own = own.iter();
    match *traced {
        Traced::Command => {
            let own = own.map(|&source| (source, Of::CallingThread, true, Begin::OnExec));
            // An event that no child inherits. Without it the kernel may swap the lists
            // of events of this thread and of the command instead of switching them, and
            // the command's exec would enable ours.
            let none = EventSource::Threads(Threads::default());
            let none = (none, Of::CallingThread, false, Begin::Now);
            let own: Vec<Asked> = own.chain([none]).collect();
            add_rings(rings, sizes, cpus, &own)
        }
        Traced::Process(id) => {
            let of_thread = |thread| {
                let own = own.clone();
                own.map(|&source| (source, Of::Thread(thread), true, Begin::Now)).collect()
            };
            add_process(rings, sizes, chunks, cpus, &of_thread, id)
        }
    }
}

/// Events for each existing thread. A thread that is created during this loop
/// inherits its events if a record says that its creator already had them;
/// otherwise it gets them in the next pass.
fn add_process(
    rings: &mut Vec<(u32, PerfRing)>,
    sizes: &[usize],
    chunks: &mut Vec<Chunk>,
    cpus: &[u32],
    of_thread: &dyn Fn(u32) -> Vec<Asked>,
    id: u32,
) -> Result<(), RingError> {
    let mut opened = BTreeSet::new();
    loop {
        let threads = super::process::threads(id).map_err(RingError::Event)?;
        let before = opened.len();
        for thread in threads {
            if !opened.insert(thread) {
                continue;
            }
            match add_rings(rings, sizes, cpus, &of_thread(thread)) {
                // It has ended.
                Err(RingError::Event(error)) if error.raw_os_error() == Some(NO_SUCH_PROCESS) => {}
                other => other?,
            }
        }
        if opened.len() == before {
            return Ok(());
        }
        let seen = chunks.len();
        drain(rings, chunks);
        let records = chunks[seen..].iter().flat_map(|(_, bytes)| perf::records(bytes));
        opened.extend(records.filter_map(|record| match record.body {
            Body::Fork(task) => Some(task.thread),
            _ => None,
        }));
    }
}

/// An event to be opened.
pub(super) type Asked = (EventSource, Of, bool, Begin);

/// ESRCH
const NO_SUCH_PROCESS: i32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_without_room_are_tried_smaller_until_there_are_none() {
        assert_eq!(smaller_than(8 << 20), &RING_BYTES[1..]);
        // Of a size that is none of ours.
        assert_eq!(smaller_than(100 << 10), [64 << 10]);
        assert_eq!(smaller_than(64 << 10), [] as [usize; 0]);
    }
}

//! `perf_event_open(2)` with an event that counts nothing and records only
//! that threads begin and end: the kernel writes the time itself, no process has
//! to watch. One event and one small ring of memory for each CPU.

use std::io;

use crate::perf::{Begin, Body, EventSource, Of, PerfEvent, PerfRing, Threads, records};
use crate::task_records::{TaskEvent, TaskRecord};

/// The kernel's record of the beginning and end of threads on some CPUs, as
/// far as they belong to this process. Records wait in about 4 KiB for each
/// CPU; what finds no room there is lost.
#[derive(Debug)]
pub struct TaskRecords {
    rings: Vec<PerfRing>,
    drained: Vec<u8>,
}

impl TaskRecords {
    /// Records of all threads that begin or end on these CPUs. The threads
    /// carry nothing for it.
    ///
    /// # Errors
    /// What `perf_event_open(2)` says: `PermissionDenied` without CAP_PERFMON
    /// where `kernel.perf_event_paranoid` is above 0.
    pub fn of_machine(cpus: &[u32]) -> io::Result<TaskRecords> {
        TaskRecords::open_on(cpus, Of::Everyone, false)
    }

    /// Records of the threads that the calling thread will create, as far as
    /// they begin or end on these CPUs. Each new thread inherits an event for
    /// each of the CPUs, some 1 µs to create and to end.
    ///
    /// # Errors
    /// What `perf_event_open(2)` says: `PermissionDenied` without CAP_PERFMON
    /// where `kernel.perf_event_paranoid` is above 2 or a sandbox forbids it.
    pub fn of_own_threads(cpus: &[u32]) -> io::Result<TaskRecords> {
        TaskRecords::open_on(cpus, Of::CallingThread, true)
    }

    fn open_on(cpus: &[u32], of: Of, inherit: bool) -> io::Result<TaskRecords> {
        let rings = cpus.iter().map(|&cpu| {
            let event = PerfEvent {
                source: EventSource::Threads(Threads { tasks: true, ..Threads::default() }),
                of,
                cpu,
                inherit,
                begin: Begin::Now,
            };
            Ok(PerfRing::for_event(&event, &[1])?)
        });
        Ok(TaskRecords { rings: rings.collect::<io::Result<_>>()?, drained: Vec::new() })
    }

    /// Adds what was recorded since the last time, CPU by CPU, each in the
    /// order in which it happened.
    pub fn take_records(&mut self, all: &mut Vec<TaskRecord>) {
        let process = std::process::id();
        for ring in &mut self.rings {
            self.drained.clear();
            ring.drain(&mut self.drained);
            all.extend(of_process(&self.drained, process));
        }
    }
}

/// Records of the threads of a process.
fn of_process(bytes: &[u8], process: u32) -> impl Iterator<Item = TaskRecord> {
    records(bytes).filter_map(move |record| {
        let (task, what) = match record.body {
            Body::Fork(task) => (task, TaskEvent::CreatedBy(task.parent_thread)),
            Body::Exit(task) => (task, TaskEvent::Ended),
            _ => return None,
        };
        (task.process == process).then_some(TaskRecord {
            thread: task.thread,
            what,
            at_ns: record.at_ns?,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXIT: u32 = 4;
    const FORK: u32 = 7;

    fn record(kind: u32, numbers: [u32; 4], at_ns: u64) -> Vec<u8> {
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(0_u16.to_ne_bytes());
        bytes.extend(32_u16.to_ne_bytes());
        for number in numbers {
            bytes.extend(number.to_ne_bytes());
        }
        bytes.extend(at_ns.to_ne_bytes());
        bytes
    }

    #[test]
    fn records_are_distinguished() {
        let fork = of_process(&record(FORK, [10, 10, 12, 11], 77), 10).next();
        let wanted = TaskRecord { thread: 12, what: TaskEvent::CreatedBy(11), at_ns: 77 };
        assert_eq!(fork, Some(wanted));
        let exit = of_process(&record(EXIT, [10, 1, 12, 1], 78), 10).next();
        let wanted = TaskRecord { thread: 12, what: TaskEvent::Ended, at_ns: 78 };
        assert_eq!(exit, Some(wanted));
    }

    #[test]
    fn what_is_not_ours_is_left_out() {
        let none = |bytes: &[u8]| assert_eq!(of_process(bytes, 10).next(), None);
        none(&record(EXIT, [11, 1, 12, 1], 78));
        // PERF_RECORD_LOST and PERF_RECORD_COMM.
        for kind in [2, 3] {
            none(&record(kind, [10, 1, 12, 1], 78));
        }
        none(&[0; 16]);
    }
}

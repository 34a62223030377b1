//! `perf_event_open(2)` with an event that counts nothing and records only
//! that threads begin and end: the kernel writes the time itself, no process has
//! to watch. One event and one small ring of memory for each CPU.

use std::io;
use std::os::fd::OwnedFd;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::perf_event::{
    self, Attributes, EXCLUDE_HYPERVISOR, EXCLUDE_KERNEL, INHERIT, PERF_COUNT_SW_DUMMY,
    PERF_TYPE_SOFTWARE, TASK, USE_CLOCK, WATERMARK,
};
use crate::pages::base_page_bytes;
use crate::task_records::{TaskEvent, TaskRecord};

/// `type` in a record's header.
const RECORD_EXIT: u32 = 4;
const RECORD_FORK: u32 = 7;
/// Header, `pid ppid tid ptid`, `time`.
const TASK_RECORD_BYTES: usize = 8 + 16 + 8;
/// No record that these events write is longer.
const LARGEST_RECORD_BYTES: usize = 64;

/// Where the control page holds its 64-bit words `data_head` and `data_tail`.
const HEAD_AT: usize = 1024;
const TAIL_AT: usize = 1032;

/// The kernel's record of the beginning and end of threads on some CPUs, as
/// far as they belong to this process. Records wait in about 4 KiB for each
/// CPU; what finds no room there is lost.
#[derive(Debug)]
pub struct TaskRecords {
    rings: Vec<Ring>,
}

impl TaskRecords {
    /// Records of all threads that begin or end on these CPUs. The threads
    /// carry nothing for it.
    ///
    /// # Errors
    /// What `perf_event_open(2)` says: `PermissionDenied` without CAP_PERFMON
    /// where `kernel.perf_event_paranoid` is above 0.
    pub fn of_machine(cpus: &[u32]) -> io::Result<TaskRecords> {
        TaskRecords::open(cpus, -1, 0)
    }

    /// Records of the threads that the calling thread will create, as far as
    /// they begin or end on these CPUs. Each new thread inherits an event for
    /// each of the CPUs, some 1 µs to create and to end.
    ///
    /// # Errors
    /// What `perf_event_open(2)` says: `PermissionDenied` without CAP_PERFMON
    /// where `kernel.perf_event_paranoid` is above 2 or a sandbox forbids it.
    pub fn of_own_threads(cpus: &[u32]) -> io::Result<TaskRecords> {
        TaskRecords::open(cpus, 0, INHERIT)
    }

    fn open(cpus: &[u32], of_thread: libc::pid_t, flags: u64) -> io::Result<TaskRecords> {
        let rings = cpus.iter().map(|&cpu| Ring::open(cpu, of_thread, flags));
        Ok(TaskRecords {
            rings: rings.collect::<io::Result<_>>()?,
        })
    }

    /// Adds what was recorded since the last time, CPU by CPU, each in the
    /// order in which it happened.
    pub fn take(&mut self, records: &mut Vec<TaskRecord>) {
        let process = std::process::id();
        for ring in &mut self.rings {
            ring.take(|bytes| records.extend(parse(bytes, process)));
        }
    }
}

/// One event with its ring.
#[derive(Debug)]
struct Ring {
    base: *mut u8,
    data_bytes: usize,
    _event: OwnedFd,
}

impl Ring {
    fn open(cpu: u32, of_thread: libc::pid_t, flags: u64) -> io::Result<Ring> {
        let attributes = Attributes {
            kind: PERF_TYPE_SOFTWARE,
            config: PERF_COUNT_SW_DUMMY,
            // The kernel itself is left out: watching it needs a right.
            flags: flags | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR | TASK | WATERMARK | USE_CLOCK,
            // No process waits for the ring to fill.
            wakeup_watermark: u32::MAX,
            clock: libc::CLOCK_MONOTONIC_RAW,
            ..Attributes::default()
        };
        let cpu = libc::c_int::try_from(cpu).map_err(io::Error::other)?;
        let event = perf_event::open(attributes, of_thread, cpu)?;
        let page = base_page_bytes();
        // SAFETY: a mapping where the kernel finds room for it.
        let base = unsafe {
            mmap(
                ptr::null_mut(),
                2 * page,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &event,
                0,
            )
        }?;
        Ok(Ring {
            base: base.cast(),
            data_bytes: page,
            _event: event,
        })
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        // SAFETY: both words lie in the control page, aligned to 8; the
        // kernel writes the one and reads the other at any time, as it would
        // an atomic.
        unsafe { AtomicU64::from_ptr(self.base.add(at).cast()) }
    }

    fn take(&mut self, mut each: impl FnMut(&[u8])) {
        let head = self.word(HEAD_AT).load(Ordering::Acquire);
        let mut tail = self.word(TAIL_AT).load(Ordering::Relaxed);
        let mut record = [0; LARGEST_RECORD_BYTES];
        while tail < head {
            self.copy(tail, &mut record[..8]);
            let length = usize::from(u16::from_ne_bytes([record[6], record[7]]));
            if length < 8 {
                // Not a record: go on with the next that is written.
                tail = head;
                break;
            }
            let kept = length.min(LARGEST_RECORD_BYTES);
            self.copy(tail, &mut record[..kept]);
            each(&record[..kept]);
            tail += length as u64;
        }
        self.word(TAIL_AT).store(tail, Ordering::Release);
    }

    /// Copies out of the ring, from where the `at`-th byte ever written is.
    fn copy(&self, at: u64, to: &mut [u8]) {
        for (k, byte) in to.iter_mut().enumerate() {
            let at = (at as usize + k) % self.data_bytes;
            // SAFETY: inside the data page, which follows the control page.
            // The kernel does not write there before `data_tail` has passed.
            *byte = unsafe { self.base.add(self.data_bytes + at).read() };
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping that `open` made, which no code uses any more.
        let _ = unsafe { munmap(self.base.cast(), 2 * self.data_bytes) };
    }
}

/// A record of a thread of this process.
fn parse(record: &[u8], process: u32) -> Option<TaskRecord> {
    if record.len() < TASK_RECORD_BYTES {
        return None;
    }
    let number = |at: usize| {
        let bytes = record[at..at + 4].try_into().ok()?;
        Some(u32::from_ne_bytes(bytes))
    };
    let (kind, of, thread, parent) = (number(0)?, number(8)?, number(16)?, number(20)?);
    let what = match kind {
        RECORD_FORK => TaskEvent::CreatedBy(parent),
        RECORD_EXIT => TaskEvent::Ended,
        _ => return None,
    };
    (of == process).then_some(TaskRecord {
        thread,
        what,
        at_ns: u64::from_ne_bytes(record[24..32].try_into().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let fork = parse(&record(RECORD_FORK, [10, 10, 12, 11], 77), 10);
        let wanted = TaskRecord {
            thread: 12,
            what: TaskEvent::CreatedBy(11),
            at_ns: 77,
        };
        assert_eq!(fork, Some(wanted));
        let exit = parse(&record(RECORD_EXIT, [10, 1, 12, 1], 78), 10);
        let wanted = TaskRecord {
            thread: 12,
            what: TaskEvent::Ended,
            at_ns: 78,
        };
        assert_eq!(exit, Some(wanted));
    }

    #[test]
    fn what_is_not_ours_is_left_out() {
        assert_eq!(parse(&record(RECORD_EXIT, [11, 1, 12, 1], 78), 10), None);
        // PERF_RECORD_LOST and PERF_RECORD_COMM.
        for kind in [2, 3] {
            assert_eq!(parse(&record(kind, [10, 1, 12, 1], 78), 10), None);
        }
        assert_eq!(parse(&[0; 16], 10), None);
    }
}

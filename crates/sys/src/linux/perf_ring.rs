//! An event of `perf_event_open(2)` with its ring of memory, and further events
//! of the same CPU whose records go into that ring.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::perf_event::{
    self, Attributes, COMM, CONTEXT_SWITCH, DISABLED, ENABLE_ON_EXEC, EXCLUDE_CALLCHAIN_KERNEL,
    EXCLUDE_HYPERVISOR, EXCLUDE_KERNEL, INHERIT, MMAP, MMAP_DATA, MMAP2,
    PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_DUMMY, PERF_COUNT_SW_PAGE_FAULTS,
    PERF_COUNT_SW_PAGE_FAULTS_MAJ, PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_TYPE_SOFTWARE, SAMPLE_ADDR,
    SAMPLE_CALLCHAIN, SAMPLE_CPU, SAMPLE_ID_ALL, SAMPLE_PERIOD, SAMPLE_REGS_USER,
    SAMPLE_STACK_USER, SAMPLE_TID, SAMPLE_TIME, TASK, USE_CLOCK, WATERMARK,
};
use crate::pages::base_page_bytes;
use crate::perf::{
    Begin, Capture, EventSource, Of, PerfEvent, RingError, STACK_REGISTERS, Threads,
};

/// Where the control page holds its 64-bit words `data_head` and `data_tail`.
const HEAD_AT: usize = 1024;
const TAIL_AT: usize = 1032;

/// The largest ring of those that were asked for is as large as an address
/// space of 32 bits still has room for.
const LARGEST_DATA_BYTES: usize = 1 << 30;

/// Events of one CPU, whose records wait in a ring of memory. What finds no
/// room there is lost and counted ([`crate::perf::Body::Lost`]).
#[derive(Debug)]
pub struct PerfRing {
    base: *mut u8,
    data_bytes: usize,
    /// The first is the one that the ring was mapped from.
    events: Vec<OwnedFd>,
}

// SAFETY: the mapping belongs to the process, and only the ring's owner reads it.
unsafe impl Send for PerfRing {}

impl PerfRing {
    /// A ring for an event, of the first of these sizes that the kernel grants:
    /// each is rounded up to a power of two in pages. The memory counts against
    /// RLIMIT_MEMLOCK.
    ///
    /// # Errors
    /// What `perf_event_open(2)` says; what `mmap(2)` says to the last size.
    pub fn for_event(first: &PerfEvent, data_bytes: &[usize]) -> Result<PerfRing, RingError> {
        let page = base_page_bytes();
        let sizes = data_bytes.iter().map(|&bytes| {
            let pages = bytes.min(LARGEST_DATA_BYTES).div_ceil(page).max(1);
            page * pages.next_power_of_two()
        });
        let mut refused = RingError::Memory(io::ErrorKind::InvalidInput.into());
        for data_bytes in sizes {
            let event = open_mapped(first, data_bytes).map_err(RingError::Event)?;
            // SAFETY: a mapping where the kernel finds room for it.
            let base = unsafe {
                mmap(
                    ptr::null_mut(),
                    page + data_bytes,
                    ProtFlags::READ | ProtFlags::WRITE,
                    MapFlags::SHARED,
                    &event,
                    0,
                )
            };
            match base {
                Ok(base) => {
                    return Ok(PerfRing { base: base.cast(), data_bytes, events: vec![event] });
                }
                Err(error) => refused = RingError::Memory(error.into()),
            }
        }
        Err(refused)
    }

    /// Opens an event whose records go into this ring: of the same CPU.
    pub fn add_event(&mut self, event: &PerfEvent) -> io::Result<()> {
        let event = open_mapped(event, self.data_bytes)?;
        let ring = self.events[0].as_raw_fd();
        control(&event, SET_OUTPUT, ring.into())?;
        self.events.push(event);
        Ok(())
    }

    /// Ends all recording; what is in the ring stays there.
    pub fn disable(&self) -> io::Result<()> {
        self.events.iter().try_for_each(|e| control(e, DISABLE, 0))
    }

    /// Room for records, in bytes.
    pub fn data_bytes(&self) -> usize {
        self.data_bytes
    }

    /// Moves the records that are there to the end of `into`, for
    /// [`crate::perf::records`].
    pub fn drain(&mut self, into: &mut Vec<u8>) {
        let head = self.word(HEAD_AT).load(Ordering::Acquire);
        let tail = self.word(TAIL_AT).load(Ordering::Relaxed);
        // The kernel writes no more than there is room for.
        let length = (head.wrapping_sub(tail) as usize).min(self.data_bytes);
        let from = tail as usize % self.data_bytes;
        let first = length.min(self.data_bytes - from);
        into.reserve(length);
        for (at, length) in [(from, first), (0, length - first)] {
            // SAFETY: inside the data pages, which follow the control page. The
            // kernel does not write there before `data_tail` has passed.
            let part = unsafe {
                std::slice::from_raw_parts(self.base.add(base_page_bytes() + at), length)
            };
            into.extend_from_slice(part);
        }
        self.word(TAIL_AT).store(head, Ordering::Release);
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        // SAFETY: both words lie in the control page, aligned to 8; the
        // kernel writes the one and reads the other at any time, as it would
        // an atomic.
        unsafe { AtomicU64::from_ptr(self.base.add(at).cast()) }
    }
}

impl Drop for PerfRing {
    fn drop(&mut self) {
        let bytes = base_page_bytes() + self.data_bytes;
        // SAFETY: the mapping that `for_event` made, which no code uses any more.
        let _ = unsafe { munmap(self.base.cast(), bytes) };
    }
}

/// Waits until a ring is half full, but no longer than this.
///
/// # Errors
/// What `poll(2)` says; a signal is none.
pub fn wait_half_full<'a>(
    rings: impl IntoIterator<Item = &'a PerfRing>,
    limit: Duration,
) -> io::Result<()> {
    let events = rings.into_iter().map(|ring| ring.events[0].as_fd());
    let mut polled: Vec<PollFd<'_>> = events
        .map(|event: BorrowedFd<'_>| PollFd::from_borrowed_fd(event, PollFlags::IN))
        .collect();
    let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
    match poll(&mut polled, Some(&limit)) {
        Err(rustix::io::Errno::INTR) | Ok(_) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Requests of `ioctl(2)`: `_IO('$', 1)` and `_IO('$', 5)`.
const DISABLE: u32 = 0x2401;
const SET_OUTPUT: u32 = 0x2405;

fn control(event: &OwnedFd, request: u32, argument: libc::c_long) -> io::Result<()> {
    // SAFETY: both requests take a number and touch no memory of ours. Its
    // type differs between C libraries.
    match unsafe { libc::ioctl(event.as_raw_fd(), request as _, argument) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn open_mapped(event: &PerfEvent, data_bytes: usize) -> io::Result<OwnedFd> {
    let user = EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR;
    let (kind, config, sample_type, flags) = match event.source {
        EventSource::PageFaults(which) => (
            PERF_TYPE_SOFTWARE,
            PERF_COUNT_SW_PAGE_FAULTS,
            SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR,
            user | about_threads(which) | SAMPLE_ID_ALL,
        ),
        EventSource::ServedFaults { major, in_kernel } => (
            PERF_TYPE_SOFTWARE,
            if major { PERF_COUNT_SW_PAGE_FAULTS_MAJ } else { PERF_COUNT_SW_PAGE_FAULTS_MIN },
            // Each of a length of its own, by which they are told apart.
            SAMPLE_TID
                | SAMPLE_TIME
                | SAMPLE_ADDR
                | SAMPLE_CPU
                | if major { SAMPLE_PERIOD } else { 0 },
            if in_kernel { EXCLUDE_HYPERVISOR } else { user } | SAMPLE_ID_ALL,
        ),
        EventSource::Threads(which) => {
            // Records of tasks have a time without.
            let stamped = which.names || which.maps || which.switches;
            let stamp = if stamped { SAMPLE_ID_ALL } else { 0 };
            let flags = user | about_threads(which) | stamp;
            let sample_type = SAMPLE_TID | SAMPLE_TIME;
            (PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, sample_type, flags)
        }
        EventSource::Stacks(capture) => {
            let stack = match capture {
                Capture::FramePointers => SAMPLE_CALLCHAIN,
                Capture::Copy(_) => SAMPLE_REGS_USER | SAMPLE_STACK_USER,
            };
            // Code only.
            let records = TASK | COMM | MMAP | MMAP2 | SAMPLE_ID_ALL;
            (
                PERF_TYPE_SOFTWARE,
                PERF_COUNT_SW_CONTEXT_SWITCHES,
                SAMPLE_TID | SAMPLE_TIME | stack,
                EXCLUDE_CALLCHAIN_KERNEL | EXCLUDE_HYPERVISOR | records,
            )
        }
    };
    let copied = match event.source {
        EventSource::Stacks(Capture::Copy(bytes)) => Some(bytes),
        _ => None,
    };
    let registers = STACK_REGISTERS.iter().fold(0, |all, bit| all | 1 << bit);
    let begin = match event.begin {
        Begin::Now => 0,
        Begin::OnExec => DISABLED | ENABLE_ON_EXEC,
    };
    let inherit = if event.inherit { INHERIT } else { 0 };
    let sampled = !matches!(event.source, EventSource::Threads(_));
    let attributes = Attributes {
        kind,
        config,
        sample_type,
        sample_period: u64::from(sampled),
        flags: flags | begin | inherit | WATERMARK | USE_CLOCK,
        wakeup_watermark: u32::try_from(data_bytes / 2).unwrap_or(u32::MAX),
        sample_regs_user: copied.map_or(0, |_| registers),
        sample_stack_user: copied.unwrap_or(0),
        clock: libc::CLOCK_MONOTONIC_RAW,
        ..Attributes::default()
    };
    let thread = match event.of {
        Of::CallingThread => 0,
        Of::Everyone => -1,
        Of::Thread(number) => number.try_into().map_err(io::Error::other)?,
    };
    let cpu = libc::c_int::try_from(event.cpu).map_err(io::Error::other)?;
    perf_event::open_event(attributes, thread, cpu)
}

fn about_threads(which: Threads) -> u64 {
    let bit = |asked: bool, bits: u64| if asked { bits } else { 0 };
    bit(which.tasks, TASK)
        | bit(which.names, COMM)
        | bit(which.maps, MMAP | MMAP_DATA | MMAP2)
        | bit(which.switches, CONTEXT_SWITCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::{Body, fault_sample, records, served_fault_sample};

    /// A ring of one page that no kernel writes to, and a way to write as it does.
    fn unwritten() -> PerfRing {
        let page = base_page_bytes();
        // SAFETY: a mapping of its own, where the kernel finds room for it.
        let base = unsafe {
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            rustix::mm::mmap_anonymous(ptr::null_mut(), 2 * page, protection, MapFlags::SHARED)
        };
        PerfRing { base: base.expect("memory").cast(), data_bytes: page, events: Vec::new() }
    }

    /// Writes records as the kernel does; whether there was room for them.
    fn write_records(ring: &PerfRing, records: &[u8]) -> bool {
        let head = ring.word(HEAD_AT).load(Ordering::Relaxed);
        let used = head - ring.word(TAIL_AT).load(Ordering::Relaxed);
        if used as usize + records.len() > ring.data_bytes {
            return false;
        }
        for (n, byte) in records.iter().enumerate() {
            let at = base_page_bytes() + (head as usize + n) % ring.data_bytes;
            // SAFETY: inside the data pages.
            unsafe { ring.base.add(at).write(*byte) };
        }
        let head = head + records.len() as u64;
        ring.word(HEAD_AT).store(head, Ordering::Relaxed);
        true
    }

    #[test]
    fn what_was_read_makes_room_and_comes_once() {
        let mut ring = unwritten();
        let most = ring.data_bytes();
        let mut written: Vec<u8> = Vec::new();
        let mut read: Vec<u8> = Vec::new();
        // Of odd lengths, so that some go on at the ring's beginning.
        for round in 0..40_u8 {
            let records: Vec<u8> =
                (0..most / 3 + usize::from(round)).map(|n| n as u8 ^ round).collect();
            assert!(write_records(&ring, &records), "round {round}: no room");
            written.extend(&records);
            ring.drain(&mut read);
            assert!(read == written, "round {round}");
            ring.drain(&mut read);
            assert_eq!(read.len(), written.len(), "round {round}: read again");
        }
        // A full one is read whole.
        assert!(write_records(&ring, &vec![7; most]) && !write_records(&ring, &[7]));
        read.clear();
        ring.drain(&mut read);
        assert!(read == vec![7; most] && write_records(&ring, &[7]));
    }

    /// One CPU, since a ring is one CPU's.
    #[test]
    fn each_page_fault_can_be_a_sample_and_its_end_another() {
        let page = base_page_bytes();
        let sampled = |cpu| {
            crate::pin_to(&[cpu]).expect("allowed");
            let event = PerfEvent {
                source: EventSource::PageFaults(Threads::default()),
                of: Of::CallingThread,
                cpu,
                inherit: false,
                begin: Begin::Now,
            };
            let mut ring = PerfRing::for_event(&event, &[page])?;
            for major in [false, true] {
                let source = EventSource::ServedFaults { major, in_kernel: false };
                ring.add_event(&PerfEvent { source, ..event }).map_err(RingError::Event)?;
            }
            let mut touched = crate::Mapping::new(page).expect("memory");
            touched.as_mut_slice()[0] = 1;
            ring.disable().expect("it is open");
            let mut bytes = Vec::new();
            ring.drain(&mut bytes);
            let address = touched.as_mut_slice().as_ptr().addr() as u64;
            let samples = records(&bytes).filter_map(|record| match record.body {
                Body::Sample(body) => Some((fault_sample(body)?, served_fault_sample(body))),
                _ => None,
            });
            let touched = samples.filter(|(sample, _)| sample.address == address);
            let found: Vec<_> =
                touched.map(|(sample, end)| (sample.at_ns, end.map(|(_, major)| major))).collect();
            Ok::<_, RingError>(found)
        };
        let cpu = crate::allowed_cpus().expect("known")[0];
        let sampled =
            std::thread::scope(|scope| scope.spawn(|| sampled(cpu)).join().expect("no panic"));
        match sampled {
            Ok(sampled) => {
                let [(began_ns, None), (ended_ns, Some(false))] = sampled[..] else {
                    panic!("not the begin and the end of one fault: {sampled:?}");
                };
                assert!(began_ns < ended_ns, "{sampled:?}");
            }
            Err(error) => println!("SKIPPED: no events are recorded here: {error}"),
        }
    }
}

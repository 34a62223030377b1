//! The two tiers with records: of the kernel's own buffers and of perf's rings, and how their bytes are collected.

use super::buffers::{Chunk, RING_BYTES, Traced, add_own, drain, smaller_than};
use super::full::{Begun, Full};
use super::kept::{Collected, Drained, Kept};
use super::stacks::StackRings;
use super::usdt::Defined;
use super::{RecordRequest, gap};
use crate::decode::{Samples, Tracepoint};
use model::trace::tier::Missing;
use model::trace::{Gap, NotRecorded, Topic};
use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::perf::{self, EventSource, PerfRing, RingError, Threads};

/// How long bytes wait in a ring: with short records, 512 KiB are full after
/// little more.
const INTERVAL: Duration = Duration::from_millis(20);

/// A ring for each CPU.
#[derive(Debug)]
pub(super) struct Rings {
    pub(super) samples: Samples,
    pub(super) gaps: Vec<Gap>,
    rings: Vec<(u32, PerfRing)>,
    /// The kernel's own buffers, in the full tier.
    kernel: Option<Begun>,
    /// Bytes with the CPU whose they are.
    chunks: Vec<Chunk>,
    /// Rings of their own, so that their losses are no others'.
    stacks: Option<StackRings>,
    /// After the kernel's buffers, which record them.
    probes: Option<Defined>,
}

impl Rings {
    /// The tracepoints of the kernel's own buffers; perf's rings for stacks, and for the ends of page faults where the
    /// kernel has no tracepoint for them.
    pub(super) fn full(traced: &Traced, request: &RecordRequest) -> Result<Rings, NotRecorded> {
        let Full { layouts, mut gaps, kernel, probes } = Full::open(traced, request)?;
        let lacks_ends = layouts.knows(Tracepoint::Fault) && !layouts.knows(Tracepoint::FaultCount);
        // Who inherits their events is in the records of threads.
        let threads = EventSource::Threads(Threads { tasks: true, ..Threads::default() });
        let ends = served_faults(true).chain([threads]).filter(|_| lacks_ends);
        let samples = Samples::Tracepoints(layouts);
        let opened = Rings::open(traced, request, &ends.collect::<Vec<_>>(), samples.clone());
        let rings = match opened {
            Err(reason) if lacks_ends => {
                gaps.push(Gap { of: Missing::FaultEnds, reason });
                Rings::open(traced, request, &[], samples)?
            }
            opened => opened?,
        };
        gaps.extend(rings.gaps);
        Ok(Rings { gaps, kernel: Some(kernel), probes, ..rings })
    }

    /// Prepares a command to be recorded.
    pub(super) fn prepare(&self, command: &mut Command) -> io::Result<()> {
        self.kernel.as_ref().map_or(Ok(()), |(kernel, _)| kernel.begin_with_command(command))
    }

    /// The names of the USDT probes, by their places.
    pub(super) fn probe_names(&self) -> Vec<String> {
        self.probes.iter().flat_map(|probes| probes.names.clone()).collect()
    }

    /// The target's own switches and page faults.
    pub(super) fn own(traced: &Traced, request: &RecordRequest) -> Result<Rings, NotRecorded> {
        let threads =
            Threads { tasks: true, names: true, maps: !request.scheduler_only, switches: true };
        // One event for both costs the threads less than two.
        let (own, mut gaps): (Vec<EventSource>, _) = match request.scheduler_only {
            false => {
                let begins = EventSource::PageFaults(threads);
                (served_faults(false).chain([begins]).collect(), Vec::new())
            }
            true => {
                let left_out = gap(Topic::Faults, NotRecorded::NotAsked);
                (vec![EventSource::Threads(threads)], vec![left_out])
            }
        };
        if request.usdt.is_some() {
            gaps.push(gap(Topic::Probes, NotRecorded::NotInTier));
        }
        let rings = Rings::open(traced, request, &own, Samples::Faults)?;
        gaps.extend(rings.gaps);
        Ok(Rings { gaps, ..rings })
    }

    fn open(
        traced: &Traced,
        request: &RecordRequest,
        own: &[EventSource],
        samples: Samples,
    ) -> Result<Rings, NotRecorded> {
        let cpus = request.cpus.as_slice();
        let with = |sizes: &[usize]| {
            let mut rings = Rings {
                samples: samples.clone(),
                gaps: Vec::new(),
                rings: Vec::new(),
                kernel: None,
                chunks: Vec::new(),
                stacks: None,
                probes: None,
            };
            if !own.is_empty() {
                let to = (&mut rings.rings, &mut rings.chunks);
                add_own(to.0, sizes, to.1, cpus, own, traced)?;
            }
            Ok(rings)
        };
        let mut rings = with(&RING_BYTES).map_err(tier_reason)?;
        let Some(capture) = request.stacks else {
            return Ok(rings);
        };
        let refused = loop {
            match StackRings::open(traced, cpus, capture) {
                Ok(stacks) => {
                    rings.stacks = Some(stacks);
                    return Ok(rings);
                }
                Err(RingError::Memory(error)) => {
                    // There may be room beside smaller ones.
                    let sizes = rings.rings.iter().map(|(_, ring)| ring.data_bytes());
                    let largest = sizes.max().unwrap_or(0);
                    drop(rings);
                    rings = match smaller_than(largest) {
                        [] => break RingError::Memory(error),
                        smaller => with(smaller).map_err(tier_reason)?,
                    };
                }
                Err(error) => {
                    // What they lock is not there for the next ones.
                    drop(rings);
                    break error;
                }
            }
        };
        let mut rings = with(&RING_BYTES).map_err(tier_reason)?;
        rings.gaps.push(gap(Topic::Stacks, tier_reason(refused)));
        Ok(rings)
    }

    /// The smallest ring.
    pub(super) fn ring_bytes(&self) -> u64 {
        let kernel = self.kernel.iter().map(|(kernel, _)| kernel.cpu_bytes as u64);
        let sizes = self.rings.iter().map(|(_, ring)| ring.data_bytes() as u64);
        sizes.chain(kernel).min().unwrap_or(0)
    }

    /// Collects records until `stop` is set, or no more can be kept.
    pub(super) fn collect(mut self, stop: &AtomicBool, mut kept: Kept) -> io::Result<Collected> {
        let mut full_ns = None;
        let mut going_ns = sys::monotonic_raw_ns();
        loop {
            let now_ns = sys::monotonic_raw_ns();
            if stop.load(Ordering::Acquire) {
                break;
            }
            going_ns = now_ns;
            let stacks = self.stacks.iter().flat_map(|stacks| &stacks.rings);
            let all = self.rings.iter().chain(stacks);
            perf::wait_half_full(all.map(|(_, ring)| ring), INTERVAL)?;
            let drained = self.drain()?;
            let stack_bytes = self.stacks.as_mut().map_or(0, StackRings::drain);
            let drained_ns = sys::monotonic_raw_ns();
            if !kept.keep_chunks(drained, stack_bytes, [going_ns, drained_ns]) {
                full_ns = Some(drained_ns);
                stop.store(true, Ordering::Release);
            }
        }
        for (_, ring) in &self.rings {
            ring.disable()?;
        }
        self.kernel.as_ref().map_or(Ok(()), |(kernel, _)| kernel.disable())?;
        let drained = self.drain()?;
        kept.keep_chunks(drained, 0, [going_ns, sys::monotonic_raw_ns()]);
        let stacks = self.stacks.map(StackRings::finish);
        Ok(Collected { full_ns, stacks: stacks.transpose()?, ..kept.collected() })
    }
}

impl Rings {
    /// What is there, and what was drained before.
    fn drain(&mut self) -> io::Result<Drained> {
        drain(&mut self.rings, &mut self.chunks);
        let mut drained = Drained::from(std::mem::take(&mut self.chunks));
        self.kernel.as_ref().map_or(Ok(()), |(kernel, _)| kernel.drain(&mut drained))?;
        Ok(drained)
    }
}

/// The ends of page faults.
fn served_faults(in_kernel: bool) -> impl Iterator<Item = EventSource> {
    let of = move |major| EventSource::ServedFaults { major, in_kernel };
    [false, true].into_iter().map(of)
}

/// What an error means for the tier.
fn tier_reason(error: RingError) -> NotRecorded {
    match error {
        RingError::Memory(error) => NotRecorded::NoRing(error.to_string()),
        RingError::Event(error) => match error.kind() {
            io::ErrorKind::PermissionDenied => NotRecorded::Denied(super::process::paranoid()),
            _ => NotRecorded::Failed(error.to_string()),
        },
    }
}

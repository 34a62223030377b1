//! The two tiers that record with perf events: which events are opened, for
//! what, and how their bytes are collected.

use super::buffers::{Asked, Chunk, RING_BYTES, Traced, add, add_own, drain, smaller_than};
use super::check::checked;
use super::kept::{Collected, Kept};
use super::stacks::StackRings;
use super::usdt::Defined;
use super::{Request, Usdt};
use crate::decode::{Layouts, Samples, Tracepoint};
use model::trace::tier::Missing;
use model::trace::{Gap, Reason, Topic};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::perf::{self, Begin, Of, Ring, RingError, Source, Threads};
use sys::tracefs::Tracefs;

/// How long bytes wait in a ring: with short records, 512 KiB are full after
/// little more.
const INTERVAL: Duration = Duration::from_millis(20);

/// A ring for each CPU.
#[derive(Debug)]
pub(super) struct Rings {
    pub(super) samples: Samples,
    pub(super) gaps: Vec<Gap>,
    rings: Vec<(u32, Ring)>,
    /// Bytes with the CPU whose they are.
    chunks: Vec<Chunk>,
    /// Rings of their own, so that their losses are no others'.
    stacks: Option<StackRings>,
    /// After the rings: these are closed first.
    probes: Option<Defined>,
}

impl Rings {
    /// The scheduler's tracepoints of all CPUs, and the target's calls, faults
    /// and own switches.
    pub(super) fn full(traced: &Traced, request: &Request) -> Result<Rings, Reason> {
        let cpus = &request.cpus;
        let (mut layouts, mut gaps) = described(cpus, request)?;
        let wide = [Tracepoint::Switch, Tracepoint::Waking].into_iter();
        let wide = wide.chain(Tracepoint::INTERRUPTS);
        let wide = wide.filter_map(|point| layouts.id(point).map(Source::Tracepoint));
        let mut wide: Vec<Source> = wide.collect();
        let own = [Tracepoint::Enter, Tracepoint::Return, Tracepoint::Fault];
        let mut own: Vec<Source> =
            own.iter().filter_map(|&point| layouts.id(point).map(Source::Tracepoint)).collect();
        let probes = request.usdt.as_ref().map(|usdt| defined(traced, usdt, &mut layouts));
        let probes = match probes.transpose() {
            Ok(probes) => probes,
            Err(reason) => {
                gaps.push(gap(Topic::Probes, reason));
                None
            }
        };
        // Of all that run the file: where threads inherit them, hits are lost when one ends.
        let hits = probes.iter().flat_map(|(_, ids)| ids);
        wide.extend(hits.map(|&id| Source::Tracepoint(id)));
        let threads =
            |switches| Source::Threads(Threads { tasks: true, names: true, switches, maps: false });
        match request.scheduler_only {
            // Events that threads carry cost them more at each switch than the
            // records of all threads that begin and end cost the machine.
            true => wide.push(threads(false)),
            // Last: that it records means that the others do.
            false => own.push(threads(true)),
        }
        let samples = Samples::Tracepoints(layouts);
        match Rings::open(traced, request, &wide, &own, samples, gaps) {
            // A probe that the kernel refuses costs nothing else.
            Err(reason) if probes.is_some() => {
                let mut request = request.clone();
                request.usdt = None;
                let mut rings = Rings::full(traced, &request)?;
                rings.gaps.push(gap(Topic::Probes, reason));
                Ok(rings)
            }
            rings => {
                rings.map(|rings| Rings { probes: probes.map(|(defined, _)| defined), ..rings })
            }
        }
    }

    /// The names of the USDT probes, by their places.
    pub(super) fn probe_names(&self) -> Vec<String> {
        self.probes.iter().flat_map(|probes| probes.names.clone()).collect()
    }

    /// The target's own switches and page faults.
    pub(super) fn own(traced: &Traced, request: &Request) -> Result<Rings, Reason> {
        let threads =
            Threads { tasks: true, names: true, maps: !request.scheduler_only, switches: true };
        // One event for both costs the threads less than two.
        let (own, mut gaps) = match request.scheduler_only {
            false => (Source::PageFaults(threads), Vec::new()),
            true => {
                let left_out = gap(Topic::Faults, Reason::NotAsked);
                (Source::Threads(threads), vec![left_out])
            }
        };
        if request.usdt.is_some() {
            gaps.push(gap(Topic::Probes, Reason::NotInTier));
        }
        Rings::open(traced, request, &[], &[own], Samples::Faults, gaps)
    }

    fn open(
        traced: &Traced,
        request: &Request,
        wide: &[Source],
        own: &[Source],
        samples: Samples,
        gaps: Vec<Gap>,
    ) -> Result<Rings, Reason> {
        let cpus = request.cpus.as_slice();
        let wide = wide.iter().map(|&source| (source, Of::Everyone, false, Begin::Now));
        let wide: Vec<Asked> = wide.collect();
        let with = |sizes: &[usize]| {
            let mut rings = Rings {
                samples: samples.clone(),
                gaps: gaps.clone(),
                rings: Vec::new(),
                chunks: Vec::new(),
                stacks: None,
                probes: None,
            };
            add(&mut rings.rings, sizes, cpus, &wide)?;
            if !own.is_empty() {
                let to = (&mut rings.rings, &mut rings.chunks);
                add_own(to.0, sizes, to.1, cpus, own, traced)?;
            }
            Ok(rings)
        };
        let mut rings = with(&RING_BYTES).map_err(reason)?;
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
                        smaller => with(smaller).map_err(reason)?,
                    };
                }
                Err(error) => {
                    // What they lock is not there for the next ones.
                    drop(rings);
                    break error;
                }
            }
        };
        let mut rings = with(&RING_BYTES).map_err(reason)?;
        rings.gaps.push(gap(Topic::Stacks, reason(refused)));
        Ok(rings)
    }

    /// The smallest ring.
    pub(super) fn ring_bytes(&self) -> u64 {
        let sizes = self.rings.iter().map(|(_, ring)| ring.data_bytes() as u64);
        sizes.min().unwrap_or(0)
    }

    /// Collects records until `stop` is set, or no more can be kept.
    pub(super) fn collect(mut self, stop: &AtomicBool, mut kept: Kept) -> io::Result<Collected> {
        let mut full_ns = None;
        while !stop.load(Ordering::Acquire) {
            let stacks = self.stacks.iter().flat_map(|stacks| &stacks.rings);
            let all = self.rings.iter().chain(stacks);
            perf::wait(all.map(|(_, ring)| ring), INTERVAL)?;
            drain(&mut self.rings, &mut self.chunks);
            let stack_bytes = self.stacks.as_mut().map_or(0, StackRings::drain);
            let drained_ns = sys::monotonic_raw_ns();
            if !kept.add(std::mem::take(&mut self.chunks), stack_bytes, drained_ns) {
                full_ns = Some(drained_ns);
                stop.store(true, Ordering::Release);
            }
        }
        for (_, ring) in &self.rings {
            ring.disable()?;
        }
        drain(&mut self.rings, &mut self.chunks);
        kept.add(self.chunks, 0, sys::monotonic_raw_ns());
        let stacks = self.stacks.map(StackRings::finish);
        Ok(Collected { full_ns, stacks: stacks.transpose()?, ..kept.collected() })
    }
}

/// The layouts of the tracepoints, as far as a provoked event is read right.
fn described(cpus: &[u32], request: &Request) -> Result<(Layouts, Vec<Gap>), Reason> {
    let unread = |error: io::Error| Reason::NoTracefs(error.to_string());
    let tracefs = Tracefs::open().map_err(unread)?;
    let mut layouts = Layouts::default();
    let mut gaps = Vec::new();
    for point in Tracepoint::ALL {
        if let Some(topic) = topic_of(point).filter(|_| request.scheduler_only) {
            gaps.push(gap(topic, Reason::NotAsked));
            continue;
        }
        let read = tracefs.read(&format!("events/{}/format", point.path()));
        let added = read.map_err(|error| Reason::Failed(error.to_string()));
        let added = added.and_then(|text| {
            let added = layouts.add(point, &text);
            added.map_err(|error| Reason::Failed(error.to_string()))
        });
        match (added, topic_of(point)) {
            (Ok(()), _) => {}
            (Err(reason), Some(topic)) => gaps.push(gap(topic, reason)),
            (Err(reason), None) => return Err(reason),
        }
    }
    let wrong = checked(&layouts, cpus).map_err(reason)?;
    for point in wrong {
        let Some(topic) = topic_of(point) else {
            return Err(Reason::CheckFailed);
        };
        layouts.remove(point);
        gaps.push(gap(topic, Reason::CheckFailed));
    }
    // Nothing but their time is read. What a processor does not have is not recorded.
    for point in Tracepoint::INTERRUPTS.into_iter().filter(|_| request.interrupts) {
        if let Ok(text) = tracefs.read(&format!("events/{}/format", point.path())) {
            let _ = layouts.add(point, &text);
        }
    }
    // A call needs both of its ends.
    let ends = [Tracepoint::Enter, Tracepoint::Return];
    if ends.iter().any(|&end| layouts.id(end).is_none()) {
        ends.iter().for_each(|&end| layouts.remove(end));
    }
    gaps.dedup();
    Ok((layouts, gaps))
}

/// Tracepoints for USDT probes, with their ids.
fn defined(
    traced: &Traced,
    usdt: &Usdt,
    layouts: &mut Layouts,
) -> Result<(Defined, Vec<u64>), Reason> {
    let defined = Defined::new(traced, usdt)?;
    let formats = defined.formats()?;
    let ids = formats.iter().map(|(name, text)| layouts.add_probe(*name as u32, text));
    let ids: Result<Vec<u64>, _> = ids.collect();
    let ids = ids.map_err(|error| Reason::Failed(error.to_string()))?;
    Ok((defined, ids))
}

fn gap(topic: Topic, reason: Reason) -> Gap {
    Gap { of: Missing::Topic(topic), reason }
}

/// What a tracepoint records; `None` if nothing is lost without it.
fn topic_of(point: Tracepoint) -> Option<Topic> {
    match point {
        Tracepoint::Enter | Tracepoint::Return => Some(Topic::Calls),
        Tracepoint::Fault => Some(Topic::Faults),
        _ => None,
    }
}

/// What an error means for the tier.
fn reason(error: RingError) -> Reason {
    match error {
        RingError::Memory(error) => Reason::NoRing(error.to_string()),
        RingError::Event(error) => match error.kind() {
            io::ErrorKind::PermissionDenied => Reason::Denied(super::process::paranoid()),
            _ => Reason::Failed(error.to_string()),
        },
    }
}

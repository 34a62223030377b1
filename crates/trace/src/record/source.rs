//! Where records come from: the best tier that is allowed here.

use super::buffers::Traced;
use super::kept::Kept;
use super::recorded::Recorded;
use super::rings::Rings;
use super::{RecordError, RecordRequest, process, sampler};
use crate::decode::Tracepoint;
use model::trace::tier::Missing;
use model::trace::{Gap, NotRecorded, Tier, Topic};
use std::io;
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// Where records come from.
pub(super) enum RecordSource {
    Rings(Tier, Box<Rings>),
    Sampler,
}

impl RecordSource {
    /// The best tier that is possible, and why the better ones are not.
    pub(super) fn open_best_tier(
        traced: &Traced,
        request: &RecordRequest,
    ) -> Result<(RecordSource, Vec<Gap>), RecordError> {
        // Events of a thread for each CPU, and as many again of the machine.
        let _ = sys::process::allow_open_files(u64::MAX);
        let mut gaps = Vec::new();
        for tier in Tier::ALL {
            if request.tier.is_some_and(|wanted| wanted != tier) {
                continue;
            }
            let opened = match tier {
                Tier::Full => Rings::full(traced, request),
                Tier::OwnProcess => Rings::own(traced, request),
                Tier::Minimal => break,
            };
            let opened = opened.map_err(|reason| match (tier, reason, traced) {
                (Tier::OwnProcess, NotRecorded::Denied(_), &Traced::Process(id))
                    if process::is_of_another_user(id) =>
                {
                    NotRecorded::OtherUser
                }
                (_, reason, _) => reason,
            });
            match opened {
                Ok(rings) => return Ok((RecordSource::Rings(tier, Box::new(rings)), gaps)),
                Err(reason) if request.tier == Some(tier) => {
                    return Err(RecordError::Tier { tier, reason });
                }
                Err(reason) => gaps.push(Gap { of: Missing::Tier(tier), reason }),
            }
        }
        let asked =
            [(request.stacks.is_some(), Topic::Stacks), (request.usdt.is_some(), Topic::Probes)];
        for (_, topic) in asked.into_iter().filter(|(is_asked, _)| *is_asked) {
            gaps.push(Gap { of: Missing::Topic(topic), reason: NotRecorded::NotInTier });
        }
        Ok((RecordSource::Sampler, gaps))
    }

    pub(super) fn tier(&self) -> Tier {
        match self {
            RecordSource::Rings(tier, _) => *tier,
            RecordSource::Sampler => Tier::Minimal,
        }
    }

    /// Prepares a command to be recorded.
    pub(super) fn prepare(&self, command: &mut Command) -> io::Result<()> {
        match self {
            RecordSource::Rings(_, rings) => rings.prepare(command),
            RecordSource::Sampler => Ok(()),
        }
    }

    /// Whether it records interrupts, of which those of the timer are the most.
    pub(super) fn has_interrupts(&self) -> bool {
        match self {
            RecordSource::Rings(_, rings) => rings.samples.has(Tracepoint::Timer),
            RecordSource::Sampler => false,
        }
    }

    /// Collects records until `stop` is set. `seen` is called once the threads of `root` can end and be
    /// waited for without being missed.
    pub(super) fn collect(
        self,
        root: u32,
        traced: &Traced,
        from_ns: u64,
        stop: &AtomicBool,
        request: &RecordRequest,
        seen: &dyn Fn(),
    ) -> io::Result<Recorded> {
        let others = request.cpus.iter().copied();
        let others: Vec<u32> = others.filter(|&cpu| Some(cpu) != request.keep_off).collect();
        if request.keep_off.is_some() && !others.is_empty() {
            // It is no less of a recording on that CPU.
            let _ = sys::pin_to(&others);
        }
        Ok(match self {
            RecordSource::Rings(tier, rings) => {
                seen();
                let (samples, gaps) = (rings.samples.clone(), rings.gaps.clone());
                let ring_bytes = rings.ring_bytes();
                let probes = rings.probe_names();
                let kept = Kept::new(root, traced, request, samples.clone());
                Recorded::Records {
                    tier,
                    samples: Box::new(samples),
                    gaps,
                    ring_bytes,
                    probes,
                    collected: Box::new(rings.collect(stop, kept)?),
                }
            }
            RecordSource::Sampler => {
                Recorded::Samples(sampler::sample(root, traced, from_ns, stop, request, seen))
            }
        })
    }
}

//! The stretch that a trace covers.

use super::chain::Processor;
use model::trace::{Cpu, Interrupt, ServedFault, Switch, Thread};

/// The stretch that the trace covers. Times become those since its beginning.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) began_ns: u64,
    pub(super) to_ns: u64,
}

impl Window {
    fn clip(self, from_ns: u64, to_ns: u64) -> (u64, u64) {
        let [from, to] = [from_ns, to_ns].map(|at| at.clamp(self.began_ns, self.to_ns));
        (from - self.began_ns, to - self.began_ns)
    }

    pub(super) fn thread(self, mut thread: Thread) -> Thread {
        (thread.from_ns, thread.to_ns) = self.clip(thread.from_ns, thread.to_ns);
        thread.segments.retain_mut(|segment| {
            (segment.from_ns, segment.to_ns) = self.clip(segment.from_ns, segment.to_ns);
            segment.from_ns < segment.to_ns
        });
        let within = |at_ns: u64| (self.began_ns..=self.to_ns).contains(&at_ns);
        thread.calls.retain_mut(|call| {
            let kept = within(call.from_ns);
            (call.from_ns, call.to_ns) = self.clip(call.from_ns, call.to_ns);
            kept
        });
        thread.faults.retain_mut(|fault| {
            let kept = within(fault.at_ns);
            let to_ns = fault.served.map_or(fault.at_ns, |served| served.to_ns);
            let (at_ns, to_ns) = self.clip(fault.at_ns, to_ns);
            fault.at_ns = at_ns;
            fault.served = fault.served.map(|served| ServedFault { to_ns, ..served });
            kept
        });
        thread.signposts.retain_mut(|passed| {
            let kept = within(passed.from_ns);
            let (from_ns, to_ns) = self.clip(passed.from_ns, passed.to_ns.unwrap_or(0));
            passed.from_ns = from_ns;
            passed.to_ns = passed.to_ns.map(|_| to_ns);
            kept
        });
        thread.left.retain_mut(|left| {
            let kept = within(left.at_ns);
            (left.at_ns, _) = self.clip(left.at_ns, left.at_ns);
            kept
        });
        thread.maps.retain_mut(|map| {
            let kept = within(map.at_ns);
            (map.at_ns, _) = self.clip(map.at_ns, map.at_ns);
            kept
        });
        thread
    }

    pub(super) fn cpu(self, id: u32, cpu: Processor) -> Cpu {
        let within = |at_ns: u64| (self.began_ns..=self.to_ns).contains(&at_ns);
        let switches = cpu.switches.into_iter().filter(|s| within(s.at_ns));
        let interrupts = cpu.interrupts.into_iter().filter(|i| within(i.at_ns));
        let mut lost: Vec<(u64, u64)> = [cpu.breaks.as_slice(), cpu.lost.stretches()].concat();
        lost.sort_unstable();
        let lost = lost.into_iter().map(|(from, to)| self.clip(from, to));
        Cpu {
            id,
            switches: switches
                .map(|switch| Switch { at_ns: switch.at_ns - self.began_ns, ..switch })
                .collect(),
            interrupts: interrupts
                .map(|interrupt| Interrupt { at_ns: interrupt.at_ns - self.began_ns, ..interrupt })
                .collect(),
            lost: lost.filter(|(from, to)| from < to).collect(),
        }
    }
}

//! What each CPU did, for its lane.

use super::bytes::TimeStretch;
use model::trace::{Cpu, State, Trace};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Occupant {
    /// No record says.
    Unknown,
    /// Records are missing that would say.
    Lost,
    /// It runs a thread, traced or not; 0 is the idle task.
    Thread(u32),
    /// It runs no traced thread; others are not recorded.
    NotTraced,
}

/// What each CPU did, by its number.
pub(super) fn cpus(trace: &Trace) -> BTreeMap<u32, Vec<TimeStretch<Occupant>>> {
    match trace.cpus.is_empty() {
        true => of_threads(trace),
        false => {
            let cpus = trace.cpus.iter();
            cpus.map(|cpu| (cpu.id, of_switches(cpu, trace.duration_ns))).collect()
        }
    }
}

/// From each switch to the next one the thread that was switched in, but for
/// where records are missing.
fn of_switches(cpu: &Cpu, end_ns: u64) -> Vec<TimeStretch<Occupant>> {
    let mut lost = cpu.lost.clone();
    lost.sort_unstable();
    let mut lost = lost.into_iter().peekable();
    let ends = cpu.switches.iter().skip(1).map(|switch| switch.at_ns);
    let mut all = Vec::with_capacity(cpu.switches.len());
    for (switch, to_ns) in cpu.switches.iter().zip(ends.chain([end_ns])) {
        let mut at_ns = switch.at_ns;
        let mut push = |to_ns: u64, what| {
            let from_ns = at_ns;
            at_ns = at_ns.max(to_ns);
            all.push(TimeStretch { from_ns, to_ns, what });
        };
        while let Some(&(lost_ns, until_ns)) = lost.peek().filter(|(from_ns, _)| *from_ns < to_ns) {
            push(lost_ns, Occupant::Thread(switch.into));
            push(until_ns.min(to_ns), Occupant::Lost);
            if until_ns > to_ns {
                break;
            }
            lost.next();
        }
        push(to_ns, Occupant::Thread(switch.into));
    }
    all
}

/// Where no switches are kept: when the traced threads ran there.
fn of_threads(trace: &Trace) -> BTreeMap<u32, Vec<TimeStretch<Occupant>>> {
    let mut cpus: BTreeMap<u32, Vec<TimeStretch<Occupant>>> = BTreeMap::new();
    for thread in &trace.threads {
        for segment in &thread.segments {
            if let State::Running(cpu) = segment.state {
                cpus.entry(cpu).or_default().push(TimeStretch {
                    from_ns: segment.from_ns,
                    to_ns: segment.to_ns,
                    what: Occupant::Thread(thread.id),
                });
            }
        }
    }
    for stretches in cpus.values_mut() {
        stretches.sort_by_key(|stretch| stretch.from_ns);
        *stretches = super::bytes::contiguous(0, trace.duration_ns, stretches, Occupant::NotTraced);
    }
    cpus
}

//! Where the time of an operation went.

use super::Cause;
use super::quota::Quota;
use super::stretches::{overlap_ns, united, without};
use super::threads::Threads;
use crate::trace::{Cpu, InterruptKind, Segment, State, Tier, Trace, TracedRow};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Kinds of time that an operation consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TimePart {
    Running,
    /// In which something that has a name took the time.
    Of(Cause),
}

impl TimePart {
    /// The same of any thread.
    pub(super) fn class(self) -> TimePart {
        match self {
            TimePart::Of(Cause::Preempted(_)) => TimePart::Of(Cause::Preempted(None)),
            TimePart::Of(Cause::Queued(_)) => TimePart::Of(Cause::Queued(0)),
            TimePart::Of(Cause::Waits { call, .. }) => {
                TimePart::Of(Cause::Waits { call, by: None })
            }
            part => part,
        }
    }
}

/// Where the time of an operation went.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    pub(super) parts: BTreeMap<TimePart, u64>,
    pub(super) interrupts: BTreeMap<InterruptKind, u64>,
    pub(super) faults: u64,
    /// All of it ran on the CPU whose interrupts were counted.
    pub(super) is_counted: bool,
}

pub(super) struct Index<'t> {
    pub(super) threads: Threads<'t>,
    pub(super) cpus: HashMap<u32, &'t Cpu>,
    /// When there were interrupts, by CPU and kind.
    interrupts: HashMap<u32, BTreeMap<InterruptKind, Vec<u64>>>,
    /// By thread and time.
    pub(super) wakers: HashMap<(u32, u64), u32>,
    quota: Quota,
    /// When any thread ran, when none did and any had no quota left, and when none did and
    /// any was ready: where its wake-ups are not recorded.
    running: Vec<(u64, u64)>,
    throttled: Vec<(u64, u64)>,
    ready: Vec<(u64, u64)>,
    counted_cpu: Option<u32>,
    /// The threads that record, and read what the kernel counts.
    recorder: HashSet<u32>,
}

/// When a CPU had interrupts of each kind.
fn interrupts(cpu: &Cpu) -> BTreeMap<InterruptKind, Vec<u64>> {
    let mut by_kind: BTreeMap<InterruptKind, Vec<u64>> = BTreeMap::new();
    for interrupt in &cpu.interrupts {
        let times_ns = by_kind.entry(interrupt.kind).or_default();
        times_ns.push(interrupt.at_ns);
    }
    by_kind
}

/// The CPU that a thread had last in these states, which end where others begin.
pub(super) fn last_cpu_of(segments: &[Segment]) -> Option<u32> {
    /// Between two turns on a CPU lie few states: what lies further back says little.
    const FEW: usize = 8;
    let last = segments.iter().rev().take(FEW);
    last.map(|segment| segment.state).find_map(|state| match state {
        State::Running(cpu) => Some(cpu),
        _ => None,
    })
}

impl<'t> Index<'t> {
    pub(super) fn new(trace: &'t Trace, row: &TracedRow) -> Index<'t> {
        let cpus = trace.cpus_by_number();
        let quota = Quota::from_row(row, trace.cpus.len());
        let watcher = row.watch.as_ref().map(|watch| watch.thread);
        let is_partial = trace.tier != Tier::Full;
        // The thread that reads what the kernel counts does nothing for the row.
        let threads_of_row = trace.threads.iter();
        let threads_of_row =
            threads_of_row.filter(|thread| is_partial && Some(thread.id) != watcher);
        let segments: Vec<&Segment> = threads_of_row.flat_map(|t| &t.segments).collect();
        let of = |is_meant: fn(State) -> bool| {
            let segments = segments.iter().filter(move |s| is_meant(s.state));
            segments.map(|segment| (segment.from_ns, segment.to_ns))
        };
        let running = united(of(|state| matches!(state, State::Running(_))).collect());
        let ready = || of(|state| state == State::PreemptedOrYielded);
        // Not known of what another thread lacked: it may be the quota.
        let is_known = |&(from, to): &(u64, u64)| !quota.is_open(from, to);
        let throttled = ready().map(|(from, to)| (from, quota.used_up_until(from, to)));
        let throttled = without(&united(throttled.collect()), &running);
        let ready = without(&united(ready().filter(is_known).collect()), &running);
        let wakeups = trace.wakeups.iter();
        Index {
            threads: Threads::from_trace(trace),
            interrupts: cpus.iter().map(|(&id, cpu)| (id, interrupts(cpu))).collect(),
            cpus,
            wakers: wakeups
                .filter_map(|wakeup| Some(((wakeup.thread, wakeup.at_ns), wakeup.by?)))
                .collect(),
            quota,
            ready: without(&ready, &throttled),
            running,
            throttled,
            counted_cpu: row.watch.as_ref().map(|watch| watch.cpu),
            // The idle task is none of them.
            recorder: (trace.recorder.iter().copied().chain(watcher))
                .filter(|&id| id != 0)
                .collect(),
        }
    }

    /// Time of a stretch in which a thread does not run, where its wake-ups are not recorded:
    /// others of the process run, or are ready without a CPU; what is left is the result.
    fn others(&self, from_ns: u64, to_ns: u64, mut add: impl FnMut(TimePart, u64)) -> u64 {
        let mut left_ns = to_ns.saturating_sub(from_ns);
        for (stretches, part) in [
            (&self.running, TimePart::Running),
            (&self.throttled, TimePart::Of(Cause::Throttled)),
            (&self.ready, TimePart::Of(Cause::Preempted(None))),
        ] {
            let ns = overlap_ns(stretches, from_ns, to_ns);
            add(part, ns);
            left_ns = left_ns.saturating_sub(ns);
        }
        left_ns
    }

    /// A wait for a thread's CPU: what it is called where latlas itself has it.
    pub(super) fn wait_cause(&self, cause: Cause) -> Cause {
        match cause {
            Cause::Preempted(Some(id)) | Cause::Queued(id) if self.recorder.contains(&id) => {
                Cause::Recorder
            }
            cause => cause,
        }
    }

    /// Whether a thread is on a CPU just before a time.
    fn runs_until(&self, id: u32, at_ns: u64) -> bool {
        let segment = self.threads.before(id, at_ns).and_then(|thread| {
            let after = thread.segments.partition_point(|s| s.from_ns < at_ns);
            thread.segments.get(after.checked_sub(1)?)
        });
        segment.is_some_and(|s| s.to_ns >= at_ns && matches!(s.state, State::Running(_)))
    }

    pub(super) fn operation_path(&self, row: &TracedRow, number: usize) -> Path {
        let operation = &row.operations[number];
        let mut path = Path::default();
        let mut add = |part: TimePart, from_ns: u64, to_ns: u64| {
            *path.parts.entry(part).or_default() += to_ns.saturating_sub(from_ns);
        };
        let mut running: Vec<(u32, u32, u64, u64)> = Vec::new();
        let (mut id, mut at_ns) = (operation.thread, operation.to_ns);
        let mut last_cpu = None;
        // Wake-ups at one moment could lead in a circle.
        let mut handed_over_ns = None;
        while at_ns > operation.from_ns {
            let found = self.threads.before(id, at_ns).and_then(|thread| {
                let after = thread.segments.partition_point(|s| s.from_ns < at_ns);
                let (segment, before) = thread.segments[..after].split_last()?;
                Some((segment, before))
            });
            let Some((segment, before)) = found.filter(|(segment, _)| segment.to_ns >= at_ns)
            else {
                add(TimePart::Of(Cause::OffCpu), operation.from_ns, at_ns);
                break;
            };
            let cpu_before = last_cpu_of(before);
            let from_ns = segment.from_ns.max(operation.from_ns);
            // Without quota it is as if it were preempted, or ready; what comes after is.
            let until_ns = || {
                let until_ns = self.quota.used_up_until(segment.from_ns, segment.to_ns);
                until_ns.clamp(from_ns, at_ns)
            };
            match segment.state {
                State::Running(cpu) => {
                    last_cpu = Some(cpu);
                    running.push((id, cpu, from_ns, at_ns));
                    add(TimePart::Running, from_ns, at_ns);
                }
                // Of a thread that got another CPU than it had before, it is not recorded
                // which one it waited for.
                State::Runnable => {
                    let until_ns = until_ns();
                    add(TimePart::Of(Cause::Throttled), from_ns, until_ns);
                    match last_cpu {
                        Some(cpu) if cpu_before.is_none_or(|before| before == cpu) => {
                            for (by, ns) in self.ran(cpu, id, until_ns, at_ns) {
                                add(TimePart::Of(self.wait_cause(Cause::Queued(by))), 0, ns);
                            }
                        }
                        _ => add(TimePart::Of(Cause::OffCpu), until_ns, at_ns),
                    }
                }
                State::Preempted(0) => add(TimePart::Of(Cause::Throttled), from_ns, at_ns),
                State::Preempted(by) => {
                    // A thread of the row that has its CPU gets on with the operation.
                    let is_of_row = !self.recorder.contains(&by) && self.runs_until(by, at_ns);
                    if handed_over_ns != Some(at_ns) && is_of_row {
                        (id, handed_over_ns) = (by, Some(at_ns));
                        continue;
                    }
                    let until_ns = until_ns();
                    add(TimePart::Of(Cause::Throttled), from_ns, until_ns);
                    let is_throttled = until_ns > from_ns;
                    let cpu = cpu_before.filter(|&cpu| self.took(cpu, by, segment.from_ns));
                    let Some(cpu) = cpu else {
                        let cause = self.wait_cause(Cause::Preempted(Some(by)));
                        add(TimePart::Of(cause), until_ns, at_ns);
                        at_ns = from_ns;
                        continue;
                    };
                    // Others may have had the CPU after the one that took it.
                    for (ran, ns) in self.ran(cpu, id, until_ns, at_ns) {
                        let cause = match ran {
                            ran if ran == by && !is_throttled => Cause::Preempted(Some(by)),
                            0 => Cause::OffCpu,
                            other => Cause::Queued(other),
                        };
                        add(TimePart::Of(self.wait_cause(cause)), 0, ns);
                    }
                }
                State::PreemptedOrYielded => {
                    let left_ns = self.others(from_ns, at_ns, |part, ns| add(part, 0, ns));
                    let cause = match self.quota.is_open(segment.from_ns, segment.to_ns) {
                        true => Cause::OffCpu,
                        false => Cause::Preempted(None),
                    };
                    add(TimePart::Of(cause), 0, left_ns);
                }
                State::Stopped => add(TimePart::Of(Cause::Stopped), from_ns, at_ns),
                State::Blocked { .. } => {
                    let by = self.wakers.get(&(id, segment.to_ns)).copied();
                    let by = by.filter(|by| {
                        handed_over_ns != Some(at_ns) && self.threads.before(*by, at_ns).is_some()
                    });
                    if let Some(by) = by {
                        (id, handed_over_ns) = (by, Some(at_ns));
                        continue;
                    }
                    add(TimePart::Of(Cause::Blocked), from_ns, at_ns);
                }
                // Whom it waits for is not recorded: another thread of the process gets on,
                // or none does since one is ready without a CPU.
                State::BlockedOrRunnable => {
                    let left_ns = self.others(from_ns, at_ns, |part, ns| add(part, 0, ns));
                    add(TimePart::Of(Cause::OffCpu), 0, left_ns);
                }
                State::Yielded | State::Lost | State::Unknown => {
                    add(TimePart::Of(Cause::OffCpu), from_ns, at_ns);
                }
            }
            at_ns = from_ns;
        }
        path.is_counted = running.iter().all(|&(_, cpu, ..)| Some(cpu) == self.counted_cpu);
        for (id, cpu, from_ns, to_ns) in running {
            self.count_events(&mut path, (id, cpu), from_ns, to_ns);
        }
        path
    }

    /// Whether a thread got this CPU at this time.
    pub(super) fn took(&self, cpu: u32, id: u32, at_ns: u64) -> bool {
        self.cpus.get(&cpu).is_some_and(|cpu| {
            let at = cpu.switches.partition_point(|s| s.at_ns < at_ns);
            let switch = cpu.switches.get(at);
            switch.is_some_and(|s| s.at_ns == at_ns && s.into == id)
        })
    }

    /// What ran on a CPU in a stretch but this thread, and for how long.
    pub(super) fn ran(&self, cpu: u32, id: u32, from_ns: u64, to_ns: u64) -> Vec<(u32, u64)> {
        let Some(cpu) = self.cpus.get(&cpu) else {
            return Vec::new();
        };
        let mut at = cpu.switches.partition_point(|s| s.at_ns <= from_ns);
        let mut now_ns = from_ns;
        let mut ran = Vec::new();
        while now_ns < to_ns {
            let next = cpu.switches.get(at);
            let end_ns = next.map_or(to_ns, |switch| switch.at_ns.clamp(now_ns, to_ns));
            // Before the first switch it is the one that is switched out there.
            let before = at.checked_sub(1).and_then(|at| cpu.switches.get(at));
            let runs = before.map(|switch| switch.into).or(next.map(|switch| switch.out));
            let runs = runs.filter(|&runs| runs != id).unwrap_or(0);
            ran.push((runs, end_ns - now_ns));
            (now_ns, at) = (end_ns, at + 1);
        }
        ran
    }

    /// Interrupts and faults while a thread ran.
    fn count_events(&self, path: &mut Path, (id, cpu): (u32, u32), from_ns: u64, to_ns: u64) {
        for (&kind, times_ns) in self.interrupts.get(&cpu).into_iter().flatten() {
            let before = |end_ns: u64| times_ns.partition_point(|&at_ns| at_ns < end_ns);
            let count = before(to_ns).saturating_sub(before(from_ns)) as u64;
            if count > 0 {
                *path.interrupts.entry(kind).or_default() += count;
            }
        }
        if let Some(thread) = self.threads.before(id, to_ns) {
            let before = |end_ns: u64| thread.faults.partition_point(|fault| fault.at_ns < end_ns);
            path.faults += before(to_ns).saturating_sub(before(from_ns)) as u64;
        }
    }
}

//! Why spans that a program marked took longer than most of the same name. Each is explained by what its own
//! thread did: what it waited for is a cause, not a way to go back.

use super::path::{Index, Path, TimePart, last_cpu_of};
use super::usual::Usual;
use super::{Cause, LEAST, Prices, Slow, Tails, slowest_count};
use crate::trace::row::TracedOperation;
use crate::trace::{Segment, State, Thread, Trace, TracedRow};
use std::collections::BTreeMap;

/// Of fewer spans of a name, none is called slow unless that is asked.
const FEWEST: usize = 2 * LEAST;

/// Which spans are slow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Over {
    /// Longer than this share of all.
    Share(f64),
    /// Longer than this, in ns.
    Ns(u64),
}

/// The spans of a name that ended, in the order of their beginnings, and how many did not end.
pub fn spans_named(trace: &Trace, name: &str) -> (Vec<TracedOperation>, usize) {
    let mut spans = Vec::new();
    let mut unfinished = 0;
    for (place, span) in ended_spans(trace, |_| true) {
        let is_it = trace.signpost_names.get(place as usize).is_some_and(|known| known == name);
        match span {
            _ if !is_it => {}
            Some(span) => spans.push(span),
            None => unfinished += 1,
        }
    }
    spans.sort_by_key(|span| (span.from_ns, span.to_ns));
    (spans, unfinished)
}

/// The spans of threads with their names; `None` of one that ends with its thread or the trace, since it did not end.
fn ended_spans(
    trace: &Trace,
    is_meant: fn(&&Thread) -> bool,
) -> impl Iterator<Item = (u32, Option<TracedOperation>)> {
    trace.threads.iter().filter(is_meant).flat_map(|thread| {
        let end_ns = thread.to_ns.min(trace.duration_ns);
        let spans =
            thread.signposts.iter().filter_map(|signpost| Some((signpost, signpost.to_ns?)));
        spans.map(move |(signpost, to_ns)| {
            let span = TracedOperation { from_ns: signpost.from_ns, to_ns, thread: thread.id };
            (signpost.name, (to_ns < end_ns).then_some(span))
        })
    })
}

/// Explains the slow ones of spans; `None` without any.
pub fn span_tails(trace: &Trace, spans: &[TracedOperation], over: Over) -> Option<Tails> {
    explained(&Index::new(trace, &TracedRow::default()), spans, Some(over))
}

/// Explains the slowest spans of each name that has enough of them, where it is recorded what threads did.
pub(super) fn tails_by_name(trace: &Trace) -> Vec<Tails> {
    let has_states =
        |thread: &&Thread| thread.segments.iter().any(|segment| segment.state != State::Unknown);
    let mut by_name: BTreeMap<u32, Vec<TracedOperation>> = BTreeMap::new();
    for (name, span) in ended_spans(trace, has_states) {
        by_name.entry(name).or_default().extend(span);
    }
    by_name.retain(|_, spans| spans.len() >= FEWEST);
    if by_name.is_empty() {
        return Vec::new();
    }
    let index = Index::new(trace, &TracedRow::default());
    let tails = by_name.into_iter().filter_map(|(name, mut spans)| {
        spans.sort_by_key(|span| (span.from_ns, span.to_ns));
        let name = trace.signpost_names.get(name as usize).cloned();
        Some(Tails { name, ..explained(&index, &spans, None)? })
    });
    let mut tails: Vec<Tails> = tails.filter(|tails| !tails.slow.is_empty()).collect();
    tails.sort_by(|a, b| b.excess_ns().total_cmp(&a.excess_ns()));
    tails
}

/// Explains those over a limit, or the slowest ones.
fn explained(index: &Index<'_>, spans: &[TracedOperation], over: Option<Over>) -> Option<Tails> {
    let length_ns = |at: usize| spans[at].duration_ns();
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(length_ns(at)));
    let median_ns = length_ns(*order.get(order.len().checked_sub(1)? / 2)?);
    let limit_ns = match over {
        Some(Over::Ns(limit_ns)) => limit_ns,
        Some(Over::Share(share)) => {
            let rank = (share * order.len() as f64).ceil().max(1.0) as usize;
            length_ns(order[order.len() - rank.min(order.len())])
        }
        None => length_ns(order[slowest_count(order.len())]),
    };
    order.truncate(order.partition_point(|&at| length_ns(at) > limit_ns));
    let paths: Vec<Path> = spans.iter().map(|span| index.span_path(span)).collect();
    let usual = Usual::from_paths(&paths.iter().collect::<Vec<_>>());
    let prices = Prices { interrupts: &BTreeMap::new(), fault_ns: 0 };
    let slow = order.into_iter().map(|number| {
        let excess_ns = length_ns(number) as f64 - median_ns as f64;
        let causes = usual.causes(&paths[number], excess_ns, &prices, |_| Vec::new());
        Slow { number, operation: spans[number], excess_ns, causes }
    });
    Some(Tails {
        name: None,
        operations: spans.len(),
        median_ns,
        limit_ns,
        slow: slow.filter(|slow| slow.excess_ns > 0.0).collect(),
    })
}

impl Index<'_> {
    /// Where the time of a span went, on its thread.
    fn span_path(&self, span: &TracedOperation) -> Path {
        let mut path = Path::default();
        let mut known_ns = 0;
        let thread = self.threads.before(span.thread, span.to_ns);
        if let Some(thread) = thread {
            let first = thread.segments.partition_point(|s| s.to_ns <= span.from_ns);
            for (at, segment) in thread.segments.iter().enumerate().skip(first) {
                if segment.from_ns >= span.to_ns {
                    break;
                }
                let from_ns = segment.from_ns.max(span.from_ns);
                let to_ns = segment.to_ns.min(span.to_ns);
                known_ns += to_ns.saturating_sub(from_ns);
                self.add_state(&mut path, thread, at, (from_ns, to_ns));
            }
        }
        let missing_ns = span.duration_ns().saturating_sub(known_ns);
        add(&mut path, Cause::Unrecorded, missing_ns);
        path
    }

    /// Adds the part of a state that lies in a span.
    fn add_state(&self, path: &mut Path, thread: &Thread, at: usize, (from_ns, to_ns): (u64, u64)) {
        let Segment { from_ns: began_ns, to_ns: ended_ns, state } = thread.segments[at];
        let ns = to_ns.saturating_sub(from_ns);
        let cpu_before = last_cpu_of(&thread.segments[..at]);
        let call = || call_at(thread, began_ns);
        // Who had the CPU meanwhile; while none had it, the queue is not recorded.
        let ran = |path: &mut Path, cpu: u32, first: Option<u32>| {
            if !self.cpus.contains_key(&cpu) {
                return add(path, Cause::Runnable, ns);
            }
            for (by, ns) in self.ran(cpu, thread.id, from_ns, to_ns) {
                let cause = match by {
                    0 => Cause::Runnable,
                    by if Some(by) == first => Cause::Preempted(Some(by)),
                    by => Cause::Queued(by),
                };
                add(path, self.wait_cause(cause), ns);
            }
        };
        match state {
            State::Running(_) => add_running(path, thread, from_ns, to_ns),
            State::Runnable => {
                let next = thread.segments.get(at + 1).map(|segment| segment.state);
                match (next, cpu_before) {
                    (Some(State::Running(cpu)), None) => ran(path, cpu, None),
                    (Some(State::Running(cpu)), Some(before)) if cpu == before => {
                        ran(path, cpu, None);
                    }
                    _ => add(path, Cause::Runnable, ns),
                }
            }
            State::Preempted(0) => add(path, Cause::Throttled, ns),
            State::Preempted(by) => match cpu_before.filter(|&cpu| self.took(cpu, by, began_ns)) {
                Some(cpu) => ran(path, cpu, Some(by)),
                None => add(path, self.wait_cause(Cause::Preempted(Some(by))), ns),
            },
            State::PreemptedOrYielded => match cpu_before.filter(|cpu| self.cpus.contains_key(cpu))
            {
                Some(cpu) => ran(path, cpu, None),
                None => add(path, Cause::Preempted(None), ns),
            },
            State::Yielded => add(path, Cause::Yielded, ns),
            State::Blocked { call, .. } => {
                let by = self.wakers.get(&(thread.id, ended_ns)).copied();
                add(path, Cause::Waits { call, by }, ns);
            }
            State::BlockedOrRunnable => add(path, Cause::WaitsOrRunnable(call()), ns),
            State::Stopped => add(path, Cause::Stopped, ns),
            State::Lost | State::Unknown => add(path, Cause::Unrecorded, ns),
        }
    }
}

fn add(path: &mut Path, cause: Cause, ns: u64) {
    if ns > 0 {
        *path.parts.entry(TimePart::Of(cause)).or_default() += ns;
    }
}

/// The system call that a thread is in at a time.
fn call_at(thread: &Thread, at_ns: u64) -> Option<u32> {
    let after = thread.calls.partition_point(|call| call.to_ns <= at_ns);
    let call = thread.calls.get(after)?;
    (call.from_ns <= at_ns).then_some(call.number)
}

/// Time on a CPU: in page faults, in system calls, and in neither.
fn add_running(path: &mut Path, thread: &Thread, from_ns: u64, to_ns: u64) {
    let mut own_ns = to_ns.saturating_sub(from_ns);
    // Faults lie in calls or outside of them.
    let served = |from_ns: u64, to_ns: u64| {
        let first = thread.faults.partition_point(|fault| fault.at_ns < from_ns);
        let before = first.saturating_sub(1);
        let faults = thread.faults[before..].iter().take_while(move |fault| fault.at_ns < to_ns);
        let spans = faults.filter_map(|fault| Some((fault.at_ns, fault.served?.to_ns)));
        spans.map(|(from, to)| to.min(to_ns).saturating_sub(from.max(from_ns))).sum::<u64>()
    };
    let faults_ns = served(from_ns, to_ns);
    own_ns = own_ns.saturating_sub(faults_ns);
    add(path, Cause::Faults, faults_ns);
    let first = thread.calls.partition_point(|call| call.to_ns <= from_ns);
    for call in thread.calls[first..].iter().take_while(|call| call.from_ns < to_ns) {
        let (from, to) = (call.from_ns.max(from_ns), call.to_ns.min(to_ns));
        let ns = to.saturating_sub(from).saturating_sub(served(from, to));
        add(path, Cause::Call(call.number), ns);
        own_ns = own_ns.saturating_sub(ns);
    }
    *path.parts.entry(TimePart::Running).or_default() += own_ns;
}

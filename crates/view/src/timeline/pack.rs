//! A trace as a page carries it: names as JSON, everything that is many as
//! variable-length numbers in one compressed block. `browser/data.js` reads it.

use super::bytes::{Bytes, Dictionary, TimeStretch, contiguous};
use super::cpus::{Occupant, cpus};
use super::lanes::Lanes;
use crate::render::trace::{SlowSlice, slow_slices};
use model::printable::visible;
use model::trace::stacks::Node;
use model::trace::{Access, MemoryOperation, MemorySpan, State, StateKind, Thread, Trace, Wakeup};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

pub(super) struct Packed {
    /// JSON that can stand in a page.
    pub head: String,
    /// Base64 of what zlib made of the numbers.
    pub data: String,
}

#[derive(Serialize)]
struct Head<'t> {
    duration_ns: u64,
    /// Names of [`StateKind::ALL`].
    kinds: Vec<&'static str>,
    /// What the numbers of states stand for: kind, detail, uninterruptible.
    states: Vec<(usize, Option<u32>, bool)>,
    /// What the numbers of a CPU's lane stand for.
    occupants: Vec<Occupant>,
    /// What the numbers of wake-ups stand for: by whom, on which CPU.
    wakers: Vec<(Option<u32>, u32)>,
    /// Names of threads, traced or not.
    names: BTreeMap<u32, String>,
    calls: BTreeMap<u32, String>,
    /// Names of [`MemoryOperation::ALL`].
    memory: Vec<&'static str>,
    signposts: Vec<String>,
    /// Names of functions,
    frames: Vec<String>,
    /// and stacks: a function with the stack of its caller.
    stacks: &'t [Node],
    threads: Vec<ThreadHead>,
    cpus: Vec<u32>,
    /// Slow operations: thread, from, to, and why.
    slow: Vec<(u32, u64, u64, String)>,
    /// The part that is shown first, in ns.
    shown: (u64, u64),
}

#[derive(Serialize)]
struct ThreadHead {
    id: u32,
    process: u32,
    name: String,
    created_by: Option<u32>,
    from_ns: u64,
    to_ns: u64,
    ended: bool,
}

pub(super) fn pack(trace: &Trace, shown: (u64, u64)) -> Packed {
    let mut bytes = Bytes::default();
    let mut states = Dictionary::default();
    let mut wakers = Dictionary::default();
    let wakeups = wakeups(trace);
    let by_id = wakeups.iter().map(|(&id, all)| (id, all.as_slice()));
    let mut left: HashMap<u32, &[Wakeup]> = by_id.collect();
    let lanes = Lanes::new(trace.memory_spans().map(|(one, spans)| {
        let filled = thread((one, &spans), &mut states, &mut bytes);
        // Numbers are used again: each wake-up belongs to one thread only.
        let of_number = left.entry(one.id).or_default();
        let (of_it, others) =
            of_number.split_at(of_number.partition_point(|w| w.at_ns <= one.to_ns));
        woken(of_it, &filled, &mut wakers, &mut bytes);
        *of_number = others;
        (one.id, filled)
    }));
    let mut occupants = Dictionary::default();
    let cpus = cpus(trace);
    for (&cpu, stretches) in &cpus {
        let filled = contiguous(0, trace.duration_ns, stretches, Occupant::Unknown);
        cpu_lane(cpu, &filled, &lanes, &mut occupants, &mut bytes);
    }
    let others = trace.other_names.iter().map(|(id, name)| (*id, name));
    let traced = trace.threads.iter().map(|thread| (thread.id, &thread.name));
    let frames = trace.stacks.frames.iter();
    let head = Head {
        duration_ns: trace.duration_ns,
        kinds: StateKind::ALL.map(StateKind::name).into(),
        states: states.values().map(state).collect(),
        occupants: occupants.values().collect(),
        wakers: wakers.values().collect(),
        names: packed_names(others.chain(traced)),
        calls: packed_names(trace.call_names.iter().map(|(number, name)| (*number, name))),
        memory: MemoryOperation::ALL.map(MemoryOperation::name).into(),
        signposts: trace.signpost_names.iter().map(|name| visible(name)).collect(),
        frames: frames.map(|frame| visible(&trace.stacks.frame_name(frame))).collect(),
        stacks: &trace.stacks.nodes,
        threads: trace.threads.iter().map(thread_head).collect(),
        cpus: cpus.keys().copied().collect(),
        slow: slow(trace),
        shown,
    };
    let head = serde_json::to_string(&head).unwrap_or_default();
    Packed {
        // No text of a document ends the element that it stands in.
        head: head.replace('<', "\\u003c"),
        data: bytes.packed(),
    }
}

fn slow(trace: &Trace) -> Vec<(u32, u64, u64, String)> {
    let each = slow_slices(trace).into_iter();
    each.map(|SlowSlice { slice, text }| (slice.thread, slice.from_ns, slice.to_ns, text)).collect()
}

fn packed_names<'t>(names: impl Iterator<Item = (u32, &'t String)>) -> BTreeMap<u32, String> {
    names.map(|(number, name)| (number, visible(name))).collect()
}

/// The detail of a state, and whether signals can't end it.
fn state(state: State) -> (usize, Option<u32>, bool) {
    let kind = state.kind() as usize;
    match state {
        State::Running(detail) | State::Preempted(detail) => (kind, Some(detail), false),
        State::Blocked { call, uninterruptible } => (kind, call, uninterruptible),
        _ => (kind, None, false),
    }
}

fn thread_head(thread: &Thread) -> ThreadHead {
    ThreadHead {
        id: thread.id,
        process: thread.process,
        name: visible(&thread.name),
        created_by: thread.created_by,
        from_ns: thread.from_ns,
        to_ns: thread.to_ns,
        ended: thread.ended,
    }
}

/// All of a thread; what its lane shows.
fn thread(
    (thread, spans): (&Thread, &[MemorySpan]),
    states: &mut Dictionary<State>,
    bytes: &mut Bytes,
) -> Vec<TimeStretch<State>> {
    let segments = thread.segments.iter();
    let segments = segments.map(|segment| TimeStretch {
        from_ns: segment.from_ns,
        to_ns: segment.to_ns,
        what: segment.state,
    });
    // A thread of which only sums are known has no states.
    let segments: Vec<_> = segments.collect();
    let filled = match segments.is_empty() {
        true => Vec::new(),
        false => contiguous(thread.from_ns, thread.to_ns, &segments, State::Unknown),
    };
    bytes.stretches(&filled, states);
    bytes.times(thread.samples.iter().map(|sample| sample.at_ns));
    bytes.times(thread.samples.iter().map(|sample| sample.running_ns));
    bytes.times(thread.faults.iter().map(|fault| fault.at_ns));
    calls(thread, bytes);
    memory(spans, bytes);
    signposts(thread, bytes);
    stacks(thread, &filled, bytes);
    filled
}

/// Begins, durations and numbers; then what is read of one call only, when it is
/// looked at.
fn calls(thread: &Thread, bytes: &mut Bytes) {
    let mut calls: Vec<_> = thread.calls.iter().collect();
    calls.sort_by_key(|call| call.from_ns);
    bytes.times(calls.iter().map(|call| call.from_ns));
    for call in &calls {
        bytes.number(call.to_ns.saturating_sub(call.from_ns));
    }
    for call in &calls {
        bytes.number(call.number.into());
    }
    let mut details = Bytes::default();
    for call in &calls {
        for argument in call.arguments {
            details.number(argument);
        }
        details.number(u64::from(call.returned.is_some()));
        details.number(call.returned.unwrap_or(0).cast_unsigned());
    }
    bytes.within(&details);
}

/// Begins, durations (0: not known, else one more) and operations; then what is read of one only.
fn memory(spans: &[MemorySpan], bytes: &mut Bytes) {
    bytes.times(spans.iter().map(|span| span.from_ns));
    for span in spans {
        let lasts_ns = span.to_ns.map(|to_ns| to_ns.saturating_sub(span.from_ns));
        bytes.number(lasts_ns.map_or(0, |ns| ns.saturating_add(1)));
    }
    for span in spans {
        bytes.number(span.operation as u64);
    }
    let mut details = Bytes::default();
    for span in spans {
        let access = match span.access {
            // Calls of the allocator have no address.
            _ if MemoryOperation::OF_HEAP.contains(&span.operation) => 4,
            Access::Read => 0,
            Access::Write => 1,
            Access::Execute => 2,
            Access::Unknown => 3,
        };
        for number in [access, span.address, span.bytes.map_or(0, |bytes| bytes.saturating_add(1))]
        {
            details.number(number);
        }
    }
    bytes.within(&details);
}

/// Begin, duration (0: a moment, else one more), name; the outer ones first.
fn signposts(thread: &Thread, bytes: &mut Bytes) {
    let mut signposts: Vec<_> = thread.signposts.iter().collect();
    signposts.sort_by_key(|one| (one.from_ns, std::cmp::Reverse(one.to_ns)));
    bytes.times(signposts.iter().map(|one| one.from_ns));
    for one in signposts {
        let lasts_ns = one.to_ns.map(|to_ns| to_ns.saturating_sub(one.from_ns));
        bytes.number(lasts_ns.map_or(0, |ns| ns.saturating_add(1)));
        bytes.number(one.name.into());
    }
}

/// Stretches of the lane that have a stack, and these.
fn stacks(thread: &Thread, lane: &[TimeStretch<State>], bytes: &mut Bytes) {
    let segments = thread.segments.iter().zip(thread.stacks());
    let found = segments.filter_map(|(segment, stack)| {
        let stack = stack?;
        let place = lane.binary_search_by_key(&segment.from_ns, |one| one.from_ns);
        Some((place.ok()? as u64, stack))
    });
    let found: Vec<(u64, u32)> = found.collect();
    bytes.times(found.iter().map(|(place, _)| *place));
    for (_, stack) in found {
        bytes.number(stack.into());
    }
}

/// Wake-ups by the thread that was woken, in the order of their time.
fn wakeups(trace: &Trace) -> HashMap<u32, Vec<Wakeup>> {
    let mut by_thread: HashMap<u32, Vec<Wakeup>> = HashMap::new();
    for wakeup in &trace.wakeups {
        by_thread.entry(wakeup.thread).or_default().push(*wakeup);
    }
    for wakeups in by_thread.values_mut() {
        wakeups.sort_by_key(|wakeup| wakeup.at_ns);
    }
    by_thread
}

/// Wake-ups of a thread: most begin a stretch of its lane and are told by its place,
/// the others by their time.
fn woken(
    wakeups: &[Wakeup],
    lane: &[TimeStretch<State>],
    wakers: &mut Dictionary<(Option<u32>, u32)>,
    bytes: &mut Bytes,
) {
    let place = |wakeup: &Wakeup| lane.binary_search_by_key(&wakeup.at_ns, |one| one.from_ns);
    let (begin, other): (Vec<_>, Vec<_>) = wakeups.iter().partition(|one| place(one).is_ok());
    let places: Vec<u64> =
        begin.iter().filter_map(|one| place(one).ok().map(|place| place as u64)).collect();
    bytes.times(places.into_iter());
    bytes.times(other.iter().map(|one| one.at_ns));
    for one in begin.iter().chain(&other) {
        bytes.number(wakers.number((one.by, one.cpu)));
    }
}

/// What is so on a CPU, stretch by stretch; the length only of those that are not
/// a stretch of a thread's own lane.
fn cpu_lane(
    cpu: u32,
    stretches: &[TimeStretch<Occupant>],
    lanes: &Lanes,
    occupants: &mut Dictionary<Occupant>,
    bytes: &mut Bytes,
) {
    let of_lane = |one: &TimeStretch<Occupant>| match one.what {
        Occupant::Thread(id) => lanes.running(id, cpu, one.from_ns),
        _ => None,
    };
    bytes.number(stretches.len() as u64);
    let mut lengths = Bytes::default();
    for one in stretches {
        let is_own = of_lane(one).is_some_and(|own| own.to_ns == one.to_ns);
        bytes.number(occupants.number(one.what) * 2 + u64::from(is_own));
        if !is_own {
            lengths.number(one.to_ns - one.from_ns);
        }
    }
    bytes.within(&lengths);
}

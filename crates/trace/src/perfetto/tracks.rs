//! What lies on the tracks of threads: slices and instants.

use super::field::{annotation, clocks, defaults, descriptor, event, interned, packet};
use super::{MONOTONIC_RAW, NEEDS_STATE, SEQUENCE, STATE_CLEARED, Writer};
use crate::protobuf::Message;
use model::trace::{Call, State, Thread, Trace};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::io;

/// The clock of a thread's sequence: each stamp is the time since that before.
const SINCE_BEFORE: u64 = 64;
/// `TrackEvent.Type`.
pub(super) const BEGIN: u64 = 1;
pub(super) const END: u64 = 2;
const INSTANT: u64 = 3;
/// Tracks of signposts, for each thread as many as are used.
const FIRST_SIGNPOST_TRACK: u64 = 1 << 41;
/// The most of a thread: no program overlaps so many.
const SIGNPOST_TRACKS: usize = 256;
/// Names of annotations; their numbers are their places from 1 on.
const ANNOTATIONS: [&str; 5] = ["arg0", "arg1", "arg2", "returned", "address"];

/// A slice's begin or end, or an instant.
pub(super) struct TrackEvent<'a> {
    at_ns: u64,
    kind: u64,
    track: u64,
    /// Empty at an end.
    name: Cow<'a, str>,
    /// Places in [`ANNOTATIONS`], and values.
    annotations: Annotations,
}

#[derive(Clone, Copy, Default)]
struct Annotations {
    values: [(usize, u64); 3],
    count: usize,
}

impl Annotations {
    fn from_values(values: &[(usize, u64)]) -> Annotations {
        let mut all = Annotations::default();
        for (to, value) in all.values.iter_mut().zip(values) {
            *to = *value;
            all.count += 1;
        }
        all
    }
}

impl<'a> Writer<'a> {
    /// A thread's calls, faults and, where Perfetto can't derive them, states.
    pub(super) fn thread(&mut self, index: usize, thread: &Thread) -> io::Result<()> {
        // Each thread has two tracks.
        let track = 2 * index as u64 + 1;
        let states = track + 1;
        self.describe(track, |one| {
            let mut fields = Message::default();
            fields
                .number(descriptor::THREAD_PID, thread.process.into())
                .number(descriptor::THREAD_TID, thread.id.into())
                .text(descriptor::THREAD_NAME, &thread.name);
            one.message(descriptor::THREAD, &fields);
        })?;
        if self.trace.cpus.is_empty() {
            self.describe(states, |one| {
                one.text(descriptor::NAME, "state").number(descriptor::PARENT, track);
            })?;
        }
        let mut events = self.signposts(index, track, thread)?;
        if self.trace.cpus.is_empty() {
            for segment in &thread.segments {
                let name = self.state_name(segment.state);
                events.push(track_event(segment.from_ns, BEGIN, states, name));
                events.push(track_event(segment.to_ns, END, states, ""));
            }
        }
        for call in &thread.calls {
            events.extend(call_events(self.trace, track, call));
        }
        for fault in &thread.faults {
            let begins = if fault.served.is_some() { BEGIN } else { INSTANT };
            events.push(TrackEvent {
                annotations: Annotations::from_values(&[(ADDRESS, fault.address)]),
                ..track_event(fault.at_ns, begins, track, "page fault")
            });
            if let Some(served) = fault.served {
                events.push(track_event(served.to_ns, END, track, ""));
            }
        }
        // Those of a track are in their order, also at the same time.
        events.sort_by_key(|event| event.at_ns);
        if let Some(first) = events.first() {
            self.begin_sequence(SEQUENCE + 1 + index as u64, track, first.at_ns)?;
        }
        events.iter().try_for_each(|event| self.event(event))
    }

    /// From here on events are on this track and stamped since the one before.
    fn begin_sequence(&mut self, sequence: u64, track: u64, at_ns: u64) -> io::Result<()> {
        self.sequence = sequence;
        self.track = track;
        self.last_ns = Some(at_ns);
        self.names.clear();
        self.arguments = false;
        let mut snapshot = Message::default();
        for (id, incremental) in [(MONOTONIC_RAW, 0), (SINCE_BEFORE, 1)] {
            let mut clock = Message::default();
            clock
                .number(clocks::ID, id)
                .number(clocks::TIMESTAMP, self.raw_ns(at_ns))
                .number(clocks::INCREMENTAL, incremental);
            snapshot.message(clocks::CLOCK, &clock);
        }
        snapshot.number(clocks::PRIMARY, MONOTONIC_RAW);
        let mut track_event = Message::default();
        track_event.number(defaults::TRACK, track);
        let mut default = Message::default();
        default.number(defaults::CLOCK, SINCE_BEFORE).message(defaults::TRACK_EVENT, &track_event);
        self.packet
            .message(packet::CLOCK_SNAPSHOT, &snapshot)
            .number(packet::SEQUENCE, sequence)
            .number(packet::SEQUENCE_FLAGS, STATE_CLEARED)
            .message(packet::DEFAULTS, &default);
        self.send()
    }

    /// Signposts, and calls of the allocator, which are stamped as these are. Slices of a track nest: what overlaps without nesting has another track.
    fn signposts(
        &mut self,
        index: usize,
        parent: u64,
        thread: &Thread,
    ) -> io::Result<Vec<TrackEvent<'a>>> {
        let trace = self.trace;
        let mut events = Vec::new();
        let first = FIRST_SIGNPOST_TRACK + (SIGNPOST_TRACKS * index) as u64;
        // For each track, the ends of its open slices.
        let mut tracks: Vec<Vec<u64>> = Vec::new();
        let signposts = thread.signposts.iter();
        let signposts =
            signposts.map(|one| (one.from_ns, one.to_ns, trace.signpost_name(one).unwrap_or("?")));
        let heap = thread.heap.iter();
        let heap = heap.map(|call| (call.from_ns, call.to_ns, call.operation.name()));
        let mut all: Vec<(u64, Option<u64>, &str)> = signposts.chain(heap).collect();
        all.sort_by_key(|&(from_ns, to_ns, _)| (from_ns, Reverse(to_ns)));
        for (from_ns, to_ns, name) in all {
            for (open, track) in tracks.iter_mut().zip(first..) {
                while let Some(end_ns) = open.pop_if(|end_ns| *end_ns <= from_ns) {
                    events.push(track_event(end_ns, END, track, ""));
                }
            }
            let end_ns = to_ns.unwrap_or(from_ns);
            let nests = |open: &Vec<u64>| open.last().is_none_or(|&around| end_ns <= around);
            let at = tracks.iter().position(nests).unwrap_or(tracks.len());
            let at = at.min(SIGNPOST_TRACKS - 1);
            let track = first + at as u64;
            if at == tracks.len() {
                tracks.push(Vec::new());
                self.describe(track, |one| {
                    one.text(descriptor::NAME, "signposts").number(descriptor::PARENT, parent);
                })?;
            }
            match to_ns {
                None => events.push(track_event(from_ns, INSTANT, track, name)),
                Some(end_ns) => {
                    events.push(track_event(from_ns, BEGIN, track, name));
                    tracks[at].push(end_ns);
                }
            }
        }
        for (open, track) in tracks.iter_mut().zip(first..) {
            while let Some(end_ns) = open.pop() {
                events.push(track_event(end_ns, END, track, ""));
            }
        }
        Ok(events)
    }

    fn state_name(&self, state: State) -> String {
        match state {
            State::Running(cpu) => format!("running on CPU {cpu}"),
            other => other.kind().name().to_owned(),
        }
    }

    pub(super) fn event(&mut self, one: &TrackEvent<'_>) -> io::Result<()> {
        let mut new = Message::default();
        let mut fields = Message::default();
        fields.number(event::TYPE, one.kind);
        if one.track != self.track {
            fields.number(event::TRACK, one.track);
        }
        if !one.name.is_empty() {
            let next = self.names.len() as u64 + 1;
            let known = self.names.get(&*one.name).copied();
            fields.number(event::NAME_IID, known.unwrap_or(next));
            if known.is_none() {
                self.names.insert(one.name.to_string(), next);
                let mut entry = Message::default();
                entry.number(interned::IID, next).text(interned::NAME, &one.name);
                new.message(interned::EVENT_NAMES, &entry);
            }
        }
        let annotations = &one.annotations.values[..one.annotations.count];
        if !annotations.is_empty() && !std::mem::replace(&mut self.arguments, true) {
            for (id, name) in (1..).zip(ANNOTATIONS) {
                let mut entry = Message::default();
                entry.number(interned::IID, id).text(interned::NAME, name);
                new.message(interned::ANNOTATION_NAMES, &entry);
            }
        }
        for &(place, value) in annotations {
            let mut one = Message::default();
            one.number(annotation::NAME_IID, place as u64 + 1);
            match place {
                RETURNED => one.number(annotation::INT, value),
                _ => one.number(annotation::UINT, value),
            };
            fields.message(event::ANNOTATION, &one);
        }
        let raw_ns = self.raw_ns(one.at_ns);
        let stamp = match &mut self.last_ns {
            Some(last_ns) => one.at_ns - std::mem::replace(last_ns, one.at_ns),
            None => raw_ns,
        };
        self.packet
            .number(packet::TIMESTAMP, stamp)
            .number(packet::SEQUENCE, self.sequence)
            .number(packet::SEQUENCE_FLAGS, NEEDS_STATE)
            .message(packet::TRACK_EVENT, &fields);
        if !new.bytes().is_empty() {
            self.packet.message(packet::INTERNED_DATA, &new);
        }
        self.send()
    }
}

/// A system call's begin and end.
fn call_events<'a>(trace: &'a Trace, track: u64, call: &Call) -> [TrackEvent<'a>; 2] {
    let named = trace.call_names.get(&call.number);
    let name = named.map(|name| Cow::from(name.as_str()));
    let name = name.unwrap_or_else(|| format!("call {}", call.number).into());
    let [first, second, third] = call.arguments;
    let arguments = [(0, first), (1, second), (2, third)];
    let returned = call.returned.map(|value| (RETURNED, value.cast_unsigned()));
    [
        TrackEvent {
            annotations: Annotations::from_values(&arguments),
            ..track_event(call.from_ns, BEGIN, track, name)
        },
        TrackEvent {
            annotations: Annotations::from_values(returned.as_slice()),
            ..track_event(call.to_ns, END, track, "")
        },
    ]
}

/// Without annotations.
pub(super) fn track_event<'a>(
    at_ns: u64,
    kind: u64,
    track: u64,
    name: impl Into<Cow<'a, str>>,
) -> TrackEvent<'a> {
    TrackEvent { at_ns, kind, track, name: name.into(), annotations: Annotations::default() }
}

/// The annotation of what a call returned, the only one with a sign.
const RETURNED: usize = 3;
/// The annotation of a page fault.
const ADDRESS: usize = 4;

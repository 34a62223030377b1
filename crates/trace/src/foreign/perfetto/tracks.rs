//! Slices that programs wrote themselves: tracks, names by number, begins and ends.

use crate::foreign::marks::{Marks, Nest, Owner};
use crate::perfetto::field::{defaults, descriptor, event, interned, packet};
use crate::protobuf::{FieldValue, Fields};
use std::collections::HashMap;

/// `TrackEvent.Type`.
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const STATE_CLEARED: u64 = 1;
const NEEDS_STATE: u64 = 2;
/// Tracks lie in tracks no deeper.
const DEEPEST: usize = 16;

/// What a packet says beside what it holds.
#[derive(Clone, Debug, Default)]
pub(super) struct PacketHead {
    pub(super) sequence: u32,
    pub(super) timestamp: Option<u64>,
    pub(super) clock: Option<u64>,
    flags: u64,
    has_dropped: bool,
    defaults: Option<Defaults>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Defaults {
    clock: Option<u64>,
    track: Option<u64>,
}

impl PacketHead {
    pub(super) fn take(&mut self, field: u32, value: FieldValue<'_>) {
        match field {
            packet::SEQUENCE => self.sequence = value.id().unwrap_or(0),
            packet::TIMESTAMP => self.timestamp = Some(value.number()),
            packet::CLOCK => self.clock = Some(value.number()),
            packet::SEQUENCE_FLAGS => self.flags |= value.number(),
            packet::CLEARED if value.number() == 1 => self.flags |= STATE_CLEARED,
            packet::DROPPED => self.has_dropped = true,
            packet::DEFAULTS => {
                let of_event = Fields(value.bytes()).last(defaults::TRACK_EVENT);
                let of_event = of_event.map_or(&[][..], FieldValue::bytes);
                self.defaults = Some(Defaults {
                    clock: Fields(value.bytes()).last(defaults::CLOCK).map(FieldValue::number),
                    track: Fields(of_event).last(defaults::TRACK).map(FieldValue::number),
                });
            }
            _ => {}
        }
    }
}

/// What a sequence of packets has said.
#[derive(Debug, Default)]
struct Sequence {
    names: HashMap<u64, String>,
    defaults: Defaults,
    thread: Option<Owner>,
    /// Packets were dropped since its state was cleared.
    is_broken: bool,
}

#[derive(Clone, Debug, Default)]
struct Track {
    thread: Option<Owner>,
    process: Option<u32>,
    name: Option<String>,
    parent: Option<u64>,
}

/// All tracks and sequences.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    tracks: HashMap<u64, Track>,
    names: HashMap<Owner, String>,
    sequences: HashMap<u32, Sequence>,
}

impl Tracks {
    /// How many packets can't be read since others were dropped: one, or none.
    pub(super) fn begin_packet(&mut self, head: &PacketHead) -> u64 {
        let sequence = self.sequences.entry(head.sequence).or_default();
        if head.has_dropped {
            sequence.is_broken = true;
        }
        if head.flags & STATE_CLEARED != 0 {
            sequence.names.clear();
            (sequence.defaults, sequence.is_broken) = (Defaults::default(), false);
        }
        if let Some(defaults) = head.defaults {
            sequence.defaults = defaults;
        }
        u64::from(sequence.is_broken && head.flags & NEEDS_STATE != 0)
    }

    pub(super) fn default_clock(&self, sequence: u32) -> Option<u64> {
        self.sequences.get(&sequence)?.defaults.clock
    }

    /// Names of threads, with their processes.
    pub(super) fn take_names(&mut self) -> impl Iterator<Item = (Owner, String)> + use<> {
        std::mem::take(&mut self.names).into_iter()
    }

    pub(super) fn intern(&mut self, sequence: u32, bytes: &[u8]) {
        let sequence = self.sequences.entry(sequence).or_default();
        for (_, value) in Fields(bytes).filter(|(field, _)| *field == interned::EVENT_NAMES) {
            let number = Fields(value.bytes()).last(interned::IID).map(FieldValue::number);
            let name = Fields(value.bytes()).last(interned::NAME);
            if let (Some(number), Some(name)) = (number, name) {
                sequence.names.insert(number, name.text().into_owned());
            }
        }
    }

    pub(super) fn describe(&mut self, bytes: &[u8]) {
        let field = |field| Fields(bytes).last(field);
        let Some(number) = field(descriptor::UUID).map(FieldValue::number) else {
            return;
        };
        let thread = field(descriptor::THREAD).and_then(|thread| self.thread(thread.bytes()));
        let parent = field(descriptor::PARENT).map(FieldValue::number);
        let process = field(descriptor::PROCESS).and_then(|process| {
            Fields(process.bytes()).last(descriptor::PROCESS_PID).and_then(FieldValue::id)
        });
        let name = field(descriptor::NAME).map(|name| name.text().into_owned());
        let known = self.tracks.entry(number).or_default();
        known.thread = thread.or(known.thread);
        known.parent = parent.or(known.parent);
        known.process = process.or(known.process);
        known.name = name.or(known.name.take());
    }

    /// Older files name the thread of a sequence.
    pub(super) fn describe_sequence(&mut self, sequence: u32, bytes: &[u8]) {
        let thread = self.thread(bytes);
        self.sequences.entry(sequence).or_default().thread = thread;
    }

    fn thread(&mut self, bytes: &[u8]) -> Option<Owner> {
        let id = |field| Fields(bytes).last(field).and_then(FieldValue::id);
        let owner = (id(descriptor::THREAD_PID).unwrap_or(0), id(descriptor::THREAD_TID)?);
        if let Some(name) = Fields(bytes).last(descriptor::THREAD_NAME) {
            self.names.insert(owner, name.text().into_owned());
        }
        Some(owner)
    }

    /// The thread that a track is of, or the tracks around it.
    fn thread_of(&self, mut track: u64) -> Option<Owner> {
        for _ in 0..DEEPEST {
            let known = self.tracks.get(&track)?;
            if known.thread.is_some() {
                return known.thread;
            }
            track = known.parent?;
        }
        None
    }

    /// What stands for a track that is of no thread: its process and name, or those of the tracks around it.
    fn lane_of(&self, track: u64, marks: &mut Marks, is_end: bool) -> Option<Owner> {
        let (mut process, mut name, mut around) = (None, None, Some(track));
        for _ in 0..DEEPEST {
            let Some(known) = around.and_then(|track| self.tracks.get(&track)) else {
                break;
            };
            process = process.or(known.process);
            name = name.or(known.name.as_deref());
            around = known.parent;
        }
        let name = name.map_or_else(|| format!("track {track}"), str::to_owned);
        marks.lane(process.unwrap_or(0), &name, is_end)
    }

    /// Adds what an event marks. Its last time, or `None` if its name or track can't be known.
    pub(super) fn event(
        &self,
        sequence: u32,
        at_ns: u64,
        bytes: &[u8],
        marks: &mut Marks,
    ) -> Option<u64> {
        let state = self.sequences.get(&sequence)?;
        let (mut kind, mut track, mut name_at, mut name) = (0, None, None, None);
        let mut legacy: &[u8] = &[];
        for (field, value) in Fields(bytes) {
            match field {
                event::TYPE => kind = value.number(),
                event::TRACK => track = Some(value.number()),
                event::NAME_IID => name_at = Some(value.number()),
                event::NAME => name = Some(value.text()),
                event::LEGACY => legacy = value.bytes(),
                _ => {}
            }
        }
        let of_legacy = |field| Fields(legacy).last(field);
        let phase = of_legacy(event::LEGACY_PHASE).map_or(0, FieldValue::number);
        let phase = u8::try_from(phase).unwrap_or(0);
        let kind = match (kind, phase) {
            (0, b'B') => BEGIN,
            (0, b'E') => END,
            (0, b'I' | b'i' | b'R') => INSTANT,
            (kind, _) => kind,
        };
        let is_span = kind == 0 && phase == b'X';
        let request = match (kind, phase) {
            (0, b'b' | b'S') => Some(BEGIN),
            (0, b'e' | b'F') => Some(END),
            _ => None,
        };
        let is_known = is_span || [BEGIN, END, INSTANT].contains(&kind);
        if !is_known && request.is_none() {
            return Some(at_ns);
        }
        let track = track.or(state.defaults.track);
        let overridden = of_legacy(event::LEGACY_TID).and_then(FieldValue::id).map(|thread| {
            let process = of_legacy(event::LEGACY_PID).and_then(FieldValue::id);
            (process.or(state.thread.map(|of| of.0)).unwrap_or(0), thread)
        });
        let owner = overridden.or_else(|| match track {
            Some(track) => self.thread_of(track),
            None => state.thread,
        });
        let name_at = name_at.or_else(|| of_legacy(event::LEGACY_NAME_IID).map(FieldValue::number));
        let interned = name_at.and_then(|at| state.names.get(&at).map(String::as_str));
        let name = name.as_deref().or(interned);
        if let Some(kind) = request {
            // By its number, whichever kind of number that is.
            let ids = [event::LEGACY_ID, event::LEGACY_LOCAL_ID, event::LEGACY_GLOBAL_ID];
            let number = ids.into_iter().find_map(of_legacy).map_or(0, FieldValue::number);
            let process = owner.or(state.thread).map_or(0, |of| of.0);
            if let Some(lane) = marks.lane(process, name.unwrap_or("?"), kind == END) {
                let nest = Nest::Request(lane, number);
                match kind {
                    END => marks.end(at_ns, nest),
                    _ => marks.begin(at_ns, nest, lane, name.unwrap_or("?")),
                }
            }
            return Some(at_ns);
        }
        let lane = |marks: &mut Marks| self.lane_of(track?, marks, kind == END);
        let Some(owner) = owner.or_else(|| lane(marks)) else {
            return Some(at_ns);
        };
        let nest = match (overridden, track) {
            (None, Some(track)) => Nest::Track(track),
            _ => Nest::Thread(owner),
        };
        if kind == END {
            marks.end(at_ns, nest);
            return Some(at_ns);
        }
        if name.is_none() && (state.is_broken || name_at.is_some()) {
            // Its end has a begin yet.
            if kind == BEGIN {
                marks.begin(at_ns, nest, owner, "?");
            }
            return None;
        }
        let name = name.unwrap_or("");
        match kind {
            BEGIN => marks.begin(at_ns, nest, owner, name),
            INSTANT => marks.moment(at_ns, owner, name),
            _ => {
                let us = of_legacy(event::LEGACY_DURATION_US).map_or(0, FieldValue::number);
                let to_ns = at_ns.saturating_add(us.saturating_mul(1_000));
                marks.span((at_ns, to_ns), owner, name);
                return Some(to_ns);
            }
        }
        Some(at_ns)
    }
}

//! Perfetto's protocol buffers. The file is read twice: first all packets but the kernel's events, of
//! which only the places and first times are kept; then those, CPU by CPU in the order of time.

mod bundles;
mod clocks;
mod packets;
mod tracks;

use super::in_order::{CpuEvents, first_ns, tell_in_order};
use super::marks::Marks;
use super::{About, ForeignError, ForeignTrace, Importer, Note, Part, TraceInput};
use crate::perfetto::field::{bundle, ftrace, packet, system, tree};
use crate::perfetto::{BOOTTIME, FTRACE_MONO_RAW, MONOTONIC_RAW, REALTIME};
use crate::protobuf::{FieldValue, Fields, packed};
use bundles::{Bundle, CpuBundles};
use clocks::ClockTable;
use model::trace::Clocks;
use packets::{PacketPlace, Packets};
use std::collections::{BTreeMap, HashMap};
use tracks::Tracks;

/// Whether the first bytes are a packet: field 1 of the trace, with a field that packets have.
pub(super) fn is_trace(first: &[u8]) -> bool {
    let mut rest = first;
    let is_packet = crate::protobuf::read_varint(&mut rest) == Some(0x0a);
    let length = crate::protobuf::read_varint(&mut rest).and_then(|n| usize::try_from(n).ok());
    let Some(length) = length.filter(|_| is_packet) else {
        return false;
    };
    let inner = &rest[..length.min(rest.len())];
    let field = Fields(inner).next().map(|(field, _)| field);
    // Where the packet is longer than what is there, its first field may be cut off.
    let tag = || crate::protobuf::read_varint(&mut { inner }).map(|tag| (tag >> 3) as u32);
    field.or_else(tag).is_some_and(|field| (1..=1_000).contains(&field)) && length > 0
}

/// What the first reading found.
#[derive(Default)]
struct PacketReader {
    clocks: ClockTable,
    tracks: Tracks,
    marks: Marks,
    bundles: BTreeMap<u32, Vec<Bundle>>,
    /// Threads of the process tree: number, process, name.
    threads: HashMap<u32, (u32, String)>,
    kernel: String,
    architecture: String,
    last_mark_ns: Option<u64>,
    first_mark_ns: Option<u64>,
    unresolved: u64,
    dropped: u64,
}

pub(super) fn read_perfetto(
    input: &TraceInput,
    name: &str,
    part: Part,
) -> Result<ForeignTrace, ForeignError> {
    let mut read = PacketReader::default();
    let mut packets = Packets::new(input);
    while let Some(place) = packets.advance()? {
        let bytes = packets.bytes();
        read.packet(bytes, place);
    }
    let is_cut_off = packets.is_cut_off;
    let unread_bytes = packets.unread_bytes;
    // Events of the kernel on a clock that nothing relates to those of programs.
    let is_apart = read.bundles.values().flatten().any(|bundle| bundle.ns(&read.clocks).is_none());
    if is_apart {
        read.unresolved += read.marks.count() as u64;
        read.marks = Marks::default();
        (read.first_mark_ns, read.last_mark_ns) = (None, None);
    }
    let mut cpus: Vec<CpuBundles> = Vec::new();
    let cpu_count = read.bundles.len();
    for (cpu, bundles) in std::mem::take(&mut read.bundles) {
        for bundles in bundles::in_order(bundles) {
            let mut events = CpuBundles::new(input, &read.clocks, cpu, bundles);
            if events.advance()? {
                cpus.push(events);
            }
        }
    }
    let first_event_ns = first_ns(&cpus);
    let first_ns = [first_event_ns, read.first_mark_ns].into_iter().flatten().min();
    let first_ns = first_ns.ok_or(ForeignError::Empty)?;
    let yield_call = sys::system_calls::call_number_of(&read.architecture, "sched_yield");
    let mut importer = Importer::new(first_ns, part, yield_call);
    for (&thread, (process, name)) in &read.threads {
        importer.add_name(thread, name.as_bytes());
        if *process != 0 {
            importer.set_process(thread, *process);
        }
    }
    for (owner, name) in read.tracks.take_names() {
        importer.describe(owner, name);
    }
    if let Some(last_ns) = read.last_mark_ns {
        importer.set_marks(std::mem::take(&mut read.marks), last_ns);
    }
    tell_in_order(&mut cpus, &mut importer)?;
    let mut notes = Vec::new();
    for (count, note) in [
        (read.unresolved, Note::Clock(read.unresolved)),
        (read.dropped, Note::Dropped(read.dropped)),
    ] {
        notes.extend((count > 0).then_some(note));
    }
    let real_ns = read.clocks.convert(0, BOOTTIME, first_ns, REALTIME).unwrap_or(0);
    let about = About {
        name: name.to_owned(),
        recorder: "Perfetto's protocol buffers".into(),
        kernel: read.kernel,
        architecture: read.architecture,
        cpu_count: u32::try_from(cpu_count).unwrap_or(u32::MAX),
        began: Clocks { boot_ns: first_ns, real_ns, ..Clocks::default() },
        unread_bytes,
        is_cut_off,
    };
    importer.finish(about, notes)
}

impl PacketReader {
    /// All but the kernel's events.
    fn packet(&mut self, bytes: &[u8], place: PacketPlace) {
        let mut head = tracks::PacketHead::default();
        // What the packet holds may stand before its time and sequence.
        for (field, value) in Fields(bytes) {
            head.take(field, value);
        }
        self.dropped += self.tracks.begin_packet(&head);
        // So do names.
        for (_, names) in Fields(bytes).filter(|(field, _)| *field == packet::INTERNED_DATA) {
            self.tracks.intern(head.sequence, names.bytes());
        }
        for (field, value) in Fields(bytes) {
            match field {
                packet::FTRACE_EVENTS => self.bundle(value.bytes(), &place, bytes),
                packet::PROCESS_TREE => self.tree(value.bytes()),
                packet::CLOCK_SNAPSHOT => self.clocks.add_snapshot(head.sequence, value.bytes()),
                packet::SYSTEM_INFO => self.system(value.bytes()),
                packet::TRACK_DESCRIPTOR => self.tracks.describe(value.bytes()),
                packet::THREAD_DESCRIPTOR => {
                    self.tracks.describe_sequence(head.sequence, value.bytes());
                }
                packet::TRACK_EVENT => self.track_event(&head, value.bytes()),
                _ => {}
            }
        }
    }

    fn track_event(&mut self, head: &tracks::PacketHead, bytes: &[u8]) {
        let clock = head.clock.or(self.tracks.default_clock(head.sequence)).unwrap_or(BOOTTIME);
        let at_ns = head.timestamp.and_then(|at| {
            self.clocks
                .absolute(head.sequence, clock, at)
                .and_then(|at| self.clocks.convert(head.sequence, clock, at, BOOTTIME))
        });
        let Some(at_ns) = at_ns else {
            self.unresolved += 1;
            return;
        };
        let told = self.tracks.event(head.sequence, at_ns, bytes, &mut self.marks);
        match told {
            Some(last_ns) => {
                self.first_mark_ns =
                    Some(self.first_mark_ns.map_or(at_ns, |first| first.min(at_ns)));
                self.last_mark_ns = self.last_mark_ns.max(Some(last_ns));
            }
            None => self.dropped += 1,
        }
    }

    /// Where a bundle of events lies, and its first time.
    fn bundle(&mut self, bytes: &[u8], place: &PacketPlace, packet: &[u8]) {
        let (mut cpu, mut clock): (u32, u64) = (0, 0);
        let (mut first, mut last): (Option<u64>, u64) = (None, 0);
        let mut last_event: &[u8] = &[];
        let time = |event: &[u8]| {
            let at = Fields(event).find(|(field, _)| *field == ftrace::TIMESTAMP);
            at.map(|(_, value)| value.number())
        };
        for (field, value) in Fields(bytes) {
            match field {
                bundle::CPU => cpu = value.id().unwrap_or(0),
                bundle::CLOCK => clock = value.number(),
                bundle::EVENT => {
                    if last_event.is_empty() {
                        first = first.into_iter().chain(time(value.bytes())).min();
                    }
                    last_event = value.bytes();
                }
                bundle::COMPACT => {
                    use crate::perfetto::field::compact::{SWITCH_TIME, WAKING_TIME};
                    for (_, value) in Fields(value.bytes())
                        .filter(|(f, _)| [SWITCH_TIME, WAKING_TIME].contains(f))
                    {
                        let times = || packed(value.bytes());
                        first = first.into_iter().chain(times().next()).min();
                        last = last.max(times().fold(0, u64::wrapping_add));
                    }
                }
                _ => {}
            }
        }
        let clock = match clock {
            FTRACE_MONO_RAW => MONOTONIC_RAW,
            // Other clocks of the kernel are read as that of the trace.
            _ => BOOTTIME,
        };
        let within = bytes.as_ptr() as usize - packet.as_ptr() as usize;
        let place = place.part(within, bytes.len());
        if let Some(first) = first {
            let last = last.max(time(last_event).unwrap_or(first));
            self.bundles.entry(cpu).or_default().push(Bundle { first, last, clock, place });
        }
    }

    fn tree(&mut self, bytes: &[u8]) {
        for (field, value) in Fields(bytes) {
            let id = |field| Fields(value.bytes()).last(field).and_then(FieldValue::id);
            let text = |field| {
                let mut texts = Fields(value.bytes()).filter(|(f, _)| *f == field);
                texts.next().map(|(_, value)| value.text().into_owned())
            };
            match field {
                tree::PROCESS => {
                    if let Some(process) = id(tree::PID) {
                        let known = self.threads.entry(process).or_default();
                        known.0 = process;
                        // The program's path, where the thread's own name is not there.
                        if known.1.is_empty() {
                            let path = text(tree::CMDLINE).unwrap_or_default();
                            known.1 = path.rsplit('/').next().unwrap_or(&path).to_owned();
                        }
                    }
                }
                tree::THREAD => {
                    if let Some(thread) = id(tree::TID) {
                        let process = id(tree::TGID).unwrap_or(0);
                        let name = text(tree::NAME).unwrap_or_default();
                        let known = self.threads.entry(thread).or_default();
                        known.0 = process;
                        if !name.is_empty() {
                            known.1 = name;
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn system(&mut self, bytes: &[u8]) {
        let name = Fields(bytes).last(system::UTSNAME).map_or(&[][..], FieldValue::bytes);
        let text = |field| Fields(name).last(field).map(|value| value.text().into_owned());
        if let Some(release) = text(system::RELEASE) {
            self.kernel = release;
        }
        if let Some(machine) = text(system::MACHINE) {
            self.architecture = machine;
        }
    }
}

#[cfg(test)]
mod tests;

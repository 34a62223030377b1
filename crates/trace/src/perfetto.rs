//! A trace as Perfetto reads it (<https://ui.perfetto.dev>): protocol buffers of
//! `perfetto/trace/trace.proto`.
//!
//! Of a full trace, the switches and wake-ups as ftrace events, from which
//! Perfetto derives the states itself; of others the states as slices. Stamps
//! are those of CLOCK_MONOTONIC_RAW, with a snapshot of the clocks.

use crate::protobuf::Message;
use model::trace::{Call, Cpu, Signpost, State, Thread, Trace};
use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};

/// Numbers of fields, below the message that they belong to.
mod field {
    pub(super) mod trace {
        pub(crate) const PACKET: u32 = 1;
    }
    pub(super) mod packet {
        pub(crate) const FTRACE_EVENTS: u32 = 1;
        pub(crate) const PROCESS_TREE: u32 = 2;
        pub(crate) const CLOCK_SNAPSHOT: u32 = 6;
        pub(crate) const TIMESTAMP: u32 = 8;
        pub(crate) const SEQUENCE: u32 = 10;
        pub(crate) const TRACK_EVENT: u32 = 11;
        pub(crate) const INTERNED_DATA: u32 = 12;
        pub(crate) const SEQUENCE_FLAGS: u32 = 13;
        pub(crate) const SYSTEM_INFO: u32 = 45;
        pub(crate) const DEFAULTS: u32 = 59;
        pub(crate) const TRACK_DESCRIPTOR: u32 = 60;
    }
    pub(super) mod defaults {
        pub(crate) const CLOCK: u32 = 58;
    }
    pub(super) mod clocks {
        pub(crate) const CLOCK: u32 = 1;
        pub(crate) const PRIMARY: u32 = 2;
        pub(crate) const ID: u32 = 1;
        pub(crate) const TIMESTAMP: u32 = 2;
    }
    pub(super) mod system {
        pub(crate) const UTSNAME: u32 = 1;
        pub(crate) const SYSNAME: u32 = 1;
        pub(crate) const RELEASE: u32 = 3;
        pub(crate) const MACHINE: u32 = 4;
    }
    pub(super) mod tree {
        pub(crate) const PROCESS: u32 = 1;
        pub(crate) const THREAD: u32 = 2;
        pub(crate) const PID: u32 = 1;
        pub(crate) const CMDLINE: u32 = 3;
        pub(crate) const TID: u32 = 1;
        pub(crate) const NAME: u32 = 2;
        pub(crate) const TGID: u32 = 3;
    }
    pub(super) mod bundle {
        pub(crate) const CPU: u32 = 1;
        pub(crate) const EVENT: u32 = 2;
        pub(crate) const CLOCK: u32 = 5;
    }
    pub(super) mod ftrace {
        pub(crate) const TIMESTAMP: u32 = 1;
        pub(crate) const PID: u32 = 2;
        pub(crate) const SWITCH: u32 = 4;
        pub(crate) const WAKING: u32 = 20;
        pub(crate) const NEW_TASK: u32 = 235;
    }
    pub(super) mod switch {
        pub(crate) const PREV_PID: u32 = 2;
        pub(crate) const PREV_STATE: u32 = 4;
        pub(crate) const NEXT_COMM: u32 = 5;
        pub(crate) const NEXT_PID: u32 = 6;
    }
    pub(super) mod waking {
        pub(crate) const PID: u32 = 2;
        pub(crate) const TARGET_CPU: u32 = 5;
    }
    pub(super) mod new_task {
        pub(crate) const PID: u32 = 1;
        pub(crate) const COMM: u32 = 2;
        pub(crate) const CLONE_FLAGS: u32 = 3;
    }
    pub(super) mod descriptor {
        pub(crate) const UUID: u32 = 1;
        pub(crate) const NAME: u32 = 2;
        pub(crate) const THREAD: u32 = 4;
        pub(crate) const PARENT: u32 = 5;
        pub(crate) const THREAD_PID: u32 = 1;
        pub(crate) const THREAD_TID: u32 = 2;
        pub(crate) const THREAD_NAME: u32 = 5;
    }
    pub(super) mod event {
        pub(crate) const ANNOTATION: u32 = 4;
        pub(crate) const TYPE: u32 = 9;
        pub(crate) const NAME_IID: u32 = 10;
        pub(crate) const TRACK: u32 = 11;
    }
    pub(super) mod annotation {
        pub(crate) const NAME_IID: u32 = 1;
        pub(crate) const UINT: u32 = 3;
        pub(crate) const INT: u32 = 4;
    }
    pub(super) mod interned {
        pub(crate) const EVENT_NAMES: u32 = 2;
        pub(crate) const ANNOTATION_NAMES: u32 = 3;
        pub(crate) const IID: u32 = 1;
        pub(crate) const NAME: u32 = 2;
    }
}
use field::{
    annotation, bundle, clocks, defaults, descriptor, event, ftrace, interned, new_task, packet,
    switch, system, tree, waking,
};

/// `BuiltinClock`.
const REALTIME: u64 = 1;
const MONOTONIC_RAW: u64 = 5;
const BOOTTIME: u64 = 6;
/// `FtraceClock`.
const FTRACE_MONO_RAW: u64 = 4;
/// `TrackEvent.Type`.
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
/// The only sequence of packets, with names that it interns.
const SEQUENCE: u64 = 1;
const STATE_CLEARED: u64 = 1;
const NEEDS_STATE: u64 = 2;
/// Flag of clone(2): a thread, not a process.
const CLONE_THREAD: u64 = 0x1_0000;
/// Tracks of CPUs; those of threads lie below.
const FIRST_CPU_TRACK: u64 = 1 << 40;
/// Tracks of signposts, for each thread as many as are used.
const FIRST_SIGNPOST_TRACK: u64 = 1 << 41;
/// The most of a thread: no program overlaps so many.
const SIGNPOST_TRACKS: usize = 256;
/// Events of a bundle, so that no message grows large.
const BUNDLE_EVENTS: usize = 4096;

/// Writes the trace.
///
/// # Errors
/// What the writer says.
pub fn write(trace: &Trace, to: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer {
        trace,
        to,
        names: BTreeMap::new(),
        arguments: false,
        packet: Message::default(),
    };
    writer.clocks()?;
    writer.system()?;
    writer.processes()?;
    writer.new_threads()?;
    for cpu in &trace.cpus {
        writer.scheduler(cpu)?;
        writer.lost(cpu)?;
    }
    for (index, thread) in trace.threads.iter().enumerate() {
        writer.thread(index, thread)?;
    }
    Ok(())
}

struct Writer<'a> {
    trace: &'a Trace,
    to: &'a mut dyn Write,
    /// Names of events, with their numbers.
    names: BTreeMap<String, u64>,
    /// Names of annotations are written.
    arguments: bool,
    packet: Message,
}

/// Names of annotations; their numbers are their places from 1 on.
const ANNOTATIONS: [&str; 5] = ["arg0", "arg1", "arg2", "returned", "address"];

impl Writer<'_> {
    fn send(&mut self) -> io::Result<()> {
        let mut trace = Message::default();
        trace.message(field::trace::PACKET, &self.packet);
        self.packet.clear();
        self.to.write_all(trace.bytes())
    }

    fn raw_ns(&self, at_ns: u64) -> u64 {
        self.trace.began.raw_ns.saturating_add(at_ns)
    }

    fn clocks(&mut self) -> io::Result<()> {
        let began = self.trace.began;
        let mut snapshot = Message::default();
        let all = [
            (BOOTTIME, began.boot_ns),
            (MONOTONIC_RAW, began.raw_ns),
            (REALTIME, began.real_ns),
        ];
        for (id, ns) in all {
            let mut clock = Message::default();
            clock.number(clocks::ID, id).number(clocks::TIMESTAMP, ns);
            snapshot.message(clocks::CLOCK, &clock);
        }
        snapshot.number(clocks::PRIMARY, MONOTONIC_RAW);
        let mut default = Message::default();
        default.number(defaults::CLOCK, MONOTONIC_RAW);
        self.packet
            .message(packet::CLOCK_SNAPSHOT, &snapshot)
            .number(packet::SEQUENCE, SEQUENCE)
            .number(packet::SEQUENCE_FLAGS, STATE_CLEARED)
            .message(packet::DEFAULTS, &default);
        self.send()
    }

    /// The kernel's release, by which Perfetto reads the states of switches.
    fn system(&mut self) -> io::Result<()> {
        let mut name = Message::default();
        name.text(system::SYSNAME, "Linux")
            .text(system::RELEASE, &self.trace.kernel)
            .text(system::MACHINE, &self.trace.architecture);
        let mut info = Message::default();
        info.message(system::UTSNAME, &name);
        self.packet
            .message(packet::SYSTEM_INFO, &info)
            .number(packet::SEQUENCE, SEQUENCE);
        self.send()
    }

    /// Creation of threads, which wait for a CPU from then on. The records of it
    /// name no CPU.
    fn new_threads(&mut self) -> io::Result<()> {
        let Some(first) = self.trace.cpus.first() else {
            return Ok(());
        };
        let mut all = Message::default();
        all.number(bundle::CPU, first.id.into());
        for thread in &self.trace.threads {
            let Some(parent) = thread.created_by else {
                continue;
            };
            let flags = if thread.process == thread.id {
                0
            } else {
                CLONE_THREAD
            };
            let mut fields = Message::default();
            fields
                .number(new_task::PID, thread.id.into())
                .text(new_task::COMM, self.name(parent))
                .number(new_task::CLONE_FLAGS, flags);
            let mut event = Message::default();
            event
                .number(ftrace::TIMESTAMP, self.raw_ns(thread.from_ns))
                .number(ftrace::PID, parent.into())
                .message(ftrace::NEW_TASK, &fields);
            all.message(bundle::EVENT, &event);
        }
        all.number(bundle::CLOCK, FTRACE_MONO_RAW);
        self.packet
            .message(packet::FTRACE_EVENTS, &all)
            .number(packet::SEQUENCE, SEQUENCE);
        self.send()
    }

    /// The threads with their processes and names.
    fn processes(&mut self) -> io::Result<()> {
        let mut all = Message::default();
        let mut processes = HashSet::new();
        for thread in &self.trace.threads {
            if thread.process != 0 && processes.insert(thread.process) {
                let main = self.trace.thread(thread.process).unwrap_or(thread);
                let mut process = Message::default();
                process
                    .number(tree::PID, thread.process.into())
                    .text(tree::CMDLINE, &main.name);
                all.message(tree::PROCESS, &process);
            }
            let mut one = Message::default();
            one.number(tree::TID, thread.id.into())
                .text(tree::NAME, &thread.name)
                .number(tree::TGID, thread.process.into());
            all.message(tree::THREAD, &one);
        }
        let began_ns = self.raw_ns(0);
        self.packet
            .message(packet::PROCESS_TREE, &all)
            .number(packet::TIMESTAMP, began_ns)
            .number(packet::SEQUENCE, SEQUENCE);
        self.send()
    }

    /// Switches and wake-ups of a CPU in the order of their time.
    fn scheduler(&mut self, cpu: &Cpu) -> io::Result<()> {
        let mut events: Vec<(u64, Message)> = Vec::new();
        for one in &cpu.switches {
            let mut fields = Message::default();
            fields
                .number(switch::PREV_PID, one.out.into())
                .number(switch::PREV_STATE, one.state.into())
                .text(switch::NEXT_COMM, self.name(one.into))
                .number(switch::NEXT_PID, one.into.into());
            let mut message = Message::default();
            message
                .number(ftrace::TIMESTAMP, self.raw_ns(one.at_ns))
                .number(ftrace::PID, one.out.into())
                .message(ftrace::SWITCH, &fields);
            events.push((one.at_ns, message));
        }
        for one in self.trace.wakeups.iter().filter(|one| one.cpu == cpu.id) {
            let mut fields = Message::default();
            fields
                .number(waking::PID, one.thread.into())
                .number(waking::TARGET_CPU, cpu.id.into());
            let mut message = Message::default();
            message
                .number(ftrace::TIMESTAMP, self.raw_ns(one.at_ns))
                .number(ftrace::PID, one.by.unwrap_or(0).into())
                .message(ftrace::WAKING, &fields);
            events.push((one.at_ns, message));
        }
        events.sort_by_key(|(at_ns, _)| *at_ns);
        for events in events.chunks(BUNDLE_EVENTS) {
            let mut all = Message::default();
            all.number(bundle::CPU, cpu.id.into());
            for (_, event) in events {
                all.message(bundle::EVENT, event);
            }
            all.number(bundle::CLOCK, FTRACE_MONO_RAW);
            self.packet
                .message(packet::FTRACE_EVENTS, &all)
                .number(packet::SEQUENCE, SEQUENCE);
            self.send()?;
        }
        Ok(())
    }

    /// Stretches without records, which Perfetto would bridge.
    fn lost(&mut self, cpu: &Cpu) -> io::Result<()> {
        if cpu.lost.is_empty() {
            return Ok(());
        }
        let track = FIRST_CPU_TRACK + u64::from(cpu.id);
        self.describe(track, |one| {
            one.text(descriptor::NAME, &format!("CPU {}", cpu.id));
        })?;
        for &(from_ns, to_ns) in &cpu.lost {
            self.event(from_ns, BEGIN, track, "records missing", &[])?;
            self.event(to_ns, END, track, "", &[])?;
        }
        Ok(())
    }

    fn name(&self, thread: u32) -> &str {
        match thread {
            0 => "swapper",
            id => self.trace.name_of(id).unwrap_or(""),
        }
    }

    /// A thread's calls, faults and, where Perfetto can't derive them, states.
    fn thread(&mut self, index: usize, thread: &Thread) -> io::Result<()> {
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
                one.text(descriptor::NAME, "state")
                    .number(descriptor::PARENT, track);
            })?;
            for segment in &thread.segments {
                let name = self.state_name(segment.state);
                self.event(segment.from_ns, BEGIN, states, &name, &[])?;
                self.event(segment.to_ns, END, states, "", &[])?;
            }
        }
        for call in &thread.calls {
            self.call(track, call)?;
        }
        for fault in &thread.faults {
            let address = [(4, fault.address)];
            self.event(fault.at_ns, INSTANT, track, "page fault", &address)?;
        }
        self.signposts(index, track, thread)
    }

    /// Slices of a track nest: what overlaps without nesting has another track.
    fn signposts(&mut self, index: usize, parent: u64, thread: &Thread) -> io::Result<()> {
        let first = FIRST_SIGNPOST_TRACK + (SIGNPOST_TRACKS * index) as u64;
        // For each track, the ends of its open slices.
        let mut tracks: Vec<Vec<u64>> = Vec::new();
        for &Signpost {
            from_ns,
            to_ns,
            name,
        } in &thread.signposts
        {
            let names = &self.trace.signpost_names;
            let name = names.get(name as usize).map_or("?", String::as_str);
            for (open, track) in tracks.iter_mut().zip(first..) {
                while let Some(end_ns) = open.pop_if(|end_ns| *end_ns <= from_ns) {
                    self.event(end_ns, END, track, "", &[])?;
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
                    one.text(descriptor::NAME, "signposts")
                        .number(descriptor::PARENT, parent);
                })?;
            }
            match to_ns {
                None => self.event(from_ns, INSTANT, track, name, &[])?,
                Some(end_ns) => {
                    self.event(from_ns, BEGIN, track, name, &[])?;
                    tracks[at].push(end_ns);
                }
            }
        }
        for (open, track) in tracks.iter_mut().zip(first..) {
            while let Some(end_ns) = open.pop() {
                self.event(end_ns, END, track, "", &[])?;
            }
        }
        Ok(())
    }

    fn call(&mut self, track: u64, call: &Call) -> io::Result<()> {
        let named = self.trace.call_names.get(&call.number);
        let name = named
            .cloned()
            .unwrap_or_else(|| format!("call {}", call.number));
        let [first, second, third] = call.arguments;
        let arguments = [(0, first), (1, second), (2, third)];
        self.event(call.from_ns, BEGIN, track, &name, &arguments)?;
        let returned = call.returned.map(|value| (RETURNED, value.cast_unsigned()));
        self.event(call.to_ns, END, track, "", returned.as_slice())
    }

    fn state_name(&self, state: State) -> String {
        match state {
            State::Running(cpu) => format!("running on CPU {cpu}"),
            other => other.kind().name().to_owned(),
        }
    }

    fn describe(&mut self, uuid: u64, fill: impl FnOnce(&mut Message)) -> io::Result<()> {
        let mut one = Message::default();
        fill(one.number(descriptor::UUID, uuid));
        self.packet
            .message(packet::TRACK_DESCRIPTOR, &one)
            .number(packet::SEQUENCE, SEQUENCE);
        self.send()
    }

    fn event(
        &mut self,
        at_ns: u64,
        kind: u64,
        track: u64,
        name: &str,
        annotations: &[(usize, u64)],
    ) -> io::Result<()> {
        let mut new = Message::default();
        let mut fields = Message::default();
        fields.number(event::TYPE, kind).number(event::TRACK, track);
        if !name.is_empty() {
            let next = self.names.len() as u64 + 1;
            let id = *self.names.entry(name.to_owned()).or_insert(next);
            fields.number(event::NAME_IID, id);
            if id == next {
                let mut entry = Message::default();
                entry.number(interned::IID, id).text(interned::NAME, name);
                new.message(interned::EVENT_NAMES, &entry);
            }
        }
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
        let at_ns = self.raw_ns(at_ns);
        self.packet
            .number(packet::TIMESTAMP, at_ns)
            .number(packet::SEQUENCE, SEQUENCE)
            .number(packet::SEQUENCE_FLAGS, NEEDS_STATE)
            .message(packet::TRACK_EVENT, &fields);
        if !new.bytes().is_empty() {
            self.packet.message(packet::INTERNED_DATA, &new);
        }
        self.send()
    }
}

/// The annotation of what a call returned, the only one with a sign.
const RETURNED: usize = 3;

//! A trace as Perfetto reads it (<https://ui.perfetto.dev>): protocol buffers of
//! `perfetto/trace/trace.proto`.
//!
//! Of a full trace, the switches and wake-ups as ftrace events, from which
//! Perfetto derives the states itself; of others the states as slices. Stamps
//! are those of CLOCK_MONOTONIC_RAW, with a snapshot of the clocks. Packets are
//! compressed together, as the recorder of Perfetto does if it is asked to.

pub(crate) mod field;
mod stacks;
mod tracks;

use crate::decode::CLONE_THREAD;
use crate::protobuf::Message;
use field::{
    bundle, clocks, defaults, descriptor, ftrace, new_task, packet, switch, system, tree, waking,
};
use miniz_oxide::deflate::compress_to_vec_zlib;
use model::trace::{Cpu, ThreadsById, Trace};
use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};
use tracks::{BEGIN, END, track_event};

/// `BuiltinClock`.
pub(crate) const REALTIME: u64 = 1;
pub(crate) const MONOTONIC_RAW: u64 = 5;
pub(crate) const BOOTTIME: u64 = 6;
/// `FtraceClock`.
pub(crate) const FTRACE_MONO_RAW: u64 = 4;
/// The sequence of packets that are of no thread. Each thread has its own, with
/// names that it interns.
const SEQUENCE: u64 = 1;
const STATE_CLEARED: u64 = 1;
const NEEDS_STATE: u64 = 2;
/// Tracks of CPUs; those of threads lie below.
const FIRST_CPU_TRACK: u64 = 1 << 40;
/// Events of a bundle, so that no message grows large.
const BUNDLE_EVENTS: usize = 4096;
/// How many bytes are compressed at a time.
const BLOCK_BYTES: usize = 512 << 10;
/// Of zlib.
const LEVEL: u8 = 6;

pub fn write_perfetto(trace: &Trace, to: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer {
        trace,
        threads: trace.by_id(),
        to,
        named: HashSet::new(),
        sequence: SEQUENCE,
        track: 0,
        last_ns: None,
        names: BTreeMap::new(),
        arguments: false,
        packet: Message::default(),
        block: Message::default(),
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
    writer.stacks()?;
    writer.flush()
}

struct Writer<'a> {
    trace: &'a Trace,
    threads: ThreadsById<'a>,
    to: &'a mut dyn Write,
    /// Threads whose names stand in a switch.
    named: HashSet<u32>,
    /// The sequence of the events that are written,
    sequence: u64,
    /// their track unless they name another,
    track: u64,
    /// and the time of the last one, if stamps are relative to it.
    last_ns: Option<u64>,
    /// Names of events, with their numbers.
    names: BTreeMap<String, u64>,
    /// Names of annotations are written.
    arguments: bool,
    packet: Message,
    /// Packets that wait until they are many enough to be compressed.
    block: Message,
}

impl Writer<'_> {
    fn send(&mut self) -> io::Result<()> {
        self.block.message(field::trace::PACKET, &self.packet);
        self.packet.clear();
        if self.block.bytes().len() < BLOCK_BYTES { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> io::Result<()> {
        let compressed = compress_to_vec_zlib(self.block.bytes(), LEVEL);
        self.block.clear();
        let mut one = Message::default();
        one.block(packet::COMPRESSED, &compressed);
        let mut trace = Message::default();
        trace.message(field::trace::PACKET, &one);
        self.to.write_all(trace.bytes())
    }

    fn raw_ns(&self, at_ns: u64) -> u64 {
        self.trace.began.raw_ns.saturating_add(at_ns)
    }

    fn clocks(&mut self) -> io::Result<()> {
        let began = self.trace.began;
        let mut snapshot = Message::default();
        let all =
            [(BOOTTIME, began.boot_ns), (MONOTONIC_RAW, began.raw_ns), (REALTIME, began.real_ns)];
        for (id, ns) in all {
            let mut clock = Message::default();
            clock.number(clocks::ID, id).number(clocks::TIMESTAMP, ns);
            snapshot.message(clocks::CLOCK, &clock);
        }
        snapshot.number(clocks::PRIMARY, MONOTONIC_RAW);
        self.packet.message(packet::CLOCK_SNAPSHOT, &snapshot);
        self.clear_sequence(SEQUENCE)
    }

    /// Begins a sequence with stamps of CLOCK_MONOTONIC_RAW.
    fn clear_sequence(&mut self, sequence: u64) -> io::Result<()> {
        let mut default = Message::default();
        default.number(defaults::CLOCK, MONOTONIC_RAW);
        self.packet
            .number(packet::SEQUENCE, sequence)
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
        self.packet.message(packet::SYSTEM_INFO, &info).number(packet::SEQUENCE, SEQUENCE);
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
            let flags = if thread.process == thread.id { 0 } else { CLONE_THREAD };
            let mut fields = Message::default();
            fields
                .number(new_task::PID, thread.id.into())
                .text(new_task::COMM, self.thread_name(parent))
                .number(new_task::CLONE_FLAGS, flags);
            let mut event = Message::default();
            event
                .number(ftrace::TIMESTAMP, self.raw_ns(thread.from_ns))
                .number(ftrace::PID, parent.into())
                .message(ftrace::NEW_TASK, &fields);
            all.message(bundle::EVENT, &event);
        }
        all.number(bundle::CLOCK, FTRACE_MONO_RAW);
        self.packet.message(packet::FTRACE_EVENTS, &all).number(packet::SEQUENCE, SEQUENCE);
        self.send()
    }

    /// The threads with their processes and names.
    fn processes(&mut self) -> io::Result<()> {
        let mut all = Message::default();
        let mut processes = HashSet::new();
        for thread in &self.trace.threads {
            if thread.process != 0 && processes.insert(thread.process) {
                let main = self.threads.thread(thread.process).unwrap_or(thread);
                let mut process = Message::default();
                process.number(tree::PID, thread.process.into()).text(tree::CMDLINE, &main.name);
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
                .number(switch::NEXT_PID, one.into.into());
            // A thread's name is the same each time.
            if self.named.insert(one.into) {
                fields.text(switch::NEXT_COMM, self.thread_name(one.into));
            }
            let mut message = Message::default();
            message
                .number(ftrace::TIMESTAMP, self.raw_ns(one.at_ns))
                .number(ftrace::PID, one.out.into())
                .message(ftrace::SWITCH, &fields);
            events.push((one.at_ns, message));
        }
        for one in self.trace.wakeups.iter().filter(|one| one.cpu == cpu.id) {
            let mut fields = Message::default();
            fields.number(waking::PID, one.thread.into()).number(waking::TARGET_CPU, cpu.id.into());
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
            self.packet.message(packet::FTRACE_EVENTS, &all).number(packet::SEQUENCE, SEQUENCE);
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
            self.event(&track_event(from_ns, BEGIN, track, "records missing"))?;
            self.event(&track_event(to_ns, END, track, ""))?;
        }
        Ok(())
    }

    fn thread_name(&self, thread: u32) -> &str {
        match thread {
            0 => "swapper",
            id => self.threads.name_of(id).unwrap_or(""),
        }
    }

    fn describe(&mut self, uuid: u64, fill: impl FnOnce(&mut Message)) -> io::Result<()> {
        let mut one = Message::default();
        fill(one.number(descriptor::UUID, uuid));
        self.packet.message(packet::TRACK_DESCRIPTOR, &one).number(packet::SEQUENCE, SEQUENCE);
        self.send()
    }
}

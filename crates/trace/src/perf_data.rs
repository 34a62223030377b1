//! A full trace as a `perf.data` file, for `perf sched` and `perf script`
//! (tools/perf/Documentation/perf.data-file-format.txt).
//!
//! A trace does not keep the payloads of the kernel's tracepoints. The samples of
//! `sched:sched_switch` and `sched:sched_waking` here are made of its switches and
//! wake-ups, with a description of their fields of our own; priorities are not
//! known and written as -1.

use model::trace::{ThreadsById, Trace, Wakeup};
use std::io::{self, Write};

const MAGIC: &[u8; 8] = b"PERFILE2";
const HEADER_BYTES: u64 = 104;
/// `struct perf_event_attr`, version 7.
const ATTRIBUTE_BYTES: usize = 128;
/// Numbers of the events: as tracepoints and as samples.
const SWITCH: u64 = 1;
const WAKING: u64 = 2;
const EVENTS: [(u64, &str, &str); 2] =
    [(SWITCH, "sched:sched_switch", SWITCH_FORMAT), (WAKING, "sched:sched_waking", WAKING_FORMAT)];
/// Features of the file, by their bits.
const TRACING_DATA: u8 = 1;
const RELEASE: u8 = 4;
const ARCHITECTURE: u8 = 6;
const CPU_COUNT: u8 = 7;
const EVENT_DESCRIPTION: u8 = 12;
/// Types of records.
const COMM: u32 = 3;
const SAMPLE: u32 = 9;
/// IP, TID, TIME, CPU, PERIOD, RAW, IDENTIFIER.
const SAMPLE_TYPE: u64 = 1 | 2 | 4 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 16;
/// sample_id_all, use_clockid.
const FLAGS: u64 = 1 << 18 | 1 << 25;
const PERF_TYPE_TRACEPOINT: u32 = 2;
const CLOCK_MONOTONIC_RAW: u32 = 4;
/// A priority that no thread has.
const NO_PRIORITY: u32 = u32::MAX;
/// Characters of a thread's name, with the 0 after them.
const NAME: usize = 16;

const COMMON: &str = "\
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

";
const SWITCH_FORMAT: &str = "\
\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;
\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;

print fmt: \"prev_comm=%s prev_pid=%d prev_state=0x%lx ==> next_comm=%s next_pid=%d\", \
REC->prev_comm, REC->prev_pid, REC->prev_state, REC->next_comm, REC->next_pid
";
const WAKING_FORMAT: &str = "\
\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;

print fmt: \"comm=%s pid=%d target_cpu=%03d\", REC->comm, REC->pid, REC->target_cpu
";

/// Of the kernel's rings, which readers expect although nothing here is in one.
const PAGE_FORMAT: &str = "\
\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;
";
const EVENT_FORMAT: &str = "# compressed entry header\n";

/// Writes the switches and wake-ups of a full trace; of others there are none.
///
/// # Errors
/// What the writer says.
pub fn write(trace: &Trace, to: &mut dyn Write) -> io::Result<()> {
    let ids_at = HEADER_BYTES;
    let ids_bytes = 8 * EVENTS.len() as u64;
    let attributes_at = ids_at + ids_bytes;
    let entry_bytes = ATTRIBUTE_BYTES as u64 + 16;
    let data_at = attributes_at + EVENTS.len() as u64 * entry_bytes;
    let data = records(trace);
    let features = [
        (TRACING_DATA, tracing_data()),
        (RELEASE, string(&trace.kernel)),
        (ARCHITECTURE, string(&trace.architecture)),
        (CPU_COUNT, cpu_count(trace)),
        (EVENT_DESCRIPTION, event_descriptions()),
    ];

    let mut head = Bytes(MAGIC.to_vec());
    head.u64(HEADER_BYTES).u64(entry_bytes);
    head.u64(attributes_at).u64(EVENTS.len() as u64 * entry_bytes);
    head.u64(data_at).u64(data.len() as u64);
    head.u64(0).u64(0);
    head.u64(features.iter().fold(0, |bits, (bit, _)| bits | 1 << bit));
    head.u64(0).u64(0).u64(0);
    for (id, ..) in EVENTS {
        head.u64(id);
    }
    for (at, (id, ..)) in EVENTS.iter().enumerate() {
        head.bytes(&attribute(*id)).u64(ids_at + 8 * at as u64).u64(8);
    }
    to.write_all(&head.0)?;
    to.write_all(&data)?;
    let mut table = Bytes::default();
    let mut at = data_at + data.len() as u64 + 16 * features.len() as u64;
    for (_, feature) in &features {
        table.u64(at).u64(feature.len() as u64);
        at += feature.len() as u64;
    }
    to.write_all(&table.0)?;
    for (_, feature) in &features {
        to.write_all(feature)?;
    }
    Ok(())
}

/// Names of threads, then switches and wake-ups in the order of their time.
fn records(trace: &Trace) -> Vec<u8> {
    let mut out = Bytes::default();
    let threads = &trace.by_id();
    for (id, process, name) in names(trace, threads) {
        let mut body = Bytes::default();
        body.u32(process).u32(id).name(name);
        // The trailer: thread, time, CPU, event.
        body.u32(process).u32(id).u64(trace.began.raw_ns);
        body.u32(0).u32(0).u64(SWITCH);
        out.record(COMM, &body);
    }
    let mut samples: Vec<(u64, Bytes)> = Vec::new();
    for cpu in &trace.cpus {
        for switch in &cpu.switches {
            let mut raw = Bytes::default();
            raw.common(SWITCH, switch.out);
            raw.name(name_of(threads, switch.out)).u32(switch.out);
            raw.u32(NO_PRIORITY).u64(switch.state.into());
            raw.name(name_of(threads, switch.into)).u32(switch.into);
            raw.u32(NO_PRIORITY);
            let at_ns = trace.began.raw_ns.saturating_add(switch.at_ns);
            let one = sample(threads, SWITCH, switch.out, at_ns, cpu.id, &raw);
            samples.push((at_ns, one));
        }
    }
    // They need a switch that follows them.
    let wakeups: &[Wakeup] = if trace.cpus.is_empty() { &[] } else { &trace.wakeups };
    for wakeup in wakeups {
        let by = wakeup.by.unwrap_or(0);
        let mut raw = Bytes::default();
        raw.common(WAKING, by);
        raw.name(name_of(threads, wakeup.thread)).u32(wakeup.thread);
        raw.u32(NO_PRIORITY).u32(wakeup.cpu).u32(0);
        let at_ns = trace.began.raw_ns.saturating_add(wakeup.at_ns);
        samples.push((at_ns, sample(threads, WAKING, by, at_ns, wakeup.cpu, &raw)));
    }
    samples.sort_by_key(|(at_ns, _)| *at_ns);
    for (_, sample) in &samples {
        out.record(SAMPLE, sample);
    }
    out.0
}

fn sample(
    threads: &ThreadsById<'_>,
    event: u64,
    thread: u32,
    at_ns: u64,
    cpu: u32,
    raw: &Bytes,
) -> Bytes {
    let mut one = Bytes::default();
    one.u64(event).u64(0);
    one.u32(process_of(threads, thread)).u32(thread).u64(at_ns);
    one.u32(cpu).u32(0).u64(1);
    // With its size, a multiple of 8.
    let fill = (raw.0.len() + 4).next_multiple_of(8) - raw.0.len() - 4;
    one.u32((raw.0.len() + fill) as u32).bytes(&raw.0).zeros(fill);
    one
}

fn names<'t>(
    trace: &'t Trace,
    threads: &'t ThreadsById<'t>,
) -> impl Iterator<Item = (u32, u32, &'t str)> {
    let others = trace.other_names.iter().map(|(id, name)| (*id, *id, &**name));
    let traced = trace.threads.iter();
    others.chain(traced.map(|thread| (thread.id, process_of(threads, thread.id), &*thread.name)))
}

/// The process of a thread; of those that are not traced the thread itself.
fn process_of(threads: &ThreadsById<'_>, thread: u32) -> u32 {
    let known = threads.thread(thread).map(|thread| thread.process);
    known.filter(|&process| process != 0).unwrap_or(thread)
}

fn name_of<'t>(threads: &ThreadsById<'t>, thread: u32) -> &'t str {
    match thread {
        0 => "swapper",
        id => threads.name_of(id).unwrap_or(""),
    }
}

/// `struct perf_event_attr` of an event.
fn attribute(event: u64) -> Vec<u8> {
    let mut one = Bytes::default();
    one.u32(PERF_TYPE_TRACEPOINT).u32(ATTRIBUTE_BYTES as u32);
    one.u64(event).u64(1).u64(SAMPLE_TYPE).u64(0).u64(FLAGS);
    one.zeros(92 - one.0.len()).u32(CLOCK_MONOTONIC_RAW);
    one.zeros(ATTRIBUTE_BYTES - one.0.len());
    one.0
}

/// What the fields of the events are, in the form of `trace.dat`, version 0.6.
fn tracing_data() -> Vec<u8> {
    /// Sizes of `long` and of a page; little-endian.
    const LONG: u8 = 8;
    const PAGE: u32 = 4096;
    let mut out = Bytes(b"\x17\x08\x44tracing0.6\0\0".to_vec());
    out.bytes(&[LONG]).u32(PAGE);
    for (name, text) in [("header_page\0", PAGE_FORMAT), ("header_event\0", EVENT_FORMAT)] {
        out.bytes(name.as_bytes()).u64(text.len() as u64);
        out.bytes(text.as_bytes());
    }
    // No events of ftrace itself; of one system, ours.
    out.u32(0).u32(1).bytes(b"sched\0").u32(EVENTS.len() as u32);
    for (id, name, format) in EVENTS {
        let name = name.trim_start_matches("sched:");
        let text = format!("name: {name}\nID: {id}\n{COMMON}{format}");
        out.u64(text.len() as u64).bytes(text.as_bytes());
    }
    // No symbols, no formats of printk, no names.
    out.u32(0).u32(0).u64(0);
    out.0
}

fn string(text: &str) -> Vec<u8> {
    let mut out = Bytes::default();
    out.string(text);
    out.0
}

fn cpu_count(trace: &Trace) -> Vec<u8> {
    let mut out = Bytes::default();
    out.u32(trace.cpu_count).u32(trace.cpu_count);
    out.0
}

fn event_descriptions() -> Vec<u8> {
    let mut out = Bytes::default();
    out.u32(EVENTS.len() as u32).u32(ATTRIBUTE_BYTES as u32);
    for (id, name, _) in EVENTS {
        out.bytes(&attribute(id)).u32(1).string(name).u64(id);
    }
    out.0
}

/// Bytes, little-endian.
#[derive(Debug, Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn bytes(&mut self, bytes: &[u8]) -> &mut Bytes {
        self.0.extend(bytes);
        self
    }

    fn u32(&mut self, value: u32) -> &mut Bytes {
        self.bytes(&value.to_le_bytes())
    }

    fn u64(&mut self, value: u64) -> &mut Bytes {
        self.bytes(&value.to_le_bytes())
    }

    fn zeros(&mut self, count: usize) -> &mut Bytes {
        self.0.resize(self.0.len() + count, 0);
        self
    }

    /// A name as the kernel keeps it, cut at a whole character.
    fn name(&mut self, name: &str) -> &mut Bytes {
        let most = name.len().min(NAME - 1);
        let cut = (0..=most).rev().find(|&at| name.is_char_boundary(at));
        let name = &name[..cut.unwrap_or(0)];
        self.bytes(name.as_bytes()).zeros(NAME - name.len())
    }

    /// A text of a feature: its length with what fills it up, itself.
    fn string(&mut self, text: &str) -> &mut Bytes {
        let length = (text.len() + 1).next_multiple_of(64);
        self.u32(length as u32).bytes(text.as_bytes());
        self.zeros(length - text.len())
    }

    /// The fields that each tracepoint has.
    fn common(&mut self, event: u64, thread: u32) -> &mut Bytes {
        self.bytes(&(event as u16).to_le_bytes()).zeros(2).u32(thread)
    }

    fn record(&mut self, kind: u32, body: &Bytes) {
        let size = (8 + body.0.len()) as u16;
        self.u32(kind).bytes(&[0; 2]).bytes(&size.to_le_bytes());
        self.bytes(&body.0);
    }
}

//! Files that are written here field by field.

use super::read_perfetto;
use crate::foreign::{ForeignTrace, Note, Part, TraceInput};
use crate::perfetto::field::{
    bundle, clocks, compact, descriptor, event, ftrace, packet, switch, trace, waking,
};
use crate::perfetto::{BOOTTIME, FTRACE_MONO_RAW, MONOTONIC_RAW};
use crate::protobuf::Message;
use model::trace::{State, Trace};

/// Switches of a CPU: when, which state the thread before left in, which thread is next.
const SWITCHES: [(u64, u64, usize); 5] =
    [(1_000, 0, 1), (1_500, 1, 2), (2_500, 0, 1), (2_600, 0x100, 2), (3_000, 1, 0)];
/// Wake-ups: when, of which thread, with which flags.
const WAKINGS: [(u64, usize, u64); 2] = [(1_800, 1, 0), (2_900, 1, 0x08)];
const THREADS: [(u64, &str); 3] = [(0, "swapper/0"), (10, "first"), (20, "second")];

fn message(fill: impl FnOnce(&mut Message)) -> Message {
    let mut message = Message::default();
    fill(&mut message);
    message
}

fn file(packets: &[Message]) -> Vec<u8> {
    let file = message(|file| {
        for packet in packets {
            file.message(trace::PACKET, packet);
        }
    });
    file.bytes().to_vec()
}

fn read_packets(packets: &[Message]) -> ForeignTrace {
    let input = TraceInput::Memory(file(packets));
    read_perfetto(&input, "file", Part::default()).expect("a trace")
}

/// The numbers as one field.
fn packed(numbers: impl IntoIterator<Item = u64>) -> Vec<u8> {
    // Each as if it was a field of its own, without its tag.
    let one = |number| message(|one| _ = one.number(1, number)).bytes()[1..].to_vec();
    numbers.into_iter().flat_map(one).collect()
}

/// Times since the one before.
fn deltas(times: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let mut before = 0;
    packed(times.into_iter().map(|at| at - std::mem::replace(&mut before, at)))
}

fn compact_bundle() -> Message {
    let columns = message(|columns| {
        columns.block(compact::SWITCH_TIME, &deltas(SWITCHES.map(|of| of.0)));
        columns.block(compact::SWITCH_STATE, &packed(SWITCHES.map(|of| of.1)));
        columns.block(compact::SWITCH_NEXT, &packed(SWITCHES.map(|of| THREADS[of.2].0)));
        columns.block(compact::SWITCH_NAME, &packed(SWITCHES.map(|of| of.2 as u64)));
        for (_, name) in THREADS {
            columns.text(compact::NAMES, name);
        }
        columns.block(compact::WAKING_TIME, &deltas(WAKINGS.map(|of| of.0)));
        columns.block(compact::WAKING_PID, &packed(WAKINGS.map(|of| THREADS[of.1].0)));
        columns.block(compact::WAKING_FLAGS, &packed(WAKINGS.map(|of| of.2)));
    });
    message(|bundle| _ = bundle.number(bundle::CPU, 0).message(bundle::COMPACT, &columns))
}

/// The same, each event by itself.
fn whole_bundle() -> Message {
    let mut events: Vec<(u64, Message)> = Vec::new();
    let mut out = 0;
    for (at, state, into) in SWITCHES {
        let fields = message(|fields| {
            fields.number(switch::PREV_PID, THREADS[out].0).number(switch::PREV_STATE, state);
            fields.text(switch::PREV_COMM, THREADS[out].1);
            fields.number(switch::NEXT_PID, THREADS[into].0);
            fields.text(switch::NEXT_COMM, THREADS[into].1);
        });
        events.push((at, message(|event| _ = event.message(ftrace::SWITCH, &fields))));
        out = into;
    }
    for (at, thread, flags) in WAKINGS {
        let fields = message(|fields| _ = fields.number(waking::PID, THREADS[thread].0));
        let event = message(|event| {
            event.number(ftrace::FLAGS, flags).number(ftrace::PID, 20);
            event.message(ftrace::WAKING, &fields);
        });
        events.push((at, event));
    }
    events.sort_by_key(|(at, _)| *at);
    message(|bundle| {
        bundle.number(bundle::CPU, 0);
        for (at, event) in &events {
            let mut bytes = message(|time| _ = time.number(ftrace::TIMESTAMP, *at));
            let mut all = bytes.bytes().to_vec();
            all.extend(event.bytes());
            bytes.clear();
            bundle.block(bundle::EVENT, &all);
        }
    })
}

fn of_bundle(bundle: &Message) -> Trace {
    let packet = message(|packet| _ = packet.message(packet::FTRACE_EVENTS, bundle));
    let ForeignTrace { trace, notes } = read_packets(&[packet]);
    assert_eq!(notes, []);
    trace
}

#[test]
fn switches_in_columns_are_those_of_single_events() {
    let [compact, whole] = [compact_bundle(), whole_bundle()].map(|bundle| of_bundle(&bundle));
    let first = compact.threads.iter().find(|thread| thread.id == 10).expect("there");
    let states =
        first.segments.iter().map(|segment| (segment.from_ns, segment.to_ns, segment.state));
    let expected = [
        (0, 500, State::Running(0)),
        (500, 800, State::Blocked { call: None, uninterruptible: false }),
        (800, 1_500, State::Runnable),
        (1_500, 1_600, State::Running(0)),
        (1_600, 2_000, State::Preempted(20)),
    ];
    assert_eq!(states.collect::<Vec<_>>(), expected);
    assert_eq!(first.name, "first");
    let by: Vec<_> = compact.wakeups.iter().map(|wakeup| wakeup.by).collect();
    assert_eq!(by, [Some(20), None], "an interrupt is no thread");
    assert_eq!(compact.threads, whole.threads);
    assert_eq!(compact.cpus, whole.cpus);
    assert_eq!(compact.wakeups, whole.wakeups);
    assert_eq!(compact.losses, whole.losses);
}

#[test]
fn columns_that_are_cut_off_or_of_no_name_are_read_as_far_as_they_go() {
    let columns = message(|columns| {
        columns.block(compact::SWITCH_TIME, &deltas([100, 200, 300]));
        columns.block(compact::SWITCH_STATE, &packed([0, 0, 0]));
        columns.block(compact::SWITCH_NEXT, &packed([10, 20]));
        columns.block(compact::SWITCH_NAME, &packed([u64::MAX, 7]));
    });
    let bundle = message(|bundle| _ = bundle.message(bundle::COMPACT, &columns));
    let trace = of_bundle(&bundle);
    let names: Vec<_> = trace.threads.iter().map(|thread| (thread.id, &*thread.name)).collect();
    assert_eq!(names, [(10, ""), (20, "")]);
    assert_eq!(trace.cpus[0].switches.len(), 2);
}

/// A span of thread 10 on the clock of the trace, as two packets.
fn span(from: u64, to: u64) -> Vec<Message> {
    let thread = message(|thread| {
        thread.number(descriptor::THREAD_PID, 10).number(descriptor::THREAD_TID, 10);
    });
    let track = message(|track| {
        track.number(descriptor::UUID, 7).message(descriptor::THREAD, &thread);
    });
    let mark = |at: u64, kind: u64| {
        let event = message(|event| {
            event.number(event::TYPE, kind).number(event::TRACK, 7).text(event::NAME, "work");
        });
        message(|packet| {
            packet.number(packet::TIMESTAMP, at).number(packet::SEQUENCE, 1);
            packet.message(packet::TRACK_EVENT, &event);
        })
    };
    let track = message(|packet| _ = packet.message(packet::TRACK_DESCRIPTOR, &track));
    vec![track, mark(from, 1), mark(to, 2)]
}

#[test]
fn spans_on_a_clock_that_meets_no_other_are_counted_and_left_out() {
    let mut bundle = whole_bundle();
    bundle.number(bundle::CLOCK, FTRACE_MONO_RAW);
    let events = message(|packet| _ = packet.message(packet::FTRACE_EVENTS, &bundle));
    let mut packets = span(91_200, 91_700);
    packets.push(events);
    let ForeignTrace { trace, notes } = read_packets(&packets);
    assert_eq!(notes, [Note::Clock(1)]);
    assert!(trace.threads.iter().all(|thread| thread.signposts.is_empty()));
    // With a snapshot they meet.
    let clock = |id: u64, at: u64| {
        message(|clock| _ = clock.number(clocks::ID, id).number(clocks::TIMESTAMP, at))
    };
    let snapshot = message(|snapshot| {
        snapshot.message(clocks::CLOCK, &clock(BOOTTIME, 90_000));
        snapshot.message(clocks::CLOCK, &clock(MONOTONIC_RAW, 0));
    });
    packets.push(message(|packet| _ = packet.message(packet::CLOCK_SNAPSHOT, &snapshot)));
    let ForeignTrace { trace, notes } = read_packets(&packets);
    assert_eq!(notes, []);
    let first = trace.threads.iter().find(|thread| thread.id == 10).expect("there");
    let marks: Vec<_> = first.signposts.iter().map(|mark| (mark.from_ns, mark.to_ns)).collect();
    assert_eq!(marks, [(200, Some(700))]);
}

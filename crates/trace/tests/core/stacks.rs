//! Stacks from the bytes of their rings, and the stretches that have them.

use crate::ring::{Bytes, layouts};
use model::trace::{State, Thread};
use sys::perf::Capture;
use trace::decode::Decoded;
use trace::event::{Event, What};
use trace::stacks::{Read, Reader};
use trace::states::{TimelineSettings, timeline};

fn reader() -> Reader {
    Reader::new(Capture::FramePointers)
}

fn read_rings(rings: Vec<Bytes>) -> Read {
    let mut reader = reader();
    let chunks: Vec<(u32, Vec<u8>)> = (0..).zip(rings).map(|(cpu, ring)| (cpu, ring.0)).collect();
    reader.read_rings(&chunks, u64::MAX);
    reader.finish()
}

/// The stack of each event.
fn stack_names(read: &Read) -> Vec<Vec<String>> {
    let events = read.events.iter();
    let of = |event: &Event| match event.what {
        What::Stack { stack, .. } => {
            let frames = read.stacks.frames(stack);
            frames.map(|frame| read.stacks.frame_name(frame)).collect()
        }
        other => panic!("{other:?}"),
    };
    events.map(of).collect()
}

const USER: u64 = -512_i64 as u64;

#[test]
fn addresses_are_places_in_files() {
    let ring = Bytes::default()
        .map(10, 1, 0x1000, 0x1000, 0x400, "/nowhere/prog")
        .map(10, 1, 0x8000, 0x1000, 0, "/nowhere/lib.so")
        .stack(20, 1, &[USER, 0x8010, 0x1021, 0x1041])
        .stack(30, 1, &[USER, 0x8010, 0x1021, 0x1041])
        // What is no code is no caller.
        .stack(40, 1, &[USER, 0x1010, 0x7777, 0x1041])
        // Without a user mode.
        .stack(50, 1, &[]);
    let read = read_rings(vec![ring]);
    let whole = ["lib.so+0x10", "prog+0x420", "prog+0x440"];
    assert_eq!(stack_names(&read), [&whole[..], &whole[..], &["prog+0x410"]]);
    assert_eq!((read.lost, read.unread_bytes), (0, 0));
    assert_eq!(read.stacks.nodes.len(), 4, "each once");
}

#[test]
fn a_process_has_what_was_mapped_at_the_time() {
    let one = Bytes::default()
        .map(10, 1, 0x1000, 0x1000, 0, "/nowhere/a")
        .stack(20, 1, &[USER, 0x1001])
        .stack(40, 2, &[USER, 0x1001])
        .stack(60, 1, &[USER, 0x1001])
        .lost(70, 3);
    // Another CPU's records, read later.
    let other = Bytes::default().fork(30, 2, 2, 1).exec(50, 1, "b").map(
        55,
        1,
        0x1000,
        0x1000,
        0x100,
        "/nowhere/b",
    );
    let mut reader = reader();
    reader.read_rings(&[(0, one.0)], 25);
    reader.read_rings(&[(1, other.0)], 65);
    let read = reader.finish();
    assert_eq!(stack_names(&read), [["a+0x1"], ["a+0x1"], ["b+0x101"]]);
    assert_eq!(read.lost, 3);
}

#[test]
fn what_was_mapped_before_the_recording_is_known() {
    let mut reader = reader();
    let maps = "1000-2000 r-xp 00000400 fd:01 42 /nowhere/prog\n\
                2000-3000 rw-p 00001400 fd:01 42 /nowhere/prog\n";
    reader.add_maps(1, maps);
    // Of two records until a time, the one at that time is read.
    let ring = Bytes::default().stack(20, 1, &[USER, 0x1021]).stack(21, 1, &[USER, 0x2000, 0x1021]);
    reader.read_rings(&[(0, ring.0)], 20);
    assert_eq!(reader.count(), 1);
    let (code, data) = ("prog+0x421", "0x2000");
    assert_eq!(stack_names(&reader.finish()), [vec![code], vec![data, "prog+0x420"]]);
}

#[test]
fn of_bytes_that_are_cut_off_nothing_is_read() {
    let whole = Bytes::default().map(10, 1, 0x1000, 0x1000, 0, "/nowhere/a").stack(
        20,
        1,
        &[USER, 0x1001, 0x1002],
    );
    for length in 0..whole.0.len() {
        let cut = Bytes(whole.0[..length].to_vec(), Vec::new());
        assert!(read_rings(vec![cut]).events.is_empty(), "{length}");
    }
    assert_eq!(read_rings(vec![whole]).events.len(), 1);
}

/// Stacks of thread 1 with these records of CPU 0.
fn left(ring: Bytes, stacks: &[(u64, u32)], scheduler: bool) -> (Thread, Vec<(u64, u32)>) {
    let mut decoded = Decoded::default();
    ring.decode(&layouts(), 0, &mut decoded);
    decoded.events.extend(stacks.iter().map(|&(at_ns, stack)| Event {
        at_ns,
        cpu: 0,
        what: What::Stack { thread: 1, stack },
    }));
    decoded.sort();
    let settings = TimelineSettings {
        roots: vec![(1, 1)],
        to_ns: 1000,
        scheduler,
        ..TimelineSettings::default()
    };
    let timeline = timeline(&decoded.events, &settings);
    let thread = timeline.threads[0].clone();
    let left = thread.left.iter().map(|left| (left.at_ns, left.stack));
    let left = left.collect();
    (thread, left)
}

const ME: (u32, &str) = (1, "me");
const IDLE: (u32, &str) = (0, "swapper");

#[test]
fn a_stack_is_that_of_the_switch_before_it() {
    let ring = Bytes::default()
        .switch(100, 0, 0, ME)
        .switch(200, 1, 1, IDLE)
        .waking(205, 0, 9, 1)
        .switch(300, 0, 0, ME)
        .switch(400, 1, 0, (7, "hog"))
        .switch(500, 7, 0, ME);
    // The second comes after a wake-up by another CPU.
    let (thread, left) = left(ring, &[(210, 4), (410, 5)], true);
    assert_eq!(left, [(200, 4), (400, 5)]);
    let stacks: Vec<_> = thread.stacks().collect();
    // Blocked, runnable; preempted.
    let wanted = [None, None, Some(4), Some(4), None, Some(5), None];
    assert_eq!(stacks, wanted, "{:?}", thread.segments);
    assert_eq!(thread.segments[3].state, State::Runnable);
}

#[test]
fn without_a_switch_it_is_that_of_the_threads_own_record() {
    let ring = || {
        Bytes::default()
            .own_switch(100, 1, false, false)
            .own_switch(200, 1, true, false)
            .own_switch(300, 1, false, false)
            .own_switch(400, 1, true, true)
    };
    assert_eq!(left(ring(), &[(199, 4), (399, 5)], false).1, [(200, 4), (400, 5)]);
    // The second was lost: the first is not that of another switch.
    assert_eq!(left(ring(), &[(199, 4)], false).1, [(200, 4)]);
    // A switch is missing: what its stack was is not that of the next.
    let ring =
        Bytes::default().switch(100, 0, 0, ME).enter(250, 1, 0, [0; 6]).switch(400, 1, 1, IDLE);
    assert_eq!(left(ring, &[(199, 4)], true).1, []);
}

//! Pages of the kernel's buffers into events.

use crate::ring::{Bytes, common, layouts, padded, page};
use trace::decode::{Decoded, Layouts, Samples, Tracepoint};
use trace::event::{Event, What, text_of};
use trace::states::{TimelineSettings, timeline};

/// Layouts with those of threads' lives.
fn of_buffers() -> Samples {
    let texts = [
        (Tracepoint::NewTask, include_str!("../formats/task_newtask.txt")),
        (Tracepoint::TaskExit, include_str!("../formats/sched_process_exit.txt")),
        (Tracepoint::Rename, include_str!("../formats/task_rename.txt")),
        (Tracepoint::Exec, include_str!("../formats/sched_process_exec.txt")),
    ];
    let mut layouts: Layouts = layouts();
    for (point, text) in texts {
        layouts.add_tracepoint(point, text).expect("a description");
    }
    Samples::Tracepoints(layouts)
}

fn task(kind: u16, at_ns: u64, thread: u32, fields: &[&[u8]]) -> (u64, Vec<u8>) {
    (at_ns, [&common(kind, 0, thread)[..], &fields.concat()].concat())
}

fn new_task(at_ns: u64, parent: u32, thread: u32, clone_flags: u64) -> (u64, Vec<u8>) {
    let rest = [&padded("new")[..], &[0; 4], &clone_flags.to_ne_bytes(), &[0; 4]].concat();
    task(205, at_ns, parent, &[&thread.to_ne_bytes(), &rest])
}

fn decoded(pages: &[Vec<u8>]) -> Decoded {
    let mut decoded = Decoded::default();
    decoded.add_pages(&of_buffers(), 3, &pages.concat());
    decoded
}

#[test]
fn what_was_lost_stands_before_the_first_record_of_its_page() {
    let samples = Bytes::default().waking(20, 0, 8, 7).waking(30, 0, 8, 7).1;
    let pages = decoded(&[page(20, 0, &samples[..1]), page(30, 5, &samples[1..])]);
    let at: Vec<(u64, bool)> =
        pages.events.iter().map(|event| (event.at_ns, event.what == What::Lost(5))).collect();
    assert_eq!(at, [(20, false), (30, true), (30, false)]);
}

#[test]
fn a_damaged_page_is_counted_and_ends_what_is_read() {
    let samples = Bytes::default().waking(20, 0, 8, 7).1;
    let whole = page(20, 0, &samples);
    let mut longer = whole.clone();
    longer[8..16].copy_from_slice(&4000_u64.to_ne_bytes());
    let pages = decoded(&[whole.clone(), longer.clone()]);
    assert_eq!(pages.events.len(), 1);
    assert_eq!(pages.unread_bytes, longer.len() as u64);
    // Of a kind that was not asked for.
    let other = page(20, 0, &[(20, common(999, 0, 7))]);
    assert_eq!(decoded(&[other]).unread_bytes, 8);
}

#[test]
fn threads_and_processes_are_told_apart_by_how_they_were_cloned() {
    const CLONE_THREAD: u64 = 0x0001_0000;
    let named = task(204, 40, 8, &[&8_u32.to_ne_bytes(), &padded("new"), &padded("tool"), &[0; 4]]);
    let begun = task(365, 50, 8, &[&[0; 4], &8_u32.to_ne_bytes(), &7_u32.to_ne_bytes()]);
    let ended = task(369, 60, 9, &[&padded("new"), &9_u32.to_ne_bytes(), &[0; 8]]);
    let tasks = [new_task(10, 7, 8, 0), new_task(30, 8, 9, CLONE_THREAD), named, begun, ended];
    let pages = decoded(&[page(10, 0, &tasks)]);
    let mut name = [0; 16];
    name[..4].copy_from_slice(b"tool");
    let wanted = [
        (10, What::Fork { process: Some(8), thread: 8, parent: 7 }),
        (30, What::Fork { process: None, thread: 9, parent: 8 }),
        (40, What::Name { process: None, thread: 8, name, exec: false }),
        (50, What::Exec { thread: 8 }),
        (60, What::Exit { thread: 9 }),
    ];
    assert_eq!(pages.events, wanted.map(|(at_ns, what)| Event { at_ns, cpu: 3, what }));
    assert_eq!(text_of(&name), "tool");
    // Those of others are recorded as well: 50 is none of ours.
    let others = [new_task(61, 50, 51, 0)];
    let mut events = pages.events;
    events.extend(decoded(&[page(61, 0, &others)]).events);
    let settings = TimelineSettings {
        roots: vec![(7, 7)],
        to_ns: 100,
        scheduler: true,
        tasks_of_all: true,
        ..TimelineSettings::default()
    };
    let threads = timeline(&events, &settings).threads;
    let threads: Vec<(u32, u32, &str)> =
        threads.iter().map(|t| (t.process, t.id, t.name.as_str())).collect();
    assert_eq!(threads, [(7, 7, ""), (8, 8, "tool"), (8, 9, "")]);
}

#[test]
fn perfs_records_of_tasks_are_not_read_beside_those_of_the_buffers() {
    let bytes =
        Bytes::default().fork(80, 8, 9, 8).exit(90, 9).exec(95, 9, "prog").served(96, 9, 1, false);
    let mut decoded = Decoded::default();
    decoded.add_ring(&of_buffers(), 0, &bytes.0);
    let what = What::Served { thread: 9, address: Some(1), major: false };
    assert_eq!(decoded.events, [Event { at_ns: 96, cpu: 0, what }]);
    assert_eq!(decoded.unread_bytes, 0);
}

//! What a page carries of a trace, read back as its script reads it.

use super::bytes::{TimeStretch, contiguous};
use super::cpus::{Occupant, cpus};
use super::pack::pack;
use super::*;
use crate::html::policy::policy_for;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::inflate::decompress_to_vec_zlib;
use model::trace::tails::tails;
use model::trace::{
    Access, Call, Cpu, Ended, PageFault, Segment, ServedFault, State, Switch, Target, Tier, Wakeup,
};

fn trace() -> Trace {
    let thread = Thread {
        id: 5,
        name: "a</script>\u{202e}b".into(),
        to_ns: 1000,
        // A hole from 300 to 400.
        segments: vec![
            Segment::new(0, 300, State::Runnable),
            Segment::new(400, 700, State::Running(1)),
            Segment::new(700, 1000, State::Lost),
        ],
        calls: vec![Call {
            from_ns: 450,
            to_ns: 460,
            number: 39,
            arguments: [u64::MAX, 0, 1],
            returned: Some(-2),
        }],
        faults: vec![PageFault {
            at_ns: 20,
            address: 4096,
            access: Access::Write,
            served: Some(ServedFault { to_ns: 27, major: false }),
        }],
        ..Thread::default()
    };
    let switch = |at_ns, out, into| Switch { at_ns, out, state: 0, into };
    let wakeup = |at_ns, by| Wakeup { at_ns, thread: 5, by, cpu: 1 };
    Trace {
        duration_ns: 1000,
        threads: vec![thread],
        cpus: vec![Cpu {
            id: 1,
            switches: vec![switch(100, 0, 9), switch(400, 9, 5), switch(800, 5, 0)],
            lost: vec![(200, 300), (700, 850)],
            ..Cpu::default()
        }],
        wakeups: vec![wakeup(0, None), wakeup(550, Some(9))],
        call_names: [(39, "getppid".to_owned())].into(),
        other_names: [(9, "<!--".to_owned())].into(),
        ..Trace::new(Target::Process(5), Ended::Time, Tier::Full)
    }
}

#[test]
fn every_number_is_there() {
    let packed = pack(&trace(), (0, 1000));
    let bytes = STANDARD.decode(packed.data).expect("base64");
    let bytes = decompress_to_vec_zlib(&bytes).expect("zlib");
    let mut numbers: Vec<u64> = Vec::new();
    let mut shift = 0;
    for byte in bytes {
        if shift == 0 {
            numbers.push(0);
        }
        *numbers.last_mut().expect("one") |= u64::from(byte & 0x7f) << shift;
        shift = if byte < 0x80 { 0 } else { shift + 7 };
    }
    let expected: [&[u64]; 9] = [
        // Runnable, unknown, running, lost: lengths, then what.
        &[4, 300, 100, 300, 300, 0, 1, 2, 3],
        // No samples.
        &[0, 0],
        // A page fault.
        &[1, 20],
        // One call: begin, length, number, bytes of its details, these.
        &[1, 450, 10, 39, 23, u64::MAX, 0, 1, 1, -2_i64 as u64],
        // One operation on memory: begin, length, operation, bytes of its details, these.
        &[1, 20, 8, 0, 4, 1, 4096, 0],
        // No signposts, no stacks.
        &[0, 0],
        // A wake-up that begins the first stretch, one within another.
        &[1, 0, 1, 550, 0, 1],
        // The CPU: unknown, 9, lost, 9, 5 as its own lane says, lost, lost, idle;
        &[8, 0, 2, 4, 2, 7, 4, 4, 8],
        // the bytes of the lengths of the others, these.
        &[8, 100, 100, 100, 100, 100, 50, 150],
    ];
    assert_eq!(numbers, expected.concat());
}

#[test]
fn what_is_missing_on_a_cpu_is_never_bridged() {
    use Occupant::{Lost, Thread};
    let stretch = |from_ns, to_ns, what| TimeStretch { from_ns, to_ns, what };
    let cpus = cpus(&trace());
    let filled = contiguous(0, 1000, &cpus[&1], Occupant::Unknown);
    assert_eq!(
        filled,
        [
            stretch(0, 100, Occupant::Unknown),
            stretch(100, 200, Thread(9)),
            stretch(200, 300, Lost),
            stretch(300, 400, Thread(9)),
            stretch(400, 700, Thread(5)),
            stretch(700, 800, Lost),
            stretch(800, 850, Lost),
            stretch(850, 1000, Thread(0)),
        ]
    );
}

#[test]
fn without_switches_a_cpu_shows_traced_threads_only() {
    let own = Trace { cpus: Vec::new(), ..trace() };
    let stretch = |from_ns, to_ns, what| TimeStretch { from_ns, to_ns, what };
    assert_eq!(
        cpus(&own)[&1],
        [
            stretch(0, 400, Occupant::NotTraced),
            stretch(400, 700, Occupant::Thread(5)),
            stretch(700, 1000, Occupant::NotTraced),
        ]
    );
}

#[test]
fn no_name_is_markup() {
    let page = timeline_html(&trace(), None);
    assert_eq!(page.matches("</script>").count(), 3, "ours");
    assert!(!page.contains("<!--") && !page.contains('\u{202e}'));
    assert!(page.contains(&policy_for(SCRIPT)));
    let head = pack(&trace(), (0, 1000)).head;
    let head: serde_json::Value = serde_json::from_str(&head).expect("JSON");
    assert_eq!(head["names"]["9"], "<!--");
    assert_eq!(head["threads"][0]["name"], "a</script>\\u{202e}b");
}

#[test]
fn a_number_may_be_used_again_for_ever() {
    const MANY: u64 = 1 << 17;
    let thread = |at: u64| Thread {
        id: 5,
        from_ns: 2 * at,
        to_ns: 2 * at + 1,
        segments: vec![Segment::new(2 * at, 2 * at + 1, State::Running(1))],
        ..Thread::default()
    };
    let wakeup = |at: u64| Wakeup { at_ns: 2 * at, thread: 5, by: None, cpu: 1 };
    let many = Trace {
        duration_ns: 2 * MANY,
        threads: (0..MANY).map(thread).collect(),
        wakeups: (0..MANY).map(wakeup).collect(),
        cpus: Vec::new(),
        ..trace()
    };
    assert!(!pack(&many, (0, 1)).data.is_empty());
}

#[test]
fn a_hostile_trace_is_packed() {
    let mut hostile = trace();
    hostile.threads[0].segments.reverse();
    hostile.threads[0].to_ns = u64::MAX;
    hostile.threads[0].calls[0].from_ns = u64::MAX;
    hostile.cpus[0].switches.reverse();
    hostile.cpus[0].lost.push((900, 0));
    hostile.wakeups.reverse();
    hostile.duration_ns = 0;
    assert!(!pack(&hostile, (0, 0)).data.is_empty());
    assert!(
        timeline_html(&Trace::new(Target::Process(1), Ended::Gone, Tier::Minimal), None)
            .contains("Figures")
    );
}

#[test]
fn a_page_opens_on_what_is_asked_for_or_typical() {
    let shown = |trace: &Trace, stretch| {
        let page = timeline_html(trace, stretch);
        let from = page.find(r#""shown":["#).expect("it says so") + 9;
        page[from..].split(']').next().map(str::to_owned)
    };
    assert_eq!(shown(&trace(), None).as_deref(), Some("0,1000"));
    assert_eq!(shown(&trace(), Some((100, 5000))).as_deref(), Some("100,1000"));
    let row = crate::render::trace::tests::row();
    let (from_ns, to_ns) = row.typical().expect("a row has one");
    assert_eq!(shown(&row, None), Some(format!("{from_ns},{to_ns}")));
}

/// What a pinned slice of them shows.
#[test]
fn slow_spans_carry_why() {
    let spans = crate::render::trace::tests::spans();
    let head = pack(&spans, (0, 1)).head;
    let head: serde_json::Value = serde_json::from_str(&head).expect("JSON");
    let slow = head["slow"].as_array().expect("a list");
    let longest = tails(&spans).into_iter().flat_map(|kind| kind.slow);
    let longest = longest.max_by(|a, b| a.excess_ns.total_cmp(&b.excess_ns)).expect("one");
    let first = &slow[0];
    assert_eq!(first[0], longest.operation.thread);
    assert_eq!([&first[1], &first[2]], [longest.operation.from_ns, longest.operation.to_ns]);
    insta::assert_snapshot!(first[3].as_str().expect("a text"));
    let none = pack(&trace(), (0, 1)).head;
    assert!(none.contains(r#""slow":[]"#), "few spans are not explained");
}

#[test]
fn without_a_script_there_is_the_picture() {
    let page = timeline_html(&trace(), None);
    let instead = page.split("<noscript>").nth(1).and_then(|rest| rest.split("</noscript>").next());
    let instead = instead.expect("there is something");
    assert!(instead.contains("<svg") && instead.contains(">runnable<"), "{instead}");
}

/// One name twice is a script that doesn't begin.
#[test]
fn the_parts_of_the_script_give_each_name_once() {
    let mut names = BTreeSet::new();
    let mut depth = 0;
    for line in SCRIPT.lines().filter(|line| !line.starts_with(char::is_whitespace)) {
        depth -= i32::from(line.starts_with('}'));
        let mut words = line.split([' ', '(', ';']).filter(|word| *word != "async");
        // Within the function around all.
        if depth == 1 && ["const", "let", "function", "class"].map(Some).contains(&words.next()) {
            let name = words.next().unwrap_or_default();
            assert!(name.starts_with(['[', '{']) || names.insert(name), "{name} is there twice");
        }
        depth += i32::from(line.ends_with('{'));
    }
    assert_eq!(depth, 0);
    assert!(names.len() > 100, "{}", names.len());
}

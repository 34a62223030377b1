//! What perf and Firefox's profiler get, read back.

use model::trace::{
    Call, Clocks, Cpu, Ended, Segment, State, Switch, Target, Thread, Tier, Trace, Wakeup,
};

fn trace() -> Trace {
    let me = Thread {
        id: 1,
        process: 1,
        name: "me".into(),
        from_ns: 100,
        to_ns: 5_400,
        segments: vec![
            Segment::new(100, 2_650, State::Running(0)),
            Segment::new(2_650, 2_900, State::Preempted(8)),
            Segment::new(2_900, 5_400, State::Running(0)),
        ],
        calls: vec![Call {
            from_ns: 1_110,
            to_ns: 2_120,
            number: 39,
            arguments: [7, 0, 0],
            returned: Some(-4),
        }],
        ..Thread::default()
    };
    let switch = |at_ns, out, state, into| Switch { at_ns, out, state, into };
    Trace {
        began: Clocks { raw_ns: 1 << 40, ..Clocks::default() },
        kernel: "6.18.0".into(),
        duration_ns: 5_400,
        threads: vec![me],
        cpus: vec![Cpu {
            id: 0,
            switches: vec![
                switch(100, 0, 0, 1),
                switch(2_650, 1, 0x102, 8),
                switch(2_900, 8, 1, 1),
            ],
            lost: Vec::new(),
            interrupts: Vec::new(),
        }],
        wakeups: vec![Wakeup { at_ns: 2_660, thread: 1, by: Some(8), cpu: 0 }],
        call_names: [(39, "getppid".to_owned())].into(),
        other_names: [(8, "a name longer than 16".to_owned())].into(),
        ..Trace::new(Target::Process(1), Ended::Gone, Tier::Full)
    }
}

fn number(bytes: &[u8], at: u64, size: usize) -> u64 {
    let at = usize::try_from(at).expect("small");
    let mut all = [0; 8];
    all[..size].copy_from_slice(&bytes[at..at + size]);
    u64::from_le_bytes(all)
}

#[test]
fn perf_data_has_each_switch_and_wake_up() {
    let trace = trace();
    let mut bytes = Vec::new();
    trace::perf_data::write(&trace, &mut bytes).expect("to memory");
    assert_eq!(&bytes[..8], b"PERFILE2");
    // What is in a sample, as perf_event_open(2) numbers it: IP, TID, TIME, CPU, PERIOD, RAW,
    // IDENTIFIER. Stamps are of CLOCK_MONOTONIC_RAW (use_clockid), in all records (sample_id_all).
    let [attributes, entry] = [24, 16].map(|at| number(&bytes, at, 8));
    for event in [1, 2] {
        let at = attributes + (event - 1) * entry;
        let fields = [(0, 4), (8, 8), (24, 8), (40, 8), (92, 4)];
        let fields = fields.map(|(field, size)| number(&bytes, at + field, size));
        assert_eq!(fields, [2, event, 0x1_0587, 1 << 18 | 1 << 25, 4]);
    }
    let [mut at, size] = [40, 48].map(|at| number(&bytes, at, 8));
    let end = at + size;
    let mut samples = Vec::new();
    let mut names = Vec::new();
    while at < end {
        let record = |offset, size| number(&bytes, at + offset, size);
        match record(0, 4) {
            3 => names.push(record(12, 4)),
            9 => {
                // Event, thread, time, then the fields after size and common ones.
                let raw = 60;
                assert_eq!(record(8, 8), record(raw, 2), "the event in both");
                assert_eq!(record(raw - 4, 4) % 8, 4, "filled up");
                let fields = match record(8, 8) {
                    1 => [24, 32, 56].map(|field| record(raw + field, 4)),
                    _ => [24, 32, 4].map(|field| record(raw + field, 4)),
                };
                samples.push((record(8, 8), record(32, 8) - (1 << 40), fields));
            }
            other => panic!("record {other}"),
        }
        at += record(6, 2);
    }
    assert_eq!(at, end);
    let expected = [
        (1, 100, [0, 0, 1]),
        (1, 2_650, [1, 0x102, 8]),
        (2, 2_660, [1, 0, 8]),
        (1, 2_900, [8, 1, 1]),
    ];
    assert_eq!(samples, expected);
    names.sort_unstable();
    assert_eq!(names, [1, 8]);
    let cut = b"a name longer t\0";
    assert!(bytes.windows(16).any(|part| part == cut));
    // Of the features, the descriptions of the fields and the kernel's release.
    assert_eq!(number(&bytes, 72, 8), 1 << 1 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 12);
    let table = number(&bytes, end, 8);
    assert_eq!(number(&bytes, table, 3), 0x44_0817);
}

#[test]
fn firefox_has_each_marker_and_the_time_on_a_cpu() {
    let trace = trace();
    let mut bytes = Vec::new();
    trace::firefox::write(&trace, &mut bytes).expect("to memory");
    let profile: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
    let thread = &profile["threads"][0];
    let segments = &trace.threads[0].segments;
    let markers = thread["markers"]["data"].as_array().expect("a list");
    assert_eq!(markers.len(), segments.len() + 1, "states and a call");
    let texts: Vec<&str> = thread["stringArray"]
        .as_array()
        .or(profile["shared"]["stringArray"].as_array())
        .expect("texts")
        .iter()
        .filter_map(serde_json::Value::as_str)
        .collect();
    for text in ["preempted", "by a name longer than 16 8", "0x7, 0x0, 0x0 = -4"] {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
    let running = segments.iter().filter(|s| matches!(s.state, State::Running(_)));
    let running_ns: u64 = running.map(|segment| segment.duration_ns()).sum();
    let deltas = thread["samples"]["threadCPUDelta"].as_array().expect("a list");
    let sum_us: u64 = deltas.iter().filter_map(serde_json::Value::as_u64).sum();
    assert_eq!(sum_us, running_ns / 1000, "whole microseconds");
    assert!(sum_us > 0);
}

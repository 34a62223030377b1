//! Files of other recorders. `tests/foreign/v6.dat.zst` and `v7.dat` are one recording of `trace-cmd record`
//! (`sh -c 'true; sleep 0.005'`) without the formats that aren't read, the second one converted by
//! `trace-cmd convert`; the sums are those of a script that reads `trace-cmd report`.

use model::trace::tier::Missing;
use model::trace::{Ended, StateKind, Target, Topic, Trace};
use std::fs::File;
use trace::foreign::{self, FIRST_BYTES, FileFormat, ForeignError, ForeignTrace, Note, Part};
use trace::perfetto::write_perfetto;

const V7: &[u8] = include_bytes!("../foreign/v7.dat");

fn v6() -> Vec<u8> {
    let packed = include_bytes!("../foreign/v6.dat.zst");
    zstd::bulk::decompress(packed, 1 << 20).expect("packed here")
}

fn read_part(bytes: &[u8], part: Part) -> Option<Result<ForeignTrace, ForeignError>> {
    let format = FileFormat::from_first_bytes(&bytes[..bytes.len().min(FIRST_BYTES)])?;
    Some(foreign::read_bytes(bytes.to_vec(), format, "file", part))
}

fn read_bytes(bytes: &[u8]) -> ForeignTrace {
    read_part(bytes, Part::default()).expect("known").expect("whole")
}

/// Time of a thread in a state.
fn sum(trace: &Trace, thread: u32, kind: StateKind) -> u64 {
    let threads = trace.threads.iter().filter(|one| one.id == thread);
    let segments = threads.flat_map(|thread| &thread.segments);
    let segments = segments.filter(|segment| segment.state.kind() == kind);
    segments.map(|segment| segment.duration_ns()).sum()
}

#[test]
fn both_versions_of_trace_dat_hold_what_trace_cmd_reports() {
    let [six, seven] = [v6(), V7.to_vec()].map(|bytes| read_bytes(&bytes));
    assert_eq!((six.notes, seven.notes), (Vec::new(), Vec::new()));
    let trace = six.trace;
    assert_eq!(trace.threads, seven.trace.threads);
    assert_eq!(trace.cpus, seven.trace.cpus);
    assert_eq!(trace.wakeups, seven.trace.wakeups);
    let Target::File(file) = &trace.target else {
        panic!("{:?}", trace.target);
    };
    assert_eq!(file.recorder, "trace-cmd 3.1.6, trace.dat version 6");
    assert_eq!((trace.ended, trace.cpu_count), (Ended::File, 2));
    assert_eq!((trace.architecture.as_str(), &trace.kernel[..2]), ("x86_64", "6."));
    let switches = trace.cpus.iter().map(|cpu| cpu.switches.len()).sum::<usize>();
    let calls = trace.threads.iter().map(|thread| thread.calls.len()).sum::<usize>();
    // One call begins before the recording, and another one ends after it.
    assert_eq!((switches, trace.wakeups.len(), calls), (18, 11, 191));
    // The switches out of idle that the kernel did not record here.
    assert_eq!(trace.losses.breaks, 4);
    let [running, runnable] = [StateKind::Running, StateKind::Runnable];
    for (thread, ran_ns, waited_ns) in
        [(18, 48_322, 4_566), (21, 21_642, 31_897), (4_630, 43_224, 37_827)]
    {
        assert_eq!(sum(&trace, thread, running), ran_ns, "{thread}");
        assert_eq!(sum(&trace, thread, runnable), waited_ns, "{thread}");
    }
    let named = trace.threads.iter().find(|thread| thread.id == 23_199).expect("there");
    assert_eq!((named.name.as_str(), named.created_by), ("sleep", Some(23_198)));
    let gaps: Vec<Missing> = trace.gaps.iter().map(|gap| gap.of).collect();
    assert_eq!(gaps, [Missing::Topic(Topic::Faults)]);
}

#[test]
fn a_file_is_read_as_its_bytes_in_memory() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/foreign/v7.dat");
    let file = File::open(path).expect("there");
    let read = foreign::read_file(file, FileFormat::TraceDat, "file", Part::default());
    assert_eq!(read.expect("whole").trace, read_bytes(V7).trace);
}

#[test]
fn a_part_is_read_as_it_is_in_the_whole() {
    let whole = read_bytes(V7).trace;
    let part = Part { from_ns: Some(3_000_000), to_ns: Some(6_000_000), limit_bytes: None };
    let part = read_part(V7, part).expect("known").expect("whole").trace;
    assert_eq!(part.duration_ns, 3_000_000);
    assert_eq!(part.began.raw_ns, whole.began.raw_ns + 3_000_000);
    let cut = whole.clone().cut(3_000_000, 6_000_000);
    for thread in &part.threads {
        let same = cut.threads.iter().find(|one| one.id == thread.id).expect("there");
        assert_eq!(thread.segments, same.segments, "{}", thread.id);
    }
    // With room for little, what lies before is forgotten, and the end is left out.
    let little = Part { from_ns: Some(3_000_000), to_ns: None, limit_bytes: Some(2_000) };
    let read = read_part(V7, little).expect("known").expect("whole");
    assert!(read.trace.duration_ns < 6_000_000, "{}", read.trace.duration_ns);
    assert_eq!((read.trace.ended, read.notes), (Ended::Full, vec![Note::More]));
    assert_eq!(read.trace.began.raw_ns, whole.began.raw_ns + 3_000_000);
}

#[test]
fn perfetto_holds_the_same_as_what_it_was_written_from() {
    let trace = read_bytes(V7).trace;
    let mut bytes = Vec::new();
    write_perfetto(&trace, &mut bytes).expect("memory");
    let ForeignTrace { trace: again, notes } = read_bytes(&bytes);
    assert_eq!(notes, []);
    // Where records are missing is on tracks of CPUs, which are no threads.
    let lanes = again.threads.iter().filter(|thread| !thread.is_thread());
    assert_eq!(lanes.map(|lane| lane.signposts.len()).sum::<usize>(), 4);
    let switches = |trace: &Trace| -> Vec<Vec<(u64, u32, u32, u32)>> {
        let began_ns = trace.began.raw_ns.max(trace.began.boot_ns);
        let cpus = trace.cpus.iter().map(|cpu| cpu.switches.iter());
        cpus.map(|all| all.map(|s| (began_ns + s.at_ns, s.out, s.state, s.into)).collect())
            .collect()
    };
    let boot_ns = |trace: &Trace| trace.began.boot_ns;
    // Times of the file that was read have no other clock than its own.
    assert_eq!(boot_ns(&trace), 0);
    let shifted: Vec<usize> = switches(&again).iter().map(Vec::len).collect();
    assert_eq!(shifted, switches(&trace).iter().map(Vec::len).collect::<Vec<_>>());
    for thread in &trace.threads {
        // What system calls say in addition is not there.
        for kind in [StateKind::Runnable, StateKind::Blocked] {
            let is_whole = thread.calls.is_empty();
            let (ours, theirs) = (sum(&trace, thread.id, kind), sum(&again, thread.id, kind));
            assert!(!is_whole || ours == theirs, "{} {kind:?}: {ours} {theirs}", thread.id);
        }
        let named = again.threads.iter().find(|one| one.id == thread.id).expect("there");
        assert_eq!(named.name, thread.name);
    }
    let calls = trace.threads.iter().map(|thread| thread.calls.len()).sum::<usize>();
    let slices = again.threads.iter().filter(|thread| thread.is_thread());
    let slices = slices.map(|thread| thread.signposts.len()).sum::<usize>();
    assert_eq!(slices, calls, "system calls are slices");
}

#[test]
fn trace_events_in_json_are_spans_and_moments() {
    let text = r#"{"meta": [1, {"a": null}], "traceEvents": [
        {"ph": "M", "pid": 5, "tid": 7, "name": "thread_name", "args": {"name": "worker", "n": [1]}},
        {"ph": "B", "pid": 5, "tid": 7, "ts": 100, "name": "outer"},
        {"ph": "X", "pid": 5, "tid": 7, "ts": 101.5, "dur": 2.25, "name": "inner", "args": {}},
        {"ph": "E", "pid": 5, "tid": 7, "ts": 110},
        {"ph": "i", "pid": 5, "tid": "main loop", "ts": 105, "name": "tick", "s": "t"},
        {"ph": "b", "pid": 5, "tid": 7, "ts": 103, "cat": "net", "name": "request", "id": "0x1"},
        {"ph": "b", "pid": 5, "tid": 7, "ts": 104, "cat": "net", "name": "request", "id2": {"local": 2}},
        {"ph": "e", "pid": 5, "tid": 8, "ts": 106, "cat": "net", "name": "request", "id": "0x1"},
        {"ph": "e", "pid": 5, "tid": 8, "ts": 109, "cat": "net", "name": "request", "id2": {"local": 2}},
        {"ph": "E", "pid": 5, "tid": 8, "ts": 106},
        {"ph": "B", "pid": 5, "tid": 8, "ts": 107, "name": "never"},
        {"ph": "C", "pid": 5, "tid": 8, "ts": 107, "name": "count", "args": {"value": 3}}
    ], "other": "x"}"#;
    let ForeignTrace { trace, notes } = read_bytes(text.as_bytes());
    assert_eq!(notes, [Note::Ends(1)]);
    // Asynchronous spans lie on lanes, which are no threads.
    let is_thread = trace.threads.iter().map(|thread| (thread.name.as_str(), thread.is_thread()));
    let mut is_thread: Vec<_> = is_thread.collect();
    is_thread.sort_unstable();
    let expected = [("", true), ("main loop", true), ("request", false), ("worker", true)];
    assert_eq!(is_thread, expected);
    let found = trace.threads.iter().flat_map(|thread| {
        thread.signposts.iter().map(|mark| {
            let name = trace.signpost_name(mark).expect("named");
            (thread.process, thread.name.as_str(), name, mark.from_ns, mark.to_ns)
        })
    });
    let mut found: Vec<_> = found.collect();
    found.sort_unstable();
    let expected = [
        (5, "", "never", 7_000, Some(10_001)),
        (5, "main loop", "tick", 5_000, None),
        (5, "request", "request", 3_000, Some(6_000)),
        (5, "request", "request", 4_000, Some(9_000)),
        (5, "worker", "inner", 1_500, Some(3_750)),
        (5, "worker", "outer", 0, Some(10_000)),
    ];
    assert_eq!(found, expected);
    // One more than the last mark, so that only what did not end does so with the trace.
    assert_eq!(trace.duration_ns, 10_001);
    // Without its end: Chrome writes none if it is ended itself.
    let cut = text.split("{\"ph\": \"C\"").next().expect("before");
    assert_eq!(read_bytes(cut.as_bytes()).trace.ended, Ended::CutOff);
    assert_eq!(FileFormat::from_first_bytes(b"{\"schema\": 7, \"rows\": []}"), None);
    assert_eq!(FileFormat::from_first_bytes(b""), None);
}

#[test]
fn a_part_of_json_is_that_of_the_whole() {
    // Not in the order of time.
    let text = r#"[
        {"ph": "X", "pid": 5, "tid": 7, "ts": 130, "dur": 5, "name": "within"},
        {"ph": "B", "pid": 5, "tid": 7, "ts": 105, "name": "around"},
        {"ph": "X", "pid": 5, "tid": 7, "ts": 110, "dur": 5, "name": "before"},
        {"ph": "i", "pid": 5, "tid": 7, "ts": 100, "name": "first"},
        {"ph": "X", "pid": 5, "tid": 7, "ts": 170, "dur": 5, "name": "after"},
        {"ph": "X", "pid": 5, "tid": 8, "ts": 115, "dur": 10, "name": "into"},
        {"ph": "E", "pid": 5, "tid": 7, "ts": 145}
    ]"#;
    let part = Part { from_ns: Some(20_000), to_ns: Some(60_000), limit_bytes: None };
    let read = read_part(text.as_bytes(), part).expect("known").expect("whole");
    assert_eq!(read.notes, []);
    let trace = read.trace;
    let marks = trace.threads.iter().flat_map(|thread| &thread.signposts);
    let mut marks: Vec<_> = marks
        .map(|mark| (trace.signpost_name(mark).expect("named"), mark.from_ns, mark.to_ns))
        .collect();
    marks.sort_unstable();
    assert_eq!(marks, [("within", 10_000, Some(15_000))]);
}

#[test]
fn a_hundred_thousand_threads_are_read_in_time() {
    let events = (0..100_000).map(|at| {
        format!(
            "{{\"ph\":\"X\",\"pid\":{at},\"tid\":{at},\"ts\":{at},\"dur\":1,\"name\":\"n{}\"}}",
            at % 9
        )
    });
    let text = format!("[{}]", events.collect::<Vec<_>>().join(","));
    let trace = read_bytes(text.as_bytes()).trace;
    assert_eq!((trace.threads.len(), trace.signpost_names.len()), (100_000, 9));
}

#[test]
fn a_clock_that_counts_no_ns_is_refused() {
    let text = |from: &str, to: &str| {
        let mut bytes = v6();
        let at = bytes.windows(from.len()).position(|part| part == from.as_bytes());
        let at = at.expect("the clocks");
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        bytes
    };
    let [from, to] = ["counter uptime perf mono [mono_raw]", "[counter] uptime perf mono mono_raw"];
    let read = read_part(&text(from, to), Part::default()).expect("known");
    assert!(matches!(read, Err(ForeignError::Clock(clock)) if clock == "counter"));
    let [from, to] = ["mono [mono_raw] boot", "[mono] mono_raw boot"];
    assert!(read_part(&text(from, to), Part::default()).expect("known").is_ok());
    let version = text("tracing6", "tracing9");
    let read = read_part(&version, Part::default()).expect("known");
    assert!(matches!(read, Err(ForeignError::Version(version)) if version == "9"));
}

#[test]
fn what_is_cut_off_or_damaged_is_an_error_or_counted() {
    let mut state = 11_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut perfetto = Vec::new();
    write_perfetto(&read_bytes(V7).trace, &mut perfetto).expect("memory");
    let json =
        br#"[{"ph":"B","pid":5,"tid":7,"ts":100,"name":"x"},{"ph":"E","pid":5,"tid":7,"ts":9}]"#;
    // All of the third one is compressed together.
    for (whole, least) in [(v6(), 10), (V7.to_vec(), 10), (perfetto, 0), (json.to_vec(), 10)] {
        let (mut errors, mut rest) = (0, 0);
        for turn in 0..150 {
            let mut bytes = whole.clone();
            match turn % 2 {
                0 => bytes.truncate((random() % whole.len() as u64) as usize),
                _ => {
                    for _ in 0..=random() % 8 {
                        let at = (random() % whole.len() as u64) as usize;
                        bytes[at] = random() as u8;
                    }
                }
            }
            match read_part(&bytes, Part::default()) {
                Some(Ok(read)) => {
                    rest += 1;
                    let last_ns = read.trace.threads.iter().map(|thread| thread.to_ns).max();
                    assert!(last_ns.unwrap_or(0) <= read.trace.duration_ns);
                }
                Some(Err(_)) | None => errors += 1,
            }
        }
        assert!(errors > 10 && rest >= least, "{errors} {rest}");
    }
    // The pages of the last CPU are not there.
    let bytes = v6();
    let cut = read_bytes(&bytes[..bytes.len() - 5_000]).trace;
    assert_eq!(cut.ended, Ended::CutOff);
}

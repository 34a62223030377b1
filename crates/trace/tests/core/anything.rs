//! What holds of a trace of any bytes whatever; shared with `fuzz`.

use crate::ring::Bytes;
use model::trace::{Ended, Stacks, Target, Tier, Trace};
use sys::perf::Capture;
use trace::decode::{Decoded, Layouts, Samples};
use trace::stacks::{Read, Reader};
use trace::states::{TimelineSettings, timeline};

/// Records of a CPU, of four bytes each.
pub(crate) fn ring(records: &[[u8; 4]]) -> Bytes {
    records.iter().copied().fold(Bytes::default(), record)
}

/// The same bytes as perf's ring and as pages of the kernel's buffer.
pub(crate) fn decode(layouts: &Layouts, cpu: u32, bytes: &[u8], decoded: &mut Decoded) {
    decoded.add_ring(&Samples::Faults, cpu, bytes);
    decoded.add_pages(&Samples::Tracepoints(layouts.clone()), cpu, bytes);
}

/// One record of a few threads on a few CPUs, in any order.
fn record(bytes: Bytes, [kind, at, a, b]: [u8; 4]) -> Bytes {
    let (at, a, b) = (u64::from(at), u32::from(a % 5), u32::from(b % 5));
    match kind % 12 {
        0 => bytes.switch(at, a, 1, (b, "x")),
        1 => bytes.switch(at, a, 0, (b, "x")),
        2 => bytes.switch(at, a, 0x10, (b, "x")),
        3 => bytes.waking(at, 0, a, b),
        4 => bytes.enter(at, a, i64::from(b), [0; 6]),
        5 => bytes.returns(at, a, 0, 0),
        6 => bytes.own_switch(at, a, true, b % 2 == 0),
        7 => bytes.own_switch(at, a, false, false),
        8 => bytes.fork(at, a, b, a),
        9 => bytes.exit(at, a),
        10 => bytes.exec(at, a, "y"),
        _ => bytes.lost(at, 1),
    }
}

/// The trace of the records of all CPUs.
pub(crate) fn trace(layouts: &Layouts, cpus: &[Bytes], scheduler: bool) -> Trace {
    let mut decoded = Decoded::default();
    for (cpu, bytes) in (0..).zip(cpus) {
        bytes.decode(layouts, cpu, &mut decoded);
    }
    trace_of(decoded, scheduler)
}

/// The trace of these events, as the recorder makes it.
pub(crate) fn trace_of(mut decoded: Decoded, scheduler: bool) -> Trace {
    decoded.sort();
    let settings = TimelineSettings {
        roots: vec![(1, 1)],
        from_ns: 0,
        to_ns: 200,
        shown_from_ns: None,
        scheduler,
        tasks_of_all: false,
        all_threads: false,
        calls: true,
        yield_call: Some(24),
    };
    let timeline = timeline(&decoded.events, &settings);
    Trace {
        duration_ns: settings.to_ns - timeline.began_ns,
        threads: timeline.threads,
        cpus: timeline.cpus,
        wakeups: timeline.wakeups,
        losses: timeline.losses,
        ..Trace::new(Target::Process(1), Ended::Gone, Tier::Full)
    }
}

/// The stacks of these rings, of which every node has its callers before it.
pub(crate) fn stacks(chunks: &[(u32, Vec<u8>)], copied: bool) -> Stacks {
    let capture = if copied { Capture::Copy(512) } else { Capture::FramePointers };
    let mut reader = Reader::new(capture);
    reader.read_rings(chunks, 100);
    reader.read_rings(chunks, u64::MAX);
    let Read { stacks, .. } = reader.finish();
    for (place, node) in (0..).zip(&stacks.nodes) {
        assert!((node.frame as usize) < stacks.frames.len());
        assert!(node.caller.is_none_or(|caller| caller < place));
    }
    stacks
}

/// Asserts that the states of each thread cover its life without gap or
/// overlap, and that nothing lies outside of the trace.
pub(crate) fn holds(trace: &Trace) {
    for thread in &trace.threads {
        assert!(thread.from_ns <= thread.to_ns, "{thread:?}");
        assert!(thread.to_ns <= trace.duration_ns, "{thread:?}");
        let mut at_ns = thread.from_ns;
        for segment in &thread.segments {
            assert_eq!(segment.from_ns, at_ns, "{thread:?}");
            assert!(segment.from_ns < segment.to_ns, "{thread:?}");
            at_ns = segment.to_ns;
        }
        assert_eq!(at_ns, thread.to_ns, "{thread:?}");
        for call in &thread.calls {
            assert!(call.from_ns <= call.to_ns && call.to_ns <= trace.duration_ns);
        }
        assert!(thread.faults.iter().all(|f| f.at_ns <= trace.duration_ns));
    }
    for cpu in &trace.cpus {
        assert!(cpu.switches.is_sorted_by_key(|switch| switch.at_ns));
        assert!(cpu.lost.iter().all(|&(from, to)| from < to && to <= trace.duration_ns));
    }
    assert!(trace.losses.repaired <= trace.losses.breaks);
}

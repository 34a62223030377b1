//! What holds of a trace of any bytes whatever; shared with `fuzz`.

use model::trace::{Clocks, Ended, SCHEMA, Target, Tier, Trace};
use trace::decode::{Decoded, Layouts, Samples};
use trace::states::{Settings, timeline};

/// The trace of these rings, as the recorder makes it.
pub(crate) fn trace(layouts: &Layouts, rings: &[Vec<u8>], scheduler: bool) -> Trace {
    let mut decoded = Decoded::default();
    for (cpu, bytes) in (0..).zip(rings) {
        decoded.add(&Samples::Tracepoints(layouts.clone()), cpu, bytes);
    }
    decoded.sort();
    let settings = Settings {
        roots: vec![(1, 1)],
        from_ns: 0,
        to_ns: 200,
        scheduler,
        calls: true,
        yield_call: Some(24),
    };
    let timeline = timeline(&decoded.events, &settings);
    Trace {
        schema: SCHEMA,
        target: Target::Process(1),
        ended: Ended::Gone,
        tier: Tier::Full,
        gaps: Vec::new(),
        architecture: String::new(),
        cpu_count: 1,
        ring_bytes: 0,
        began: Clocks::default(),
        duration_ns: settings.to_ns - timeline.began_ns,
        threads: timeline.threads,
        cpus: timeline.cpus,
        wakeups: timeline.wakeups,
        call_names: Default::default(),
        other_names: Default::default(),
        losses: timeline.losses,
    }
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
        assert!(
            cpu.lost
                .iter()
                .all(|&(from, to)| from < to && to <= trace.duration_ns)
        );
    }
    assert!(trace.losses.repaired <= trace.losses.breaks);
}

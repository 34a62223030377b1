//! What threads did, as shares of their time.

use super::RecordingRows;
use super::shares::ShareSample;
use crate::experiment::slug;
use crate::run::{Bound, Outcome, Row};
use crate::trace::{StateKind, Thread, Trace};
use crate::unit::Unit;

/// Equal parts of the time that was recorded: as many as an interval of a share needs.
const PARTS: u64 = 20;

/// The share of each state that occurs in the time of all threads together.
pub(super) fn trace_rows(of: &Trace) -> RecordingRows {
    let mut rows = RecordingRows::default();
    for kind in StateKind::ALL {
        let states = of.threads.iter().flat_map(|thread| &thread.segments);
        if states.clone().any(|segment| segment.state.kind() == kind) {
            let id = format!("trace.{}", slug(kind.name()));
            rows.add_shares(&id, vec![(None, parts(of, kind))]);
        }
    }
    if rows.rows.is_empty() {
        let reason = format!("tier {} records no states of threads", of.tier.name());
        let outcome = Outcome::Unavailable { reason };
        rows.rows.push(Row::new("trace.running", Unit::Count, Bound::Memory, outcome));
    }
    rows
}

/// Time in a state, and of all threads that were there, in each part of the trace.
fn parts(of: &Trace, kind: StateKind) -> Vec<ShareSample> {
    let part_ns = of.duration_ns.div_ceil(PARTS).max(1);
    let mut parts: Vec<ShareSample> = (0..PARTS)
        .map(|part| ShareSample { at_ms: part * part_ns / 1_000_000, part: 0, whole: 0 })
        .collect();
    let mut add = |(from_ns, to_ns): (u64, u64), count: fn(&mut ShareSample) -> &mut u64| {
        let to_ns = to_ns.min(of.duration_ns);
        let first = (from_ns / part_ns).min(PARTS) as usize;
        for (place, part) in parts.iter_mut().enumerate().skip(first) {
            let begin_ns = place as u64 * part_ns;
            if begin_ns >= to_ns {
                break;
            }
            let end_ns = to_ns.min(begin_ns.saturating_add(part_ns));
            let sum = count(part);
            *sum = sum.saturating_add(end_ns.saturating_sub(from_ns.max(begin_ns)));
        }
    };
    for Thread { from_ns, to_ns, segments, .. } in &of.threads {
        add((*from_ns, *to_ns), |part| &mut part.whole);
        for segment in segments.iter().filter(|segment| segment.state.kind() == kind) {
            add((segment.from_ns, segment.to_ns), |part| &mut part.part);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Ended, Segment, State, Target, Tier};

    fn trace(threads: Vec<Thread>) -> Trace {
        let target = Target::Command(vec!["true".into()]);
        Trace { duration_ns: 2_000, threads, ..Trace::new(target, Ended::Exited(0), Tier::Full) }
    }

    #[test]
    fn states_are_shares_of_the_time_that_threads_were_there() {
        let running = |from_ns, to_ns| Segment { from_ns, to_ns, state: State::Running(0) };
        let of = trace(vec![
            // Across two parts of 100 ns, and beyond the end.
            Thread { to_ns: 2_000, segments: vec![running(150, 250)], ..Thread::default() },
            Thread {
                from_ns: 1_950,
                to_ns: 3_000,
                segments: vec![running(1_950, 3_000)],
                ..Thread::default()
            },
        ]);
        let parts = parts(&of, StateKind::Running);
        let known: Vec<(u64, u64)> = parts.iter().map(|part| (part.part, part.whole)).collect();
        let mut expected = [(0, 100); 20];
        (expected[1], expected[2], expected[19]) = ((50, 100), (50, 100), (50, 150));
        assert_eq!(known, expected);
        let rows = trace_rows(&of);
        let ids: Vec<&str> = rows.rows.iter().map(|row| &*row.id).collect();
        assert_eq!(ids, ["trace.running"]);
        let typical = rows.rows[0].estimate().and_then(|estimate| estimate.typical);
        assert_eq!(typical.map(|typical| typical.ns.value), Some(150.0 / 2_050.0));
    }

    #[test]
    fn a_tier_without_states_has_no_figures() {
        let of = Trace { tier: Tier::Minimal, ..trace(vec![Thread::default()]) };
        let outcome = trace_rows(&of).rows[0].outcome.clone();
        let reason = "tier minimal records no states of threads".to_owned();
        assert_eq!(outcome, Outcome::Unavailable { reason });
    }
}

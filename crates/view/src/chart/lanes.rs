//! The threads of a trace over time.

use super::figure::linear;
use super::{Body, Chart, Lane, LaneSpan, LaneState, Lanes, Quantity, Section};
use crate::render::trace::lanes::{
    Columns, SpanShare, kinds, memory_times, running_shares, span_shares,
};
use crate::render::trace::{active, drawn, shown_operations, tables, target};
use model::figure::time;
use model::printable::visible;
use model::trace::summary::summary;
use model::trace::{MemorySpan, StateKind, Target, Thread, Trace};
use std::collections::HashMap;

/// A picture has fewer px: it shows one state of each.
const COLUMNS: usize = 2000;

/// Threads of a picture that stands alone.
pub const MOST_THREADS: usize = 24;

/// The threads of a trace in a stretch: the one asked for, in ns, else a typical
/// operation of a row or the whole; no more than so many.
pub fn of_trace(trace: &Trace, asked: Option<(u64, u64)>, most: usize) -> Chart {
    in_columns(trace, asked, most, COLUMNS)
}

/// The same with so many places.
pub(crate) fn in_columns(
    trace: &Trace,
    asked: Option<(u64, u64)>,
    most: usize,
    columns: usize,
) -> Chart {
    let stretch = drawn(trace, asked);
    let columns = Columns::new(stretch, columns);
    let (from_ns, to_ns) = stretch;
    let length_ns = to_ns.saturating_sub(from_ns) as f64;
    let (threads, left_out) = active(trace, &summary(trace), stretch, most);
    let operations: HashMap<(u32, u64), Vec<MemorySpan>> =
        trace.memory_spans().map(|(thread, spans)| ((thread.id, thread.from_ns), spans)).collect();
    let lane = |thread: &&Thread| Lane {
        name: tables::label(thread),
        states: match thread.samples.is_empty() {
            true => of_kinds(&kinds(thread, columns), length_ns),
            false => of_shares(&running_shares(thread, columns), length_ns),
        },
        signposts: signposts(trace, thread, columns, from_ns),
        calls: {
            let calls = thread.calls.iter();
            let calls = calls
                .map(|call| (call.from_ns, call.to_ns, visible(&trace.call_name(call.number))));
            of_spans(span_shares(calls, columns), length_ns)
        },
        memory: {
            let spans = operations.get(&(thread.id, thread.from_ns)).into_iter().flatten();
            of_spans(span_shares(spans.map(memory_times), columns), length_ns)
        },
    };
    let row = match &trace.target {
        Target::Row(row) => shown_operations(row, stretch),
        _ => None,
    };
    let from = match from_ns {
        0 => String::new(),
        _ => format!(" from {} of the trace on", time(from_ns as f64)),
    };
    let length = format!("{}{from}", time(length_ns));
    Chart {
        id: "trace".into(),
        title: target(trace),
        caption: match row {
            Some(row) => format!("{length}; {row}"),
            None => length,
        },
        section: Section::Threads,
        body: Body::Lanes(Lanes {
            x: linear("time", Quantity::Nanoseconds),
            length_ns,
            lanes: threads.iter().map(lane).collect(),
        }),
        notes: left_out
            .into_iter()
            .map(|text| text + ".")
            .chain([format!(
                "Recorded in the tier {} by latlas trace, kernel {}, {} CPUs. Each place shows the \
             state that takes most of its time.",
                trace.tier.name(),
                visible(&trace.kernel),
                trace.cpu_count
            )])
            .collect(),
    }
}

fn signposts(
    trace: &Trace,
    thread: &Thread,
    columns: Columns,
    from_ns: u64,
) -> Vec<(f64, f64, String)> {
    let since = |at_ns: u64| at_ns.saturating_sub(from_ns) as f64;
    let within = thread.signposts.iter().filter(|s| columns.touches(s));
    let signposts = within.map(|signpost| {
        let to_ns = signpost.to_ns.unwrap_or(signpost.from_ns);
        let name = visible(trace.signpost_name(signpost).unwrap_or("?"));
        (since(signpost.from_ns), since(to_ns), name)
    });
    signposts.collect()
}

/// Columns that are alike as one stretch.
fn of_kinds(columns: &[Option<StateKind>], length_ns: f64) -> Vec<LaneState> {
    let states = columns.iter().map(|kind| kind.map(|kind| (kind, None)));
    merged(states, length_ns)
}

fn of_spans(columns: Vec<Option<SpanShare>>, length_ns: f64) -> Vec<LaneSpan> {
    let column_ns = length_ns / columns.len().max(1) as f64;
    let mut spans: Vec<LaneSpan> = Vec::new();
    for (at, SpanShare { share, name }) in
        columns.into_iter().enumerate().filter_map(|(at, column)| Some((at, column?)))
    {
        let (from_ns, to_ns) = (at as f64 * column_ns, (at + 1) as f64 * column_ns);
        match spans.last_mut() {
            Some(last) if (last.share, last.to_ns) == (share, from_ns) && last.name == name => {
                last.to_ns = to_ns;
            }
            _ => spans.push(LaneSpan { from_ns, to_ns, share, name }),
        }
    }
    spans
}

fn of_shares(columns: &[Option<f64>], length_ns: f64) -> Vec<LaneState> {
    let states = columns.iter();
    let states = states.map(|share| share.map(|share| (StateKind::Running, Some(share))));
    merged(states, length_ns)
}

fn merged(
    columns: impl ExactSizeIterator<Item = Option<(StateKind, Option<f64>)>>,
    length_ns: f64,
) -> Vec<LaneState> {
    let column_ns = length_ns / columns.len().max(1) as f64;
    let mut states: Vec<LaneState> = Vec::new();
    for (at, state) in columns.enumerate() {
        let Some((kind, share)) = state else {
            continue;
        };
        let (from_ns, to_ns) = (at as f64 * column_ns, (at + 1) as f64 * column_ns);
        match states.last_mut() {
            Some(last) if (last.kind, last.share, last.to_ns) == (kind, share, from_ns) => {
                last.to_ns = to_ns;
            }
            _ => states.push(LaneState { from_ns, to_ns, kind, share }),
        }
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::svg::{Theme, to_svg};
    use crate::render::trace::tests::row;

    #[test]
    fn a_typical_part_of_a_row_is_drawn_unless_another_is_asked_for() {
        let trace = row();
        let chart = of_trace(&trace, None, 10);
        let Body::Lanes(lanes) = &chart.body else {
            panic!("{:?}", chart.body);
        };
        let (from_ns, to_ns) = trace.typical().expect("a row has one");
        assert_eq!(lanes.length_ns, (to_ns - from_ns) as f64);
        assert!(chart.caption.contains("operations 3 to 4 of 4"), "{}", chart.caption);
        let names: Vec<&str> = lanes.lanes.iter().map(|lane| lane.name.as_str()).collect();
        assert_eq!(names, ["prog 10", "prog 11"], "the third does nothing then");
        // It got a CPU at 805 µs.
        let [waits, runs] = lanes.lanes[1].states[..] else {
            panic!("{:?}", lanes.lanes[1].states);
        };
        assert_eq!((waits.kind, runs.kind), (StateKind::Blocked, StateKind::Running));
        let column_ns = lanes.length_ns / COLUMNS as f64;
        let got_ns = (805_000 - from_ns) as f64;
        assert!((waits.to_ns - got_ns).abs() <= column_ns, "{}", waits.to_ns);
        let whole = of_trace(&trace, Some((0, u64::MAX)), 10);
        let Body::Lanes(lanes) = &whole.body else {
            panic!("{:?}", whole.body);
        };
        assert_eq!((lanes.length_ns, lanes.lanes.len()), (1_000_000.0, 3));
    }

    #[test]
    fn the_picture_has_names_states_and_signposts() {
        let svg = to_svg(&of_trace(&row(), None, 10), Theme::Light);
        for text in ["prog 10", "prog 11", ">hand over<", ">running<", ">blocked<"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert!(!svg.contains(">runnable<"), "it does not occur: {svg}");
    }

    #[test]
    fn tables_and_records_have_calls_and_memory_too() {
        let trace = crate::render::trace::tests::full();
        let chart = of_trace(&trace, None, 10);
        let table = crate::chart::tables(&chart).remove(0);
        let titles: Vec<&str> = table.columns.iter().map(|one| one.title.as_str()).collect();
        assert_eq!(&titles[titles.len() - 2..], ["system calls", "memory"]);
        let csv = crate::chart::csv(&chart);
        assert!(csv.starts_with("thread,lane,name,from_ns,to_ns,share\n"), "{csv}");
        let has = |of: &str, name: &str| {
            let lane = format!(",{of},{name},");
            csv.lines().any(|line| line.starts_with("prog 10,") && line.contains(&lane))
        };
        assert!(has("state", "running") && has("system call", "read"), "{csv}");
        assert!(has("memory operation", "page fault"), "{csv}");
        // All time in calls, whatever the width of a column.
        let [calls, spent]: [f64; 2] = [
            trace.threads[0].calls.iter().map(|one| (one.to_ns - one.from_ns) as f64).sum(),
            match &chart.body {
                Body::Lanes(lanes) => {
                    let calls = lanes.lanes.iter().find(|l| l.name == "prog 10").map(|l| &l.calls);
                    let calls = calls.into_iter().flatten();
                    calls.map(|one| (one.to_ns - one.from_ns) * one.share).sum()
                }
                other => panic!("{other:?}"),
            },
        ];
        assert!((calls - spent).abs() < 1.0, "{calls} {spent}");
    }

    #[test]
    fn columns_that_are_alike_are_one_stretch() {
        let state = |from_ns, to_ns, kind| LaneState { from_ns, to_ns, kind, share: None };
        let (run, wait) = (Some(StateKind::Running), Some(StateKind::Blocked));
        let columns = [None, run, run, wait, None, wait, run, run];
        assert_eq!(
            of_kinds(&columns, 16.0),
            [
                state(2.0, 6.0, StateKind::Running),
                state(6.0, 8.0, StateKind::Blocked),
                state(10.0, 12.0, StateKind::Blocked),
                state(12.0, 16.0, StateKind::Running),
            ]
        );
        let shares: Vec<Option<f64>> = of_shares(&[Some(0.5), Some(0.5), Some(0.1)], 3.0)
            .iter()
            .map(|state| state.share)
            .collect();
        assert_eq!(shares, [Some(0.5), Some(0.1)]);
    }
}

//! Two traces side by side.

use super::{heading, more};
use compare::traces::{Both, CallDifference, Times, TraceDifference};
use model::figure::time;
use model::printable::visible;
use model::story::{Block, Cell, Table, left, right};
use model::trace::Trace;

/// Lines of a table unless all are asked for.
const FEW: usize = 15;

/// The second trace against the first.
pub fn difference(found: &TraceDifference, [a, b]: [&Trace; 2], all: bool) -> Vec<Block> {
    let most = if all { usize::MAX } else { FEW };
    let mut blocks = vec![
        Block::labelled("A  ", heading(a)),
        Block::labelled("B  ", heading(b)),
        Block::note(
            "One trace of each: how much traces of one program differ is not known, so no difference is evidence of a change.",
        ),
    ];
    if found.tiers.a != found.tiers.b {
        let text = format!(
            "A has the tier {}, B {}: only what both recorded is compared",
            found.tiers.a.name(),
            found.tiers.b.name()
        );
        blocks.push(Block::warning("", text));
    }
    blocks.push(Block::empty_line());
    blocks.push(Block::Table(states(found, most)));
    blocks.extend(more(found.states.len(), most, "line"));
    if !found.calls.is_empty() {
        blocks.push(Block::empty_line());
        blocks.push(Block::Table(calls(&found.calls, most)));
        blocks.extend(more(found.calls.len(), most, "call"));
    }
    blocks.push(Block::empty_line());
    blocks.push(Block::Table(others(found)));
    blocks
}

fn states(found: &TraceDifference, most: usize) -> Table {
    let columns = [right("A"), right("B"), right("B - A")];
    let columns = [left("threads"), left("state")].into_iter().chain(columns);
    let mut table = Table::new(columns);
    for one in found.states.iter().take(most) {
        table.row(
            [Cell::from(visible(&one.thread)), one.state.into()]
                .into_iter()
                .chain(times(one.time_ns)),
        );
    }
    table
}

fn calls(calls: &[CallDifference], most: usize) -> Table {
    let columns = ["calls A", "B", "total A", "B", "B - A", "p50 A", "B"].map(right);
    let mut table = Table::new([left("system call")].into_iter().chain(columns));
    for call in calls.iter().take(most) {
        let Both { a, b } = call.times;
        let counts = [a.count, b.count].map(|count| Cell::from(count.to_string()));
        table.row(
            [Cell::from(visible(&call.name))]
                .into_iter()
                .chain(counts)
                .chain(times(call.time_ns()))
                .chain([a.p50_ns, b.p50_ns].map(maybe)),
        );
    }
    table
}

fn others(found: &TraceDifference) -> Table {
    let columns = [left(""), right("A"), right("B"), right("B - A")];
    let mut table = Table::new(columns);
    let mut row = |name: &str, cells: [Cell; 3]| {
        table.row([Cell::from(name)].into_iter().chain(cells));
    };
    row("duration", times(found.duration_ns));
    row("threads", count_cells(found.threads));
    if let Some(wakeups) = found.wakeups {
        let of =
            |figure: fn(Times) -> Option<u64>| Both { a: figure(wakeups.a), b: figure(wakeups.b) };
        let Both { a, b } = wakeups;
        let number = Both { a: a.count, b: b.count };
        row("wake-ups", count_cells(number));
        row("scheduling latency, p50", maybe_times(of(|times| times.p50_ns)));
        row("scheduling latency, p99", maybe_times(of(|times| times.p99_ns)));
        row("scheduling latency, max", maybe_times(of(|times| times.max_ns)));
    }
    if let Some(faults) = found.faults {
        row("page faults", count_cells(faults));
    }
    table
}

fn times(of: Both<u64>) -> [Cell; 3] {
    let difference = of.difference();
    [
        maybe(Some(of.a)),
        maybe(Some(of.b)),
        signed(difference, &time(difference.unsigned_abs() as f64)),
    ]
}

fn maybe_times(of: Both<Option<u64>>) -> [Cell; 3] {
    match of {
        Both { a: Some(a), b: Some(b) } => times(Both { a, b }),
        Both { a, b } => [maybe(a), maybe(b), "-".into()],
    }
}

fn count_cells(of: Both<u64>) -> [Cell; 3] {
    let difference = of.difference();
    [
        of.a.to_string().into(),
        of.b.to_string().into(),
        signed(difference, &difference.unsigned_abs().to_string()),
    ]
}

fn maybe(ns: Option<u64>) -> Cell {
    match ns {
        None | Some(0) => "-".into(),
        Some(ns) => time(ns as f64).into(),
    }
}

fn signed(difference: i128, size: &str) -> Cell {
    match difference.signum() {
        0 => "0".into(),
        1 => format!("+{size}").into(),
        _ => format!("-{size}").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{full, own};
    use super::*;
    use crate::terminal::{Screen, blocks_text};
    use model::trace::State;

    fn page(a: &Trace, b: &Trace) -> String {
        let screen = Screen { columns: 80, color: false };
        let found = compare::traces::trace_difference(a, b);
        blocks_text(&difference(&found, [a, b], false), screen)
    }

    #[test]
    fn two_traces_side_by_side() {
        let mut other = full();
        other.duration_ns += 500_000;
        other.threads[0].calls.truncate(5);
        other.threads[1].faults = other.threads[0].faults.clone();
        for segment in &mut other.threads[0].segments {
            if segment.state == State::Runnable {
                segment.state = State::Preempted(77);
            }
        }
        insta::assert_snapshot!(page(&full(), &other));
    }

    #[test]
    fn tiers_that_differ_are_said() {
        let page = page(&full(), &own());
        assert!(page.contains("A has the tier full, B own process"), "{page}");
        assert!(!page.contains("blocked") && !page.contains("system call"), "{page}");
    }
}

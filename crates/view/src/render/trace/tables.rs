//! The tables of a trace.

use super::FEW;
use crate::terminal::layout::width;
use model::figure::time;
use model::printable::visible;
use model::story::{Cell, Column, Link, Table, left, right};
use model::trace::summary::{Distribution, Slice, Summary, ThreadFigures};
use model::trace::{StateKind, Thread, Tier, Topic, Trace};

/// What each tier can say, the one that was used marked.
pub(super) fn tiers(used: Tier) -> Table {
    let topics = Topic::WITHOUT_REQUEST.map(|topic| left(topic.name()));
    let mut table = Table::new([left(""), left("tier")].into_iter().chain(topics));
    for tier in Tier::ALL {
        let mark = if tier == used { ">" } else { "" };
        let answers = Topic::WITHOUT_REQUEST.map(|topic| Cell::from(tier.answer(topic).name()));
        table.row([mark.into(), tier.name().into()].into_iter().chain(answers));
    }
    table
}

/// How a thread is named: with its number, since many have the same name.
pub(crate) fn label(thread: &Thread) -> String {
    match (thread.name.is_empty(), thread.has_number()) {
        (true, _) => thread.id.to_string(),
        (false, true) => format!("{} {}", visible(&thread.name), thread.id),
        (false, false) => visible(&thread.name),
    }
}

/// Headings of the states, shorter than their names.
fn title(kind: StateKind) -> &'static str {
    match kind {
        StateKind::PreemptedOrYielded => "preempted/yielded",
        StateKind::BlockedOrRunnable => "off CPU",
        kind => kind.name(),
    }
}

/// States that have a column though no thread was in them.
fn is_expected(kind: StateKind, tier: Tier) -> bool {
    match kind {
        StateKind::Running => true,
        StateKind::Runnable | StateKind::Preempted | StateKind::Blocked => tier == Tier::Full,
        StateKind::PreemptedOrYielded => tier == Tier::OwnProcess,
        StateKind::BlockedOrRunnable => tier != Tier::Full,
        _ => false,
    }
}

pub(super) fn threads(trace: &Trace, summary: &Summary, most: usize) -> Table {
    let occurs = |kind: StateKind| summary.threads.iter().any(|t| t.time_ns(kind) > 0);
    let kinds = StateKind::ALL.into_iter();
    let kinds: Vec<StateKind> =
        kinds.filter(|&kind| occurs(kind) || is_expected(kind, trace.tier)).collect();
    let states = kinds.iter().map(|&kind| right(title(kind)));
    let rest = ["switched in", "faults"].map(|text| right(text).optional());
    let columns = [left("thread")].into_iter().chain(states).chain(rest);
    let mut table = Table::new(columns).folded(2 * FEW);
    for figures in summary.threads.iter().take(most) {
        table.row(thread(trace, figures, &kinds));
    }
    table
}

fn thread(trace: &Trace, figures: &ThreadFigures, kinds: &[StateKind]) -> Vec<Cell> {
    let times = kinds.iter().map(|&kind| match figures.time_ns(kind) {
        0 => "-".into(),
        ns => Cell::from(time(ns as f64)),
    });
    let thread = &trace.threads[figures.index];
    let life = Slice { thread: thread.id, from_ns: thread.from_ns, to_ns: thread.to_ns };
    let rest = [figures.switched_in, figures.faults].map(|n| Cell::from(n.to_string()));
    [Cell::from(label(thread)).to(Link::Slice(life))].into_iter().chain(times).chain(rest).collect()
}

pub(super) fn calls(trace: &Trace, summary: &Summary, most: usize) -> Table {
    let mut table = Table::new(columns("system call", "calls")).folded(2 * FEW);
    for call in summary.calls.iter().take(most) {
        let name = visible(&trace.call_name(call.number));
        let count = call.durations.count() as u64;
        table.row(duration_cells(name, count, &call.durations, call.longest, call.unfinished));
    }
    table
}

/// All of them: there are few.
pub(super) fn memory(summary: &Summary) -> Table {
    let [name, count, total, p50, p99, max, _] = columns("memory", "count");
    let columns = [name, count, total, p50, p99, max];
    let mut table =
        Table::new(columns.into_iter().chain([right("no time").optional(), right("size")]));
    for of in &summary.memory {
        let count = of.durations.count() as u64 + of.untimed;
        let name = of.operation.name().into();
        let cells = duration_cells(name, count, &of.durations, of.longest, of.untimed);
        let size = of.bytes.map_or("-".into(), |bytes| model::size::about(bytes).into());
        table.row(cells.into_iter().chain([size]));
    }
    table
}

pub(super) fn signposts(trace: &Trace, summary: &Summary, most: usize) -> Table {
    let mut table = Table::new(columns("signpost", "count"));
    for figures in summary.signposts.iter().take(most) {
        let name = trace.signpost_names.get(figures.name as usize);
        let name = name.map_or_else(|| "?".into(), |name| visible(name));
        let count = figures.moments + figures.durations.count() as u64;
        table.row(duration_cells(
            name,
            count,
            &figures.durations,
            figures.longest,
            figures.unfinished,
        ));
    }
    table
}

/// Columns of what lasts for a time.
fn columns(name: &str, count: &str) -> [Column; 7] {
    let [count, total, p50, p99, max, open] =
        [count, "total", "p50", "p99", "max", "unfinished"].map(right);
    [left(name), count, total, p50, p99, max, open.optional()]
}

fn duration_cells(
    name: String,
    count: u64,
    durations: &Distribution,
    longest: Option<Slice>,
    unfinished: u64,
) -> [Cell; 7] {
    [
        name.into(),
        count.to_string().into(),
        ns_cell(durations.max_ns().map(|_| durations.total_ns())),
        percentile(durations, 0.5),
        percentile(durations, 0.99),
        longest_cell(longest),
        match unfinished {
            0 => "-".into(),
            n => n.to_string().into(),
        },
    ]
}

fn percentile(durations: &Distribution, share: f64) -> Cell {
    ns_cell(durations.percentile_ns(share))
}

fn ns_cell(ns: Option<u64>) -> Cell {
    ns.map_or("-".into(), |ns| time(ns as f64).into())
}

/// How long the longest took, which leads to it.
fn longest_cell(longest: Option<Slice>) -> Cell {
    let cell = ns_cell(longest.map(|slice| slice.duration_ns()));
    Cell { link: longest.map(Link::Slice), ..cell }
}

/// Where threads were while they did not run: the functions, the innermost first. As
/// many as a line of so many columns has room for; all without a limit.
pub(super) fn places(
    trace: &Trace,
    summary: &Summary,
    columns: Option<usize>,
    most: usize,
) -> Table {
    /// Of the numbers, and between columns.
    const OTHERS: usize = 31;
    /// Two functions with short names.
    const LEAST: usize = 30;
    let shown = || summary.places.iter().take(most);
    let names = shown().map(|place| width(&visible(&place.thread)) + width(title(place.kind)));
    let taken = OTHERS + names.max().unwrap_or(0);
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(taken).max(LEAST));
    let mut table = Table::new(
        ["thread", "state"]
            .map(left)
            .into_iter()
            .chain(["times", "total", "max"].map(right))
            .chain([left("in")]),
    )
    .folded(FEW);
    for place in shown() {
        table.row([
            Cell::from(visible(&place.thread)),
            title(place.kind).into(),
            place.count.to_string().into(),
            time(place.total_ns as f64).into(),
            longest_cell(place.longest),
            stack(trace, place.stack, room).into(),
        ]);
    }
    table
}

/// The functions of a stack in one line, with room for so many characters.
fn stack(trace: &Trace, stack: u32, room: usize) -> String {
    const CALLED_BY: &str = " < ";
    const MORE: &str = "…";
    let names = trace.stack_names(stack);
    let names: Vec<String> = names.iter().map(|name| visible(name)).collect();
    let whole = names.join(CALLED_BY);
    if width(&whole) <= room {
        return whole;
    }
    let mut line = String::new();
    for name in names {
        let longer = format!("{line}{name}{CALLED_BY}");
        if width(&longer) + width(MORE) > room {
            // Of the innermost function at least the beginning is shown.
            if line.is_empty() {
                line = name.chars().take(room.saturating_sub(width(MORE))).collect();
            }
            break;
        }
        line = longer;
    }
    line + MORE
}

pub(super) fn preemptions(summary: &Summary, most: usize) -> Table {
    let columns = [left("preempted"), left("by"), right("times"), right("total"), right("max")];
    let mut table = Table::new(columns).folded(FEW);
    for pair in summary.preemptions.iter().take(most) {
        let by = pair.by.as_deref().map(visible);
        table.row([
            Cell::from(visible(&pair.victim)),
            by.unwrap_or_else(|| "no thread (CPU quota)".into()).into(),
            pair.count.to_string().into(),
            time(pair.total_ns as f64).into(),
            longest_cell(pair.longest),
        ]);
    }
    table
}

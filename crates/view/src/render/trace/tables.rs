//! The tables of a trace.

use crate::terminal::layout::width;
use model::figure::time;
use model::story::{Cell, Column, Table, left, right};
use model::text::visible;
use model::trace::summary::{Distribution, Summary, ThreadFigures};
use model::trace::{Kind, Thread, Tier, Topic, Trace};

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
    match thread.name.is_empty() {
        true => thread.id.to_string(),
        false => format!("{} {}", visible(&thread.name), thread.id),
    }
}

/// Headings of the states, shorter than their names.
fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::PreemptedOrYielded => "preempted/yielded",
        Kind::BlockedOrRunnable => "off CPU",
        kind => kind.name(),
    }
}

/// States that have a column though no thread was in them.
fn is_expected(kind: Kind, tier: Tier) -> bool {
    match kind {
        Kind::Running => true,
        Kind::Runnable | Kind::Preempted | Kind::Blocked => tier == Tier::Full,
        Kind::PreemptedOrYielded => tier == Tier::OwnProcess,
        Kind::BlockedOrRunnable => tier != Tier::Full,
        _ => false,
    }
}

pub(super) fn threads(trace: &Trace, summary: &Summary, most: usize) -> Table {
    let occurs = |kind: Kind| summary.threads.iter().any(|t| t.time_ns(kind) > 0);
    let kinds = Kind::ALL.into_iter();
    let kinds: Vec<Kind> =
        kinds.filter(|&kind| occurs(kind) || is_expected(kind, trace.tier)).collect();
    let states = kinds.iter().map(|&kind| right(title(kind)));
    let rest = ["switched in", "faults"].map(|text| right(text).optional());
    let columns = [left("thread")].into_iter().chain(states).chain(rest);
    let mut table = Table::new(columns);
    for figures in summary.threads.iter().take(most) {
        table.row(thread(trace, figures, &kinds));
    }
    table
}

fn thread(trace: &Trace, figures: &ThreadFigures, kinds: &[Kind]) -> Vec<Cell> {
    let times = kinds.iter().map(|&kind| match figures.time_ns(kind) {
        0 => "-".into(),
        ns => Cell::from(time(ns as f64)),
    });
    let label = label(&trace.threads[figures.index]);
    let rest = [figures.switched_in, figures.faults].map(|n| Cell::from(n.to_string()));
    [label.into()].into_iter().chain(times).chain(rest).collect()
}

pub(super) fn calls(trace: &Trace, summary: &Summary, most: usize) -> Table {
    let mut table = Table::new(columns("system call", "calls"));
    for call in summary.calls.iter().take(most) {
        let name = visible(&trace.call_name(call.number));
        let count = call.durations.count() as u64;
        table.row(times(name, count, &call.durations, call.unfinished));
    }
    table
}

pub(super) fn signposts(trace: &Trace, summary: &Summary, most: usize) -> Table {
    let mut table = Table::new(columns("signpost", "count"));
    for figures in summary.signposts.iter().take(most) {
        let name = trace.signpost_names.get(figures.name as usize);
        let name = name.map_or_else(|| "?".into(), |name| visible(name));
        let count = figures.moments + figures.durations.count() as u64;
        table.row(times(name, count, &figures.durations, figures.unfinished));
    }
    table
}

/// Columns of what lasts for a time.
fn columns(name: &str, count: &str) -> [Column; 7] {
    let [count, total, p50, p99, max, open] =
        [count, "total", "p50", "p99", "max", "unfinished"].map(right);
    [left(name), count, total, p50, p99, max, open.optional()]
}

fn times(name: String, count: u64, durations: &Distribution, unfinished: u64) -> [Cell; 7] {
    [
        name.into(),
        count.to_string().into(),
        of(durations.max_ns().map(|_| durations.total_ns())),
        percentile(durations, 0.5),
        percentile(durations, 0.99),
        of(durations.max_ns()),
        match unfinished {
            0 => "-".into(),
            n => n.to_string().into(),
        },
    ]
}

fn percentile(durations: &Distribution, share: f64) -> Cell {
    of(durations.percentile_ns(share))
}

fn of(ns: Option<u64>) -> Cell {
    ns.map_or("-".into(), |ns| time(ns as f64).into())
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
    const OTHERS: usize = 22;
    /// Two functions with short names.
    const LEAST: usize = 30;
    let shown = || summary.places.iter().take(most);
    let names = shown().map(|place| width(&visible(&place.thread)) + width(title(place.kind)));
    let taken = OTHERS + names.max().unwrap_or(0);
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(taken).max(LEAST));
    let mut table =
        Table::new([left("thread"), left("state"), right("times"), right("total"), left("in")]);
    for place in shown() {
        table.row([
            Cell::from(visible(&place.thread)),
            title(place.kind).into(),
            place.count.to_string().into(),
            time(place.total_ns as f64).into(),
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
    let columns = [left("preempted"), left("by"), right("times"), right("total")];
    let mut table = Table::new(columns);
    for pair in summary.preemptions.iter().take(most) {
        let by = pair.by.as_deref().map(visible);
        table.row([
            Cell::from(visible(&pair.victim)),
            by.unwrap_or_else(|| "no thread (CPU quota)".into()).into(),
            pair.count.to_string().into(),
            time(pair.total_ns as f64).into(),
        ]);
    }
    table
}

//! Why the slowest operations of a row were slow.

use crate::terminal::layout::width;
use model::figure::time;
use model::run::{Outcome, Run};
use model::share::{change, percent};
use model::story::{Block, Cell, Table, left, right};
use model::text::{counted, visible};
use model::trace::tails::{Cause, Tails, tails};
use model::trace::{Row, Target, ThreadsById, Tier, Trace};

/// Operations that are listed below a run.
const FEW_OPERATIONS: usize = 3;
/// Causes that are listed at least.
const FEW_CAUSES: usize = 8;

/// Why the slowest operations of a row of this run were slow, by a trace made after it, on a page
/// of so many columns.
pub fn row_tails(trace: &Trace, run: &Run, columns: usize) -> Vec<Block> {
    let Target::Row(row) = &trace.target else {
        return Vec::new();
    };
    let name = visible(&row.name);
    let mut blocks = match &tails(trace)[..] {
        [] => vec![Block::text("too few operations")],
        tails => self::blocks(trace, tails, FEW_OPERATIONS, Some(columns)),
    };
    blocks.insert(0, Block::text(format!("{name}, traced after the run ({})", trace.tier.name())));
    let costs = run.rows.iter().filter_map(|of| {
        let (traced_ns, measured_ns) = medians(row, of)?;
        Some(format!(
            "{}: median {} while it is recorded, {} in the run ({})",
            of.id,
            time(traced_ns),
            time(measured_ns),
            change(traced_ns / measured_ns)
        ))
    });
    blocks.extend(costs.map(|cost| Block::fact("cost", cost)));
    blocks.extend(trace.gaps.iter().map(super::gap));
    blocks.push(Block::empty_line());
    blocks
}

/// The median of a row where it was traced, and in the run.
fn medians(traced: &Row, of: &model::run::Row) -> Option<(f64, f64)> {
    let (base, point) = match traced.name.split_once(" at ") {
        Some((base, point)) => (base, Some(point)),
        None => (traced.name.as_str(), None),
    };
    let below = |id: &str| format!("{base}/").starts_with(&format!("{id}/")) || id == base;
    let is_meant = |variant: &str| match variant {
        "" => of.id == base,
        whole if whole.contains('.') => of.id == whole,
        variant => match of.id.strip_suffix(variant) {
            Some(probe) => below(probe.trim_end_matches('/')) && probe.ends_with('/'),
            None => false,
        },
    };
    let mut figures = traced.medians_ns.iter();
    let (_, &traced_ns) = figures.find(|(variant, _)| is_meant(variant))?;
    let estimate = match &of.outcome {
        Outcome::Figure(estimate) | Outcome::Level { estimate, .. } => Some(estimate),
        Outcome::Curve { points, .. } => {
            let mut points = points.iter();
            let point = points.rfind(|p| point.is_none_or(|point| p.x.to_string() == point));
            point.map(|point| &point.estimate)
        }
        Outcome::Map { .. } | Outcome::Unavailable { .. } => None,
    }?;
    let measured_ns = estimate.typical.as_ref()?.ns.value;
    (measured_ns > 0.0).then_some((traced_ns as f64, measured_ns))
}

/// The rows whose operations can't be traced one by one.
pub fn rows_without_tails(rows: &[String]) -> Vec<Block> {
    const NAMED: usize = 3;
    if rows.is_empty() {
        return Vec::new();
    }
    let named = rows.iter().take(NAMED).map(String::as_str);
    let named = named.collect::<Vec<_>>().join(", ");
    let more = if rows.len() > NAMED { ", ..." } else { "" };
    vec![Block::text(format!(
        "not traced: {} without stamps of single operations ({named}{more})",
        counted(rows.len(), "row")
    ))]
}

/// What is explained of each kind of operations, and the prices.
pub(super) fn blocks(
    trace: &Trace,
    tails: &[Tails],
    most: usize,
    columns: Option<usize>,
) -> Vec<Block> {
    let Target::Row(row) = &trace.target else {
        return Vec::new();
    };
    let threads = trace.by_id();
    let mut blocks = Vec::new();
    for (at, kind) in tails.iter().enumerate() {
        if at > 0 {
            blocks.push(Block::empty_line());
        }
        let name = kind.name.as_deref().filter(|_| tails.len() > 1);
        let name = name.map(|name| format!("{}: ", visible(name)));
        let lead = name.unwrap_or_default();
        blocks.extend(of_kind((trace, &threads), row, (&lead, kind), most, columns));
    }
    if trace.tier == Tier::Minimal {
        blocks.push(Block::text("why is not recorded in this tier"));
        return blocks;
    }
    if let Some((interrupts, fault_ns)) = &row.prices {
        let interrupts = interrupts.iter();
        let interrupts =
            interrupts.map(|(kind, &ns)| format!("{} {}", kind.name(), time(ns as f64)));
        let fault = fault_ns.map(|ns| format!("page fault {}", time(ns as f64)));
        let prices: Vec<String> = interrupts.chain(fault).collect();
        blocks.push(Block::fact("prices", format!("in this run: {}", prices.join(", "))));
    }
    blocks
}

/// The causes of all slow operations, then each operation; names of threads are cut where they
/// find no room.
fn of_kind(
    (trace, threads): (&Trace, &ThreadsById<'_>),
    row: &Row,
    (lead, tails): (&str, &Tails),
    most: usize,
    columns: Option<usize>,
) -> Vec<Block> {
    /// Of the other columns, and between them.
    const OF_CAUSES: usize = 31;
    const OF_OPERATIONS: usize = 51;
    let room = |taken: usize| columns.map_or(usize::MAX, |columns| columns.saturating_sub(taken));
    let excess_ns = tails.excess_ns();
    let mut blocks = vec![Block::text(format!(
        "{lead}the slowest {} of {} operations take more than {} (median {}); they take {} longer together",
        tails.slow.len(),
        tails.operations,
        time(tails.limit_ns as f64),
        time(tails.median_ns as f64),
        time(excess_ns)
    ))];
    if trace.tier == Tier::Minimal {
        return blocks;
    }
    let columns = [left("excess by cause"), right("time"), right("share"), right("operations")];
    let mut table = Table::new(columns);
    let causes = tails.causes();
    for &(cause, ns, count) in causes.iter().take(most.max(FEW_CAUSES)) {
        table.row([
            Cell::from(cut(text(threads, cause), room(OF_CAUSES))),
            time(ns).into(),
            percent(ns / excess_ns.max(1.0)).into(),
            count.to_string().into(),
        ]);
    }
    blocks.push(Block::Table(table));
    if causes.len() > most.max(FEW_CAUSES) {
        let left_ns: f64 = causes.iter().skip(most.max(FEW_CAUSES)).map(|(_, ns, _)| ns).sum();
        let more = counted(causes.len() - most.max(FEW_CAUSES), "cause");
        let share = percent(left_ns / excess_ns.max(1.0));
        blocks.push(Block::text(format!("  {more} more, {share} together")));
    }
    let columns =
        [right("operation"), right("at"), right("takes"), right("excess"), left("mostly")];
    let mut table = Table::new(columns);
    for slow in tails.slow.iter().take(most) {
        let operation = row.operations.get(slow.number).copied().unwrap_or_default();
        let mostly = slow.causes.first().map(|&(cause, ns)| {
            format!(
                "{} ({})",
                cut(text(threads, cause), room(OF_OPERATIONS)),
                percent(ns / slow.excess_ns.max(1.0))
            )
        });
        table.row([
            Cell::from((slow.number + 1).to_string()),
            time(operation.from_ns as f64).into(),
            time(operation.duration_ns() as f64).into(),
            time(slow.excess_ns).into(),
            mostly.unwrap_or_default().into(),
        ]);
    }
    blocks.push(Block::empty_line());
    blocks.push(Block::Table(table));
    blocks
}

/// A text in so many columns, of which it gets a few at least.
fn cut(text: String, room: usize) -> String {
    const LEAST: usize = 8;
    let room = room.max(LEAST);
    match width(&text) <= room {
        true => text,
        false => text.chars().take(room - 1).chain(['…']).collect(),
    }
}

fn text(threads: &ThreadsById<'_>, cause: Cause) -> String {
    let name = |id: u32| match threads.name_of(id) {
        Some(name) => format!("{} {id}", visible(name)),
        None => format!("thread {id}"),
    };
    match cause {
        Cause::Preempted(Some(by)) => format!("preempted by {}", name(by)),
        Cause::Preempted(None) => "preempted (thread not recorded)".into(),
        Cause::Queued(0) => "CPU left idle late".into(),
        Cause::Queued(by) => format!("waited behind {}", name(by)),
        Cause::Recorder => "latlas itself, recording".into(),
        Cause::Throttled => "CPU quota used up".into(),
        Cause::Stopped => "stopped by a signal".into(),
        Cause::Blocked => "blocked, not by a thread of the row".into(),
        Cause::ClockStep => "waited longer: the clock was set back".into(),
        Cause::Interrupts(kind) => format!("interrupts: {}", kind.name()),
        Cause::Faults => "page faults".into(),
        Cause::OnCpu => "on a CPU, unexplained".into(),
        Cause::OffCpu => "not on a CPU, unexplained".into(),
    }
}

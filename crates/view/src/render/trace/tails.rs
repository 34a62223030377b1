//! Why the slowest operations of a row, or spans of a program, were slow.

use super::shortened;
use crate::terminal::layout::width;
use model::figure::time;
use model::phrases::counted;
use model::printable::visible;
use model::run::{Outcome, Run};
use model::share::{change, percent};
use model::story::{Block, Cell, Link, Table, left, right};
use model::trace::row::TracedOperation;
use model::trace::summary::Slice;
use model::trace::tails::{Cause, Slow, Tails, tails};
use model::trace::{Target, ThreadsById, Tier, Trace, TracedRow};

/// Operations that are listed below a run.
pub(super) const FEW_OPERATIONS: usize = 3;
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
fn medians(traced: &TracedRow, of: &model::run::Row) -> Option<(f64, f64)> {
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

/// Why the slowest spans of each name were slow.
pub fn slow_spans(trace: &Trace, columns: Option<usize>) -> Vec<Block> {
    let tails = tails(trace);
    if tails.is_empty() {
        let why = "no spans to explain: of no name are there 20 whose threads' states are recorded";
        return vec![Block::text(why)];
    }
    blocks(trace, &tails, FEW_OPERATIONS, columns)
}

/// What is explained of each kind of operations, or of spans, and the prices.
pub(super) fn blocks(
    trace: &Trace,
    tails: &[Tails],
    most: usize,
    columns: Option<usize>,
) -> Vec<Block> {
    let row = match &trace.target {
        Target::Row(row) => Some(row),
        _ => None,
    };
    let names = Names { trace, threads: &trace.by_id(), columns };
    let mut blocks = Vec::new();
    for (at, kind) in tails.iter().enumerate() {
        if at > 0 {
            blocks.push(Block::empty_line());
        }
        let name = kind.name.as_deref().filter(|_| row.is_none() || tails.len() > 1);
        let name = name.map(|name| format!("{}: ", shortened(&visible(name))));
        let unit = if row.is_some() { "operation" } else { "span" };
        blocks.extend(of_kind(&names, (&name.unwrap_or_default(), unit), kind, most));
    }
    if trace.tier == Tier::Minimal {
        blocks.push(Block::text("why is not recorded in this tier"));
        return blocks;
    }
    if let Some((interrupts, fault_ns)) = row.and_then(|row| row.prices.as_ref()) {
        let interrupts = interrupts.iter();
        let interrupts =
            interrupts.map(|(kind, &ns)| format!("{} {}", kind.name(), time(ns as f64)));
        let fault = fault_ns.map(|ns| format!("page fault {}", time(ns as f64)));
        let prices: Vec<String> = interrupts.chain(fault).collect();
        blocks.push(Block::fact("prices", format!("in this run: {}", prices.join(", "))));
    }
    blocks
}

/// A slow operation or span, with a text of what it lost its time to.
pub(crate) struct SlowSlice {
    pub(crate) slice: Slice,
    pub(crate) text: String,
}

/// Slow operations that the pages of a trace explain where they are pinned: with more of them the
/// page would be mostly those. All have their names among the figures.
const MOST_SLICES: usize = 1000;
/// Causes of one that are listed.
const CAUSES_OF_SLICE: usize = 5;

/// The slow operations or spans of a trace, those that lost most first.
pub(crate) fn slow_slices(trace: &Trace) -> Vec<SlowSlice> {
    let names = Names { trace, threads: &trace.by_id(), columns: None };
    let tails = tails(trace);
    let each = tails.iter().flat_map(|kind| kind.slow.iter().map(move |slow| (kind, slow)));
    let mut slow: Vec<(&Tails, &Slow)> = each.collect();
    slow.sort_by(|a, b| b.1.excess_ns.total_cmp(&a.1.excess_ns));
    let described = slow.into_iter().take(MOST_SLICES).map(|(kind, slow)| {
        let TracedOperation { from_ns, to_ns, thread } = slow.operation;
        let slice = Slice { thread, from_ns, to_ns };
        SlowSlice { slice, text: names.in_words(kind, slow) }
    });
    described.collect()
}

/// The causes of all slow operations, then each operation.
fn of_kind(
    names: &Names<'_>,
    (lead, unit): (&str, &str),
    tails: &Tails,
    most: usize,
) -> Vec<Block> {
    let mut blocks = vec![Block::text(format!(
        "{lead}the slowest {} of {} {unit}s take more than {} (median {}); they take {} longer together",
        tails.slow.len(),
        tails.operations,
        time(tails.limit_ns as f64),
        time(tails.median_ns as f64),
        time(tails.excess_ns())
    ))];
    if names.trace.tier == Tier::Minimal {
        return blocks;
    }
    blocks.push(Block::Table(names.causes(tails, most.max(FEW_CAUSES), unit)));
    let columns = [right(unit), right("at"), right("takes"), right("excess"), left("mostly")];
    let mut table = Table::new(columns);
    for slow in tails.slow.iter().take(most) {
        table.row([
            Cell::from((slow.number + 1).to_string()),
            time(slow.operation.from_ns as f64).into(),
            takes(slow),
            time(slow.excess_ns).into(),
            names.mostly(slow).into(),
        ]);
    }
    blocks.push(Block::empty_line());
    blocks.push(Block::Table(table));
    blocks
}

/// How long a slow operation takes, with its place in the trace.
pub(super) fn takes(slow: &Slow) -> Cell {
    let TracedOperation { from_ns, to_ns, thread } = slow.operation;
    let slice = Slice { thread, from_ns, to_ns };
    Cell { link: Some(Link::Slice(slice)), ..time(slow.operation.duration_ns() as f64).into() }
}

/// What causes are called; names of threads are cut where they find no room on a page of so many columns.
pub(super) struct Names<'t> {
    pub(super) trace: &'t Trace,
    pub(super) threads: &'t ThreadsById<'t>,
    pub(super) columns: Option<usize>,
}

impl Names<'_> {
    /// The causes of all slow operations, the longest first. Those that find no row have one together.
    pub(super) fn causes(&self, tails: &Tails, most: usize, unit: &str) -> Table {
        /// Of the other columns, and between them.
        const OTHERS: usize = 31;
        let columns =
            [left("excess by cause"), right("time"), right("share"), right(format!("{unit}s"))];
        let mut table = Table::new(columns);
        let share = |ns: f64| percent(ns / tails.excess_ns().max(1.0));
        let causes = tails.causes();
        let shown = if causes.len() > most { most - 1 } else { causes.len() };
        for &(cause, ns, count) in &causes[..shown] {
            let text = self.cut(cause, OTHERS);
            table.row([text.into(), time(ns).into(), share(ns).into(), count.to_string().into()]);
        }
        let rest = &causes[shown..];
        if !rest.is_empty() {
            let ns: f64 = rest.iter().map(|(_, ns, _)| ns).sum();
            let more = format!("{} more", counted(rest.len(), "cause"));
            table.row([Cell::from(more), time(ns).into(), share(ns).into(), Cell::from("")]);
        }
        table
    }

    /// The cause that took most of an operation's excess.
    pub(super) fn mostly(&self, slow: &Slow) -> String {
        /// Of the other columns, and between them.
        const OTHERS: usize = 51;
        let mostly = slow.causes.first().map(|&(cause, ns)| {
            format!("{} ({})", self.cut(cause, OTHERS), percent(ns / slow.excess_ns.max(1.0)))
        });
        mostly.unwrap_or_default()
    }

    /// What an operation took longer than the median of its kind, and where that went.
    fn in_words(&self, kind: &Tails, slow: &Slow) -> String {
        let (shown, rest) = slow.causes.split_at(slow.causes.len().min(CAUSES_OF_SLICE));
        let share = |ns: f64| percent(ns / slow.excess_ns.max(1.0));
        let cause = |&(cause, ns): &(Cause, f64)| {
            let text = cause_text(self.trace, self.threads, cause);
            format!("{text} {} ({})", time(ns), share(ns))
        };
        let mut causes: Vec<String> = shown.iter().map(cause).collect();
        if !rest.is_empty() {
            let ns: f64 = rest.iter().map(|(_, ns)| ns).sum();
            causes.push(format!("{} more {}", counted(rest.len(), "cause"), time(ns)));
        }
        let name = kind.name.as_deref().map(|name| format!("{}: ", shortened(&visible(name))));
        format!(
            "{}{}, {} more than the median of {}: {}",
            name.unwrap_or_default(),
            time(slow.operation.duration_ns() as f64),
            time(slow.excess_ns),
            kind.operations,
            causes.join(", ")
        )
    }

    /// A cause in what room others leave, of which it gets a few columns at least.
    fn cut(&self, cause: Cause, taken: usize) -> String {
        const LEAST: usize = 8;
        let text = cause_text(self.trace, self.threads, cause);
        let room = self.columns.map_or(usize::MAX, |columns| columns.saturating_sub(taken));
        let room = room.max(LEAST);
        match width(&text) <= room {
            true => text,
            false => text.chars().take(room - 1).chain(['…']).collect(),
        }
    }
}

fn cause_text(trace: &Trace, threads: &ThreadsById<'_>, cause: Cause) -> String {
    let name = |id: u32| match threads.name_of(id) {
        Some(name) => format!("{} {id}", visible(name)),
        None => format!("thread {id}"),
    };
    let in_call = |call: Option<u32>| {
        call.map(|number| format!(" in {}", visible(&trace.call_name(number)))).unwrap_or_default()
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
        Cause::Runnable => "runnable, queue not recorded".into(),
        Cause::Yielded => "yielded".into(),
        Cause::Waits { call, by: Some(by) } => {
            format!("blocked{}, woken by {}", in_call(call), name(by))
        }
        Cause::Waits { call, by: None } => format!("blocked{}", in_call(call)),
        Cause::WaitsOrRunnable(call) => format!("blocked or runnable{}", in_call(call)),
        Cause::Call(number) => format!("running{}", in_call(Some(number))),
        Cause::Unrecorded => "records missing".into(),
        Cause::OnCpu => "on a CPU, unexplained".into(),
        Cause::OffCpu => "not on a CPU, unexplained".into(),
    }
}

//! A trace as blocks: what could be recorded, the threads over time, and the
//! figures that follow.

mod difference;
pub(crate) mod lanes;
pub(crate) mod tables;
mod tails;
#[cfg(test)]
pub(crate) mod tests;
mod why;

use crate::terminal::layout::width;
use lanes::Columns;
use model::figure::time;
use model::phrases::counted;
use model::printable::visible;
use model::story::{Block, Note, Tone};
use model::trace::row::{TracedOperation, TracedRow};
use model::trace::summary::{Summary, summary};
use model::trace::tails::tails;
use model::trace::tier::Missing;
use model::trace::{Ended, Gap, Losses, MemorySpan, StateKind, Target, Thread, Tier, Trace};
use std::collections::HashMap;

pub use difference::difference;
pub(crate) use tails::{SlowSlice, slow_slices};
pub use tails::{row_tails, rows_without_tails, slow_spans};
pub use why::why;

/// Threads and calls that are shown unless all are asked for.
const FEW: usize = 10;
/// Names of spans that are explained.
const FEW_NAMES: usize = 3;
/// Lanes of a short stretch, unless all are asked for.
const FEW_LANES: usize = 24;

/// What the lane of operations on memory is called, below that of its thread.
const MEMORY_LANE: &str = "  memory";

/// How a trace is shown.
#[derive(Clone, Copy, Debug)]
pub struct TraceOptions {
    /// Every thread, call and pair.
    pub all: bool,
    /// Columns of the page, which the lanes fill.
    pub columns: usize,
    /// Draw this stretch, in ns; a typical part of a row, and else the whole
    /// trace, if there is none.
    pub stretch: Option<(u64, u64)>,
}

/// What is shown of a trace, part by part.
pub(crate) struct TraceParts {
    /// What was traced, in one line.
    pub heading: String,
    /// How much could be recorded, and why not more.
    pub recorded: Vec<Block>,
    /// The threads over time.
    pub lanes: Vec<Block>,
    /// Figures, each with what they are of.
    pub figures: Vec<(&'static str, Vec<Block>)>,
}

pub fn trace_page(trace: &Trace, options: TraceOptions) -> Vec<Block> {
    let parts = trace_parts(trace, options);
    let mut blocks = vec![Block::text(parts.heading)];
    let figures = parts.figures.into_iter().map(|(_, blocks)| blocks);
    for part in [parts.recorded, parts.lanes].into_iter().chain(figures) {
        blocks.push(Block::empty_line());
        blocks.extend(part);
    }
    blocks
}

pub(crate) fn trace_parts(trace: &Trace, options: TraceOptions) -> TraceParts {
    let summary = summary(trace);
    let most = if options.all { usize::MAX } else { FEW };
    let mut recorded = match &trace.target {
        // What it does not hold is said.
        Target::File(_) => Vec::new(),
        _ => vec![Block::Table(tables::tiers(trace.tier))],
    };
    recorded.extend(trace.gaps.iter().map(gap));
    let mut parts =
        TraceParts { heading: heading(trace), recorded, lanes: Vec::new(), figures: Vec::new() };
    if trace.threads.is_empty() {
        parts.lanes.push(Block::text("no thread was recorded"));
        return parts;
    }
    parts.lanes = over_time(trace, &summary, most, options);
    let columns = Some(options.columns).filter(|_| !options.all);
    let tails = tails(trace);
    if !tails.is_empty() {
        let is_row = matches!(trace.target, Target::Row(_));
        let (title, names, slow) = match is_row {
            true => ("Slowest operations", tails.len(), most),
            false => ("Slowest spans", FEW_NAMES.min(tails.len()), tails::FEW_OPERATIONS),
        };
        let mut blocks = tails::blocks(trace, &tails[..names], slow, columns);
        if names < tails.len() {
            let more = counted(tails.len() - names, "name");
            blocks.push(Block::note(format!("spans of {more} more: latlas trace show --tails")));
        }
        parts.figures.push((title, blocks));
    }
    let mut add = |name, table, there, what| {
        let table = [Block::Table(table)].into_iter();
        let blocks = table.chain(more(there, most, what));
        parts.figures.push((name, blocks.collect()));
    };
    let threads = tables::threads(trace, &summary, most);
    add("Threads", threads, summary.threads.len(), "thread");
    if !summary.calls.is_empty() {
        let calls = tables::calls(trace, &summary, most);
        add("System calls", calls, summary.calls.len(), "call");
    }
    if !summary.memory.is_empty() {
        // All of them are there.
        add("Memory operations", tables::memory(&summary), 0, "operation");
    }
    if !summary.signposts.is_empty() {
        let signposts = tables::signposts(trace, &summary, most);
        add("Signposts", signposts, summary.signposts.len(), "name");
    }
    if !summary.preemptions.is_empty() {
        let pairs = tables::preemptions(&summary, most);
        add("Preemptions", pairs, summary.preemptions.len(), "pair");
    }
    if !summary.places.is_empty() {
        let places = tables::places(trace, &summary, columns, most);
        add("Where threads waited", places, summary.places.len(), "place");
    }
    parts.figures.push(("Events", trace_facts(trace, &summary)));
    parts
}

/// What was traced.
pub(crate) fn target(trace: &Trace) -> String {
    let target = match &trace.target {
        Target::Command(words) => words.join(" "),
        Target::Process(id) => format!("process {id}"),
        Target::Row(row) => {
            let operations = counted(row.operations.len(), "operation");
            format!("{}, {operations}", row.name)
        }
        Target::File(file) => format!("{} ({})", file.name, file.recorder),
    };
    shortened(&visible(&target))
}

fn heading(trace: &Trace) -> String {
    format!(
        "{}: {}, {}, {}{}",
        target(trace),
        time(trace.duration_ns as f64),
        counted(trace.threads.iter().filter(|thread| thread.is_thread()).count(), "thread"),
        counted(trace.cpu_count as usize, "CPU"),
        match (&trace.target, trace.ended) {
            // Without its answer there is no trace of a row.
            (Target::Row(_), Ended::Exited(0)) => String::new(),
            (_, how) => format!("; {}", ended(how)),
        }
    )
}

/// A command line that leaves room for what is said of it.
pub(super) fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

pub(super) fn ended(ended: Ended) -> String {
    match ended {
        Ended::Exited(code) => format!("exit code {code}"),
        Ended::Signalled(signal) => format!("ended by signal {signal}"),
        Ended::Gone => "the process ended".into(),
        Ended::Time => "stopped at the time limit".into(),
        Ended::Requested => "stopped on request".into(),
        Ended::Full => "stopped when full (--buffer, or all that a trace can hold)".into(),
        Ended::File => "the file ends".into(),
        Ended::CutOff => "the file is cut off".into(),
    }
}

fn gap(gap: &Gap) -> Block {
    let name = match gap.of {
        Missing::Tier(tier) => tier.name(),
        Missing::Topic(topic) => topic.name(),
        Missing::FaultEnds => "ends of page faults",
    };
    Block::labelled(format!("  no {name}: "), gap.reason.to_string())
}

/// The stretch that is drawn: the one asked for, a typical part of a row, or all.
pub(crate) fn drawn(trace: &Trace, asked: Option<(u64, u64)>) -> (u64, u64) {
    let whole = (0, trace.duration_ns);
    let (from_ns, to_ns) = asked.or_else(|| trace.typical()).unwrap_or(whole);
    (from_ns, to_ns.min(trace.duration_ns).max(from_ns))
}

/// The threads that are drawn: of the whole trace those with the most CPU time, of a
/// stretch those that do something in it. And what is said of those that are not.
pub(crate) fn active<'t>(
    trace: &'t Trace,
    summary: &Summary,
    stretch: (u64, u64),
    most: usize,
) -> (Vec<&'t Thread>, Vec<String>) {
    let left_out = |count: usize, why: &str| {
        let is = if count == 1 { "is" } else { "are" };
        (count > 0).then(|| format!("{} {why} {is} not drawn", counted(count, "thread")))
    };
    if stretch == (0, trace.duration_ns) {
        let figures = summary.threads.iter().take(most);
        let drawn: Vec<_> = figures.map(|figures| &trace.threads[figures.index]).collect();
        let rest = left_out(trace.threads.len() - drawn.len(), "that ran less");
        return (drawn, rest.into_iter().collect());
    }
    let columns = Columns::new(stretch, 1);
    let mut threads: Vec<&Thread> =
        trace.threads.iter().filter(|thread| columns.is_active(thread)).collect();
    let idle = left_out(trace.threads.len() - threads.len(), "that did nothing then");
    let more = left_out(threads.len().saturating_sub(most.max(FEW_LANES)), "more");
    threads.truncate(most.max(FEW_LANES));
    (threads, more.into_iter().chain(idle).collect())
}

/// The threads line by line: those with the most CPU time, of a stretch those
/// that do something in it.
fn over_time(trace: &Trace, summary: &Summary, most: usize, options: TraceOptions) -> Vec<Block> {
    /// A lane is no narrower.
    const LEAST: usize = 20;
    let stretch = drawn(trace, options.stretch);
    let (from_ns, to_ns) = stretch;
    let (threads, left_out) = active(trace, summary, stretch, most);
    let operations: HashMap<(u32, u64), Vec<MemorySpan>> =
        trace.memory_spans().map(|(thread, spans)| ((thread.id, thread.from_ns), spans)).collect();
    let spans = |thread: &Thread| operations.get(&(thread.id, thread.from_ns));
    let has_memory = threads.iter().any(|thread| spans(thread).is_some_and(|own| !own.is_empty()));
    let names = threads.iter().map(|thread| width(&tables::label(thread)));
    let names = names.chain(has_memory.then(|| width(MEMORY_LANE))).max().unwrap_or(0);
    let room = options.columns.saturating_sub(names + 1).max(LEAST);
    let columns = Columns::new(stretch, room);
    let line = |name: &str, lane: &str| {
        let fill = " ".repeat(names.saturating_sub(width(name)));
        format!("{name}{fill} {lane}").trim_end().to_owned()
    };
    let begin = match from_ns {
        0 => "0".to_owned(),
        from_ns => time(from_ns as f64),
    };
    let end = match from_ns {
        0 => time(to_ns as f64),
        _ => format!("+{}", time(to_ns.saturating_sub(from_ns) as f64)),
    };
    let gap = " ".repeat(room.saturating_sub(width(&begin) + width(&end)));
    let mut lines = vec![line("", &format!("{begin}{gap}{end}"))];
    for thread in threads {
        let signposts = lanes::signposts(trace, thread, columns);
        lines.extend(signposts.iter().map(|signposts| line("", signposts)));
        lines.push(line(&tables::label(thread), &lanes::lane(thread, columns)));
        let memory = spans(thread).map(|own| lanes::memory_lane(own, columns));
        lines.extend(memory.filter(|lane| !lane.is_empty()).map(|lane| line(MEMORY_LANE, &lane)));
    }
    let mut blocks = vec![Block::Lines(lines)];
    if !left_out.is_empty() {
        blocks.push(Block::text(left_out.join("; ")));
    }
    blocks.push(Block::text(lanes::legend(trace)));
    if has_memory {
        blocks.push(Block::text(lanes::memory_legend()));
    }
    if let Target::Row(row) = &trace.target {
        blocks.splice(0..0, shown_operations(row, stretch).map(Block::text));
    }
    blocks
}

/// Which operations of a row the stretch has.
pub(crate) fn shown_operations(row: &TracedRow, (from_ns, to_ns): (u64, u64)) -> Option<String> {
    let within =
        |operation: &TracedOperation| operation.from_ns >= from_ns && operation.to_ns <= to_ns;
    let first = row.operations.iter().position(within)?;
    let shown = row.operations[first..].iter().take_while(|of| within(of));
    let times: Vec<String> = shown.map(|of| time(of.duration_ns() as f64)).collect();
    let (numbers, takes) = match times.len() {
        1 => (format!("operation {}", first + 1), format!("takes {}", times[0])),
        2..=5 => (
            format!("operations {} to {}", first + 1, first + times.len()),
            format!("take {}", times.join(", ")),
        ),
        many => (format!("operations {} to {}", first + 1, first + many), String::new()),
    };
    let median = row.median_ns().map(|ns| {
        let each = match row.counted {
            0 | 1 => String::new(),
            ops => format!(
                ", for {ops} operations as the row counts them: {} each",
                time(ns as f64 / ops as f64)
            ),
        };
        format!("; the median of all is {}{each}", time(ns as f64))
    });
    let takes = Some(takes).filter(|takes| !takes.is_empty()).map(|takes| format!(", {takes}"));
    Some(format!(
        "shown: {numbers} of {}{}{}",
        row.operations.len(),
        takes.unwrap_or_default(),
        median.unwrap_or_default()
    ))
}

fn more(there: usize, most: usize, what: &str) -> Option<Block> {
    let left = there.checked_sub(most).filter(|&left| left > 0)?;
    Some(Block::note(format!("{} more: --all", counted(left, what))))
}

fn trace_facts(trace: &Trace, summary: &Summary) -> Vec<Block> {
    let mut blocks = Vec::new();
    let latency = &summary.wakeup_latency;
    if trace.tier == Tier::Full && latency.count() > 0 {
        let percentiles = [(0.5, "p50"), (0.99, "p99")].iter().filter_map(|(share, name)| {
            let ns = latency.percentile_ns(*share)?;
            Some(format!("{name} {}", time(ns as f64)))
        });
        let longest = latency.max_ns().map(|ns| format!("max {}", time(ns as f64)));
        let texts: Vec<String> = percentiles.chain(longest).collect();
        let text = format!("{}, scheduling latency {}", latency.count(), texts.join(", "));
        blocks.push(Block::fact("wake-ups", text));
    }
    if summary.faults.count > 0 {
        let writes = summary.faults.writes.map(|n| format!(", {n} on stores"));
        let what = match trace.tier {
            Tier::Full => "",
            Tier::OwnProcess => "; in user mode, those in system calls are not recorded",
            Tier::Minimal => "; how long each took is not recorded",
        };
        let text = format!("{}{}{what}", summary.faults.count, writes.unwrap_or_default());
        blocks.push(Block::fact("page faults", text));
    }
    if let Some(least) = trace.heap_least_bytes {
        let any = trace.threads.iter().any(|thread| !thread.heap.is_empty());
        let none = match any {
            true => "",
            false => ": none was seen (a program's own allocator is not)",
        };
        let text = format!("calls for {} or more{none}", model::size::format_size(least));
        blocks.push(Block::fact("malloc", text));
    }
    if let Target::Row(row) = &trace.target {
        let text = format!(
            "stamps of the row within {} on this clock, plus differences between CPUs",
            time(row.error_ns as f64)
        );
        blocks.push(Block::fact("marks", text));
        blocks.extend(recording_cost(row).map(|text| Block::fact("recording", text)));
        blocks.extend(row.notes.iter().map(|note| Block::fact("note", visible(note))));
    }
    blocks.extend(late_stamps(trace, summary));
    blocks.extend(losses(trace));
    blocks
}

/// How much longer operations take than without recording.
fn recording_cost(row: &TracedRow) -> Option<String> {
    let (factor, interval) = row.recording_factor()?;
    let interval = match interval {
        Some(of) => format!("95 % interval {:.2} to {:.2}", of.low, of.high),
        None => "too few for an interval".into(),
    };
    let pairs = counted(row.recording_pairs_ns.len(), "pair");
    Some(format!(
        "operations take {factor:.2} times as long as without it: {interval}, {pairs} of alternating runs"
    ))
}

/// Without the scheduler's own stamps a thread seems to get its CPU later than it
/// does, which matters where it has it for a short time only.
fn late_stamps(trace: &Trace, summary: &Summary) -> Option<Block> {
    const LEAST_LATE_NS: u64 = 500;
    /// A share of the running time that may be missing.
    const SHARE: u64 = 50;
    let switches: u64 = summary.threads.iter().map(|t| t.switched_in).sum();
    let running: u64 = summary.threads.iter().map(|t| t.time_ns(StateKind::Running)).sum();
    let late = trace.tier == Tier::OwnProcess && switches * LEAST_LATE_NS > running / SHARE;
    let text = format!(
        "running times are too low by 0.5 to 5 µs for each of {switches} switches to a thread"
    );
    late.then(|| Block::fact("stamps", text))
}

/// What is missing, and what was tested.
fn losses(trace: &Trace) -> Vec<Block> {
    let Losses {
        records,
        breaks,
        repaired,
        unpaired_calls,
        unread_bytes,
        signposts,
        wakeups,
        stacks,
        last_ns,
    } = trace.losses;
    let mut texts = Vec::new();
    if records > 0 {
        texts.push(format!("{} lost (ring full)", counted(records as usize, "record")));
    }
    if breaks > 0 {
        let switches: usize = trace.cpus.iter().map(|cpu| cpu.switches.len()).sum();
        texts.push(match breaks == repaired {
            true => format!(
                "nothing of these threads ({breaks} of {switches} context switches lost elsewhere or \
                 recovered)"
            ),
            false => format!(
                "{breaks} of {switches} context switches lost, {repaired} of them elsewhere or \
                 recovered"
            ),
        });
    }
    if wakeups > 0 {
        let wakeups = counted(wakeups as usize, "wake-up");
        texts.push(format!("{wakeups} without a record (blocked or runnable)"));
    }
    if unpaired_calls > 0 {
        let calls = counted(unpaired_calls as usize, "system call");
        texts.push(format!("{calls} without entry or return"));
    }
    if unread_bytes > 0 {
        texts.push(format!("{unread_bytes} bytes unreadable"));
    }
    if signposts > 0 {
        let signposts = counted(signposts as usize, "signpost");
        texts.push(format!("{signposts} dropped"));
    }
    if stacks > 0 {
        let stacks = counted(stacks as usize, "stack");
        texts.push(format!("{stacks} lost (ring full)"));
    }
    if let Some(last_ns) = last_ns {
        let [kept, asked] = [trace.duration_ns, last_ns].map(|ns| time(ns as f64));
        texts.push(format!("the last {kept} of {asked} fit in --buffer and a trace"));
    }
    if trace.tier == Tier::Minimal {
        texts.push(
            "threads that lived for less than 10 ms, and the last 10 ms of each that ended".into(),
        );
    }
    if texts.is_empty() {
        let text = match trace.tier {
            Tier::Full => "nothing: no record lost, no break in the chain of switches",
            _ => "no record lost",
        };
        return vec![Block::fact("missing", text)];
    }
    let tone = if trace.losses.matter() { Tone::Bad } else { Tone::Plain };
    vec![Block::Note(Note { tone, ..Note::new(format!("{:<12}", "missing"), texts.join("; ")) })]
}

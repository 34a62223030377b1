//! Each thread of a trace as a line of characters over time, its signposts above.

use crate::shade::{MEMORY, Shade, state_shade};
use crate::terminal::layout::{shaded, width};
use model::printable::visible;
use model::trace::{MemorySpan, Signpost, StateKind, Thread, Trace};
use std::collections::BTreeSet;

/// Lines of signposts above a lane: nested ones have one each.
const SIGNPOST_LINES: usize = 3;

/// Eighths of a character, for shares.
const HEIGHTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A thread over a stretch of the trace: in each column the state that takes most of
/// its time, or the share of time on a CPU where only sums are known. Blank
/// before it began and after it ended.
pub(super) fn lane(thread: &Thread, columns: Columns) -> String {
    if thread.samples.is_empty() { states(thread, columns) } else { shares(thread, columns) }
}

/// The signposts of a thread over a stretch, line by line: each begins with a bar and
/// has its name where there is room.
pub(super) fn signposts(trace: &Trace, thread: &Thread, columns: Columns) -> Vec<String> {
    let mut lines: Vec<Vec<Option<String>>> = Vec::new();
    for signpost in thread.signposts.iter().filter(|s| columns.touches(s)) {
        let from = columns.column_of(signpost.from_ns).min(columns.count.saturating_sub(1));
        let to = signpost.to_ns.map_or(from, |to_ns| columns.column_of(to_ns));
        let to = to.clamp(from + 1, columns.count.max(from + 1));
        let free = |line: &Vec<Option<String>>| line[from..to].iter().all(Option::is_none);
        let line = match lines.iter().position(free) {
            Some(at) => &mut lines[at],
            None if lines.len() < SIGNPOST_LINES => {
                lines.push(vec![None; columns.count]);
                let last = lines.len() - 1;
                &mut lines[last]
            }
            // It shows no more than what is there.
            None => continue,
        };
        let name = visible(trace.signpost_name(signpost).unwrap_or("?"));
        let room = to - from - 1;
        let fitting = match width(&name) <= room {
            true => name,
            false => name.chars().take(room.saturating_sub(1)).collect::<String>() + "…",
        };
        let fill = "-".repeat(room.saturating_sub(width(&fitting)));
        line[from] = Some(match room {
            0 => "|".to_owned(),
            _ => format!("|{fitting}{fill}"),
        });
        for column in &mut line[from + 1..to] {
            *column = Some(String::new());
        }
    }
    let text = |line: Vec<Option<String>>| {
        let columns = line.into_iter();
        let text: String = columns.map(|c| c.unwrap_or_else(|| " ".into())).collect();
        text.trim_end().to_owned()
    };
    lines.into_iter().map(text).collect()
}

/// The marks that occur in lanes, with the kinds that they stand for.
pub(super) fn legend(trace: &Trace) -> String {
    if trace.threads.iter().any(|thread| !thread.samples.is_empty()) {
        let heights = heights(state_shade(StateKind::Running));
        return format!("{heights} share of time on a CPU");
    }
    let segments = trace.threads.iter().flat_map(|thread| &thread.segments);
    let kinds: BTreeSet<StateKind> = segments.map(|segment| segment.state.kind()).collect();
    let mut texts: Vec<(char, String, String)> = Vec::new();
    for shade in kinds.into_iter().map(state_shade) {
        let marked = shaded(&shade.mark.to_string(), shade);
        match texts.iter_mut().find(|(mark, ..)| *mark == shade.mark) {
            // One mark, in a colour each.
            Some((_, marks, text)) => {
                if !marks.contains(&marked) {
                    *marks += &marked;
                }
                *text += &format!(" or {}", shade.name);
            }
            None => texts.push((shade.mark, marked, shade.name.to_owned())),
        }
    }
    let texts = texts.iter().map(|(_, marks, text)| format!("{marks} {text}"));
    texts.collect::<Vec<_>>().join("  ")
}

/// What operations on memory are drawn with.
pub(super) fn memory_legend() -> String {
    format!("memory: {} share of time in page faults, mmap and the like", heights(MEMORY))
}

fn heights(shade: Shade) -> String {
    shaded(&HEIGHTS[1..].iter().collect::<String>(), shade)
}

/// Columns over a stretch of a trace.
#[derive(Clone, Copy)]
pub(crate) struct Columns {
    from_ns: u64,
    duration_ns: u64,
    count: usize,
}

impl Columns {
    pub(crate) fn new((from_ns, to_ns): (u64, u64), count: usize) -> Columns {
        Columns { from_ns, duration_ns: to_ns.saturating_sub(from_ns).max(1), count }
    }

    pub(crate) fn begin_ns(self, column: usize) -> u64 {
        let at = u128::from(self.duration_ns) * column as u128 / self.count.max(1) as u128;
        let at = u64::try_from(at).unwrap_or(u64::MAX);
        self.from_ns.saturating_add(at)
    }

    fn column_of(self, at_ns: u64) -> usize {
        let since_ns = u128::from(at_ns.saturating_sub(self.from_ns));
        let at = since_ns * self.count as u128 / u128::from(self.duration_ns);
        usize::try_from(at).unwrap_or(usize::MAX).min(self.count)
    }

    fn end_ns(self) -> u64 {
        self.from_ns.saturating_add(self.duration_ns)
    }

    pub(crate) fn touches(self, signpost: &Signpost) -> bool {
        let to_ns = signpost.to_ns.unwrap_or(signpost.from_ns);
        signpost.from_ns < self.end_ns() && to_ns >= self.from_ns
    }

    /// Whether a thread does anything in the stretch but wait.
    pub(super) fn is_active(self, thread: &Thread) -> bool {
        let waits = |kind| {
            matches!(kind, StateKind::Blocked | StateKind::BlockedOrRunnable | StateKind::Unknown)
        };
        let within = |from_ns, to_ns| from_ns < self.end_ns() && to_ns > self.from_ns;
        let mut segments = thread.segments.iter();
        segments.any(|s| !waits(s.state.kind()) && within(s.from_ns, s.to_ns))
            || thread.signposts.iter().any(|signpost| self.touches(signpost))
            || !thread.samples.is_empty()
    }

    /// The columns that a stretch touches, with the time that it has in each.
    fn parts(self, from_ns: u64, to_ns: u64) -> impl Iterator<Item = (usize, u64)> {
        let last = self.count.min(self.column_of(to_ns) + 1);
        (self.column_of(from_ns)..last).map(move |column| {
            let from = from_ns.max(self.begin_ns(column));
            let to = to_ns.min(self.begin_ns(column + 1));
            (column, to.saturating_sub(from))
        })
    }
}

fn states(thread: &Thread, columns: Columns) -> String {
    let kinds = kinds(thread, columns);
    let stretches = kinds.chunk_by(PartialEq::eq);
    stretches
        .map(|stretch| match stretch[0].map(state_shade) {
            Some(shade) => shaded(&shade.mark.to_string().repeat(stretch.len()), shade),
            None => " ".repeat(stretch.len()),
        })
        .collect()
}

/// In each column the state that takes most of its time.
pub(crate) fn kinds(thread: &Thread, columns: Columns) -> Vec<Option<StateKind>> {
    let mut times = vec![[0_u64; StateKind::ALL.len()]; columns.count];
    for segment in &thread.segments {
        for (column, ns) in columns.parts(segment.from_ns, segment.to_ns) {
            times[column][segment.state.kind() as usize] += ns;
        }
    }
    let longest = times.iter().map(|times| {
        let kinds = StateKind::ALL.into_iter().rev();
        let longest = kinds.max_by_key(|&kind| times[kind as usize]);
        longest.filter(|&kind| times[kind as usize] > 0)
    });
    longest.collect()
}

fn shares(thread: &Thread, columns: Columns) -> String {
    let shares = running_shares(thread, columns).into_iter();
    let line: String =
        shares.map(|share| height_mark(share.filter(|&share| share > 0.0))).collect();
    shaded(line.trim_end(), state_shade(StateKind::Running))
}

/// A little is more than nothing.
fn height_mark(share: Option<f64>) -> char {
    HEIGHTS[share.map_or(0, |share| (share * 8.0).round().clamp(1.0, 8.0) as usize)]
}

/// In each column the share of time of operations on memory; empty if there are none.
pub(super) fn memory_lane(spans: &[MemorySpan], columns: Columns) -> String {
    let shares = span_shares(spans.iter().map(memory_times), columns).into_iter();
    let line: String = shares.map(|share| height_mark(share.map(|one| one.share))).collect();
    shaded(line.trim_end(), MEMORY)
}

/// Begin, end and name of an operation on memory; one without an end is a moment.
pub(crate) fn memory_times(span: &MemorySpan) -> (u64, u64, String) {
    (span.from_ns, span.to_ns.unwrap_or(span.from_ns), span.operation.name().to_owned())
}

/// What was done in a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SpanShare {
    /// Its share of the time.
    pub share: f64,
    /// What took most of it.
    pub name: String,
}

/// In each column what was done, of begins, ends and names.
pub(crate) fn span_shares(
    spans: impl Iterator<Item = (u64, u64, String)>,
    columns: Columns,
) -> Vec<Option<SpanShare>> {
    // All time, and the longest with its name.
    let mut times: Vec<Option<(u64, u64, String)>> = vec![None; columns.count];
    for (from_ns, to_ns, name) in spans {
        if from_ns >= columns.end_ns() || to_ns < columns.from_ns {
            continue;
        }
        for (column, ns) in columns.parts(from_ns, to_ns) {
            let (all_ns, most_ns, longest) = times[column].get_or_insert((0, 0, String::new()));
            *all_ns += ns;
            if ns >= *most_ns {
                *most_ns = ns;
                longest.clone_from(&name);
            }
        }
    }
    let shares = times.into_iter().enumerate().map(|(column, taken)| {
        let (all_ns, _, name) = taken?;
        let length_ns = columns.begin_ns(column + 1).saturating_sub(columns.begin_ns(column));
        Some(SpanShare { share: (all_ns as f64 / length_ns.max(1) as f64).min(1.0), name })
    });
    shares.collect()
}

/// In each column the share of time on a CPU, by samples.
pub(crate) fn running_shares(thread: &Thread, columns: Columns) -> Vec<Option<f64>> {
    // Time in which it was there, and time on a CPU.
    let mut times = vec![(0_u64, 0.0); columns.count];
    for pair in thread.samples.windows(2) {
        let length = pair[1].at_ns.saturating_sub(pair[0].at_ns).max(1);
        let running = pair[1].running_ns.saturating_sub(pair[0].running_ns);
        let share = running as f64 / length as f64;
        for (column, ns) in columns.parts(pair[0].at_ns, pair[1].at_ns) {
            times[column].0 += ns;
            times[column].1 += share * ns as f64;
        }
    }
    let times = times.into_iter();
    let shares = times.map(|(ns, running)| (ns > 0).then(|| running / ns as f64));
    shares.collect()
}

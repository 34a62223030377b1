//! A row over time, as text: a picture of the runs, what can be said of their
//! level, and a line for each.

use super::figures::number_parts;
use compare::history::{History, HistoryEntry};
use model::estimate::Verdict;
use model::figure::in_scale;
use model::stats::Interval;
use model::story::{Block, Cell, Link, Table, left, right};
use model::unit::Unit;
use model::utc;

/// Lines of the picture.
const HEIGHT: usize = 9;
/// Runs that fit into it.
const WIDTH: usize = 72;
/// Runs that are listed unless all are asked for.
const LISTED: usize = 30;
/// The picture shows at least this much to either side of the middle: noise of
/// a thousandth is no mountain.
const LEAST_SPAN: f64 = 0.01;

/// The page of a row's history. `wide` lists every run, with its id and what
/// its verdict was for.
pub fn history(history: &History, wide: bool) -> Vec<Block> {
    let heading =
        format!("{}, {}, on {}", history.name(), history.measure.label(), history.machine.line);
    let mut blocks = vec![Block::Heading(heading), Block::empty_line()];
    if history.tested() >= 2 {
        blocks.extend(picture(history));
        blocks.push(Block::empty_line());
    }
    blocks.extend([
        Block::text(history.conclusion().to_string()),
        Block::empty_line(),
        Block::Table(history_table(history, wide, " (--wide lists all)")),
    ]);
    blocks
}

/// The newest runs side by side: a dot at each figure, its interval shaded,
/// changes and setups marked below.
fn picture(history: &History) -> Vec<Block> {
    let hidden = history.runs.len().saturating_sub(WIDTH);
    let shown = &history.runs[hidden..];
    let figures: Vec<Interval> = shown.iter().filter_map(|entry| entry.figure).collect();
    let Some((low, high)) = range(&figures) else {
        return Vec::new();
    };
    let (scale, unit) = history.scale(high);
    let line_of = |value: f64| {
        let share = (high - value) / (high - low);
        (share * HEIGHT as f64 - 0.5).round().clamp(0.0, HEIGHT as f64 - 1.0) as usize
    };
    let mut lines = vec![String::new(); HEIGHT];
    for entry in shown {
        for (at, line) in lines.iter_mut().enumerate() {
            let c = match entry.figure {
                Some(f) if line_of(f.value) == at => dot(entry, f.value > high || f.value < low),
                Some(f) if (line_of(f.high)..=line_of(f.low)).contains(&at) => '░',
                _ => ' ',
            };
            line.push(c);
        }
    }
    let label = |at: usize| {
        let value = high - (high - low) * (at as f64 + 0.5) / HEIGHT as f64;
        let places = model::figure::decimals(value / scale, (high - low) / scale / 20.0);
        format!("{:.places$}", value / scale)
    };
    let mut table = Table::new([right(""), left("")]);
    for (at, line) in lines.iter().enumerate() {
        let text = match at {
            0 => format!("{} {unit}", label(at)),
            at if at % 4 == 0 => label(at),
            _ => String::new(),
        };
        table.row([text.trim_end().into(), format!("│{line}").into()]);
    }
    table.row(["".into(), format!("└{}", axis(history, hidden)).into()]);
    let mut legend = vec!["• figure, ░ 95 % interval".to_owned()];
    let any = |test: &dyn Fn(&HistoryEntry) -> bool| shown.iter().any(test);
    if any(&|e| e.figure.is_some() && !e.tested) {
        legend.push("x not tested".into());
    }
    if history.levels.len() > 1 {
        legend.push("▲ the level changed".into());
    }
    if any(&|e| !e.setup.is_empty()) {
        legend.push("┴ machine or program changed".into());
    }
    if figures.iter().any(|f| f.value > high || f.value < low) {
        legend.push("↕ beyond the picture".into());
    }
    if hidden > 0 {
        legend.push(format!("{hidden} earlier runs not drawn"));
    }
    vec![Block::Table(table), Block::text(legend.join("; "))]
}

fn dot(entry: &HistoryEntry, beyond: bool) -> char {
    match (entry.tested, beyond) {
        (_, true) => '↕',
        (true, false) => '•',
        (false, false) => 'x',
    }
}

/// What stands below the runs from this one on.
fn axis(history: &History, hidden: usize) -> String {
    let mark = |place: usize| {
        if history.change_at(place).is_some() {
            '▲'
        } else if !history.runs[place].setup.is_empty() {
            '┴'
        } else {
            '─'
        }
    };
    (hidden..history.runs.len()).map(mark).collect()
}

/// From where to where to draw: all but the tenth of figures that lies far out,
/// which must not flatten the others.
fn range(figures: &[Interval]) -> Option<(f64, f64)> {
    let sorted = model::stats::sorted(figures.iter().map(|f| f.value));
    let at = |q| model::stats::quantile_sorted(&sorted, q);
    let (middle, low, high) = (at(0.5)?, at(0.05)?, at(0.95)?);
    let reach = (2.0 * (high - low)).max(2.0 * LEAST_SPAN * middle.abs());
    let near = |v: &&f64| (**v - middle).abs() <= reach;
    let drawn: Vec<f64> = sorted.iter().filter(near).copied().collect();
    let (low, high) = (*drawn.first()?, *drawn.last()?);
    let least = LEAST_SPAN * middle.abs();
    let margin = 0.1 * (high - low);
    let (low, high) = ((low - margin).min(middle - least), (high + margin).max(middle + least));
    (high > low).then_some((low, high))
}

/// A line for each run, with what changed between two of them; the newest ones
/// unless it is `wide`. `more` says how to see the others.
pub fn history_table(history: &History, wide: bool, more: &str) -> Table {
    let hidden = if wide { 0 } else { history.runs.len().saturating_sub(LISTED) };
    let newest = history.runs.iter().rev().find_map(|entry| entry.figure);
    let (scale, unit) = history.scale(newest.map_or(0.0, |figure| figure.value));
    let in_ns = history.runs.iter().any(|entry| entry.ns.is_some());
    let mut table = Table::new([
        left("time"),
        right(format!("{unit} ±95 %").trim_start()),
        right(if in_ns { "ns" } else { "" }),
        left("verdict"),
        left("tags"),
        left(if wide { "run" } else { "" }),
        left(""),
    ]);
    if hidden > 0 {
        table.note("", format!("... {hidden} earlier runs{more}"));
    }
    for (place, entry) in history.runs.iter().enumerate().skip(hidden) {
        if let Some(level) = history.change_at(place) {
            let text = history.level_text(&level.level);
            table.note("▲ ", format!("level {text}: {}", level.change_text()));
        }
        if !entry.setup.is_empty() {
            table.note("┴ ", entry.setup_text());
        }
        table.row(entry_cells(entry, scale, wide));
    }
    table
}

fn entry_cells(entry: &HistoryEntry, scale: f64, wide: bool) -> [Cell; 7] {
    let figure = entry
        .figure
        .map_or("-".into(), |figure| Cell::digits(number_parts(&figure.scaled(1.0 / scale))));
    let ns = entry.ns.map_or(String::new(), |ns| {
        in_scale(&Unit::Time, ns.value, ns.half_width(), 1.0)[0].clone()
    });
    let verdict = match entry.verdict {
        Some(verdict) => Cell::from(verdict.text()).toned(verdict),
        None => Cell::from("unavailable").toned(Verdict::CannotTell),
    };
    let partial = entry.run.partial.is_some();
    let mut remark = match (entry.figure.is_none() || wide, entry.tested) {
        (true, _) => entry.reason.clone(),
        (false, false) => "not tested".into(),
        (false, true) => String::new(),
    };
    if partial {
        remark = format!("partial {remark}").trim_end().to_owned();
    }
    [
        Cell::from(utc::readable_utc(entry.run.started_unix_ms))
            .to(Link::Run(entry.run.id.clone())),
        figure,
        ns.into(),
        verdict,
        entry.run.tags.join(", ").into(),
        if wide { entry.short_id() } else { "" }.into(),
        remark.into(),
    ]
}

//! A row over time as a picture.

use super::{Axis, Body, Chart, ChartLine, CurveKind, Lines, Mark, Point, Quantity, Section};
use compare::history::{History, HistoryEntry};
use model::share::change;
use model::stats::Interval;
use model::utc;

/// The figures over time with their intervals, the levels as bands behind them, changes of the level and of the
/// machine's setup as marks.
pub fn chart(history: &History) -> Chart {
    let axis = |label: &str, quantity| Axis {
        label: label.into(),
        quantity,
        log: false,
        from_zero: false,
    };
    let (label, quantity) = measured_in(history.unit);
    let series = std::iter::once(history_line(history)).chain(level_bands(history));
    Chart {
        id: format!("history.{}", slug(&history.name())),
        title: format!("{} over time", history.name()),
        caption: format!("{}.", history.conclusion().seen().trim_end_matches('.')),
        section: Section::History,
        body: Body::Lines(Lines {
            marks: marks(history),
            ..Lines::new(
                axis("time (UTC)", Quantity::UnixMilliseconds),
                axis(label, quantity),
                series.collect(),
            )
        }),
        notes: notes(history),
    }
}

/// Letters, digits, `.`, `_`, `-` of a name.
fn slug(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    name.chars().map(|c| if allowed(c) { c } else { '-' }).collect()
}

/// What the axis is of, and how its numbers are written.
fn measured_in(unit: &str) -> (&str, Quantity) {
    match unit {
        "ns" => ("time", Quantity::Nanoseconds),
        "cycles" => ("time", Quantity::Cycles),
        "GB/s" => ("bandwidth", Quantity::GigabytesPerSecond),
        "bytes" => ("size", Quantity::Bytes),
        other => (other, Quantity::Count),
    }
}

fn history_line(history: &History) -> ChartLine {
    let point = |entry: &HistoryEntry| {
        let figure = entry.figure?;
        Some(point_of(entry.run.started_unix_ms, &figure, entry))
    };
    ChartLine {
        name: history.machine.line.clone(),
        is: CurveKind::Measured,
        points: history.runs.iter().filter_map(point).collect(),
        joined: false,
    }
}

fn point_of(unix_ms: u64, figure: &Interval, entry: &HistoryEntry) -> Point {
    Point {
        x: unix_ms as f64,
        y: figure.value,
        low: Some(figure.low),
        high: Some(figure.high),
        verdict: entry.verdict,
    }
}

/// Each level as a band as wide as its interval, up to the next one; none where the runs are too few to
/// look for a change: that of a handful of runs is wider than the picture is high.
fn level_bands(history: &History) -> impl Iterator<Item = ChartLine> {
    let time = |place: usize| history.runs[place].run.started_unix_ms as f64;
    let levels = match history.conclusion().has_power() {
        true => &history.levels[..],
        false => &[],
    };
    levels.iter().enumerate().map(move |(at, level)| {
        let to = levels.get(at + 1).map_or(level.last, |next| next.first);
        let end = |place| Point {
            x: time(place),
            y: level.level.value,
            low: Some(level.level.low),
            high: Some(level.level.high),
            verdict: None,
        };
        ChartLine {
            name: format!("level {}", history.level_text(&level.level)),
            is: CurveKind::Population,
            points: vec![end(level.first), end(to)],
            joined: true,
        }
    })
}

/// Changes of the level, and what else changed: its values are in the notes.
fn marks(history: &History) -> Vec<Mark> {
    let mark = |(place, entry): (usize, &HistoryEntry)| {
        let ratio = history.change_at(place).and_then(|level| level.ratio);
        let ratio = ratio.map(|ratio| change(ratio.value));
        let setup = entry.setup.iter().map(|change| change.what.to_owned());
        let name = ratio.into_iter().chain(setup).collect::<Vec<_>>().join(", ");
        (!name.is_empty()).then_some(Mark { name, x: entry.run.started_unix_ms as f64 })
    };
    history.runs.iter().enumerate().filter_map(mark).collect()
}

fn notes(history: &History) -> Vec<String> {
    let without = history.runs.iter().filter(|run| run.figure.is_none());
    let without = without.count();
    let limits = history.conclusion().limits();
    let mut notes = Vec::new();
    if !limits.is_empty() {
        notes.push(format!("Power: {limits}"));
    }
    if without > 0 {
        notes
            .push(format!("{without} of {} runs have no figure of this kind.", history.runs.len()));
    }
    let setups = history.runs.iter().filter(|entry| !entry.setup.is_empty());
    notes.extend(setups.map(|entry| {
        format!("{}: {}.", utc::readable_utc(entry.run.started_unix_ms), entry.setup_text())
    }));
    notes
}

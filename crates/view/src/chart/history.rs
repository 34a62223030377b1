//! A row over time as a picture.

use super::{Axis, Band, Body, Chart, Kind, Line, Lines, Mark, Point, Quantity, Section};
use compare::history::{Entry, History};
use model::share::change;
use model::stats::Interval;

/// The figures over time with their intervals, the levels as bands, changes of
/// the level and of the machine's setup as marks.
pub fn chart(history: &History) -> Chart {
    let time = |place: usize| history.runs[place].run.started_unix_ms as f64;
    let levels = &history.levels;
    let bands = levels.iter().enumerate().map(|(at, level)| Band {
        name: String::new(),
        figure: history.level_text(&level.level),
        from: time(level.first),
        // Up to the next, so that no run lies outside.
        to: levels.get(at + 1).map_or_else(|| time(level.last), |next| time(next.first)),
    });
    Chart {
        id: format!("history.{}", id(&history.name())),
        title: format!("{} over time", history.name()),
        caption: history.conclusion().to_string(),
        section: Section::History,
        body: Body::Lines(Lines {
            x: Axis {
                label: "time".into(),
                quantity: Quantity::UnixMilliseconds,
                log: false,
                from_zero: false,
            },
            y: Axis {
                label: history.unit.into(),
                quantity: quantity(history.unit),
                log: false,
                from_zero: false,
            },
            series: vec![figures(history), level_line(history)],
            bands: bands.collect(),
            marks: marks(history),
        }),
        notes: notes(history),
    }
}

/// Letters, digits, `.`, `_`, `-` of a name.
fn id(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    name.chars().map(|c| if allowed(c) { c } else { '-' }).collect()
}

fn quantity(unit: &str) -> Quantity {
    match unit {
        "ns" => Quantity::Nanoseconds,
        "cycles" => Quantity::Cycles,
        "GB/s" => Quantity::GigabytesPerSecond,
        "bytes" => Quantity::Bytes,
        _ => Quantity::Count,
    }
}

fn figures(history: &History) -> Line {
    let point = |entry: &Entry| {
        let figure = entry.figure?;
        Some(point_of(entry.run.started_unix_ms, &figure, entry))
    };
    Line {
        name: history.machine.line.clone(),
        is: Kind::Measured,
        points: history.runs.iter().filter_map(point).collect(),
        joined: false,
    }
}

fn point_of(unix_ms: u64, figure: &Interval, entry: &Entry) -> Point {
    Point {
        x: unix_ms as f64,
        y: figure.value,
        low: Some(figure.low),
        high: Some(figure.high),
        verdict: entry.verdict,
    }
}

/// The levels as one line of steps.
fn level_line(history: &History) -> Line {
    let ends = history.levels.iter().flat_map(|level| {
        [level.first, level.last].map(|place| Point {
            x: history.runs[place].run.started_unix_ms as f64,
            y: level.level.value,
            low: Some(level.level.low),
            high: Some(level.level.high),
            verdict: None,
        })
    });
    Line { name: "level".into(), is: Kind::Ideal, points: ends.collect(), joined: true }
}

fn marks(history: &History) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (place, entry) in history.runs.iter().enumerate() {
        let x = entry.run.started_unix_ms as f64;
        if let Some(ratio) = history.change_at(place).and_then(|level| level.ratio) {
            marks.push(Mark { name: change(ratio.value), x });
        }
        marks.extend(
            entry
                .setup
                .iter()
                .map(|change| Mark { name: format!("{}: {}", change.what, change.b), x }),
        );
    }
    marks
}

fn notes(history: &History) -> Vec<String> {
    let without = history.runs.iter().filter(|run| run.figure.is_none());
    let without = without.count();
    let mut notes = Vec::new();
    if without > 0 {
        notes
            .push(format!("{without} of {} runs have no figure of this kind.", history.runs.len()));
    }
    notes
}

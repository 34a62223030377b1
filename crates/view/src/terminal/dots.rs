//! Places on the whole of a share as characters: a line for each, its labels below it.

use super::layout::width;
use model::chart::{Dot, Dots};
use model::share::range;

/// A line is no shorter.
const LEAST: usize = 20;
/// Columns between labels.
const BETWEEN: usize = 1;
/// Words of a label that are its cost: `117 ns`.
const COST_WORDS: usize = 2;

/// The lines below a scale in percent.
pub(super) fn labelled_lines(dots: &Dots, columns: usize) -> Vec<String> {
    let figures = dots.rows.iter().map(|dot| width(&figure(dot))).max().unwrap_or(0);
    let names = dots.rows.iter().map(|dot| width(&dot.id)).max().unwrap_or(0);
    let names = names.min(columns.saturating_sub(LEAST + figures + 2));
    let room = columns.saturating_sub(names + figures + 2).max(LEAST);
    let line = |name: &str, text: &str| {
        let name: String = name.chars().take(names).collect();
        format!("{name:<names$} {text}").trim_end().to_owned()
    };
    let scale = [0.0, 25.0, 50.0, 75.0, 100.0].map(|percent| (percent, format!("{percent} %")));
    let mut lines = vec![line("", &texts_at(&scale, room, room / 4))];
    for dot in &dots.rows {
        lines.push(line(&dot.id, &format!("{} {}", strip(dot, room), figure(dot))));
        // A cost is two words; the name of a machine has a line of its own.
        for part in [0..COST_WORDS, COST_WORDS..usize::MAX] {
            let words = |name: &str| {
                let words: Vec<&str> = name.split(' ').take(part.end).skip(part.start).collect();
                words.join(" ")
            };
            let labels = dot.others.iter().map(|other| (other.value, words(&other.name)));
            let labels: Vec<(f64, String)> = labels.filter(|(_, text)| !text.is_empty()).collect();
            if !labels.is_empty() {
                lines.push(line("", &texts_at(&labels, room, room / 4)));
            }
        }
    }
    lines
}

/// The interval of the place.
fn figure(dot: &Dot) -> String {
    let ends = dot.low.zip(dot.high);
    ends.map_or(String::new(), |(low, high)| range(low / 100.0, high / 100.0))
}

/// The line from 0 to 100 %: double between the first and the last label, heavy where the place may be, a dot at it.
fn strip(dot: &Dot, room: usize) -> String {
    let ends = dot.others.first().zip(dot.others.last());
    let half = ends.map(|(first, last)| column(first.value, room)..=column(last.value, room));
    let interval = dot.low.zip(dot.high).map(|(low, high)| column(low, room)..=column(high, room));
    let is_in = |range: &Option<std::ops::RangeInclusive<usize>>, at: usize| {
        range.as_ref().is_some_and(|range| range.contains(&at))
    };
    let mark = |at: usize| match at {
        at if dot.value.is_some_and(|value| column(value, room) == at) => '●',
        at if is_in(&interval, at) => '━',
        at if is_in(&half, at) => '═',
        _ => '─',
    };
    (0..room).map(mark).collect()
}

/// The column of a place in percent.
fn column(percent: f64, room: usize) -> usize {
    let last = room.saturating_sub(1) as f64;
    (percent.clamp(0.0, 100.0) / 100.0 * last).round() as usize
}

/// Texts of at most so many columns about their places; one that would touch the text before it is left out.
fn texts_at(texts: &[(f64, String)], room: usize, most: usize) -> String {
    let mut line = String::new();
    for (percent, text) in texts {
        let text = shortened_to(text, most.saturating_sub(BETWEEN));
        let wide = width(&text);
        let begin = column(*percent, room).saturating_sub(wide / 2).min(room.saturating_sub(wide));
        let used = width(&line);
        if used == 0 || begin >= used + BETWEEN {
            line.push_str(&" ".repeat(begin - used));
            line.push_str(text.trim_end());
        }
    }
    line
}

/// A text of at most so many characters, the last of which says that there are more.
fn shortened_to(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::figure::linear;
    use model::chart::{Other, Quantity};

    #[test]
    fn a_place_its_interval_and_the_machines_at_the_quartiles() {
        let other = |value: f64, name: &str| Other { name: name.into(), value };
        let dot = |id: &str, value: f64, others: Vec<Other>| Dot {
            id: id.into(),
            value: Some(value),
            low: Some(value - 5.0),
            high: Some(value + 5.0),
            others,
            ..Dot::default()
        };
        let machines = vec![
            other(25.0, "150 ns m5.large"),
            other(50.0, "120 ns m6i"),
            other(75.0, "98 ns Standard_D4ns_v6"),
        ];
        let rows = vec![
            dot("memory.latency/DRAM", 60.0, machines),
            dot(
                "call.syscall",
                0.0,
                vec![other(25.0, "90 ns"), other(50.0, "70 ns"), other(75.0, "60 ns")],
            ),
            dot("process.fork_exit", 98.0, Vec::new()),
        ];
        let dots = Dots { labelled: true, ..Dots::new(linear("slower", Quantity::Percent), rows) };
        let text = labelled_lines(&dots, 80).join("\n");
        insta::assert_snapshot!(text);
        assert!(text.lines().all(|line| width(line) <= 80), "{text}");
    }
}

//! Changes as characters: a line for each, its interval and its mark on one axis, 1 as a line across.

use super::layout::{Style, styled, width};
use crate::axis::Scale;
use crate::chart::forest;
use model::chart::{Dot, Dots};
use model::compare::finding::Verdict;

/// The axis is no shorter.
const LEAST: usize = 20;
/// Names are no longer than this share of the page.
const NAMES: f64 = 0.4;

pub(super) fn mark(found: Verdict) -> (char, Style) {
    match found {
        Verdict::Different => ('●', Style::Bad),
        Verdict::CannotTell => ('◇', Style::Doubtful),
        Verdict::SameWithinNoise => ('▪', Style::Good),
    }
}

/// The lines below the axis.
pub(super) fn lines(dots: &Dots, columns: usize) -> Vec<String> {
    let rows: Vec<&Dot> = forest::drawn(dots).map(|(_, dot)| dot).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let figures: Vec<String> = rows.iter().map(|dot| forest::figure(dot)).collect();
    let right = figures.iter().map(|text| width(text)).max().unwrap_or(0);
    let names = rows.iter().map(|dot| width(&dot.id)).max().unwrap_or(0);
    let names = names.min((columns as f64 * NAMES) as usize);
    let room = columns.saturating_sub(names + right + 2).max(LEAST);
    let x = forest::scale(dots, (0.0, (room - 1) as f64));
    let one = x.position(1.0).map(|at| (at.round() as usize, "1".to_owned()));
    let mut lines = vec![format!("{:names$} {}", "", axis(&x, room, one)).trim_end().to_owned()];
    for (dot, figure) in rows.into_iter().zip(figures) {
        let name = match width(&dot.id) > names {
            true => dot.id.chars().take(names.saturating_sub(1)).chain(['…']).collect(),
            false => dot.id.clone(),
        };
        let fill = " ".repeat(names.saturating_sub(width(&name)));
        lines.push(format!("{name}{fill} {} {figure}", strip(dot, &x, room)));
    }
    lines
}

/// What the marks stand for, of the lines that are drawn.
pub(super) fn legend(dots: &Dots) -> Option<String> {
    let found = forest::findings(dots).into_iter();
    let found: Vec<String> =
        found.map(|found| format!("{} {}", mark(found).0, found.printed())).collect();
    (!found.is_empty()).then(|| found.join("  "))
}

/// Numbers above their places, as many as stand apart; the first in any case.
pub(super) fn axis(x: &Scale, room: usize, first: Option<(usize, String)>) -> String {
    let mut line = vec![' '; room];
    let ticks = x.ticks_apart(|text| width(text) as f64, 2.0).into_iter();
    let ticks =
        ticks.filter_map(|tick| Some((x.position(tick.value)?.round() as usize, tick.label)));
    for (at, text) in first.into_iter().chain(ticks) {
        let from =
            (at + 1).saturating_sub(width(&text).div_ceil(2)).min(room - width(&text).min(room));
        let to = from + width(&text);
        let is_free = line[from.saturating_sub(1)..(to + 1).min(room)].iter().all(|c| *c == ' ');
        if is_free {
            line.splice(from..to, text.chars());
        }
    }
    line.into_iter().collect()
}

/// The interval, the mark, and 1.
fn strip(dot: &Dot, x: &Scale, room: usize) -> String {
    let column = |value: f64| (x.at_most(value).round() as usize).min(room - 1);
    let mut line = vec![' '; room];
    line[column(1.0)] = '│';
    if dot.low.is_some() || dot.high.is_some() {
        let value = dot.value.unwrap_or(1.0);
        let ends = [dot.low.unwrap_or(value), dot.high.unwrap_or(f64::MAX)].map(column);
        line[ends[0]..=ends[1]].fill('─');
    }
    let (mark, tone) = dot.finding.map_or(('•', Style::Plain), mark);
    if let Some(value) = dot.value {
        line[column(value)] = mark;
    }
    let end = line.iter().rposition(|c| *c != ' ').map_or(0, |at| at + 1);
    let start = line.iter().position(|c| *c != ' ').unwrap_or(0);
    let drawn: String = line[start..end.max(start)].iter().collect();
    format!("{:start$}{}{:rest$}", "", styled(&drawn, tone), "", rest = room - end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::figure::log;
    use crate::terminal::layout::unmarked;
    use model::chart::Quantity;

    #[test]
    fn a_line_has_its_interval_its_mark_and_one() {
        let dot = |id: &str, [low, value, high]: [f64; 3], finding| Dot {
            id: id.into(),
            value: Some(value),
            low: Some(low),
            high: Some(high),
            finding: Some(finding),
            ..Dot::default()
        };
        let rows = forest::by_change(vec![
            dot("cpu.add", [0.99, 1.0, 1.01], Verdict::SameWithinNoise),
            dot("file.read", [0.8, 1.1, 1.5], Verdict::CannotTell),
            dot("memory.latency/L2", [1.9, 2.0, 2.1], Verdict::Different),
        ]);
        let dots = Dots::new(log("B over A", Quantity::Ratio), rows);
        let text: Vec<String> = lines(&dots, 80).iter().map(|line| unmarked(line)).collect();
        insta::assert_snapshot!(text.join("\n"));
        assert!(text.iter().all(|line| width(line) <= 80));
        assert_eq!(
            legend(&dots).as_deref(),
            Some("● different  ◇ inconclusive  ▪ same within noise")
        );
    }
}

//! Old and new figures as characters: a line for each, from the old to the new one on one axis.

use super::forest::{axis, mark};
use super::layout::{styled, width};
use crate::axis::Scale;
use crate::chart::forest::ORDER;
use crate::quantity::axis_number;
use model::chart::{Slope, Slopes};
use model::compare::finding::Verdict;

/// The axis is no shorter.
const LEAST: usize = 20;
/// Names are no longer than this share of the page.
const NAMES: f64 = 0.4;

/// The lines below the axis.
pub(super) fn lines(slopes: &Slopes, columns: usize) -> Vec<String> {
    let number = |value: f64| axis_number(slopes.value.quantity, value);
    let figure = |line: &Slope| {
        let [old, new] = line.ends.map(|end| number(end.value));
        format!("{old} -> {new}")
    };
    let right = slopes.lines.iter().map(|line| width(&figure(line))).max().unwrap_or(0);
    let names = slopes.lines.iter().map(|line| width(&line.name)).max().unwrap_or(0);
    let names = names.min((columns as f64 * NAMES) as usize);
    let room = columns.saturating_sub(names + right + 2).max(LEAST);
    let values = slopes.lines.iter().flat_map(|line| line.ends.map(|end| end.value));
    let x = Scale::over(&slopes.value, values, (0.0, (room - 1) as f64));
    let mut lines = vec![format!("{:names$} {}", "", axis(&x, room, None)).trim_end().to_owned()];
    for line in &slopes.lines {
        let name = match width(&line.name) > names {
            true => line.name.chars().take(names.saturating_sub(1)).chain(['…']).collect(),
            false => line.name.clone(),
        };
        let fill = " ".repeat(names.saturating_sub(width(&name)));
        lines.push(format!("{name}{fill} {} {}", strip(line, &x, room), figure(line)));
    }
    lines
}

/// What the marks stand for.
pub(super) fn legend(slopes: &Slopes) -> String {
    let is_drawn = |kind: &Verdict| slopes.lines.iter().any(|line| line.finding == *kind);
    let kinds = ORDER.into_iter().filter(is_drawn);
    let kinds = kinds.map(|kind| format!("{} {}", mark(kind).0, kind.printed()));
    format!("○ {}; {}: {}", slopes.sides[0], slopes.sides[1], kinds.collect::<Vec<_>>().join("  "))
}

/// From the old figure to the new one, coloured by the finding.
fn strip(line: &Slope, x: &Scale, room: usize) -> String {
    let [old, new] = line.ends.map(|end| (x.at_most(end.value).round() as usize).min(room - 1));
    let (from, to) = (old.min(new), old.max(new));
    let (sign, tone) = mark(line.finding);
    let mut drawn = vec!['─'; to - from + 1];
    drawn[old - from] = '○';
    drawn[new - from] = sign;
    let drawn: String = drawn.into_iter().collect();
    format!("{:from$}{}{:rest$}", "", styled(&drawn, tone), "", rest = room - to - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::figure::log;
    use crate::terminal::layout::unmarked;
    use model::chart::{Quantity, SlopeEnd};

    #[test]
    fn a_line_leads_from_the_old_figure_to_the_new_one() {
        let slope = |name: &str, ends: [f64; 2], finding| Slope {
            name: name.into(),
            ends: ends.map(|value| SlopeEnd { value, low: None, high: None }),
            finding,
        };
        let slopes = Slopes {
            value: log("time of an operation", Quantity::Nanoseconds),
            sides: ["old", "new"].map(str::to_owned),
            lines: vec![
                slope("add", [1.0, 1.01], Verdict::SameWithinNoise),
                slope(
                    "a name that is longer than two fifths of a page",
                    [4.0, 9.0],
                    Verdict::Different,
                ),
                slope("system call", [150.0, 70.0], Verdict::CannotTell),
            ],
        };
        let text: Vec<String> = lines(&slopes, 80).iter().map(|line| unmarked(line)).collect();
        insta::assert_snapshot!(text.join("\n"));
        assert!(text.iter().all(|line| width(line) <= 80));
        let legend = legend(&slopes);
        assert_eq!(legend, "○ old; new: ● different  ◇ inconclusive  ▪ same within noise");
    }
}

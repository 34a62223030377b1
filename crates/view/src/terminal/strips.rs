//! Shares of time over time as characters: the height of a block is the share, and
//! the kind of character says which part has most of it.

use super::layout::width;
use model::chart::{Strip, Strips};
use model::figure::time;

/// Eighths of a line, for the first part.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Thirds, for the second.
const SHADES: [char; 3] = ['░', '▒', '▓'];
/// Any share, for the third.
const MARK: char = 'x';
const UNKNOWN: char = '?';
/// A line is no narrower.
const LEAST: usize = 20;

fn marks(part: usize) -> &'static [char] {
    match part {
        0 => &BLOCKS,
        1 => &SHADES,
        _ => &[MARK],
    }
}

/// The lines below a line with begin and end; the name of a group above its own.
pub(super) fn strips(strips: &Strips, columns: usize) -> Vec<String> {
    let (_, room) = layout(strips, columns);
    let end = time(strips.length_ns);
    let gap = " ".repeat(room.saturating_sub(1 + width(&end)));
    strip_lines(strips, columns, &format!("0{gap}{end}"))
}

/// The same below a scale of the caller's.
pub(super) fn strip_lines(strips: &Strips, columns: usize, scale: &str) -> Vec<String> {
    let (names, room) = layout(strips, columns);
    let line = |name: &str, text: &str| {
        let fill = " ".repeat(names.saturating_sub(width(name)));
        format!("{name}{fill} {text}").trim_end().to_owned()
    };
    let mut lines = vec![line("", scale)];
    for group in strips.strips.chunk_by(|a, b| a.group == b.group) {
        if !group[0].group.is_empty() {
            lines.push(group[0].group.clone());
        }
        let own = group.iter().map(|strip| {
            let marks = merged(strip, room).into_iter().map(|shares| mark(&shares));
            line(&strip.name, &marks.collect::<String>())
        });
        lines.extend(own);
    }
    lines
}

/// What the characters stand for, of the parts that occur.
pub(super) fn legend(strips: &Strips, columns: usize) -> String {
    let (_, room) = layout(strips, columns);
    let all = strips.strips.iter().flat_map(|strip| merged(strip, room));
    let all: Vec<Vec<f64>> = all.collect();
    let is_drawn = |part: usize| all.iter().any(|shares| largest(shares) == Some(part));
    let parts = strips.parts.iter().map(String::as_str).enumerate();
    legend_of(parts.filter(|(at, _)| is_drawn(*at)), all.iter().any(Vec::is_empty))
}

/// What the characters stand for, of these parts.
pub(super) fn legend_of<'a>(
    parts: impl Iterator<Item = (usize, &'a str)>,
    has_unknown: bool,
) -> String {
    let parts = parts.map(|(at, name)| {
        let marks: String = marks(at).iter().collect();
        format!("{marks} mostly {name}")
    });
    let unknown = has_unknown.then(|| format!("{UNKNOWN} not known"));
    parts.chain(unknown).collect::<Vec<_>>().join("  ")
}

/// Columns of names, and of what follows.
fn layout(strips: &Strips, columns: usize) -> (usize, usize) {
    let names = strips.strips.iter().map(|strip| width(&strip.name));
    let names = names.max().unwrap_or(0);
    (names, room(names, columns))
}

/// Columns behind names of so many.
pub(super) fn room(names: usize, columns: usize) -> usize {
    columns.saturating_sub(names + 1).max(LEAST)
}

/// The strip in so many columns: means of those that each covers.
fn merged(strip: &Strip, columns: usize) -> Vec<Vec<f64>> {
    let per_column = strip.columns.len() as f64 / columns as f64;
    let of = |at: usize| {
        let (from, to) = (at as f64 * per_column, (at + 1) as f64 * per_column);
        let (mut sums, mut weights) = (Vec::new(), 0.0);
        let covered = (from as usize)..(to.ceil() as usize).min(strip.columns.len());
        for place in covered {
            let shares = &strip.columns[place];
            let weight = to.min((place + 1) as f64) - from.max(place as f64);
            if shares.is_empty() || weight <= 1e-9 {
                continue;
            }
            sums.resize(shares.len(), 0.0);
            weights += weight;
            for (sum, share) in sums.iter_mut().zip(shares) {
                *sum += share * weight;
            }
        }
        sums.iter_mut().for_each(|sum| *sum /= weights);
        sums
    };
    (0..columns).map(of).collect()
}

/// The part that has most of a column, if any has something.
fn largest(shares: &[f64]) -> Option<usize> {
    let parts = shares.iter().enumerate().rev();
    let (at, share) = parts.max_by(|a, b| a.1.total_cmp(b.1))?;
    (*share > 0.0).then_some(at)
}

fn mark(shares: &[f64]) -> char {
    if shares.is_empty() {
        return UNKNOWN;
    }
    let Some(part) = largest(shares) else {
        return ' ';
    };
    let marks = marks(part);
    let share: f64 = shares.iter().sum();
    // A little is more than nothing.
    let steps = (share * marks.len() as f64).round() as usize;
    marks[steps.clamp(1, marks.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_tell_share_and_part() {
        let marks = [
            &[][..],
            &[0.0, 0.0, 0.0],
            &[0.01, 0.0, 0.0],
            &[0.5, 0.0, 0.0],
            &[0.6, 0.4, 0.0],
            &[0.1, 0.2, 0.0],
            &[0.3, 0.7, 0.0],
            &[0.2, 0.0, 0.3],
        ]
        .map(mark);
        assert_eq!(String::from_iter(marks), "? ▁▄█░▓x");
    }

    #[test]
    fn columns_are_means_of_what_they_cover() {
        let strip = Strip {
            name: String::new(),
            group: String::new(),
            mean: Vec::new(),
            columns: vec![vec![1.0], vec![0.0], vec![0.5], vec![]],
        };
        assert_eq!(merged(&strip, 2), [[0.5], [0.5]]);
        let wide = merged(&strip, 8);
        assert_eq!(wide[1], [1.0]);
        assert!(wide[7].is_empty());
        // Two thirds of the first, and of the next.
        assert_eq!(merged(&strip, 3)[0], [0.75]);
    }
}

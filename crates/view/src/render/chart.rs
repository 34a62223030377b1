//! A curve drawn with braille dots, both axes logarithmic.

use super::layout::width;
use model::size;

/// Cells of the drawing, without labels.
const WIDE: usize = 84;
const HIGH: usize = 10;
/// Room for the labels at the left.
const LABEL: usize = 8;
/// Dots of one cell.
const DOTS: (usize, usize) = (2, 4);

/// A flat stretch to be named above the curve.
pub(super) struct Level {
    pub(super) name: String,
    pub(super) from: u64,
    pub(super) to: u64,
}

/// The drawing; empty below two points, where there is nothing to see.
pub(super) fn chart(points: &[(u64, f64)], levels: &[Level]) -> Vec<String> {
    let points: Vec<(f64, f64)> = points
        .iter()
        .filter(|&&(x, y)| x > 0 && y > 0.0 && y.is_finite())
        .map(|&(x, y)| (x as f64, y))
        .collect();
    let (Some(x), Some(y)) = (
        Scale::over(points.iter().map(|p| p.0), 1.0, WIDE * DOTS.0),
        Scale::over(points.iter().map(|p| p.1), 1.15, HIGH * DOTS.1),
    ) else {
        return Vec::new();
    };
    let mut canvas = Canvas::default();
    for pair in points.windows(2) {
        canvas.line(
            (x.at(pair[0].0), y.at(pair[0].1)),
            (x.at(pair[1].0), y.at(pair[1].1)),
        );
    }
    let mut lines = Vec::new();
    if !levels.is_empty() {
        lines.push(names(levels, &x));
    }
    lines.extend(canvas.lines(&labels(&y)));
    lines.push(sizes(&points, &x));
    lines
}

/// A logarithmic axis.
struct Scale {
    low: f64,
    high: f64,
    dots: usize,
}

impl Scale {
    /// The axis over some values, each end moved outwards by a factor.
    fn over(values: impl Iterator<Item = f64> + Clone, margin: f64, dots: usize) -> Option<Scale> {
        let low = values.clone().fold(f64::INFINITY, f64::min) / margin;
        let high = values.fold(0.0, f64::max) * margin;
        (high > low).then_some(Scale { low, high, dots })
    }

    /// The dot of a value, counted from the low end.
    fn at(&self, value: f64) -> usize {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        let last = (self.dots - 1) as f64;
        (share * last).round().clamp(0.0, last) as usize
    }
}

struct Canvas {
    /// Dots of each cell as the low byte of a braille character.
    cells: [[u8; WIDE]; HIGH],
}

impl Default for Canvas {
    fn default() -> Self {
        Canvas {
            cells: [[0; WIDE]; HIGH],
        }
    }
}

impl Canvas {
    fn dot(&mut self, x: usize, y: usize) {
        // Unicode numbers the dots of a cell column by column, but the lowest
        // two last (U+2800 and following).
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let from_top = HIGH * DOTS.1 - 1 - y;
        self.cells[from_top / DOTS.1][x / DOTS.0] |= BITS[from_top % DOTS.1][x % DOTS.0];
    }

    fn line(&mut self, (x0, y0): (usize, usize), (x1, y1): (usize, usize)) {
        let steps = x0.abs_diff(x1).max(y0.abs_diff(y1)).max(1);
        let between = |a: usize, b: usize, k: usize| {
            let share = k as f64 / steps as f64;
            (a as f64 + (b as f64 - a as f64) * share).round() as usize
        };
        for k in 0..=steps {
            self.dot(between(x0, x1, k), between(y0, y1, k));
        }
    }

    fn lines(&self, labels: &[String]) -> Vec<String> {
        self.cells
            .iter()
            .zip(labels)
            .map(|(cells, label)| {
                let drawn: String = cells
                    .iter()
                    .map(|&dots| match dots {
                        0 => ' ',
                        _ => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
                    })
                    .collect();
                let tick = if label.is_empty() { '│' } else { '┤' };
                format!("{label:>LABEL$} {tick}{drawn}")
            })
            .collect()
    }
}

/// Labels of the lines from the top: 1, 2 and 5 of each power of ten.
fn labels(y: &Scale) -> Vec<String> {
    let mut labels = vec![String::new(); HIGH];
    let lowest = y.low.log10().floor() as i32;
    let highest = y.high.log10().ceil() as i32;
    for power in lowest..=highest {
        for digit in [1.0, 2.0, 5.0] {
            let value = digit * 10_f64.powi(power);
            if value < y.low || value > y.high {
                continue;
            }
            let line = HIGH - 1 - y.at(value) / DOTS.1;
            // Powers of ten come first and keep their line.
            if labels[line].is_empty() {
                labels[line] = model::figure::time(value)
                    .replace(".00 ", " ")
                    .replace(".0 ", " ");
            }
        }
    }
    labels
}

/// Names of the levels above the stretches where they were found.
fn names(levels: &[Level], x: &Scale) -> String {
    let mut cells = vec![' '; WIDE];
    for level in levels {
        let column = |bytes: u64| x.at((bytes as f64).max(x.low)) / DOTS.0;
        let (from, to) = (column(level.from), column(level.to).max(column(level.from)));
        for cell in &mut cells[from..=to] {
            *cell = '─';
        }
        (cells[from], cells[to]) = ('├', '┤');
        let name: Vec<char> = format!(" {} ", level.name).chars().collect();
        let start =
            ((from + to + 1).saturating_sub(name.len()) / 2).min(WIDE - name.len().min(WIDE));
        for (cell, c) in cells[start..].iter_mut().zip(name) {
            *cell = c;
        }
    }
    format!("{:>LABEL$}  {}", "", cells.iter().collect::<String>())
}

/// Sizes below the curve: each fourfold step that leaves room between.
fn sizes(points: &[(f64, f64)], x: &Scale) -> String {
    let mut line = format!("{:>LABEL$}  ", "");
    let start = width(&line);
    let mut bytes = 1_u64;
    let largest = points.iter().map(|p| p.0).fold(0.0, f64::max);
    while bytes as f64 <= largest {
        if bytes as f64 >= x.low {
            let label = size::text(bytes);
            let at = start + x.at(bytes as f64) / DOTS.0;
            // The last label may stand out to the right, up to the page's edge.
            let at = at.min((start + WIDE + 6).saturating_sub(label.len()));
            let end = width(&line);
            if end == start || at > end {
                line.push_str(&" ".repeat(at.saturating_sub(end)));
                line.push_str(&label);
            }
        }
        bytes = bytes.saturating_mul(4);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve() -> Vec<(u64, f64)> {
        (0..73)
            .map(|k| {
                let x = (1024.0 * 2_f64.powf(f64::from(k) / 4.0)) as u64;
                (x, if x <= 32 << 10 { 1.4 } else { 90.0 })
            })
            .collect()
    }

    #[test]
    fn a_curve_with_its_levels() {
        let level = |name: &str, from, to| Level {
            name: name.into(),
            from,
            to,
        };
        let inside = level("L1", 1024, 32 << 10);
        let outside = level("a very long name of a level", u64::MAX - 1, 1);
        let drawn = chart(&curve(), &[inside, outside]);
        assert!(drawn.iter().all(|line| width(line) <= 100));
        insta::assert_snapshot!(drawn.join("\n"));
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert!(chart(&[], &[]).is_empty());
        assert!(chart(&[(1024, 1.0)], &[]).is_empty());
        assert!(chart(&[(1024, f64::NAN), (2048, -1.0)], &[]).is_empty());
        // All alike: flat, but a curve.
        assert!(!chart(&[(1024, 1.0), (2048, 1.0)], &[]).is_empty());
    }
}

//! A curve drawn with braille dots, both axes logarithmic.

use super::layout::width;
use crate::axis::{Scale, Tick, span};
use model::chart::{Axis, Band, Lines};

/// Lines of the drawing, without labels.
const HIGH: usize = 10;
/// Room for the labels at the left.
const LABEL: usize = 8;
/// Room for the last label below to stand out.
const MARGIN: usize = 6;
/// Dots of one cell.
const DOTS: (usize, usize) = (2, 4);

/// The first curve of a picture in so many columns; nothing below two points,
/// where there is nothing to see.
pub(super) fn lines(lines: &Lines, columns: usize) -> Vec<String> {
    let first = lines.series.first();
    let points = first.iter().flat_map(|line| &line.points);
    let points: Vec<(f64, f64)> = points
        .map(|point| (point.x, point.y))
        .filter(|&(x, y)| x > 0.0 && y > 0.0 && y.is_finite())
        .collect();
    let wide = columns.saturating_sub(LABEL + 2 + MARGIN).max(8);
    let (Some(x), Some(y)) = (
        scale(&lines.x, points.iter().map(|p| p.0), 1.0, wide * DOTS.0),
        scale(&lines.y, points.iter().map(|p| p.1), 1.15, HIGH * DOTS.1),
    ) else {
        return Vec::new();
    };
    let mut canvas = Canvas { cells: vec![vec![0; wide]; HIGH] };
    for pair in points.windows(2) {
        let [from, to] = [pair[0], pair[1]].map(|point| (dot(&x, point.0), dot(&y, point.1)));
        canvas.line(from, to);
    }
    let mut drawn = Vec::new();
    if !lines.bands.is_empty() {
        drawn.push(names(&lines.bands, &x, wide));
    }
    drawn.extend(canvas.lines(&labels(&y)));
    drawn.push(places(&x, wide));
    drawn
}

/// A logarithmic axis over some values, each end moved outwards by a factor.
fn scale(
    axis: &Axis,
    values: impl Iterator<Item = f64>,
    margin: f64,
    dots: usize,
) -> Option<Scale> {
    let (low, high) = span(values)?;
    let (ends, axis) = ([low / margin, high * margin], Axis { log: true, ..axis.clone() });
    (ends[0] < ends[1]).then(|| Scale::between(&axis, &ends, (0.0, (dots - 1) as f64)))
}

/// The dot of a value, counted from the low end.
fn dot(scale: &Scale, value: f64) -> usize {
    scale.at_most(value).round() as usize
}

struct Canvas {
    /// Dots of each cell as the low byte of a braille character.
    cells: Vec<Vec<u8>>,
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

/// Labels of the lines from the top.
fn labels(y: &Scale) -> Vec<String> {
    let mut labels = vec![String::new(); HIGH];
    for tick in y.ticks(HIGH) {
        let line = HIGH - 1 - dot(y, tick.value) / DOTS.1;
        if labels[line].is_empty() {
            labels[line] = tick.label;
        }
    }
    labels
}

/// Names of the stretches above them, with their figures where there is room.
fn names(bands: &[Band], x: &Scale, wide: usize) -> String {
    let mut cells = vec![' '; wide];
    for band in bands {
        let column = |at: f64| dot(x, at) / DOTS.0;
        let (from, to) = (column(band.from), column(band.to).max(column(band.from)));
        for cell in &mut cells[from..=to] {
            *cell = '─';
        }
        (cells[from], cells[to]) = ('├', '┤');
        let fits = |name: &String| width(name) + 4 <= to - from + 1;
        let name = Some(band.text()).filter(fits).unwrap_or(band.name.clone());
        let name: Vec<char> = format!(" {name} ").chars().collect();
        let start =
            ((from + to + 1).saturating_sub(name.len()) / 2).min(wide - name.len().min(wide));
        for (cell, c) in cells[start..].iter_mut().zip(name) {
            *cell = c;
        }
    }
    format!("{:>LABEL$}  {}", "", cells.iter().collect::<String>())
}

/// Places below the curve that leave room between them.
fn places(x: &Scale, wide: usize) -> String {
    let start = LABEL + 2;
    let mut line = " ".repeat(start);
    let dots = |text: &str| (width(text) * DOTS.0) as f64;
    for Tick { value, label } in x.ticks_apart(dots, DOTS.0 as f64) {
        // The last label may stand out to the right, up to the page's edge.
        let edge = start + wide + MARGIN;
        let at = (start + dot(x, value) / DOTS.0).min(edge.saturating_sub(width(&label)));
        let end = width(&line);
        if end == start || at > end {
            line += &" ".repeat(at.saturating_sub(end));
            line += &label;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::chart::{Kind, Line, Point, Quantity};

    fn drawn(points: Vec<(f64, f64)>, bands: Vec<Band>) -> Vec<String> {
        let axis = |quantity| Axis { label: "axis".into(), quantity, log: true, from_zero: true };
        let line = Line {
            name: "curve".into(),
            is: Kind::Measured,
            points: points.iter().map(|&(x, y)| Point::bare(x, y)).collect(),
            joined: true,
        };
        let mut curves = Lines::new(axis(Quantity::Bytes), axis(Quantity::Nanoseconds), vec![line]);
        curves.bands = bands;
        lines(&curves, 100)
    }

    #[test]
    fn the_places_below_a_curve_end() {
        let drawn = drawn(vec![(1024.0, 1.0), (2_f64.powi(64), 2.0)], Vec::new());
        assert!(!drawn.is_empty());
    }

    #[test]
    fn a_curve_with_its_levels() {
        let curve = (0..73).map(|k| {
            let x = (1024.0 * 2_f64.powf(f64::from(k) / 4.0)).floor();
            (x, if x <= 32768.0 { 1.4 } else { 90.0 })
        });
        let band =
            |name: &str, from, to| Band { name: name.into(), figure: "1.40 ns".into(), from, to };
        let inside = band("L1", 1024.0, 32768.0);
        let narrow = band("L2", 65536.0, 131072.0);
        let outside = band("a very long name of a level", 1.8e19, 1.0);
        let drawn = drawn(curve.collect(), vec![inside, narrow, outside]);
        assert!(drawn.iter().all(|line| width(line) <= 100));
        insta::assert_snapshot!(drawn.join("\n"));
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert!(drawn(vec![], vec![]).is_empty());
        assert!(drawn(vec![(1024.0, 1.0)], vec![]).is_empty());
        assert!(drawn(vec![(1024.0, f64::NAN), (2048.0, -1.0)], vec![]).is_empty());
        // All alike: flat, but a curve.
        assert!(!drawn(vec![(1024.0, 1.0), (2048.0, 1.0)], vec![]).is_empty());
    }
}

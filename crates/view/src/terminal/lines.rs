//! Curves, both axes logarithmic: the first drawn with braille dots, those behind it as marks.

use super::layout::{Style, styled, width};
use crate::axis::{Scale, Tick, span};
use model::chart::{Axis, Band, ChartLine, CurveKind, Lines};

/// Lines of the drawing, without labels.
const HIGH: usize = 10;
/// Room for the labels at the left.
const LABEL: usize = 8;
/// Room for the last label below to stand out.
const MARGIN: usize = 6;
/// Dots of one cell.
const DOTS: (usize, usize) = (2, 4);

/// Marks of the curves behind the first, and of figures that are no curve.
const MARKS: [char; 6] = ['○', '△', '□', '◇', '×', '+'];
/// Of a curve as many cells as this have one mark, so that it is seen to be dashed.
const DASH: usize = 2;

/// What stands behind the first curve, with marks as far as there are some; bands are shaded.
fn behind(lines: &Lines) -> impl Iterator<Item = (&ChartLine, Option<char>)> {
    let all = lines.series.iter().skip(1).filter(|line| line.is != CurveKind::Population);
    all.enumerate().map(|(at, line)| (line, MARKS.get(at).copied()))
}

/// The curves of a picture in so many columns; nothing where the first has less than two points,
/// and there is nothing to see.
pub(super) fn curve_lines(lines: &Lines, columns: usize) -> Vec<String> {
    let Some(first) = lines.series.first().filter(|line| placed(line).count() > 1) else {
        return Vec::new();
    };
    let marked: Vec<(&ChartLine, char)> =
        behind(lines).filter_map(|(line, mark)| Some((line, mark?))).collect();
    let points = || marked.iter().map(|(line, _)| *line).chain([first]).flat_map(placed);
    let wide = columns.saturating_sub(LABEL + 2 + MARGIN).max(8);
    let (Some(x), Some(y)) = (
        scale(&lines.x, points().map(|p| p.0), 1.0, wide * DOTS.0),
        scale(&lines.y, points().map(|p| p.1), 1.15, HIGH * DOTS.1),
    ) else {
        return Vec::new();
    };
    let mut canvas = Canvas {
        cells: vec![vec![0; wide]; HIGH],
        shaded: vec![vec![false; wide]; HIGH],
        marks: vec![vec![None; wide]; HIGH],
    };
    let dots = |line| placed(line).map(|point| (dot(&x, point.0), dot(&y, point.1)));
    for (from, to) in dots(first).zip(dots(first).skip(1)) {
        canvas.line(from, to);
    }
    // The first of them is drawn last: it lies above the others.
    for (line, mark) in marked.into_iter().rev() {
        let points: Vec<(usize, usize)> = dots(line).collect();
        for pair in points.windows(2).filter(|_| line.joined) {
            canvas.dashes(pair[0], pair[1], mark);
        }
        points.into_iter().for_each(|point| canvas.mark(point, mark));
    }
    let populations = lines.series.iter().filter(|line| line.is == CurveKind::Population);
    populations.for_each(|band| canvas.shade(band, (&x, &y)));
    let mut drawn = Vec::new();
    if !lines.bands.is_empty() {
        drawn.push(band_names(&lines.bands, &x, wide));
    }
    drawn.extend(canvas.lines(&labels(&y)));
    drawn.push(places(&x, wide));
    drawn
}

/// The points of a curve that have a place on logarithmic axes.
fn placed(line: &ChartLine) -> impl Iterator<Item = (f64, f64)> {
    let points = line.points.iter().map(|point| (point.x, point.y));
    points.filter(|&(x, y)| x > 0.0 && y > 0.0 && y.is_finite())
}

/// What the marks and the shade stand for, and what is not drawn; empty where there is one curve.
pub(super) fn legend(lines: &Lines) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut left_out = 0;
    for (line, mark) in behind(lines) {
        match mark {
            Some(mark) => texts.push(format!("{mark} {}", line.name)),
            None => left_out += 1,
        }
    }
    if let Some(first) = lines.series.first().filter(|_| !texts.is_empty()) {
        texts.insert(0, format!("⣀ {}", first.name));
    }
    let mut bands: Vec<&str> = Vec::new();
    for line in lines.series.iter().filter(|line| line.is == CurveKind::Population) {
        if !bands.contains(&line.name.as_str()) {
            bands.push(&line.name);
        }
    }
    if !bands.is_empty() {
        texts.push(format!("░ {}", bands.join(", ")));
    }
    if left_out > 0 {
        texts.push(format!("{left_out} more not drawn"));
    }
    texts.join("; ")
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
    /// Cells of a band behind the curve.
    shaded: Vec<Vec<bool>>,
    /// Marks of other curves behind it.
    marks: Vec<Vec<Option<char>>>,
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

    fn mark(&mut self, (x, y): (usize, usize), mark: char) {
        self.marks[HIGH - 1 - y / DOTS.1][x / DOTS.0] = Some(mark);
    }

    /// Marks from one point to another, with gaps.
    fn dashes(&mut self, (x0, y0): (usize, usize), (x1, y1): (usize, usize), mark: char) {
        let cells = x0.abs_diff(x1) / DOTS.0;
        for cell in (DASH..cells).step_by(DASH) {
            let share = cell as f64 / cells as f64;
            let between = |a: usize, b: usize| (a as f64 + (b as f64 - a as f64) * share).round();
            self.mark((between(x0, x1) as usize, between(y0, y1) as usize), mark);
        }
    }

    /// Shades what lies between the ends of a band, as far as the axes go.
    fn shade(&mut self, band: &ChartLine, (x, y): (&Scale, &Scale)) {
        for pair in band.points.windows(2) {
            let [from, to] = [&pair[0], &pair[1]].map(|point| dot(x, point.x) / DOTS.0);
            let [low, high] = [pair[0].low, pair[0].high].map(|end| end.unwrap_or(pair[0].y));
            let row = |ns| HIGH - 1 - dot(y, ns) / DOTS.1;
            for cells in &mut self.shaded[row(high)..=row(low)] {
                cells[from..=to].fill(true);
            }
        }
    }

    fn lines(&self, labels: &[String]) -> Vec<String> {
        let line = |at: usize, label: &String| {
            let cells = self.cells[at].iter().zip(&self.shaded[at]).zip(&self.marks[at]);
            let drawn: String = cells
                .map(|((&dots, &shaded), mark)| match (dots, mark) {
                    (0, Some(mark)) => styled(&mark.to_string(), Style::Dim),
                    (0, None) if shaded => "░".into(),
                    (0, None) => " ".into(),
                    _ => char::from_u32(0x2800 + u32::from(dots)).map_or(" ".into(), String::from),
                })
                .collect();
            let tick = if label.is_empty() { '│' } else { '┤' };
            format!("{label:>LABEL$} {tick}{drawn}")
        };
        labels.iter().enumerate().map(|(at, label)| line(at, label)).collect()
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
fn band_names(bands: &[Band], x: &Scale, wide: usize) -> String {
    let mut cells = vec![' '; wide];
    for band in bands {
        let column = |at: f64| dot(x, at) / DOTS.0;
        let (from, to) = (column(band.from), column(band.to).max(column(band.from)));
        for cell in &mut cells[from..=to] {
            *cell = '─';
        }
        (cells[from], cells[to]) = ('├', '┤');
        let fits = |name: &String| width(name) + 4 <= to - from + 1;
        let name = Some(band.label()).filter(fits).unwrap_or(band.name.clone());
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
    use crate::terminal::layout::finish;
    use model::chart::{Point, Quantity};

    fn drawn(points: Vec<(f64, f64)>, bands: Vec<Band>) -> Vec<String> {
        let axis = |quantity| Axis { label: "axis".into(), quantity, log: true, from_zero: true };
        let line = ChartLine {
            name: "curve".into(),
            is: CurveKind::Measured,
            points: points.iter().map(|&(x, y)| Point::bare(x, y)).collect(),
            joined: true,
        };
        let mut curves = Lines::new(axis(Quantity::Bytes), axis(Quantity::Nanoseconds), vec![line]);
        curves.bands = bands;
        curve_lines(&curves, 100)
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

    /// A run of another machine, published points, and more curves than there are marks.
    #[test]
    fn other_curves_are_marks_of_their_own() {
        let axis = |quantity| Axis { label: "axis".into(), quantity, log: true, from_zero: true };
        let line = |name: &str, is, joined, factor: f64| ChartLine {
            name: name.into(),
            is,
            points: (0..9)
                .map(|k| Point::bare(1024.0 * 4_f64.powi(k), factor * 1.5_f64.powi(k)))
                .collect(),
            joined,
        };
        let mut curves = Lines::new(
            axis(Quantity::Bytes),
            axis(Quantity::Nanoseconds),
            vec![
                line("load", CurveKind::Measured, true, 1.0),
                line("load: before", CurveKind::Reference, true, 2.0),
                line("2012 list", CurveKind::Reference, false, 8.0),
            ],
        );
        let drawn = |curves: &Lines| curve_lines(curves, 80).join("\n");
        let text = drawn(&curves);
        insta::assert_snapshot!(format!("{}\n{}", finish(&text, false), legend(&curves)));
        assert!(finish(&text, false).lines().all(|line| width(line) <= 80));
        let marks = |text: &str, mark| text.matches(mark).count();
        assert_eq!(marks(&text, '△'), 9, "points are not joined");
        assert!(marks(&text, '○') > 9, "a curve is");
        curves.series.extend((0..6).map(|_| line("more", CurveKind::Measured, true, 1.0)));
        assert!(legend(&curves).ends_with("2 more not drawn"), "{}", legend(&curves));
        curves.series.truncate(1);
        assert_eq!(legend(&curves), "");
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

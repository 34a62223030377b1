//! `memory.core_to_core` as a matrix picture: which CPUs are near to which.

use super::COLUMNS;
use super::figures::time_with_half;
use super::tally::Verdicts;
use model::estimate::Verdict;
use model::figure::time_scale;
use model::run::{Axis, MapPoint, Outcome, Row, Run};
use model::stats;
use model::story::Block;
use std::collections::BTreeMap;

const PROBE: &str = "memory.core_to_core";
/// From near to far.
const SHADES: [char; 4] = ['░', '▒', '▓', '█'];
/// A pair that has no figure.
const MISSING: char = '·';
/// Below this factor between the nearest pair and the farthest, shades would
/// paint noise.
const ALIKE: f64 = 1.1;
/// CPUs that are drawn at most.
const MOST_CPUS: usize = 1024;

/// Whether a row has its picture here.
pub(super) fn draws(row: &Row) -> bool {
    let cpus = matches!(
        row.outcome,
        Outcome::Map {
            y_axis: Axis::Cpu,
            x_axis: Axis::Cpu,
            ..
        }
    );
    cpus && row.id == PROBE
}

/// The picture; empty where there is no pair.
pub(super) fn core_to_core(run: &Run) -> Vec<Block> {
    let Some(Outcome::Map { points, .. }) = run
        .rows
        .iter()
        .find(|row| draws(row))
        .map(|row| &row.outcome)
    else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    let mut words = Vec::new();
    let mut unit = "time";
    match Matrix::of(points) {
        None if points.is_empty() => return Vec::new(),
        None => words.push("not drawn: no pair can be relied on".to_owned()),
        Some(matrix) if matrix.cpus.len() > MOST_CPUS => {
            words.push(format!("not drawn: more than {MOST_CPUS} CPUs"));
            words.push(extremes(points));
        }
        Some(matrix) => {
            unit = matrix.unit;
            lines = matrix.lines();
            words.extend([matrix.legend(), extremes(points)]);
        }
    }
    words.push(doubtful(points));
    words.retain(|text| !text.is_empty());
    let heading = format!("{PROBE}: {unit} one way, CPU (down) with CPU (across)");
    let mut blocks = vec![Block::Heading(heading), Block::Lines(lines)];
    blocks.extend(words.into_iter().map(Block::note));
    blocks
}

/// The lower triangle over the CPUs that occur.
struct Matrix<'p> {
    cpus: Vec<u64>,
    /// By the larger number, then the smaller.
    pairs: BTreeMap<(u64, u64), &'p MapPoint>,
    low_ns: f64,
    high_ns: f64,
    scale: f64,
    unit: &'static str,
}

/// The figure of a pair that may be built on.
fn shown_ns(point: &MapPoint) -> Option<f64> {
    let untold = matches!(
        point.estimate.verdict,
        Verdict::CannotTell | Verdict::Invalid
    );
    figure_ns(point).filter(|_| !untold)
}

fn figure_ns(point: &MapPoint) -> Option<f64> {
    Some(point.estimate.ns()?.value).filter(|ns| ns.is_finite())
}

impl<'p> Matrix<'p> {
    fn of(points: &'p [MapPoint]) -> Option<Matrix<'p>> {
        let mut cpus: Vec<u64> = points.iter().flat_map(|p| [p.y, p.x]).collect();
        cpus.sort_unstable();
        cpus.dedup();
        let pairs = points.iter().map(|p| ((p.y.max(p.x), p.y.min(p.x)), p));
        let ns = points.iter().filter_map(shown_ns);
        let low_ns = ns.clone().fold(f64::INFINITY, f64::min);
        let high_ns = ns.fold(f64::NEG_INFINITY, f64::max);
        let (scale, unit) = time_scale(high_ns);
        (cpus.len() >= 2 && high_ns >= low_ns).then_some(Matrix {
            cpus,
            pairs: pairs.collect(),
            low_ns,
            high_ns,
            scale,
            unit,
        })
    }

    fn alike(&self) -> bool {
        self.low_ns > 0.0 && self.high_ns < self.low_ns * ALIKE
    }

    /// Where each shade begins, ns: at equal factors where all figures are
    /// above 0, since levels of sharing lie factors apart.
    fn shade_begins(&self, shade: usize) -> f64 {
        let share = shade as f64 / SHADES.len() as f64;
        match self.low_ns > 0.0 {
            true => self.low_ns * (self.high_ns / self.low_ns).powf(share),
            false => self.low_ns + (self.high_ns - self.low_ns) * share,
        }
    }

    fn shade(&self, ns: f64) -> char {
        if self.alike() {
            return SHADES[1];
        }
        (1..SHADES.len())
            .rev()
            .find(|&shade| ns >= self.shade_begins(shade))
            .map_or(SHADES[0], |shade| SHADES[shade])
    }

    fn number(&self, ns: f64) -> String {
        let places = usize::from((self.high_ns / self.scale).abs() < 100.0);
        format!("{:.places$}", ns / self.scale)
    }

    /// The lines of the picture: with numbers where these fit, else shades of
    /// two columns or one a CPU, in panels where even that is too wide.
    fn lines(&self) -> Vec<String> {
        let label = self.label_columns();
        let room = COLUMNS - label;
        let across = self.cpus.len() - 1;
        let numbers = self.pairs.values().filter_map(|p| figure_ns(p));
        let widest = numbers.map(|ns| self.number(ns).len()).max().unwrap_or(1);
        let widest = widest.max(label - 3);
        // A blank, a shade, the number, beside the blank before.
        let with_number = widest + 3;
        if across * with_number <= room {
            return self.panel(0..across, with_number, true);
        }
        let columns = if across * 2 <= room { 2 } else { 1 };
        let panels = (across * columns).div_ceil(room);
        let each = across.div_ceil(panels);
        let mut lines = Vec::new();
        for from in (0..across).step_by(each) {
            if from > 0 {
                lines.push(String::new());
            }
            lines.extend(self.panel(from..(from + each).min(across), columns, false));
        }
        lines
    }

    /// Columns of the CPU's number at the left, with two blanks before it and
    /// one after.
    fn label_columns(&self) -> usize {
        let last = self.cpus.last().copied().unwrap_or(0);
        last.to_string().len() + 3
    }

    /// Some columns of the triangle, each `columns` wide.
    fn panel(&self, across: std::ops::Range<usize>, columns: usize, numbers: bool) -> Vec<String> {
        let label = self.label_columns();
        let mut lines = vec![self.heading(across.clone(), columns, numbers)];
        // Above the diagonal there is nothing to see.
        for down in across.start + 1..self.cpus.len() {
            let mut line = format!("{:>fill$} ", self.cpus[down], fill = label - 1);
            for x in across.clone().take_while(|&x| x < down) {
                line.push_str(&self.pair(self.cpus[down], self.cpus[x], columns, numbers));
            }
            lines.push(line);
        }
        lines
    }

    fn pair(&self, y: u64, x: u64, columns: usize, numbers: bool) -> String {
        let point = self.pairs.get(&(y, x)).copied();
        let shade = match point.map(|p| (p, shown_ns(p))) {
            None => MISSING,
            Some((_, Some(ns))) => self.shade(ns),
            // No shade is given to what can't be relied on.
            Some((p, None)) => p.estimate.verdict.mark().chars().next().unwrap_or(MISSING),
        };
        if !numbers {
            return shade.to_string().repeat(columns);
        }
        let number = point.and_then(figure_ns);
        let number = number.map_or("-".into(), |ns| self.number(ns));
        format!(" {shade} {number:>fill$}", fill = columns - 3)
    }

    /// Numbers of the CPUs across: all where they fit, else every fourth
    /// (every eighth of narrow columns).
    fn heading(&self, across: std::ops::Range<usize>, columns: usize, numbers: bool) -> String {
        let label = self.label_columns();
        let mut line = " ".repeat(label);
        let step = match (numbers, columns) {
            (true, _) => 1,
            (false, 2) => 4,
            _ => 8,
        };
        let first = across.start;
        for x in across {
            let text = self.cpus[x].to_string();
            if numbers {
                line.push_str(&format!("{text:>columns$}"));
            } else if (x - first).is_multiple_of(step) {
                let at = label + (x - first) * columns;
                // The last may stand out to the right, up to the page's edge.
                let at = at.min(COLUMNS - text.len());
                line.push_str(&" ".repeat(at.saturating_sub(line.len())));
                line.push_str(&text);
            }
        }
        line
    }

    /// What the shades mean.
    fn legend(&self) -> String {
        if self.pairs.len() < 2 {
            return String::new();
        }
        let text = |ns: f64| self.number(ns);
        if self.alike() {
            return format!(
                "all pairs between {} and {} {}: alike",
                text(self.low_ns),
                text(self.high_ns),
                self.unit
            );
        }
        let mut words: Vec<String> = (0..SHADES.len())
            .map(|shade| format!("{} from {}", SHADES[shade], text(self.shade_begins(shade))))
            .collect();
        words.push(format!("up to {} {}", text(self.high_ns), self.unit));
        let verdicts = [Verdict::CannotTell, Verdict::Invalid];
        words.extend(
            verdicts
                .into_iter()
                .filter(|&v| self.pairs.values().any(|p| p.estimate.verdict == v))
                .map(|v| format!("{} {}", v.mark(), v.text())),
        );
        words.join("  ")
    }
}

/// The nearest pair, the median and the farthest pair, in words.
fn extremes(points: &[MapPoint]) -> String {
    let mut reported: Vec<(&MapPoint, f64)> = points
        .iter()
        .filter_map(|p| Some((p, shown_ns(p)?)))
        .collect();
    reported.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (Some((nearest, _)), Some((farthest, _))) = (reported.first(), reported.last()) else {
        return String::new();
    };
    let pair = |p: &MapPoint| {
        let ns = p.estimate.ns().map_or("-".into(), |ns| time_with_half(&ns));
        format!("{ns} (CPUs {} and {})", p.y.min(p.x), p.y.max(p.x))
    };
    if reported.len() == 1 {
        return format!("one pair: {}", pair(nearest));
    }
    let median = stats::median(reported.iter().map(|(_, ns)| *ns)).unwrap_or(f64::NAN);
    format!(
        "{} pairs: nearest {}, median {}, farthest {}",
        reported.len(),
        pair(nearest),
        model::figure::time(median),
        pair(farthest)
    )
}

/// How many pairs are not ok.
fn doubtful(points: &[MapPoint]) -> String {
    let mut verdicts = Verdicts::default();
    points.iter().for_each(|p| verdicts.count(&p.estimate));
    if verdicts.ok == verdicts.total() {
        return String::new();
    }
    format!("pairs: {}; --wide gives the reasons", verdicts.text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{keeps_to, page};
    use model::synthetic::{self, core_to_core_row};

    /// The picture of so many CPUs, 30 ns within a group of eight, 110 ns
    /// beyond.
    fn drawn(cpus: u64) -> String {
        of(core_to_core_row(cpus, |y, x| match y / 8 == x / 8 {
            true => 30.0,
            false => 110.0 + (y - x) as f64,
        }))
    }

    fn of(row: Row) -> String {
        let mut run = synthetic::run();
        run.rows = vec![row];
        let text = page(&core_to_core(&run), false);
        assert!(keeps_to(&text, COLUMNS), "{text}");
        text
    }

    /// Numbers, two columns a CPU, one, and two panels.
    #[test]
    fn pictures_of_few_and_many_cpus() {
        let pictures = [2, 4, 10, 40, 90, 128].map(drawn);
        insta::assert_snapshot!(pictures.join("\n"));
        assert_eq!(of(core_to_core_row(1, |_, _| 1.0)), "");
    }

    #[test]
    fn every_pair_stands_once() {
        // A legend names each shade once.
        for (cpus, columns) in [(40, 2), (90, 1), (128, 1), (200, 1)] {
            let shades = drawn(cpus).chars().filter(|c| SHADES.contains(c)).count() as u64;
            let pairs = cpus * (cpus - 1) / 2;
            assert_eq!(shades, pairs * columns + SHADES.len() as u64);
        }
    }

    /// Extremes, noise that is not painted, and pairs to doubt.
    #[test]
    fn what_is_said_of_the_pairs() {
        let mut row = core_to_core_row(4, |_, _| 60.0);
        let mut verdicts = |all: &[Verdict], low: f64| {
            let Outcome::Map { points, .. } = &mut row.outcome else {
                panic!("a map");
            };
            for (point, verdict) in points.iter_mut().zip(all) {
                point.estimate.verdict = *verdict;
            }
            let first = points[0].estimate.typical.as_mut();
            first.expect("a figure").ns.value = low;
            of(row.clone())
        };
        let pictures = [
            of(core_to_core_row(4, |y, x| match (y, x) {
                (2, 1) => 25.0,
                (3, 0) => 140.0,
                _ => 60.0,
            })),
            of(core_to_core_row(4, |y, x| 60.0 + (y + x) as f64 * 0.5)),
            verdicts(&[Verdict::Invalid, Verdict::Noisy], 1.0),
            verdicts(&[Verdict::CannotTell; 6], 60.0),
        ];
        insta::assert_snapshot!(pictures.join("\n"));
    }
}

//! A map drawn with shades: the lower triangle where each pair stands once.

use super::layout::width;
use crate::axis::span;
use crate::chart::scale_of;
use model::chart::{Heat, HeatCell};
use model::estimate::Verdict;
use std::collections::BTreeMap;
use std::ops::Range;

/// From low to high.
const SHADES: [char; 4] = ['░', '▒', '▓', '█'];
/// A cell that has no figure.
const MISSING: char = '·';
/// Below this factor between the lowest and the highest, shades would paint
/// noise.
const ALIKE: f64 = 1.1;
/// Lines that are drawn at most.
const MOST: usize = 1024;

/// What is drawn, and what it says of its shades.
pub(super) struct Drawn {
    pub(super) lines: Vec<String>,
    /// Unit of the figures.
    pub(super) unit: &'static str,
    pub(super) legend: String,
}

/// The drawing in so many columns; none where no cell can be relied on.
pub(super) fn heat(heat: &Heat, columns: usize) -> Option<Drawn> {
    let matrix = Matrix::from_heat(heat)?;
    let (lines, legend) = match heat.y.len() > MOST {
        true => (Vec::new(), format!("not drawn: more than {MOST} lines")),
        false => (matrix.lines(columns), matrix.legend()),
    };
    Some(Drawn { lines, unit: matrix.unit, legend })
}

struct Matrix<'h> {
    heat: &'h Heat,
    /// By line, then column.
    cells: BTreeMap<(usize, usize), &'h HeatCell>,
    /// The lines are the columns, one later: each pair stands once.
    triangle: bool,
    low: f64,
    high: f64,
    scale: f64,
    unit: &'static str,
}

/// The figure of a cell that may be built on.
fn reliable(cell: &HeatCell) -> Option<f64> {
    let unknown = matches!(cell.verdict, Some(Verdict::CannotTell | Verdict::Invalid));
    Some(cell.value).filter(|value| value.is_finite() && !unknown)
}

impl<'h> Matrix<'h> {
    fn from_heat(heat: &'h Heat) -> Option<Matrix<'h>> {
        let (low, high) = span(heat.cells.iter().filter_map(reliable))?;
        let (scale, unit) = scale_of(heat.value.quantity, high);
        let later = heat.y.len() - heat.y.len().min(1);
        Some(Matrix {
            heat,
            cells: heat.cells.iter().map(|c| ((c.y, c.x), c)).collect(),
            triangle: heat.x.get(1..) == heat.y.get(..later),
            low,
            high,
            scale,
            unit,
        })
    }

    fn alike(&self) -> bool {
        self.low > 0.0 && self.high < self.low * ALIKE
    }

    /// Where each shade begins: at equal factors where all figures are above 0,
    /// since levels of sharing lie factors apart.
    fn shade_begins(&self, shade: usize) -> f64 {
        let share = shade as f64 / SHADES.len() as f64;
        match self.low > 0.0 {
            true => self.low * (self.high / self.low).powf(share),
            false => self.low + (self.high - self.low) * share,
        }
    }

    fn shade(&self, value: f64) -> char {
        if self.alike() {
            return SHADES[1];
        }
        (1..SHADES.len())
            .rev()
            .find(|&shade| value >= self.shade_begins(shade))
            .map_or(SHADES[0], |shade| SHADES[shade])
    }

    fn cell_number(&self, value: f64) -> String {
        let places = usize::from((self.high / self.scale).abs() < 100.0);
        format!("{:.places$}", value / self.scale)
    }

    /// The lines of the picture: with numbers where these fit, else shades of
    /// two columns or one a cell, in panels where even that is too wide.
    fn lines(&self, columns: usize) -> Vec<String> {
        let label = self.label_columns();
        let room = columns.saturating_sub(label).max(8);
        let across = self.heat.x.len();
        let numbers = self.heat.cells.iter().filter(|c| c.value.is_finite());
        let numbers = numbers.map(|c| width(&self.cell_number(c.value)));
        let names = self.heat.x.iter().map(|name| width(name));
        let widest = numbers.chain(names).max().unwrap_or(1);
        // A blank, a shade, the number, and the blank before it.
        let with_number = widest + 3;
        if across * with_number <= room {
            return self.panel(0..across, with_number, true, columns);
        }
        let wide = if across * 2 <= room { 2 } else { 1 };
        let panels = (across * wide).div_ceil(room);
        let each = across.div_ceil(panels);
        let mut lines = Vec::new();
        for from in (0..across).step_by(each) {
            if from > 0 {
                lines.push(String::new());
            }
            lines.extend(self.panel(from..(from + each).min(across), wide, false, columns));
        }
        lines
    }

    /// Columns of the line's name at the left, with two blanks before it and
    /// one after.
    fn label_columns(&self) -> usize {
        self.heat.y.iter().map(|name| width(name)).max().unwrap_or(0) + 3
    }

    /// Some columns of the map, each `wide`.
    fn panel(
        &self,
        across: Range<usize>,
        wide: usize,
        numbers: bool,
        columns: usize,
    ) -> Vec<String> {
        let label = self.label_columns();
        let mut lines = vec![self.heading(across.clone(), wide, numbers, columns)];
        // Above the diagonal there is nothing to see.
        let first = if self.triangle { across.start } else { 0 };
        for (down, name) in self.heat.y.iter().enumerate().skip(first) {
            let mut line = format!("{name:>fill$} ", fill = label - 1);
            for x in across.clone().take_while(|&x| !self.triangle || x <= down) {
                line.push_str(&self.cell(down, x, wide, numbers));
            }
            lines.push(line);
        }
        lines
    }

    fn cell(&self, y: usize, x: usize, wide: usize, numbers: bool) -> String {
        let cell = self.cells.get(&(y, x)).copied();
        let shade = match cell.map(|c| (c, reliable(c))) {
            None => MISSING,
            Some((_, Some(value))) => self.shade(value),
            // No shade is given to what can't be relied on.
            Some((c, None)) => {
                c.verdict.and_then(|verdict| verdict.mark().chars().next()).unwrap_or(MISSING)
            }
        };
        if !numbers {
            return shade.to_string().repeat(wide);
        }
        let number = cell.filter(|c| c.value.is_finite());
        let number = number.map_or("-".into(), |c| self.cell_number(c.value));
        format!(" {shade} {number:>fill$}", fill = wide - 3)
    }

    /// Names of the columns: all where they fit, else every fourth (every
    /// eighth of narrow columns).
    fn heading(&self, across: Range<usize>, wide: usize, numbers: bool, columns: usize) -> String {
        let label = self.label_columns();
        let mut line = " ".repeat(label);
        let step = match (numbers, wide) {
            (true, _) => 1,
            (false, 2) => 4,
            _ => 8,
        };
        let first = across.start;
        for x in across {
            let name = &self.heat.x[x];
            if numbers {
                line.push_str(&format!("{name:>wide$}"));
            } else if (x - first).is_multiple_of(step) {
                // The last may stand out to the right, up to the page's edge.
                let at = (label + (x - first) * wide).min(columns.saturating_sub(width(name)));
                line.push_str(&" ".repeat(at.saturating_sub(width(&line))));
                line.push_str(name);
            }
        }
        line
    }

    /// What the shades mean.
    fn legend(&self) -> String {
        if self.heat.cells.len() < 2 {
            return String::new();
        }
        let text = |value: f64| self.cell_number(value);
        if self.alike() {
            return format!(
                "all between {} and {} {}: no difference",
                text(self.low),
                text(self.high),
                self.unit
            );
        }
        let mut words: Vec<String> = (0..SHADES.len())
            .map(|shade| format!("{} from {}", SHADES[shade], text(self.shade_begins(shade))))
            .collect();
        words.push(format!("up to {} {}", text(self.high), self.unit));
        let verdicts = [Verdict::CannotTell, Verdict::Invalid];
        words.extend(
            verdicts
                .into_iter()
                .filter(|&v| self.heat.cells.iter().any(|c| c.verdict == Some(v)))
                .map(|v| format!("{} {}", v.mark(), v.text())),
        );
        words.join("  ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::one;
    use crate::terminal::{COLUMNS, layout::keeps_to, plain};
    use compare::references::References;
    use model::run::Row;
    use model::story::Block;
    use model::story::core_to_core::PROBE;
    use model::synthetic::{self, core_to_core_row};

    /// The picture of so many CPUs, 30 ns within a group of eight, 110 ns
    /// beyond.
    fn drawn(cpus: u64) -> String {
        row_text(core_to_core_row(cpus, |y, x| match y / 8 == x / 8 {
            true => 30.0,
            false => 110.0 + (y - x) as f64,
        }))
    }

    fn row_text(row: Row) -> String {
        let mut run = synthetic::run();
        run.rows = vec![row].into();
        let references = References::embedded().expect("references");
        let chart = one(&run, &references, PROBE);
        let blocks: Vec<Block> = chart.map(Block::chart).into_iter().collect();
        let text = plain(&blocks);
        assert!(keeps_to(&text, COLUMNS), "{text}");
        text
    }

    /// Numbers, two columns a CPU, one, and two panels.
    #[test]
    fn maps_of_few_and_many_cpus() {
        let pictures = [2, 4, 10, 40, 90, 128].map(drawn);
        insta::assert_snapshot!(pictures.join("\n"));
        assert_eq!(row_text(core_to_core_row(1, |_, _| 1.0)), "");
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

    /// Figures that are alike, and those that can't be relied on.
    #[test]
    fn what_is_no_difference_gets_no_shade() {
        use model::run::Outcome;
        let mut doubtful = core_to_core_row(4, |_, _| 60.0);
        let Outcome::Map { points, .. } = &mut doubtful.outcome else {
            panic!("a map");
        };
        for (point, verdict) in points.iter_mut().zip([Verdict::Invalid, Verdict::Noisy]) {
            point.estimate.verdict = verdict;
        }
        let alike = core_to_core_row(4, |y, x| 60.0 + (y + x) as f64 * 0.5);
        insta::assert_snapshot!([row_text(alike), row_text(doubtful)].join("\n"));
    }
}

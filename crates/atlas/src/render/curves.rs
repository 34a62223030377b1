//! Curves and maps in a few columns each; `--wide` has every point.

use super::COLUMNS;
use super::core_to_core;
use super::create_delete;
use super::figures::{Shown, shown};
use super::layout::{Grid, Style, left, right, wrap};
use super::levels;
use super::pool;
use super::table::in_group;
use model::estimate::{Estimate, Verdict};
use model::run::{Axis, CurvePoint, MapPoint, Outcome, Row, Run};
use model::size;
use model::unit::Unit;

/// Columns of points that fit beside the names.
const POINTS: usize = 5;
/// Lines of a map that are shown.
const MAP_LINES: usize = 16;
/// Columns of a map from each place to each.
const MATRIX: usize = 8;

/// A row with the points of its curve.
type Curve<'a> = (&'a Row, &'a [CurvePoint]);

/// All curves, those of one kind in one block, then the maps; but not those
/// that have a block of their own.
pub(super) fn curves(run: &Run) -> String {
    let mut blocks: Vec<(Axis, bool, Vec<Curve>)> = Vec::new();
    let mut maps = Vec::new();
    let drawn_elsewhere =
        |row: &&Row| pool::draws(row) || core_to_core::draws(row) || create_delete::draws(row);
    for row in run.rows.iter().filter(|row| !drawn_elsewhere(row)) {
        match &row.outcome {
            Outcome::Curve { axis, points } => {
                let speed = row.unit.inverted();
                let same = blocks.iter_mut().find(|b| (b.0, b.1) == (*axis, speed));
                match same {
                    Some((_, _, rows)) => rows.push((row, points)),
                    None => blocks.push((*axis, speed, vec![(row, points)])),
                }
            }
            Outcome::Map {
                y_axis,
                x_axis,
                points,
            } => maps.push(map(row, *y_axis, *x_axis, points)),
            _ => {}
        }
    }
    let mut text: Vec<String> = blocks
        .iter()
        .map(|(axis, _, rows)| block(run, *axis, rows))
        .collect();
    text.extend(maps);
    text.retain(|block| !block.is_empty());
    text.join("\n")
}

/// A column of a block: what it is called, and where on the axis it stands.
struct Column {
    name: String,
    x: u64,
}

fn block(run: &Run, axis: Axis, rows: &[Curve]) -> String {
    let columns = columns(run, axis, rows);
    let unit = rows.first().map_or("", |(row, _)| unit_name(&row.unit));
    let mut marks = Marks::default();
    let mut grid = Grid::default();
    grid.free(format!(
        "{unit} over {}, the nearest point of each curve",
        axis_text(axis)
    ));
    let mut heading = vec![left("")];
    heading.extend(columns.iter().map(|c| right(c.name.clone())));
    grid.entries(heading);
    for (row, points) in rows {
        if points.is_empty() {
            grid.wrapped(
                &format!("  {}  ", in_group(&row.id)),
                "no point was measured",
                COLUMNS,
            );
            continue;
        }
        let mut line = vec![left(format!("  {}", in_group(&row.id)))];
        for column in &columns {
            line.push(match nearest(points, column.x) {
                Some(point) => marks.entry(&point.estimate, &row.unit, true),
                None => right("-  "),
            });
        }
        grid.entries(line);
    }
    let mut text = grid.render(2);
    text.push_str(&marks.legend());
    text
}

/// Points that stand for the whole: one a level for working sets, else spread
/// evenly over the longest curve.
fn columns(run: &Run, axis: Axis, rows: &[Curve]) -> Vec<Column> {
    let longest = rows
        .iter()
        .map(|(_, points)| *points)
        .max_by_key(|p| p.len());
    let Some(points) = longest.filter(|p| !p.is_empty()) else {
        return Vec::new();
    };
    let named = |name: &str, wanted: u64| {
        let x = points
            .iter()
            .min_by(|a, b| oddness(a.x, wanted).total_cmp(&oddness(b.x, wanted)))
            .map_or(wanted, |p| p.x);
        let place = axis_value(axis, x);
        Column {
            name: match name {
                "" => format!("{place}  "),
                name => format!("{name} {place}  "),
            },
            x,
        }
    };
    if axis == Axis::WorkingSetBytes {
        let levels = levels::typical_sizes(run);
        if !levels.is_empty() {
            return levels.iter().map(|(name, x)| named(name, *x)).collect();
        }
    }
    spread(points.len(), POINTS)
        .into_iter()
        .map(|at| named("", points[at].x))
        .collect()
}

/// At most `wanted` of `n` places, the first and the last among them.
fn spread(n: usize, wanted: usize) -> Vec<usize> {
    if n <= wanted {
        return (0..n).collect();
    }
    (0..wanted).map(|k| k * (n - 1) / (wanted - 1)).collect()
}

/// How far two places on an axis lie apart, as a factor.
fn apart(a: u64, b: u64) -> f64 {
    ((a.max(1) as f64) / (b.max(1) as f64)).ln().abs()
}

/// Distance from the place that is wanted; a power of two, which reads well,
/// may be half an octave farther off.
fn oddness(x: u64, wanted: u64) -> f64 {
    apart(x, wanted) + if x.is_power_of_two() { 0.0 } else { 0.35 }
}

/// The point nearest to `x`, unless it is more than a factor of four away: a
/// curve with few points has one in each level, not one at each size.
fn nearest(points: &[CurvePoint], x: u64) -> Option<&CurvePoint> {
    points
        .iter()
        .min_by(|a, b| apart(a.x, x).total_cmp(&apart(b.x, x)))
        .filter(|point| apart(point.x, x) <= 4_f64.ln() + 1e-9)
}

fn map(row: &Row, y_axis: Axis, x_axis: Axis, points: &[MapPoint]) -> String {
    let mut ys: Vec<u64> = points.iter().map(|p| p.y).collect();
    let mut xs: Vec<u64> = points.iter().map(|p| p.x).collect();
    for places in [&mut ys, &mut xs] {
        places.sort_unstable();
        places.dedup();
    }
    let shown_ys = spread(ys.len(), MAP_LINES);
    let columns = if y_axis == x_axis { MATRIX } else { POINTS };
    let shown_xs = spread(xs.len(), columns);
    // Beside more columns than these there is no room for intervals.
    let halves = shown_xs.len() <= POINTS;
    let mut marks = Marks::default();
    let mut grid = Grid::default();
    grid.free(format!(
        "{}: {} over {} (down) and {} (across); {} of {} points",
        row.id,
        unit_name(&row.unit),
        axis_text(y_axis),
        axis_text(x_axis),
        shown_ys.len() * shown_xs.len(),
        points.len()
    ));
    let mut heading = vec![left("")];
    heading.extend(
        shown_xs
            .iter()
            .map(|&at| right(format!("{}  ", axis_value(x_axis, xs[at])))),
    );
    grid.entries(heading);
    for &y_at in &shown_ys {
        let mut line = vec![right(format!("  {}", axis_value(y_axis, ys[y_at])))];
        for &x_at in &shown_xs {
            let point = points.iter().find(|p| (p.y, p.x) == (ys[y_at], xs[x_at]));
            line.push(match point {
                Some(point) => marks.entry(&point.estimate, &row.unit, halves),
                None => right("-  "),
            });
        }
        grid.entries(line);
    }
    let mut text = grid.render(2);
    text.push_str(&marks.legend());
    text
}

/// Which verdicts were marked, so that they are explained below.
#[derive(Default)]
pub(super) struct Marks {
    used: Vec<Verdict>,
}

/// What stands for a verdict where there is no room for the word.
pub(super) fn mark(verdict: Verdict) -> char {
    match verdict {
        Verdict::Ok => ' ',
        Verdict::Noisy => '~',
        Verdict::TwoStates => '‡',
        Verdict::CannotTell => '?',
        Verdict::Invalid => '!',
    }
}

impl Marks {
    /// The mark of a verdict, kept for the legend.
    pub(super) fn of(&mut self, verdict: Verdict) -> char {
        if verdict != Verdict::Ok && !self.used.contains(&verdict) {
            self.used.push(verdict);
        }
        mark(verdict)
    }

    /// A point as `39.1 ±0.3`, with a mark where it is not ok; without its
    /// interval if `half` is false.
    fn entry(&mut self, estimate: &Estimate, unit: &Unit, half: bool) -> super::layout::Entry {
        let figure = match shown(estimate, unit) {
            Shown::Figure(f) => {
                // The block's heading names the ordinary unit.
                let name = match f.unit {
                    "ns" | "GB/s" | "GHz" => String::new(),
                    other => format!(" {other}"),
                };
                match half {
                    true => format!("{}{name} ±{}", f.value, f.half_width),
                    false => format!("{}{name}", f.value),
                }
            }
            Shown::Below(text) => text,
            Shown::Nothing => "-".into(),
        };
        let verdict = estimate.verdict;
        let entry = right(format!("{figure} {}", self.of(verdict)));
        match verdict {
            Verdict::Ok => entry,
            other => entry.in_style(Style::of(other)),
        }
    }

    pub(super) fn legend(&self) -> String {
        if self.used.is_empty() {
            return String::new();
        }
        let texts: Vec<String> = self
            .used
            .iter()
            .map(|&verdict| format!("{} {}", mark(verdict), verdict.text()))
            .collect();
        let text = format!("{}: --wide gives the reasons", texts.join(", "));
        wrap("  ", &text, COLUMNS).join("\n") + "\n"
    }
}

fn unit_name(unit: &Unit) -> &'static str {
    match unit {
        Unit::Time => "ns",
        Unit::Bandwidth { .. } => "GB/s",
        Unit::Frequency => "GHz",
        Unit::Count => "number",
        Unit::Bytes => "bytes",
    }
}

/// An axis in words.
pub(crate) fn axis_text(axis: Axis) -> &'static str {
    match axis {
        Axis::WorkingSetBytes => "working set",
        Axis::StrideBytes => "stride",
        Axis::Chases => "chases at once",
        Axis::LoadPercent => "load of the other CPUs in percent",
        Axis::Threads => "threads",
        Axis::Processes => "processes",
        Axis::Cpu => "CPU",
        Axis::Node => "NUMA node",
        Axis::FileBytes => "size of the file",
    }
}

/// A place on an axis.
pub(crate) fn axis_value(axis: Axis, x: u64) -> String {
    match axis {
        Axis::WorkingSetBytes | Axis::StrideBytes | Axis::FileBytes => size::text(x),
        Axis::Chases
        | Axis::LoadPercent
        | Axis::Threads
        | Axis::Processes
        | Axis::Cpu
        | Axis::Node => x.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::layout::{finish, width};
    use crate::render::synthetic::{self, stamped_figure};
    use model::run::Bound;

    #[test]
    fn a_few_places_stand_for_many() {
        assert_eq!(spread(3, 5), [0, 1, 2]);
        assert_eq!(spread(73, 5), [0, 18, 36, 54, 72]);
        assert!(spread(0, 5).is_empty());
    }

    #[test]
    fn a_matrix_keeps_to_the_page_with_all_its_columns() {
        for (nodes, half) in [(2_u64, true), (8, false)] {
            let point = |k: u64| MapPoint {
                y: k / nodes,
                x: k % nodes,
                bound: None,
                estimate: Estimate {
                    verdict: Verdict::Noisy,
                    ..stamped_figure(14_321.0, 120.0)
                },
            };
            let points: Vec<MapPoint> = (0..nodes * nodes).map(point).collect();
            let row = Row {
                id: "memory.numa/latency".into(),
                unit: Unit::Time,
                bound: Bound::Memory,
                outcome: Outcome::Figure(stamped_figure(1.0, 0.1)),
                notes: Vec::new(),
            };
            let text = finish(&map(&row, Axis::Cpu, Axis::Cpu, &points), false);
            let figures = text.matches("14.3 µs").count() as u64;
            assert_eq!(figures, nodes * nodes, "{text}");
            assert_eq!(text.contains('±'), half, "{text}");
            assert!(text.lines().all(|line| width(line) <= COLUMNS), "{text}");
        }
    }

    #[test]
    fn rows_with_a_block_of_their_own_are_drawn_there_alone() {
        let text = curves(&synthetic::run());
        for id in ["pool", "core_to_core"] {
            assert!(!text.contains(id), "{text}");
        }
        assert!(text.contains("sched.ring"), "{text}");
    }

    #[test]
    fn distance_is_a_factor() {
        assert!((apart(1 << 20, 2 << 20) - 2_f64.ln()).abs() < 1e-12);
        assert_eq!(apart(0, 1), 0.0);
    }
}

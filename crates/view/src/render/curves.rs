//! Curves and maps in a few columns each; `--wide` has every point.

use super::table::in_group;
use model::run::{Axis, CurvePoint, MapPoint, Outcome, Row, Run};
use model::story::{Block, Cell, Table, core_to_core, create_delete, left, levels, pool, right};

/// Columns of points that fit beside the names.
const POINTS: usize = 5;
/// Levels at most that have a column each.
const LEVELS: usize = 16;
/// Lines of a map that are shown.
const MAP_LINES: usize = 16;
/// Columns of a map from each place to each.
const MATRIX: usize = 8;

type Curve<'a> = (&'a Row, &'a [CurvePoint]);

/// All curves, those of one kind in one block, then the maps; but not those
/// that have a block of their own.
pub(super) fn curves(run: &Run) -> Vec<Vec<Block>> {
    let mut blocks: Vec<(Axis, bool, Vec<Curve>)> = Vec::new();
    let mut maps = Vec::new();
    let drawn_elsewhere = |row: &&Row| {
        is_of(&row.id, pool::PROBE)
            || [core_to_core::PROBE, create_delete::CREATE, create_delete::DELETE]
                .contains(&row.id.as_str())
    };
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
            Outcome::Map { y_axis, x_axis, points } => {
                maps.push(map(row, *y_axis, *x_axis, points))
            }
            _ => {}
        }
    }
    let blocks = blocks.iter();
    let blocks = blocks.map(|(axis, _, rows)| block(run, *axis, rows));
    blocks.chain(maps).collect()
}

/// Whether a row is a probe's own or a variant of it.
fn is_of(id: &str, probe: &str) -> bool {
    id.strip_prefix(probe).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A column of a block: what it is called, and where on the axis it stands.
struct CurveColumn {
    name: String,
    x: u64,
}

fn block(run: &Run, axis: Axis, rows: &[Curve]) -> Vec<Block> {
    let columns = columns(run, axis, rows);
    let unit = rows.first().map_or("", |(row, _)| row.unit.name());
    let heading = format!("{unit} over {}, the nearest point of each curve", axis_text(axis));
    let mut table = Table::new([left("")]);
    let titles = columns.iter().map(|c| right(c.name.as_str()).of_unit(unit));
    table.columns.extend(titles);
    for (row, points) in rows {
        if points.is_empty() {
            table.note(format!("  {}  ", in_group(&row.id)), "no point was measured");
            continue;
        }
        let mut cells: Vec<Cell> = vec![format!("  {}", in_group(&row.id)).into()];
        cells.extend(columns.iter().map(|column| match nearest(points, column.x) {
            Some(point) => {
                Cell::estimate(&point.estimate, &row.unit).marked(point.estimate.verdict)
            }
            None => "-".into(),
        }));
        table.row(cells);
    }
    vec![Block::Heading(heading), Block::Table(table)]
}

/// Points that stand for the whole: one a level for working sets, else spread
/// evenly over the longest curve.
fn columns(run: &Run, axis: Axis, rows: &[Curve]) -> Vec<CurveColumn> {
    let longest = rows.iter().map(|(_, points)| *points).max_by_key(|p| p.len());
    let Some(points) = longest.filter(|p| !p.is_empty()) else {
        return Vec::new();
    };
    let named = |name: &str, wanted: u64| {
        let x = points
            .iter()
            .min_by(|a, b| oddness(a.x, wanted).total_cmp(&oddness(b.x, wanted)))
            .map_or(wanted, |p| p.x);
        let place = axis.value_text(x);
        CurveColumn {
            name: match name {
                "" => place,
                name => format!("{name} {place}"),
            },
            x,
        }
    };
    if axis == Axis::WorkingSetBytes {
        let levels = levels::typical_sizes(run);
        // More are no levels of caches, and would fill a line each.
        if (1..=LEVELS).contains(&levels.len()) {
            return levels.iter().map(|(name, x)| named(name, *x)).collect();
        }
    }
    spread(points.len(), POINTS).into_iter().map(|at| named("", points[at].x)).collect()
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

fn map(row: &Row, y_axis: Axis, x_axis: Axis, points: &[MapPoint]) -> Vec<Block> {
    let mut ys: Vec<u64> = points.iter().map(|p| p.y).collect();
    let mut xs: Vec<u64> = points.iter().map(|p| p.x).collect();
    for places in [&mut ys, &mut xs] {
        places.sort_unstable();
        places.dedup();
    }
    let shown_ys = spread(ys.len(), MAP_LINES);
    let columns = if y_axis == x_axis { MATRIX } else { POINTS };
    let shown_xs = spread(xs.len(), columns);
    let heading = format!(
        "{}: {} over {} (down) and {} (across); {} of {} points",
        row.id,
        row.unit.name(),
        axis_text(y_axis),
        axis_text(x_axis),
        shown_ys.len() * shown_xs.len(),
        points.len()
    );
    let mut table = Table::new([right("")]);
    let titles = shown_xs.iter().map(|&at| right(x_axis.value_text(xs[at])));
    table.columns.extend(titles.map(|column| column.of_unit(row.unit.name())));
    for &y_at in &shown_ys {
        let mut cells: Vec<Cell> = vec![format!("  {}", y_axis.value_text(ys[y_at])).into()];
        cells.extend(shown_xs.iter().map(|&x_at| {
            match points.iter().find(|p| (p.y, p.x) == (ys[y_at], xs[x_at])) {
                Some(point) => {
                    Cell::estimate(&point.estimate, &row.unit).marked(point.estimate.verdict)
                }
                None => "-".into(),
            }
        }));
        table.row(cells);
    }
    vec![Block::Heading(heading), Block::Table(table)]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::layout::width;
    use crate::terminal::{COLUMNS, plain};
    use model::estimate::{Estimate, Verdict};
    use model::run::Bound;
    use model::synthetic::{self, stamped_figure};
    use model::unit::Unit;

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
                estimate: Estimate { verdict: Verdict::Noisy, ..stamped_figure(14_321.0, 120.0) },
            };
            let points: Vec<MapPoint> = (0..nodes * nodes).map(point).collect();
            let outcome = Outcome::Figure(stamped_figure(1.0, 0.1));
            let row = Row::new("memory.numa/latency", Unit::Time, Bound::Memory, outcome);
            let text = plain(&map(&row, Axis::Cpu, Axis::Cpu, &points));
            let figures = text.matches("14.3 µs").count() as u64;
            assert_eq!(figures, nodes * nodes, "{text}");
            assert_eq!(text.contains('±'), half, "{text}");
            assert!(text.lines().all(|line| width(line) <= COLUMNS), "{text}");
        }
    }

    #[test]
    fn rows_with_a_block_of_their_own_are_drawn_there_alone() {
        let text = plain(&curves(&synthetic::run()).concat());
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

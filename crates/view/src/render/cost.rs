//! What each row cost to measure.

use crate::grouped::grouped;
use model::figure::time;
use model::run::Run;
use model::share::percent;
use model::story::{Block, Table, left, right};

/// The time that all visits to one cell took, preparing included; empty where
/// none is recorded: a row that is measured by another row's operations takes
/// none of its own.
pub(super) fn of_cell(run: &Run, row: &str, at: &[u64]) -> String {
    ms_text(run.cells.at_point(row, at).map(|cell| cell.wall_ms).sum())
}

fn ms_text(ms: f64) -> String {
    if ms > 0.0 { time(ms * 1e6) } else { String::new() }
}

/// Rows by what all their cells took, the most costly first; empty where
/// nothing is recorded.
pub(super) fn cost(run: &Run) -> Vec<Block> {
    let rows = row_costs(run);
    let all: f64 = rows.iter().map(|row| row.ms).sum();
    if all.is_nan() || all <= 0.0 {
        return Vec::new();
    }
    let took = format!(
        "batches took {} of the run's {}, preparation included; rows measured by the same operations \
         count for the first",
        time(all * 1e6),
        time(run.wall_ms as f64 * 1e6)
    );
    let mut table = Table::new([left(""), right(""), right(""), right("")]);
    for row in rows {
        let cells = match row.cells {
            1 => String::new(),
            n => format!("{n} cells"),
        };
        table.row([
            format!("  {}", row.id).into(),
            ms_text(row.ms).into(),
            percent(row.ms / all).into(),
            cells.into(),
        ]);
    }
    vec![Block::text(took), Block::Table(table)]
}

struct RowCost<'r> {
    id: &'r str,
    ms: f64,
    cells: usize,
}

fn row_costs(run: &Run) -> Vec<RowCost<'_>> {
    let cells = run.cells.iter().map(|cell| (&cell.row, cell.wall_ms));
    let rows = grouped(cells).into_iter().map(|(id, ms)| RowCost {
        id,
        ms: ms.iter().sum(),
        cells: ms.len(),
    });
    let mut rows: Vec<RowCost> = rows.collect();
    rows.retain(|row| row.ms > 0.0);
    rows.sort_by(|a, b| b.ms.total_cmp(&a.ms));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::plain;
    use model::synthetic;

    #[test]
    fn a_rows_cells_are_summed_up_and_the_dearest_comes_first() {
        let mut run = synthetic::run();
        let mut point = run.cells[0].clone();
        point.row = "memory.latency".into();
        run.cells.clear();
        for (at, wall_ms) in [(1024, 40.0), (2048, 60.0)] {
            point.at = vec![at];
            point.wall_ms = wall_ms;
            run.cells.push(point.clone());
        }
        point.row = "cpu.add_i32".into();
        point.at.clear();
        point.wall_ms = 25.0;
        run.cells.insert(0, point.clone());
        // Measured by another row's operations.
        point.row = "thread.lifecycle/end".into();
        point.wall_ms = 0.0;
        run.cells.push(point);
        let text = plain(&cost(&run));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert!(lines[0].contains("125 ms"), "{text}");
        assert!(lines[2].contains("memory.latency") && lines[2].contains("100 ms"));
        assert!(lines[2].contains("80 %") && lines[2].contains("2 cells"));
        assert!(lines[3].contains("cpu.add_i32") && lines[3].contains("20 %"));
        assert_eq!(of_cell(&run, "memory.latency", &[2048]), "60.0 ms");
        assert_eq!(of_cell(&run, "thread.lifecycle/end", &[]), "");
    }

    #[test]
    fn a_document_without_these_times_has_no_block() {
        let mut run = synthetic::run();
        run.cells.iter_mut().for_each(|cell| cell.wall_ms = 0.0);
        assert_eq!(cost(&run), []);
    }
}

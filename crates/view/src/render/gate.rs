//! What a gate says of a run, as text.

use super::figures::counted;
use compare::MEMORY_REFERENCE;
use compare::gate::{Gate, GateRow};
use model::compare::measure::Measure;
use model::share::{change, limit};
use model::story::{Block, Cell, Table, Tone, left, right};

/// The rows that were looked at again, and the answer with what to do.
pub fn gate(gate: &Gate) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut looked_at: Vec<&GateRow> = gate.rows.iter().filter(|r| r.p_values.len() > 1).collect();
    looked_at.sort_by(|a, b| a.p_value.total_cmp(&b.p_value));
    if !looked_at.is_empty() {
        blocks.extend([Block::Table(gate_table(gate, &looked_at)), Block::empty_line()]);
    }
    if looked_at.iter().any(|row| row.normalized) {
        let text = format!(
            "relative to {MEMORY_REFERENCE}; in brackets as measured, which must have grown too"
        );
        blocks.push(Block::labelled("  over DRAM: ", text));
    }
    blocks.push(Block::text(sentence(gate)));
    blocks.extend(gate.differences.iter().map(|difference| {
        let text = format!("{}: {} -> {}", difference.what, difference.a, difference.b);
        Block::labelled("  differs in ", text)
    }));
    blocks
}

fn gate_table(gate: &Gate, rows: &[&GateRow]) -> Table {
    let mut table = Table::new([left("row"), left("figure")]);
    let runs = (1..=gate.runs).map(|run| right(format!("run {run}")));
    table.columns.extend(runs.chain([right("p"), left("")]));
    for row in rows {
        let mut cells: Vec<Cell> = vec![row.row.as_str().into(), compared_figure(row).into()];
        cells.extend((0..gate.runs).map(|run| Cell::from(of_run(row, run))));
        cells.push(chance(row.p_value).into());
        let answer = Cell::from(row.answer_text());
        cells.push(match (row.crossed, row.is_judged()) {
            (true, _) => answer.toned(Tone::Bad),
            (_, true) => answer.toned(Tone::Good),
            (_, false) => answer,
        });
        table.row(cells);
    }
    table
}

/// What is compared.
fn compared_figure(row: &GateRow) -> String {
    let measure = row.measure.map_or("-", Measure::label);
    if row.normalized { format!("{measure}, over DRAM") } else { measure.to_owned() }
}

/// What one run said.
fn of_run(row: &GateRow, run: usize) -> String {
    let of = |ratios: &[Option<f64>]| ratios.get(run).copied().flatten();
    match (of(&row.time_ratios), of(&row.raw_time_ratios)) {
        (Some(ratio), Some(raw)) if row.normalized => {
            format!("{} ({})", change(ratio), change(raw))
        }
        (Some(ratio), _) => change(ratio),
        (None, _) => "-".into(),
    }
}

fn sentence(gate: &Gate) -> String {
    let runs = counted(gate.baseline_runs, "run");
    let against = format!("the baseline {} ({runs})", gate.baseline);
    let above = limit(gate.fail_above);
    let wrong = limit(gate.level);
    let judged = gate.judged();
    let rows = counted(judged, "row");
    let unjudged = match gate.rows.len() - judged {
        0 => String::new(),
        n => format!(" {n} more have no usable figure and are not judged."),
    };
    if judged == 0 {
        return format!(
            "Inconclusive: no time of this run can be compared with {against}. Points of curves and \
             maps are not judged.{unjudged}"
        );
    }
    if gate.crossed.is_empty() {
        return format!(
            "No regression above {above} against {against} ({rows} compared).{unjudged}"
        );
    }
    format!(
        "REGRESSION: {} of {rows} more than {above} slower than {against}: {}. Without a regression \
         at most {wrong} of runs name any row. `latlas history ROW` shows when it began, `latlas \
         compare {} last --wide` all rows; if it is intended, make a new baseline.{unjudged}",
        gate.crossed.len(),
        gate.crossed.join(", "),
        gate.baseline
    )
}

fn chance(p: f64) -> String {
    match p {
        p if p < 0.0001 => "< 0.0001".into(),
        p if p >= 0.995 => "1".into(),
        p => format!("{p:.4}"),
    }
}

//! What a gate says of a run, as text.

use super::COLUMNS;
use super::layout::{Grid, Style, finish, left, right, wrap};
use crate::compare::MEMORY_REFERENCE;
use crate::compare::gate::{Gate, GateRow};
use crate::history;

/// The rows that were looked at again, and the answer with what to do.
pub fn gate(gate: &Gate, color: bool) -> String {
    let mut text = String::new();
    let mut looked_at: Vec<&GateRow> = gate.rows.iter().filter(|r| r.p_values.len() > 1).collect();
    looked_at.sort_by(|a, b| a.p_value.total_cmp(&b.p_value));
    if !looked_at.is_empty() {
        text += &table(gate, &looked_at);
        text.push('\n');
    }
    if looked_at.iter().any(|row| row.normalized) {
        let said = format!(
            "in relation to {MEMORY_REFERENCE}; in brackets as measured, which must have grown too"
        );
        for line in wrap("  over DRAM: ", &said, COLUMNS) {
            text += &format!("{line}\n");
        }
    }
    for line in wrap("", &sentence(gate), COLUMNS) {
        text += &format!("{line}\n");
    }
    for difference in &gate.differences {
        let what = format!("{}: {} -> {}", difference.what, difference.a, difference.b);
        for line in wrap("  differs in ", &what, COLUMNS) {
            text += &format!("{line}\n");
        }
    }
    finish(&text, color)
}

fn table(gate: &Gate, rows: &[&GateRow]) -> String {
    let mut grid = Grid::default();
    let mut heading = vec![left("row"), left("figure")];
    heading.extend((1..=gate.runs).map(|run| right(format!("run {run}"))));
    heading.extend([right("p"), left("")]);
    grid.entries(heading);
    for row in rows {
        let mut line = vec![left(row.row.clone()), left(figure(row))];
        line.extend((0..gate.runs).map(|run| right(of_run(row, run))));
        line.push(right(chance(row.p_value)));
        line.push(match (row.crossed, row.is_told()) {
            (true, _) => left("SLOWER").in_style(Style::Bad),
            (_, true) => left("not shown").in_style(Style::Good),
            (_, false) => left("can't tell"),
        });
        grid.entries(line);
    }
    grid.render(2)
}

/// What is compared.
fn figure(row: &GateRow) -> String {
    let measure = row.measure.map_or("-", history::name);
    match row.normalized {
        true => format!("{measure}, over DRAM"),
        false => measure.to_owned(),
    }
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
    let runs = match gate.baseline_runs {
        1 => "1 run".to_owned(),
        n => format!("{n} runs"),
    };
    let against = format!("the baseline {} ({runs})", gate.baseline);
    let above = format!("{} %", trimmed(gate.fail_above * 100.0));
    let wrong = format!("{} %", trimmed(gate.level * 100.0));
    let told = gate.told();
    let rows = match told {
        1 => "1 row".to_owned(),
        n => format!("{n} rows"),
    };
    let untold = match gate.rows.len() - told {
        0 => String::new(),
        n => format!(" {n} more could not be told, and are not judged."),
    };
    if told == 0 {
        return format!(
            "Nothing could be judged: no time of this run can be set against {against}. Points of \
             curves and maps are not judged.{untold}"
        );
    }
    if gate.crossed.is_empty() {
        return format!(
            "Not crossed: of {rows} none is shown to take more than {above} longer than in \
             {against}.{untold}"
        );
    }
    format!(
        "CROSSED: {} of {rows} more than {above} slower than in {against}: {}. Where nothing grew, \
         any row is named in at most {wrong} of runs. `latlas history ROW` shows when it \
         began, `latlas compare {} last --wide` all rows; if it is meant to be so, make a new \
         baseline.{untold}",
        gate.crossed.len(),
        gate.crossed.join(", "),
        gate.baseline
    )
}

/// A ratio of times as the change it is.
fn change(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

fn chance(p: f64) -> String {
    match p {
        p if p < 0.0001 => "< 0.0001".into(),
        p if p >= 0.995 => "1".into(),
        p => format!("{p:.4}"),
    }
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

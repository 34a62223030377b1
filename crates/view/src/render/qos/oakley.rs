//! Oakley's table with this machine next to it.

use crate::render::joined;
use compare::tables::{Oakley, OakleyMachine, OakleyRow};
use model::figure;
use model::figure::number_of_digits;
use model::story::{Block, Cell, Table, left, right};

/// The table, machine by machine.
pub fn oakley(table: &Oakley) -> Vec<Block> {
    let mut head = vec![
        Block::labelled("source: ", &table.source),
        Block::labelled("published: ", &table.workload),
    ];
    head.push(match &table.here {
        Some(here) => Block::labelled("here: ", here),
        None => Block::labelled(
            "here: ",
            "not measured yet: latlas qos --out qos.json, then latlas table oakley qos.json",
        ),
    });
    let mut parts = vec![head];
    parts.extend(table.machines.iter().map(machine));
    let mut end = vec![Block::text(
        "x alone: over the time of the same level alone. Codec, file and machine differ, so seconds \
         can't be compared, ratios can. On Linux the levels are made of other settings (docs/qos.md).",
    )];
    let seen = table.observations.iter();
    end.extend(seen.map(|text| Block::labelled("published: ", text)));
    parts.push(end);
    joined(parts)
}

fn machine(machine: &OakleyMachine) -> Vec<Block> {
    let columns =
        [left("case"), right("published"), right("x alone"), right("here"), right("x alone")];
    let mut table = Table::new(columns);
    for row in &machine.rows {
        table.row(cells(row));
        // The part of his words after the case.
        let (_, more) = row.case.split_once(": ").unwrap_or_default();
        let notes = [Some(more), row.note.as_deref()];
        for note in notes.into_iter().flatten().filter(|note| !note.is_empty()) {
            table.note("    ", note);
        }
    }
    vec![Block::Heading(machine.title.clone()), Block::Table(table)]
}

fn cells(row: &OakleyRow) -> [Cell; 5] {
    let case = row.case.split(": ").next().unwrap_or(&row.case);
    [
        case.into(),
        range(row.published_s.map(|s| s.map(|s| s * 1e9)), figure::time),
        range(row.published_ratio, |ratio| number_of_digits(ratio, 0.0)),
        range(row.here_ns, figure::time),
        Cell::number(row.here_ratio),
    ]
}

/// `5.60 s`, `5.60 to 6.60 s`.
fn range(range: Option<[f64; 2]>, text: impl Fn(f64) -> String) -> Cell {
    let Some([low, high]) = range else {
        return "-".into();
    };
    let [low, high] = [low, high].map(text);
    let both = match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        _ if low == high => return high.into(),
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number}-{high}"),
        _ => format!("{low}-{high}"),
    };
    both.into()
}

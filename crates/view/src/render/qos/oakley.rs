//! Oakley's table with this machine next to it.

use crate::render::joined;
use compare::tables::{Oakley, OakleyHere, OakleyMachine, OakleyRow};
use model::figure;
use model::figure::number_of_digits;
use model::stats::Interval;
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
    parts.extend(table.machines.iter().map(oakley_machine));
    let mut end = vec![Block::text(
        "x alone: over the time of the same level alone. Codec, file and machine differ, so seconds \
         can't be compared, ratios can. On Linux the levels are made of other settings (`latlas help qos`). \
         ±: half of the 95 % interval; a range is from the least to the most that was seen, of \
         several levels or of fewer than 6 rounds. ran on: shares of the job's CPU time; moved: \
         blocks that began and ended elsewhere, or may have been elsewhere.",
    )];
    let observed = table.observations.iter();
    end.extend(observed.map(|text| Block::labelled("published: ", text)));
    parts.push(end);
    joined(parts)
}

fn oakley_machine(machine: &OakleyMachine) -> Vec<Block> {
    let columns =
        [left("case"), right("published"), right("x alone"), right("here ±"), right("x alone ±")];
    let mut table = Table::new(columns);
    for row in &machine.rows {
        table.row(oakley_cells(row));
        // The part of his words after the case.
        let (_, more) = row.case.split_once(": ").unwrap_or_default();
        let cores = row.here.as_ref().and_then(|here| here.cores.as_ref());
        let cores = cores.map(|cores| format!("ran on: {cores}"));
        let notes = [Some(more), row.note.as_deref(), cores.as_deref(), row.reason.as_deref()];
        for note in notes.into_iter().flatten().filter(|note| !note.is_empty()) {
            table.note("    ", note);
        }
    }
    vec![Block::Heading(machine.title.clone()), Block::Table(table)]
}

fn oakley_cells(row: &OakleyRow) -> [Cell; 5] {
    let case = row.case.split(": ").next().unwrap_or(&row.case);
    let published = |ends: [String; 2]| {
        Cell::from(match ends[0] == ends[1] {
            true => ends[0].clone(),
            false => range(ends),
        })
    };
    let seconds = row.published_s.map(|s| published(s.map(|s| figure::time(s * 1e9))));
    let ratio = row.published_ratio.map(|ratio| published(ratio.map(plain)));
    let why_no_ratio = match (row.is_alone, row.published_s) {
        (true, _) => "alone",
        (false, Some(_)) => "no time alone",
        (false, None) => "no figure",
    };
    let [time, times] = here(row);
    [
        case.into(),
        seconds.unwrap_or_else(|| "no figure".into()),
        ratio.unwrap_or_else(|| why_no_ratio.into()),
        time,
        times,
    ]
}

/// Our time, and that over the time alone.
fn here(row: &OakleyRow) -> [Cell; 2] {
    let Some(here) = &row.here else {
        let why = if row.reason.is_some() { "not run" } else { "" };
        return [why.into(), "".into()];
    };
    let OakleyHere { ns, ratio, is_range, rounds, .. } = here;
    let times = match ratio {
        None if row.is_alone => "alone".into(),
        None => "no time alone".into(),
        Some(ratio) if *is_range => seen_ratio(*ratio, *rounds),
        ratio => Cell::number(*ratio),
    };
    match is_range {
        true => [seen(*ns, *rounds, figure::time), times],
        false => [Cell::time(Some(*ns)), times],
    }
}

/// The least and the most of ratios that were seen: `2.01-2.05`.
pub(super) fn seen_ratio(ratio: Interval, rounds: usize) -> Cell {
    seen(ratio, rounds, plain)
}

/// The least and the most, or the only one, of which no width is known.
fn seen(of: Interval, rounds: usize, text: impl Fn(f64) -> String) -> Cell {
    match rounds {
        0 | 1 => Cell::digits([text(of.value), "±?".into()]),
        _ => range([of.low, of.high].map(text)).into(),
    }
}

fn plain(number: f64) -> String {
    number_of_digits(number, 0.0)
}

/// `5.60-6.60 s`, `900 ms-1.10 s`.
fn range([low, high]: [String; 2]) -> String {
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number}-{high}"),
        _ => format!("{low}-{high}"),
    }
}

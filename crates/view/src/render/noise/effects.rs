//! What controls of noise did here: times beside each load, then what is told
//! of each control, then the advice that follows.

mod advice;
mod page;
mod states;
mod wide;

#[cfg(test)]
mod tests;

use compare::references::{FoundControl, FoundControls, FoundTime, References};
use model::noise::effect::{Effects, Load, Workload, figures};
use model::story::{self, Cell, Table, left, right};

/// A column of the table of times.
struct Column {
    heading: &'static str,
    workload: Workload,
    load: Load,
    found: fn(&FoundControl) -> Option<FoundTime>,
}

/// The columns that the earlier experiment had, in its order.
const COLUMNS_OF_TIMES: [Column; 4] = [
    Column { heading: "no load", workload: Workload::Cpu, load: Load::None, found: |f| f.cpu_none },
    Column {
        heading: "load, same session",
        workload: Workload::Cpu,
        load: Load::SameSession,
        found: |f| f.cpu_same_session,
    },
    Column {
        heading: "load, another session",
        workload: Workload::Cpu,
        load: Load::OtherSession,
        found: |f| f.cpu_other_session,
    },
    Column {
        heading: "memory-bound + load",
        workload: Workload::Memory,
        load: Load::SameSession,
        found: |f| f.memory_load,
    },
];

pub(crate) fn effects(
    document: &Effects,
    references: &References,
    wide: bool,
) -> Vec<Vec<story::Block>> {
    let effects = document.effects();
    let mut parts = vec![header(document), times(document, references)];
    let controls = page::page((document, &effects), references, wide);
    parts.extend([states::states(document), controls]);
    if wide {
        parts.push(wide::figures(document, &effects));
    }
    parts.push(advice::advice(document, &effects));
    parts
}

fn header(document: &Effects) -> Vec<story::Block> {
    let how = &document.how;
    let mut blocks = Vec::new();
    let mut say = |label: &str, text: &str| blocks.push(story::Block::labelled(label, text));
    let pinned = match how.pinned_to {
        Some(cpu) => format!("; pinned is to CPU {cpu}"),
        None => String::new(),
    };
    let load = match document.blocks.iter().all(|b| b.load == Load::None) {
        true => String::new(),
        false => format!("; a load is {} busy processes", how.busy),
    };
    let text = format!(
        "{} rounds of every state, interleaved, seed {}{load}{pinned}",
        how.rounds, how.seed,
    );
    say("", &text);
    if !how.command.is_empty() {
        say("command: ", &how.command.join(" "));
    }
    blocks
}

/// Means and variations, with those that were found earlier below.
fn times(document: &Effects, references: &References) -> Vec<story::Block> {
    let shown: Vec<&Column> = COLUMNS_OF_TIMES
        .iter()
        .filter(|column| block(document, column.workload, column.load).is_some())
        .collect();
    if shown.is_empty() {
        return Vec::new();
    }
    let earlier = references.found_controls.first();
    let mut table = Table::new([left("")]);
    let columns = shown.iter().map(|column| right(column.heading));
    table.columns.extend(columns);
    let mut notes = Vec::new();
    for name in rows(document, &shown) {
        let times = shown.iter().map(|column| ours(document, column, &name));
        let cells = [name.clone()].into_iter().chain(times);
        table.row(cells.map(Cell::from));
        let Some(found) = earlier.and_then(|earlier| of_control(earlier, &name)) else {
            continue;
        };
        let times = shown.iter().map(|column| values_of_others(column, found));
        let cells = ["  earlier".to_owned()].into_iter().chain(times);
        table.row(cells.map(Cell::from));
        notes.extend(found.note.as_ref().map(|note| format!("{name}: {note}")));
    }
    let mut caption = format!(
        "Time that the work of a job of {:.0} ms took in ms, mean (standard deviation in % of it).",
        document.how.job_ns as f64 / 1e6
    );
    if let Some(earlier) = earlier {
        caption += &format!(
            " This is as the job saw it itself; earlier is the time until its process had ended, of \
             a job of 60 ms, {}",
            earlier.source
        );
        for note in &notes {
            caption += &format!("; {note}");
        }
        caption += ".";
    }
    vec![story::Block::text(caption), story::Block::Table(table)]
}

/// The state without any control first, then those that were tried.
fn rows(document: &Effects, shown: &[&Column]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for column in shown {
        let block = block(document, column.workload, column.load);
        for arm in block.into_iter().flat_map(|block| &block.arms) {
            if !names.contains(&arm.name) {
                names.push(arm.name.clone());
            }
        }
    }
    names
}

fn block(
    document: &Effects,
    workload: Workload,
    load: Load,
) -> Option<&model::noise::effect::Block> {
    let mut all = document.blocks.iter();
    all.find(|block| block.workload == workload && block.load == load)
}

fn ours(document: &Effects, column: &Column, name: &str) -> String {
    let arm = block(document, column.workload, column.load).and_then(|block| block.arm(name));
    let Some(arm) = arm else {
        return String::new();
    };
    let of = figures::figures(&arm.runs);
    match (of.mean_ns, of.variation) {
        (Some(mean), Some(share)) => format!("{} ({:.0})", millis(mean), share * 100.0),
        (Some(mean), None) => millis(mean),
        (None, _) => "-".into(),
    }
}

fn values_of_others(column: &Column, found: &FoundControl) -> String {
    match (column.found)(found) {
        Some(time) => format!("{} ({:.0})", millis(time.ms * 1e6), time.cv),
        None => "-".into(),
    }
}

fn of_control<'a>(earlier: &'a FoundControls, name: &str) -> Option<&'a FoundControl> {
    earlier.found.iter().find(|found| found.control == name)
}

/// Three digits.
fn millis(ns: f64) -> String {
    let ms = ns / 1e6;
    let places = model::figure::decimals(ms, 0.0);
    format!("{ms:.places$}")
}

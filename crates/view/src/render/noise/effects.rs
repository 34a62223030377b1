//! What controls of noise did here: times beside each load, then what is told
//! of each control, then the advice that follows.

mod advice;
mod page;
mod states;
mod wide;

#[cfg(test)]
mod tests;

use crate::chart::of_effects;
use compare::references::{FoundControl, FoundControls, FoundTime, References};
use model::noise::effect::{Change, Effect, Effects, Load, Workload, figures};
use model::phrases;
use model::story::{self, Cell, Table, left, right};

/// A column of the table of times.
struct TimeColumn {
    heading: &'static str,
    workload: Workload,
    load: Load,
    found: fn(&FoundControl) -> Option<FoundTime>,
}

/// The columns that the earlier experiment had, in its order.
const COLUMNS_OF_TIMES: [TimeColumn; 4] = [
    TimeColumn {
        heading: "no load",
        workload: Workload::Cpu,
        load: Load::None,
        found: |f| f.cpu_none,
    },
    TimeColumn {
        heading: "load, same session",
        workload: Workload::Cpu,
        load: Load::SameSession,
        found: |f| f.cpu_same_session,
    },
    TimeColumn {
        heading: "load, another session",
        workload: Workload::Cpu,
        load: Load::OtherSession,
        found: |f| f.cpu_other_session,
    },
    TimeColumn {
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
    let forest = of_effects(&effects).map(story::Block::chart).into_iter().collect();
    let mut parts = vec![summary_of_controls(document, &effects), forest, header(document)];
    let controls = page::effects_page((document, &effects), references, wide);
    parts.extend([controls, states::states(document), times_blocks(document, references)]);
    if wide {
        parts.push(wide::on_off_lines(document, &effects));
    }
    parts
}

/// How many controls do something, what each takes to set, then the advice.
fn summary_of_controls(document: &Effects, effects: &[Effect]) -> Vec<story::Block> {
    let mut table = Table::new([
        left("control"),
        right("better"),
        right("worse"),
        right("cases"),
        left("to set").of_code(),
        left("needs"),
    ]);
    let [mut better_any, mut worse_any, mut missing] = [0; 3];
    for control in &document.controls {
        let own = effects.iter().filter(|effect| effect.control == control.name);
        let changes: Vec<&Change> = own.flat_map(|effect| [&effect.time, &effect.spread]).collect();
        let count =
            |less: bool| changes.iter().filter(|change| change.is_less() == Some(less)).count();
        let (better, worse) = (count(true), count(false));
        better_any += usize::from(better > 0);
        worse_any += usize::from(worse > 0);
        missing += usize::from(control.unavailable.is_some());
        let is_missing = control.unavailable.is_some();
        let counts = [better, worse, changes.len()].map(|count| match is_missing {
            true => "-".to_owned(),
            false => count.to_string(),
        });
        let [better, worse, cases] = counts;
        let needs = match (&control.needs, is_missing) {
            (Some(needs), true) => format!("{needs}; not available here"),
            (Some(needs), false) => needs.clone(),
            (None, true) => "not available here".into(),
            (None, false) => String::new(),
        };
        let cells = [control.name.clone(), better, worse, cases, control.apply.clone(), needs];
        table.row(cells.map(Cell::from));
    }
    let all = phrases::counted(document.controls.len(), "control");
    let missing = match missing {
        0 => String::new(),
        missing => format!("; {missing} not available here"),
    };
    let text = format!(
        "{better_any} of {all} made the job shorter or steadier, {worse_any} longer or less steady{missing}. \
         Cases: time and spread of each job under each load."
    );
    let mut blocks = vec![story::Block::text(text), story::Block::Table(table)];
    blocks.extend(advice::advice(document, effects));
    blocks
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
fn times_blocks(document: &Effects, references: &References) -> Vec<story::Block> {
    let shown: Vec<&TimeColumn> = COLUMNS_OF_TIMES
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
    for name in tried_rows(document, &shown) {
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
    let heading = story::Block::Heading("Times of the jobs".into());
    vec![heading, story::Block::text(caption), story::Block::Table(table)]
}

/// The state without any control first, then those that were tried.
fn tried_rows(document: &Effects, shown: &[&TimeColumn]) -> Vec<String> {
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

fn ours(document: &Effects, column: &TimeColumn, name: &str) -> String {
    let arm = block(document, column.workload, column.load).and_then(|block| block.arm(name));
    let Some(arm) = arm else {
        return String::new();
    };
    let of = figures::run_medians(&arm.runs);
    match (of.mean_ns, of.variation) {
        (Some(mean), Some(share)) => format!("{} ({:.0})", millis(mean), share * 100.0),
        (Some(mean), None) => millis(mean),
        (None, _) => "-".into(),
    }
}

fn values_of_others(column: &TimeColumn, found: &FoundControl) -> String {
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

//! Commands: what each cost, in the manner of `perf stat`, and each relative to
//! the first.

mod compared;
mod how;
mod short;
mod spread;

pub(super) use compared::compared;
pub(super) use how::how;
pub(super) use short::short;
use spread::spread_cells;

use super::Options;
use super::figures::interval_figure;
use crate::grouped::grouped;
use model::command::{Command, Commands, UNREAD};
use model::estimate::Verdict;
use model::repeats;
use model::run::{Outcome, Row, Run};
use model::story::{Block, Cell, Table, left, right};
use model::unit::Unit;

/// A line of a command: row, name in the table (parts of the line above are
/// indented), and the row that stands beside
/// it with what follows its figure.
type CommandLine = (&'static str, &'static str, Option<(&'static str, &'static str)>);

const LINES: [CommandLine; 16] = [
    ("wall", "wall", None),
    ("start", "  start", None),
    ("user", "user", None),
    ("system", "system", None),
    ("task_clock", "task-clock", Some(("cpus_utilised", "CPUs utilised"))),
    ("run_delay", "run delay", None),
    ("peak_memory", "peak memory", None),
    ("context_switches", "context-switches", None),
    ("voluntary_switches", "  voluntary", None),
    ("involuntary_switches", "  involuntary", None),
    ("cpu_migrations", "cpu-migrations", None),
    ("faults", "page-faults", None),
    ("minor_faults", "  minor", None),
    ("major_faults", "  major", None),
    ("cycles", "cycles", Some(("frequency", "GHz"))),
    ("instructions", "instructions", None),
];

/// All commands, and what they say of each other.
pub(super) fn commands(run: &Run, record: &Commands, options: &Options) -> Vec<Vec<Block>> {
    let mut blocks = vec![how(run, record)];
    for (k, command) in record.commands.iter().enumerate() {
        blocks.push(block(run, record, k, command));
    }
    blocks.push(compared(record, options));
    blocks
}

/// The command, and whether a shell ran it.
fn command_text(command: &Command) -> String {
    let shell = if command.shell.is_some() { " (in a shell)" } else { "" };
    format!("{}{shell}", command.command_line())
}

/// One command's figures.
fn block(run: &Run, record: &Commands, k: usize, command: &Command) -> Vec<Block> {
    let label = format!("exec.{}  ", command.name);
    let mut blocks = vec![Block::labelled(label, command_text(command))];
    blocks.extend(command_facts(record, k, command).into_iter().map(Block::note));
    let mut table = Table::new([
        left(""),
        right("median ±"),
        left("10-90 %"),
        left("range"),
        left(""),
        left("verdict"),
    ]);
    for (name, title, other) in LINES {
        let row = command_row(run, command, name);
        if let Some(row) = row.filter(|row| unavailable(row).is_none()) {
            add_command_line(&mut table, run, command, row, title, other);
        }
    }
    for (reason, names) in missing(run, command) {
        let label = format!(" {}  ", names.join(", "));
        table.note(label, format!("not available here: {reason}"));
    }
    blocks.push(Block::Table(table));
    blocks
}

fn command_facts(record: &Commands, k: usize, command: &Command) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(check) = &command.checked_by {
        facts.push(format!("output in the warm-up checked by {check:?}"));
    }
    facts.extend(ends(command));
    if k == 0 && record.commands.len() > 1 {
        facts.push("the reference for the other commands".into());
    }
    facts
}

/// What its runs did apart from ending with exit code 0.
fn ends(command: &Command) -> Vec<String> {
    let mut said = Vec::new();
    match (command.flaw(), command.ends.as_slice()) {
        (Some(flaw), _) => said.push(format!("INVALID: {flaw}")),
        (None, [end]) => said.push(format!("{} in all runs, accepted as success", end.how)),
        _ => {}
    }
    if command.input_unread {
        said.push(UNREAD.into());
    }
    if let Some([least, most]) = command.output_bytes.filter(|[least, most]| least != most) {
        said.push(format!("its output varied: {least} to {most} bytes"));
    }
    said
}

fn command_row<'r>(run: &'r Run, command: &Command, name: &str) -> Option<&'r Row> {
    run.row(&format!("exec.{}/{name}", command.name))
}

fn unavailable(row: &Row) -> Option<&str> {
    match &row.outcome {
        Outcome::Unavailable { reason } => Some(reason),
        _ => None,
    }
}

/// Lines without a figure, and what would stand beside them, by reason.
fn missing<'r>(run: &'r Run, command: &Command) -> Vec<(&'r str, Vec<&'static str>)> {
    let lines = LINES.iter().flat_map(|&(name, title, beside)| {
        let reason = |name| command_row(run, command, name).and_then(unavailable);
        let own = reason(name);
        let beside = beside.filter(|_| own.is_some());
        let beside = beside.and_then(|(other, words)| Some((reason(other)?, words)));
        own.map(|reason| (reason, title.trim())).into_iter().chain(beside)
    });
    grouped(lines).into_iter().collect()
}

fn add_command_line(
    table: &mut Table,
    run: &Run,
    command: &Command,
    row: &Row,
    name: &str,
    beside: Option<(&str, &str)>,
) {
    let Some(estimate) = row.estimate() else {
        return;
    };
    let mut cells: Vec<Cell> = vec![format!(" {name}").into()];
    cells.extend(spread_cells(estimate, &row.unit, &run.values_ns(&row.id)));
    let mut under = vec![];
    let beside = beside.and_then(|(other, words)| {
        let other = self::command_row(run, command, other)?;
        if let Outcome::Unavailable { reason } = &other.outcome {
            under.push(format!("no {words}: {reason}"));
        }
        let ns = other.estimate()?.ns()?;
        Some(format!("{} {words}", interval_figure(&ns, &other.unit).value))
    });
    cells.push(beside.unwrap_or_default().into());
    cells.push(Cell::from(estimate.verdict.text()).toned(estimate.verdict));
    table.row(cells);
    if estimate.verdict != Verdict::Ok {
        under.push(estimate.reason.clone());
    }
    if row.unit == Unit::Time && name == "wall" {
        let outliers = repeats::outliers(&run.values_ns(&row.id));
        if outliers > 0 {
            let plural = if outliers == 1 { "" } else { "s" };
            under.push(format!("{outliers} outlier{plural}, kept"));
        }
    }
    for text in under.into_iter().filter(|text| !text.is_empty()) {
        table.note("      └ ", text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::synthetic;

    #[test]
    fn a_range_has_a_scale_though_the_median_is_0() {
        let mut values = vec![0.0; 29];
        values.push(850_000.0);
        let estimate = repeats::estimate(&values, &Unit::Time, 0.0);
        let text: String =
            spread_cells(&estimate, &Unit::Time, &values).map(|cell| cell.text()).concat();
        assert!(text.contains("850") && text.contains("µs"), "{text}");
        assert!(!text.contains("850000"), "{text}");
    }

    #[test]
    fn a_frequency_that_is_missing_says_why_of_default_threads_cycles() {
        let mut run = synthetic::run_of_commands();
        let frequency = run.rows.iter_mut().find(|r| r.id == "exec.grep/frequency");
        frequency.expect("a row").outcome =
            Outcome::Unavailable { reason: "cycles of user mode alone".into() };
        let record = run.commands.clone().expect("commands");
        let text = crate::terminal::plain(&block(&run, &record, 0, &record.commands[0]));
        assert!(text.contains("└ no GHz: cycles of user mode alone"), "{text}");
        assert!(!text.contains("2.71"), "{text}");
    }
}

//! Commands on one screen: what each cost, one below the other, and the answer
//! at the end.

use super::super::{Options, footer, header};
use super::{LINES, command_row, command_text, compared, ends, how, missing};
use model::command::{Command, Commands, PageCache, Rule};
use model::run::Run;
use model::share::{half, limit};
use model::story::{Block, Cell, Table, left, right};

/// Commands that have a column each; more of them have their wall time only,
/// which is in the answer.
const COLUMNS: usize = 3;

/// The half-width that `--precise` asks for, and its longest time for a command.
const PRECISE: f64 = 0.02;
const PRECISE_MS: u64 = 60_000;

pub(crate) fn short(run: &Run, record: &Commands, options: &Options) -> Vec<Block> {
    let mut blocks = header::warning_blocks(Some(run));
    let machine = run.machine.one_line();
    blocks.push(Block::text(format!("{machine}; {}", how::timed(run, record))));
    for command in &record.commands {
        blocks.push(Block::labelled(format!("{}  ", command.name), command_text(command)));
        blocks.extend(ends(command).into_iter().map(Block::note));
    }
    if !matches!(record.page_cache, PageCache::Warm) {
        blocks.push(Block::labelled("page cache: ", how::page_cache(record)));
    }
    let remarks = run.conditions.remarks.iter();
    blocks.extend(remarks.map(|remark| Block::labelled("note: ", remark)));
    blocks.push(Block::empty_line());
    blocks.push(Block::Table(command_columns(run, record)));
    blocks.push(Block::text(
        "± half of the 95 % interval. latlas show --all: all counts, ranges and reasons.",
    ));
    blocks.extend(more_precise(run, record).map(Block::text));
    blocks.extend(footer::kept_note(run, options));
    let answer = compared(record, options);
    if !answer.is_empty() {
        blocks.push(Block::empty_line());
        blocks.extend(answer);
    }
    blocks
}

/// What `--precise` would take, where it would say more.
fn more_precise(run: &Run, record: &Commands) -> Option<String> {
    let rule = Rule { most_ms: PRECISE_MS, ..record.rule };
    if rule.runs.is_some() || rule.half_width.is_some() {
        return None;
    }
    let width = |command: &Command| {
        let wall = command_row(run, command, "wall")?.estimate()?.typical?;
        let runs_ns = run.values_ns(&format!("exec.{}/wall", command.name)).iter().sum::<f64>();
        Some((wall.ns.relative_half_width(), runs_ns))
    };
    let widths: Vec<(f64, f64)> = record.commands.iter().filter_map(width).collect();
    let widest = widths.iter().map(|(half, _)| *half).fold(0.0, f64::max);
    if widest <= PRECISE || !widest.is_finite() {
        return None;
    }
    let more = (widest / PRECISE).powi(2);
    let seconds = widths.iter().map(|(_, ns)| ns * more / 1e9).sum::<f64>();
    let most = (rule.most_ms * widths.len() as u64 / 1000) as f64;
    let takes = match seconds <= most {
        true => format!("about {seconds:.0} s"),
        false => format!("{most:.0} s, and may not reach it"),
    };
    Some(format!(
        "wall is known to {}; --precise (±{}) would take {takes}.",
        half(widest),
        limit(PRECISE)
    ))
}

/// A column for each command.
fn command_columns(run: &Run, record: &Commands) -> Table {
    let commands = &record.commands[..record.commands.len().min(COLUMNS)];
    let mut table = Table::new([left("")]);
    let titles = commands.iter().map(|command| match commands.len() {
        1 => right("median ±"),
        _ => right(format!("{} ±", command.name)),
    });
    table.columns.extend(titles);
    // Parts of other lines are on the page of --all.
    let lines = LINES.iter().filter(|(_, title, _)| !title.starts_with(' '));
    let lines = lines.flat_map(|&(name, title, beside)| {
        let clock = beside.filter(|(other, _)| *other == "frequency");
        [(name, title)].into_iter().chain(clock.map(|(other, _)| (other, other)))
    });
    for (name, title) in lines {
        let cells: Vec<Option<Cell>> =
            commands.iter().map(|c| command_cell(run, c, name)).collect();
        if cells.iter().any(Option::is_some) {
            let mut line: Vec<Cell> = vec![format!(" {title}").into()];
            line.extend(cells.into_iter().map(|cell| cell.unwrap_or_else(|| "-".into())));
            table.row(line);
        }
    }
    let without: Vec<_> = commands.iter().map(|command| missing(run, command)).collect();
    let alike = without.windows(2).all(|two| two[0] == two[1]);
    for (command, without) in commands.iter().zip(&without).take(if alike { 1 } else { COLUMNS }) {
        let of = if alike { String::new() } else { format!("{}: ", command.name) };
        for (reason, names) in without {
            table.note(format!(" {of}{}  ", names.join(", ")), *reason);
        }
    }
    table
}

fn command_cell(run: &Run, command: &Command, name: &str) -> Option<Cell> {
    let row = command_row(run, command, name)?;
    let estimate = row.estimate()?;
    Some(Cell::estimate(estimate, &row.unit).marked(estimate.verdict))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::run::{Bound, Outcome, Row};
    use model::synthetic;
    use model::unit::Unit;

    fn lines_about_counters(commands: &[&str]) -> Vec<String> {
        let mut run = synthetic::run_of_commands();
        let reason = "no hardware counters".to_owned();
        let outcome = Outcome::Unavailable { reason };
        run.rows.push(Row::new("exec.rg/frequency", Unit::Frequency, Bound::Memory, outcome));
        let mut record = run.commands.clone().expect("commands");
        record.commands.retain(|command| commands.contains(&&*command.name));
        let table = [Block::Table(command_columns(&run, &record))];
        let text = crate::terminal::plain(&table);
        let about = ["cycles", "frequency", "counters"];
        let lines = text.lines().filter(|line| about.iter().any(|word| line.contains(word)));
        lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn cycles_and_frequency_are_there_or_their_reason_is() {
        let counted = ["cycles 32.4 G ±0.1", "frequency 2.71 GHz ±0.01"];
        assert_eq!(lines_about_counters(&["grep"]), counted);
        let reason = "cycles, GHz, instructions no hardware counters";
        assert_eq!(lines_about_counters(&["rg"]), [reason]);
        let both = lines_about_counters(&["grep", "rg"]);
        assert_eq!(both.last(), Some(&format!("rg: {reason}")), "{both:?}");
    }
}

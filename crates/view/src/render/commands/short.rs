//! Commands on one screen: what each cost, one below the other, and the answer
//! at the end.

use super::super::{Options, footer, header};
use super::{LINES, compared, ends, how, row, shown};
use model::command::{Command, Commands, PageCache};
use model::run::Run;
use model::story::{Block, Cell, Table, left, right};

/// Commands that have a column each; more of them have their wall time only,
/// which is in the answer.
const COLUMNS: usize = 3;

pub(crate) fn short(run: &Run, record: &Commands, options: &Options) -> Vec<Block> {
    let mut blocks = header::warning_blocks(Some(run));
    let machine = run.machine.one_line();
    blocks.push(Block::text(format!("{machine}; {}", how::timed(run, record))));
    for command in &record.commands {
        blocks.push(Block::labelled(format!("{}  ", command.name), shown(command)));
        blocks.extend(ends(command).into_iter().map(Block::note));
    }
    if !matches!(record.page_cache, PageCache::Warm) {
        blocks.push(Block::labelled("page cache: ", how::page_cache(record)));
    }
    let remarks = run.conditions.remarks.iter();
    blocks.extend(remarks.map(|remark| Block::labelled("note: ", remark)));
    blocks.push(Block::empty_line());
    blocks.push(Block::Table(figures(run, record)));
    blocks.push(Block::text(
        "± half of the 95 % interval. latlas show --all: all counts, ranges and reasons.",
    ));
    blocks.extend(footer::kept(run, options));
    let answer = compared(record);
    if !answer.is_empty() {
        blocks.push(Block::empty_line());
        blocks.extend(answer);
    }
    blocks
}

/// A column for each command.
fn figures(run: &Run, record: &Commands) -> Table {
    let commands = &record.commands[..record.commands.len().min(COLUMNS)];
    let mut table = Table::new([left("")]);
    let titles = commands.iter().map(|command| match commands.len() {
        1 => right("median ±"),
        _ => right(format!("{} ±", command.name)),
    });
    table.columns.extend(titles);
    // Parts of other lines are on the page of --all.
    let lines = LINES.iter().filter(|(_, title, _)| !title.starts_with(' '));
    for &(name, title, _) in lines {
        let cells: Vec<Option<Cell>> = commands.iter().map(|c| cell(run, c, name)).collect();
        if cells.iter().any(Option::is_some) {
            let mut line: Vec<Cell> = vec![format!(" {title}").into()];
            line.extend(cells.into_iter().map(|cell| cell.unwrap_or_else(|| "-".into())));
            table.row(line);
        }
    }
    table
}

fn cell(run: &Run, command: &Command, name: &str) -> Option<Cell> {
    let row = row(run, command, name)?;
    let estimate = row.estimate()?;
    Some(Cell::estimate(estimate, &row.unit).marked(estimate.verdict))
}

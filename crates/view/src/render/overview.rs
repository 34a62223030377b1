//! The first screen: what common operations cost here, in plain words.

use super::figures::{elapsed, faster_or_slower, published};
use super::footer::next_commands;
use super::{Options, header, published_rows, table};
use crate::axis::Scale;
use crate::render::figures::cycle_count;
use crate::render::table::short_title;
use compare::references::{ComparisonRule, Reference, References};
use model::figure::figure_in_unit;
use model::overview::{Doubt, OVERVIEW, OverviewLine, Topic, overview_lines};
use model::run::{Outcome, Run};
use model::story::{Block, Cell, Table, Tone, left, right};
use model::unit::Unit;
use references::comparison::{RowAgainstPublished, published_of_run};

/// Columns of the bars, where there is room.
const BARS: usize = 110;
/// What marks an uncertain figure.
const UNCERTAIN: &str = "~";

/// What marks and empty places of the screen are.
const LEGEND: &str =
    "Bars: logarithmic scale. ~ and dotted: uncertain. - invalid or unavailable. Empty: unknown.";

/// What a figure without a ratio is.
const LEGEND_NEAR: &str = "~ its figure of the same job by other means, without a ratio.";

/// Whether a run is one of the overview's operations, and of no others.
pub(super) fn is_overview(run: &Run) -> bool {
    run.plan.asked == [OVERVIEW]
}

/// The screen; empty where the run has no such operation.
pub(super) fn overview(run: &Run, references: &References, options: &Options) -> Vec<Block> {
    let lines = overview_lines(run);
    if lines.is_empty() {
        return Vec::new();
    }
    let mut blocks = machine_and_time(run);
    let published = published_of_run(run);
    let rows = published.as_deref().unwrap_or_default();
    let of_cpu = published_column(&lines, rows);
    let legend = (!of_cpu.0.is_empty()).then(|| Block::text(published_rows::LEGEND));
    let damaged = published.as_ref().err().map(|damaged| Block::text(damaged.to_string()));
    let of_table = table_column(&lines, table::tables(references, options).first().copied());
    let is_near = of_table.1.iter().any(|text| text.starts_with('~'));
    let near = is_near.then(|| Block::text(format!("{}: {LEGEND_NEAR}", of_table.0)));
    // What was asked for stays where there is room for one.
    let columns = if options.versus.is_empty() { [of_cpu, of_table] } else { [of_table, of_cpu] };
    blocks.push(Block::Table(of_lines(&lines, columns)));
    blocks.extend(doubts(run, &lines));
    blocks.extend(near);
    blocks.extend(damaged.or(legend));
    blocks.extend([Block::text(LEGEND), next(options)]);
    blocks
}

/// The warnings of a run, its machine in one sentence, and what it took.
pub(super) fn machine_and_time(run: &Run) -> Vec<Block> {
    let mut blocks = header::warning_blocks(Some(run));
    let clock = run.core_clock.as_ref();
    let clock = clock.map_or(String::new(), |c| format!(", {:.2} GHz", 1.0 / c.cycle_ns.value));
    let machine = run.machine.one_line();
    let took = elapsed(run.wall_ms);
    blocks.push(Block::text(format!("{machine}{clock}; measured in {took}")));
    blocks
}

/// A column of the screen: its heading, and a text for each line.
type TextColumn = (String, Vec<String>);

/// What is published of this CPU and of many machines.
fn published_column(lines: &[OverviewLine], rows: &[RowAgainstPublished]) -> TextColumn {
    let texts: Vec<String> =
        lines.iter().map(|line| published_rows::cell_of_line(rows, line)).collect();
    let title = if texts.iter().all(String::is_empty) { "" } else { "published" };
    (title.to_owned(), texts)
}

/// How the lines compare with a table.
fn table_column(lines: &[OverviewLine], table: Option<&Reference>) -> TextColumn {
    let text = |line: &OverviewLine| {
        let ratio = table.and_then(|table| ratio(line, table));
        ratio.map_or_else(|| near_figure(line, table), faster_or_slower)
    };
    let title = table.map_or(String::new(), |table| format!("vs {}", short_title(&table.key)));
    (title, lines.iter().map(text).collect())
}

/// The lines; of the two columns beside the figures the first has more right to the room.
fn of_lines(lines: &[OverviewLine], [first, last]: [TextColumn; 2]) -> Table {
    let times = lines.iter().filter_map(|line| line.ns);
    let axis = Scale::of_decades(times.map(|ns| ns.value));
    let mut table = Table::new([
        left("").optional(),
        left(""),
        right("time  "),
        right("cycles").optional(),
        right(first.0).optional(),
        left("").of_ticks(axis.units()).optional(),
        right(last.0).optional(),
    ]);
    let mut topic: Option<Topic> = None;
    for ((line, first), last) in lines.iter().zip(first.1).zip(last.1) {
        let name = match topic == Some(line.operation.topic) {
            true => "",
            false => line.operation.topic.text(),
        };
        topic = Some(line.operation.topic);
        let mark = if line.is_uncertain() { UNCERTAIN } else { " " };
        let time = format!("{} {mark}", cost(line));
        let tone = line.verdict.map_or(Tone::Dim, Tone::of_doubt);
        table.row([
            name.into(),
            line.words().into(),
            Cell::from(time).toned(tone),
            line.cycles.map_or(String::new(), |c| cycle_count(&c)[0].clone()).into(),
            first.into(),
            bar(&axis, line),
            last.into(),
        ]);
    }
    table
}

/// The figure in its unit: no more digits than its interval supports.
pub(crate) fn cost(line: &OverviewLine) -> String {
    match (&line.ns, line.row.estimate()) {
        (Some(ns), _) => figure_in_unit(ns, &Unit::Time).text(),
        (None, Some(estimate)) => Cell::estimate(estimate, &Unit::Time).text(),
        (None, None) => "-".into(),
    }
}

/// Our time over the published one: of a row with modes, at the mode that is
/// the row's figure.
pub(crate) fn ratio(line: &OverviewLine, table: &Reference) -> Option<f64> {
    let estimate = line.row.estimate()?;
    let counterpart = table.counterpart(&line.row.id)?;
    counterpart.ratio(estimate, &line.row.unit).filter(|_| line.is_of_row())
}

/// `~5.37 µs`: what a reference says of the same job by other means, without a ratio.
fn near_figure(line: &OverviewLine, against: Option<&Reference>) -> String {
    let theirs = against.and_then(|table| table.counterpart(&line.row.id));
    let near = theirs.filter(|theirs| theirs.rule == ComparisonRule::Near && line.is_of_row());
    near.map_or(String::new(), |theirs| format!("~{}", published(theirs.row)))
}

/// A bar from the axis's left end to the figure.
fn bar(axis: &Scale, line: &OverviewLine) -> Cell {
    let share = line.ns.and_then(|ns| axis.share(ns.value));
    let bar = Cell::bar(0.0, share.unwrap_or(0.0), BARS);
    if line.is_uncertain() { bar.hollow() } else { bar }
}

/// What is missing and what is uncertain, with the reasons.
fn doubts(run: &Run, lines: &[OverviewLine]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for line in lines {
        if let Outcome::Unavailable { reason } = &line.row.outcome {
            let words = line.operation.words;
            blocks.push(Block::labelled("- ", format!("{words}: not available here: {reason}")));
        }
    }
    blocks.extend(Doubt::about_run(run).map(|doubt| Block::text(doubt.to_string())));
    blocks
}

/// What to do next.
fn next(options: &Options) -> Block {
    next_commands(
        options,
        [
            "run` (all rows, 75 s)",
            "show --all` (intervals, reasons)",
            "report` (HTML)",
            "explain 'system call'`",
        ],
    )
}

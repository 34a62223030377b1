//! The first screen: what common operations cost here, in plain words.

use super::figures::{elapsed, faster_or_slower};
use super::{Options, header, table};
use crate::axis::Scale;
use crate::render::figures::cycle_count;
use crate::render::table::short_title;
use compare::references::{Reference, References};
use model::figure::figure;
use model::overview::{Doubt, Line, OVERVIEW, Topic, lines};
use model::run::{Outcome, Run};
use model::story::{Block, Cell, Table, Tone, left, right};
use model::unit::Unit;

/// Columns of the bars, where there is room.
const BARS: usize = 40;
/// What marks an uncertain figure.
const UNCERTAIN: &str = "~";

/// What marks and empty places of the screen are.
const LEGEND: &str = "Bars: logarithmic scale. ~: uncertain. -: invalid or not available here. cycles: of \
    undisturbed samples only. vs: blank where the result is too uncertain or nothing is published.";

/// Whether a run is one of the overview's operations, and of no others.
pub(super) fn is_overview(run: &Run) -> bool {
    run.plan.asked == [OVERVIEW]
}

/// The screen; empty where the run has no such operation.
pub(super) fn overview(run: &Run, references: &References, options: &Options) -> Vec<Block> {
    let lines = lines(run);
    if lines.is_empty() {
        return Vec::new();
    }
    let mut blocks = header::warning_blocks(Some(run));
    let clock = run.core_clock.as_ref();
    let clock = clock.map_or(String::new(), |c| format!(", {:.2} GHz", 1.0 / c.cycle_ns.value));
    let machine = run.machine.one_line();
    let took = elapsed(run.wall_ms);
    blocks.push(Block::text(format!("{machine}{clock}; measured in {took}")));
    blocks.push(Block::empty_line());
    let against = table::tables(references, options).first().copied();
    let times = lines.iter().filter_map(|line| line.ns);
    let axis = Scale::of_decades(times.map(|ns| ns.value));
    blocks.push(Block::Table(of_lines(&lines, against, &axis)));
    blocks.extend(footer(run, &lines));
    blocks
}

fn of_lines(lines: &[Line], against: Option<&Reference>, axis: &Scale) -> Table {
    let title = against.map_or(String::new(), |table| format!("vs {}", short_title(&table.key)));
    let mut table = Table::new([
        left("").optional(),
        left(""),
        right("time  "),
        right("cycles").optional(),
        right(title).optional(),
        left("").of_ticks(axis.units()).optional(),
    ]);
    let mut topic: Option<Topic> = None;
    for line in lines {
        let name = match topic == Some(line.operation.topic) {
            true => "",
            false => line.operation.topic.text(),
        };
        topic = Some(line.operation.topic);
        let mark = if line.is_uncertain() { UNCERTAIN } else { " " };
        let time = format!("{} {mark}", cost(line));
        let tone = line.verdict.map_or(Tone::Dim, |_| Tone::Plain);
        let ratio = against.and_then(|table| ratio(line, table));
        table.row([
            name.into(),
            line.words().into(),
            Cell::from(time).toned(tone),
            line.cycles.map_or(String::new(), |c| cycle_count(&c)[0].clone()).into(),
            ratio.map_or(String::new(), faster_or_slower).into(),
            bar(axis, line),
        ]);
    }
    table
}

/// The figure in its unit: no more digits than its interval supports.
pub(crate) fn cost(line: &Line) -> String {
    match (&line.ns, line.row.estimate()) {
        (Some(ns), _) => figure(ns, &Unit::Time).text(),
        (None, Some(estimate)) => Cell::estimate(estimate, &Unit::Time).text(),
        (None, None) => "-".into(),
    }
}

/// Our time over the published one: of a row with modes, at the mode that is
/// the row's figure.
pub(crate) fn ratio(line: &Line, table: &Reference) -> Option<f64> {
    let estimate = line.row.estimate()?;
    let counterpart = table.counterpart(&line.row.id)?;
    counterpart.ratio(estimate, &line.row.unit).filter(|_| line.is_of_row())
}

/// A bar from the axis's left end to the figure.
fn bar(axis: &Scale, line: &Line) -> Cell {
    let share = line.ns.and_then(|ns| axis.share(ns.value));
    Cell::bar(0.0, share.unwrap_or(0.0), BARS)
}

/// What is uncertain and why, what is missing and why, and what to do next.
fn footer(run: &Run, lines: &[Line]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for line in lines {
        if let Outcome::Unavailable { reason } = &line.row.outcome {
            let words = line.operation.words;
            blocks.push(Block::labelled("- ", format!("{words}: not available here: {reason}")));
        }
    }
    blocks.extend(Doubt::of(run).map(|doubt| Block::text(doubt.to_string())));
    blocks.push(Block::text(LEGEND));
    blocks.push(Block::text(
        "latlas run: everything · latlas show --all: with intervals and reasons · latlas report: \
         a web page · latlas explain call.syscall: one row",
    ));
    blocks
}

//! The results of a run as blocks, apart from how they are painted: each
//! family of rows has one function `story(&Run) -> Vec<Block>`, and the
//! terminal and the HTML page paint the same blocks. Figures stay values with
//! their interval and verdict until a painter asks for their digits, which
//! [`crate::shown`] gives.

pub mod core_to_core;
pub mod create_delete;
pub mod exchange_rate;
pub mod histogram;
pub mod levels;
pub mod lifecycle;
pub mod naive_loop;
pub mod page_walk;
pub mod pool;
pub mod tail;
pub mod wakeup;

use crate::chart::Chart;
use crate::estimate::{Estimate, Verdict};
use crate::run::{Axis, CurvePoint, Outcome, Run};
use crate::shown::{
    Shown, figure_ns, half_with_sign, interval_figure, is_at_run_clock, number_parts, shown_figure,
};
use crate::stats::Interval;
use crate::trace::summary::Slice;
use crate::unit::Unit;
use std::collections::HashMap;

/// One block of a story.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// What the blocks below are about: `sched.wakeup: wake-up latency`.
    Heading(String),
    /// Columns of figures.
    Table(Table),
    /// Tables with an empty line between, whose columns line up.
    Tables(Vec<Table>),
    /// Lines as they are, however long: a drawing, a command to be copied.
    Lines(Vec<String>),
    /// A picture.
    Chart(Box<Chart>),
    /// Every operation in the time of one of them, which a page lets its reader choose.
    Rates(Box<exchange_rate::ExchangeRate>),
    /// A paragraph.
    Note(Note),
}

impl Block {
    /// An empty line.
    pub fn empty_line() -> Block {
        Block::text("")
    }

    /// A picture.
    pub fn chart(chart: Chart) -> Block {
        Block::Chart(Box::new(chart))
    }

    /// A paragraph.
    pub fn text(text: impl Into<String>) -> Block {
        Block::Note(Note::new("", text))
    }

    /// A paragraph after a label that the labels of other facts line up with.
    pub fn fact(label: &str, text: impl Into<String>) -> Block {
        Block::Note(Note::new(format!("{label:<12}"), text))
    }

    /// A paragraph after a label.
    pub fn labelled(label: impl Into<String>, text: impl Into<String>) -> Block {
        Block::Note(Note::new(label, text))
    }

    /// A paragraph that must not be overlooked.
    pub fn warning(label: &str, text: impl Into<String>) -> Block {
        Block::Note(Note { tone: Tone::Bad, ..Note::new(label, text) })
    }

    /// A paragraph below a table or a heading, indented.
    pub fn note(text: impl Into<String>) -> Block {
        Block::Note(Note::new("  ", text))
    }
}

/// A paragraph; further lines are indented to the end of the label.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Note {
    /// What it begins with, with the blanks that follow: `note: `.
    pub label: String,
    /// The text.
    pub text: String,
    /// Its colour.
    pub tone: Tone,
}

impl Note {
    /// A paragraph with its label.
    pub fn new(label: impl Into<String>, text: impl Into<String>) -> Note {
        Note { label: label.into(), text: text.into(), tone: Tone::Plain }
    }
}

/// What a text is coloured for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// No colour.
    #[default]
    Plain,
    /// Can be relied on.
    Good,
    /// With care.
    Doubtful,
    /// Not to be relied on.
    Bad,
    /// Less important than the rest.
    Dim,
}

impl Tone {
    /// Of a figure: none where it can be relied on.
    pub fn of_doubt(verdict: Verdict) -> Tone {
        match verdict {
            Verdict::Ok => Tone::Plain,
            doubt => doubt.into(),
        }
    }
}

impl From<Verdict> for Tone {
    fn from(verdict: Verdict) -> Tone {
        match verdict {
            Verdict::Ok => Tone::Good,
            Verdict::Noisy | Verdict::Biased | Verdict::TwoStates => Tone::Doubtful,
            Verdict::CannotTell | Verdict::Invalid => Tone::Bad,
        }
    }
}

/// Columns and rows. Rows may have fewer cells than there are columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The columns from left to right.
    pub columns: Vec<Column>,
    /// The rows from top to bottom.
    pub rows: Vec<Row>,
    /// Characters by which it may be wider than the page.
    pub extra: usize,
    /// Rows that a page with a script shows before it is asked for the rest; all of them, if none.
    pub folded: Option<usize>,
}

/// A column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// Heading.
    pub title: String,
    /// Cells and heading end at the right edge, else they begin at the left.
    pub right: bool,
    /// Unit that the heading or the title of the table names: figures in it
    /// are painted without.
    pub unit: &'static str,
    /// A painter may leave it out where there is no room.
    pub optional: bool,
    /// Its cells are text to be typed, such as commands.
    pub code: bool,
    /// Names of places on the axis of its bars, in shares of their width: they
    /// stand in place of the heading.
    pub ticks: Vec<(f64, String)>,
}

/// A column whose cells begin at the left.
pub fn left(title: impl Into<String>) -> Column {
    Column { title: title.into(), ..Column::default() }
}

/// A column whose cells end at the right.
pub fn right(title: impl Into<String>) -> Column {
    Column { right: true, ..left(title) }
}

impl Column {
    /// The same column, whose cells are text to be typed.
    pub fn of_code(self) -> Column {
        Column { code: true, ..self }
    }

    /// The same column, whose figures are in a unit named elsewhere.
    pub fn of_unit(self, unit: &'static str) -> Column {
        Column { unit, ..self }
    }

    /// The same column, whose bars have an axis.
    pub fn of_ticks(self, ticks: Vec<(f64, String)>) -> Column {
        Column { ticks, ..self }
    }

    /// The same column, left out where there is no room.
    pub fn optional(self) -> Column {
        Column { optional: true, ..self }
    }
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    /// One cell for each column.
    Cells(Vec<Cell>),
    /// A paragraph across all columns.
    Note(Note),
}

impl Row {
    /// The text of each cell, or the paragraph's.
    pub fn texts(&self) -> Vec<String> {
        match self {
            Row::Cells(cells) => cells.iter().map(Cell::text).collect(),
            Row::Note(note) => vec![note.text.clone()],
        }
    }
}

impl Table {
    /// A table without rows.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Table {
        Table { columns: columns.into_iter().collect(), ..Table::default() }
    }

    /// The same table, as wide as it needs to be.
    pub fn wide(self) -> Table {
        Table { extra: usize::MAX, ..self }
    }

    /// The same table, of which a page with a script shows the first rows and counts the rest.
    pub fn folded(self, first: usize) -> Table {
        Table { folded: Some(first), ..self }
    }

    /// Adds a row of cells.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(Row::Cells(cells.into_iter().collect()));
    }

    /// Adds a paragraph across all columns.
    pub fn note(&mut self, label: impl Into<String>, text: impl Into<String>) {
        self.rows.push(Row::Note(Note::new(label, text)));
    }

    /// The verdicts that are marked in cells, each once.
    pub fn marked(&self) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        let rows = self.rows.iter().filter_map(|row| match row {
            Row::Cells(cells) => Some(cells),
            Row::Note(_) => None,
        });
        for cell in rows.flatten().filter(|cell| cell.verdict != Verdict::Ok) {
            if !verdicts.contains(&cell.verdict) {
                verdicts.push(cell.verdict);
            }
        }
        verdicts
    }
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// What it holds.
    pub value: Value,
    /// Marked unless it is ok.
    pub verdict: Verdict,
    /// Its colour; a marked cell has that of its verdict.
    pub tone: Tone,
    /// What it leads to, where it stands on a page that has that.
    pub link: Option<Link>,
    /// Its text where there is no room for the optional columns: what would be missing
    /// with them.
    pub instead: Option<String>,
    /// Links to this lead here.
    pub target: Option<Link>,
}

/// What a cell leads to: each page knows where that is, if anywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// A row, or a point of it.
    Row {
        /// Its id.
        id: String,
        /// The point; empty for the row.
        at: Vec<u64>,
    },
    /// A stored run, by its id.
    Run(String),
    /// The report of a stored run, by its id.
    Report(String),
    /// A machine, by its key.
    Machine(String),
    /// A part of a thread's time in a trace.
    Slice(Slice),
}

/// What a cell holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Words, or a figure that has no interval.
    Text(String),
    /// A figure of a row, in ns per operation.
    Figure {
        /// The figure with its interval.
        ns: Interval,
        /// The unit to show it in.
        unit: Unit,
        /// It was set in ns at the clock of this run.
        at_run_clock: bool,
    },
    /// A number without a unit, with its interval.
    Number(Interval),
    /// A figure that has its digits: number with unit, and half of its interval
    /// with its sign.
    Digits([String; 2]),
    /// A bar, in shares of the column's width; backwards where it ends before
    /// it begins.
    Bar {
        /// Where it begins, from 0 to 1.
        from: f64,
        /// Where it ends.
        to: f64,
        /// Width of the column in characters, where there is room.
        columns: usize,
        /// Its figure is uncertain.
        hollow: bool,
    },
    /// A dot for each of many figures, in shares of the column's width.
    Strip {
        /// The dots, rising.
        dots: Vec<StripDot>,
        /// Width of the column in characters, where there is room.
        columns: usize,
    },
}

/// A dot of a strip.
#[derive(Clone, Debug, PartialEq)]
pub struct StripDot {
    /// Where it lies; below 0 or above 1 it is beyond the axis and drawn at its end.
    pub at: f64,
    /// It stands out.
    pub is_marked: bool,
    /// Its figure with the unit.
    pub figure: String,
    /// What it is of.
    pub link: Option<Link>,
}

impl StripDot {
    /// Whether it lies beyond an end of the axis.
    pub fn is_beyond(&self) -> bool {
        !(0.0..=1.0).contains(&self.at)
    }
}

impl Value {
    /// Characters of the column that a drawing fills, where there is room; `None` of what is text.
    pub fn columns(&self) -> Option<usize> {
        match self {
            Value::Bar { columns, .. } | Value::Strip { columns, .. } => Some(*columns),
            _ => None,
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell::new(Value::Text(text.into()))
    }
}

impl Cell {
    fn new(value: Value) -> Cell {
        Cell {
            value,
            verdict: Verdict::Ok,
            tone: Tone::Plain,
            link: None,
            instead: None,
            target: None,
        }
    }

    /// The same cell, with another text where optional columns are left out.
    pub fn or_instead(self, text: String) -> Cell {
        Cell { instead: Some(text), ..self }
    }

    /// The same cell, where links to this lead.
    pub fn target_of(self, link: Link) -> Cell {
        Cell { target: Some(link), ..self }
    }

    /// The same cell, which leads somewhere.
    pub fn to(self, link: Link) -> Cell {
        Cell { link: Some(link), ..self }
    }

    /// A time with its interval, `-` where there is none.
    pub fn time(ns: Option<Interval>) -> Cell {
        ns.map_or("-".into(), |ns| {
            Cell::new(Value::Figure { ns, unit: Unit::Time, at_run_clock: false })
        })
    }

    /// A plain number with its interval, `-` where there is none.
    pub fn number(number: Option<Interval>) -> Cell {
        number.map_or("-".into(), |n| Cell::new(Value::Number(n)))
    }

    /// A figure that has its digits: number with unit, and half of its interval
    /// with its sign.
    pub fn digits(parts: [String; 2]) -> Cell {
        Cell::new(Value::Digits(parts))
    }

    /// The figure of an estimate in a row's unit, or that it lies below the
    /// resolution; not marked.
    pub fn estimate(estimate: &Estimate, unit: &Unit) -> Cell {
        match (shown_figure(estimate, unit), figure_ns(estimate)) {
            (Shown::Figure(_), Some(ns)) => Cell::new(Value::Figure {
                ns,
                unit: *unit,
                at_run_clock: is_at_run_clock(estimate),
            }),
            (Shown::Below(text), _) => text.into(),
            _ => "-".into(),
        }
    }

    /// A bar.
    pub fn bar(from: f64, to: f64, columns: usize) -> Cell {
        Cell::new(Value::Bar { from, to, columns, hollow: false })
    }

    /// The same bar, of an uncertain figure.
    pub fn hollow(self) -> Cell {
        let value = match self.value {
            Value::Bar { from, to, columns, .. } => Value::Bar { from, to, columns, hollow: true },
            other => other,
        };
        Cell { value, ..self }
    }

    /// A dot for each figure.
    pub fn strip(dots: Vec<StripDot>, columns: usize) -> Cell {
        Cell::new(Value::Strip { dots, columns })
    }

    /// The same cell, marked with a verdict.
    pub fn marked(self, verdict: Verdict) -> Cell {
        let tone = match verdict {
            Verdict::Ok => self.tone,
            other => other.into(),
        };
        Cell { verdict, tone, ..self }
    }

    /// The same cell, coloured.
    pub fn toned(self, tone: impl Into<Tone>) -> Cell {
        Cell { tone: tone.into(), ..self }
    }

    /// Its text in three parts, so that a column of them lines up: the number
    /// with its unit (left out where it is the column's), half of the interval
    /// with its sign, the verdict's mark. A bar has no text.
    pub fn parts(&self, unit_of_column: &str) -> [String; 3] {
        let [value, half] = match &self.value {
            Value::Text(text) => [text.replace('\n', " "), String::new()],
            Value::Bar { .. } | Value::Strip { .. } => [String::new(), String::new()],
            Value::Digits(parts) => parts.clone(),
            Value::Number(number) => number_parts(number),
            Value::Figure { ns, unit, at_run_clock } => {
                let figure = interval_figure(ns, unit);
                let unit = match figure.unit {
                    own if own == unit_of_column => "",
                    own => own,
                };
                let value = format!("{} {unit}", figure.value);
                [value.trim_end().to_owned(), half_with_sign(&figure.half_width, *at_run_clock)]
            }
        };
        [value, half, self.verdict.mark().to_owned()]
    }

    /// Its text on one line.
    pub fn text(&self) -> String {
        let parts = self.parts("");
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        parts.join(" ").trim_end().to_owned()
    }
}

/// The points of a row that is a curve over an axis; none of any other.
pub(crate) fn curve<'r>(run: &'r Run, id: &str, over: Axis) -> &'r [CurvePoint] {
    match run.row(id).map(|row| &row.outcome) {
        Some(Outcome::Curve { axis, points }) if *axis == over => points,
        _ => &[],
    }
}

/// The figures of a curve by their places; of several at one place the first.
pub(crate) fn by_x(points: &[CurvePoint]) -> HashMap<u64, &Estimate> {
    let points = points.iter().rev();
    points.map(|point| (point.x, &point.estimate)).collect()
}

/// The figure of an estimate that a conclusion may be drawn from.
pub(crate) fn usable(estimate: &Estimate) -> Option<Interval> {
    estimate.ns_of_run().filter(|_| estimate.verdict.is_usable())
}

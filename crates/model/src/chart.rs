//! Charts as data: what is drawn, apart from how. Stories carry them; the view
//! paints them as SVG, and the SVG stands in the report too.

use crate::clusters::Clusters;
use crate::compare::finding;
use crate::estimate::Verdict;
use crate::trace;
use serde::Serialize;

/// A picture.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Chart {
    /// Short and unique within a report: `memory.latency`. Letters, digits,
    /// `.`, `_`, `-`.
    pub id: String,
    /// Heading.
    pub title: String,
    /// What is to be seen, in a sentence or two; also what a screen reader says.
    pub caption: String,
    /// Where it stands in a report.
    pub section: Section,
    /// The picture itself.
    pub body: Body,
    /// What a reader must know with it, one sentence each: shrunk curves,
    /// noisy points, rows that can't be measured here.
    pub notes: Vec<String>,
}

/// Parts of a report, in their order.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// Every row on one axis.
    Ladder,
    /// Curves of memory.
    Memory,
    /// Threads and cores.
    Threads,
    /// Files and disks.
    Files,
    /// Noise and conditions.
    Noise,
    /// Several runs next to each other.
    Comparison,
    /// A row over time.
    History,
}

/// The kinds of pictures.
#[derive(Serialize, Clone, Debug, PartialEq)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Body {
    /// Curves over a number.
    Lines(Lines),
    /// Bars of one or several stacked parts, by category.
    Bars(Bars),
    /// A figure for each pair.
    Heat(Heat),
    /// Figures with intervals, one a line, on a common axis.
    Dots(Dots),
    /// What threads did over time.
    Lanes(Lanes),
    /// Shares of time over time, one a line.
    Strips(Strips),
    /// The figures of two sides, old and new, joined.
    Slopes(Slopes),
}

/// The figures of two sides, old and new, joined.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Slopes {
    /// The common axis.
    pub value: Axis,
    /// What the sides are called, the old one first.
    pub sides: [String; 2],
    /// The lines.
    pub lines: Vec<Slope>,
}

/// A line from the old figure to the new one.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Slope {
    /// What it is of: `64-bit division`.
    pub name: String,
    /// The figures of the two sides.
    pub ends: [SlopeEnd; 2],
    /// What may be said of the change.
    pub finding: finding::Verdict,
}

/// A figure of one side.
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
pub struct SlopeEnd {
    /// The figure.
    pub value: f64,
    /// Lower end of its 95 % interval; absent where it was published.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// Shares of time over time, one a line, of parts that are stacked.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Strips {
    /// To the right: ns since the beginning.
    pub x: Axis,
    /// Its end.
    pub length_ns: f64,
    /// What a line is of: `CPU`.
    pub label: String,
    /// The parts from below.
    pub parts: Vec<String>,
    /// The lines; those of a group follow each other.
    pub strips: Vec<Strip>,
}

/// A line of shares.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Strip {
    /// Its name.
    pub name: String,
    /// The name of its group; empty where there is only one.
    pub group: String,
    /// The share of each part over all of the time.
    pub mean: Vec<f64>,
    /// The share of each part in columns of equal length; empty where it is not
    /// known.
    pub columns: Vec<Vec<f64>>,
}

/// What threads did over time, one a line.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Lanes {
    /// To the right: ns since the beginning of what is drawn.
    pub x: Axis,
    /// Its end.
    pub length_ns: f64,
    /// The threads.
    pub lanes: Vec<Lane>,
}

/// A thread over time.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Lane {
    /// Its name.
    pub name: String,
    /// What it did.
    pub states: Vec<LaneState>,
    /// Its signposts: begin, end and name.
    pub signposts: Vec<(f64, f64, String)>,
    /// Its system calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<LaneSpan>,
    /// Its operations on memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<LaneSpan>,
}

/// A stretch of a lane in which a thread did something.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct LaneSpan {
    /// Its beginning.
    pub from_ns: f64,
    /// Its end.
    pub to_ns: f64,
    /// The share of it that this took; 0 of a moment.
    pub share: f64,
    /// What took most of it.
    pub name: String,
}

/// A stretch of a lane.
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
pub struct LaneState {
    /// Its beginning.
    pub from_ns: f64,
    /// Its end.
    pub to_ns: f64,
    /// The state that takes most of it.
    pub kind: trace::StateKind,
    /// The share of it that the thread was on a CPU, where only that is known.
    pub share: Option<f64>,
}

/// What an axis measures, which says how its numbers are written.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// ns, written as ns, µs, ms, s.
    Nanoseconds,
    /// Bytes, written as B, KiB, MiB, GiB.
    Bytes,
    /// 10^9 bytes a second, written as MB/s or GB/s.
    GigabytesPerSecond,
    /// 10^9 cycles a second.
    Gigahertz,
    /// How rare an operation is: one of so many took at least as long. 100 is
    /// the 99th percentile, and written so.
    Percentile,
    /// Clock cycles.
    Cycles,
    /// A ratio: 1 is the same.
    Ratio,
    /// Percent.
    Percent,
    /// A number of things.
    Count,
    /// ms since 1970 UTC, written as date and time.
    UnixMilliseconds,
}

/// An axis of numbers.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it shows: `working set`.
    pub label: String,
    /// How its numbers are written.
    pub quantity: Quantity,
    /// Logarithmic, else linear.
    pub log: bool,
    /// Whether a linear one begins at 0; else it shows where the figures are, as
    /// a change of a few percent over time has to be seen.
    pub from_zero: bool,
}

/// Curves.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Lines {
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// The curves.
    pub series: Vec<ChartLine>,
    /// Shaded stretches of x: plateaus that were found.
    pub bands: Vec<Band>,
    /// Marks on x: cache sizes as the system tells them, changes of machine or
    /// program, change points.
    pub marks: Vec<Mark>,
}

/// What a curve is.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum CurveKind {
    /// Measured here.
    Measured,
    /// Published, or of another machine.
    Reference,
    /// What it would be if nothing cost anything.
    Ideal,
    /// A band behind the curves, of many machines or of a level: each point is its median, between its ends.
    Population,
}

/// A curve.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct ChartLine {
    /// Name in the legend.
    pub name: String,
    /// What it is.
    pub is: CurveKind,
    /// Its points, x rising. Where several stand on one x they are samples.
    pub points: Vec<Point>,
    /// Whether points are joined.
    pub joined: bool,
}

/// A point.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Point {
    /// Where, in the x axis's unit.
    pub x: f64,
    /// The figure, in the y axis's unit.
    pub y: f64,
    /// Lower end of its 95 % interval, or of a band of machines.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// How far to trust it, where it is measured.
    pub verdict: Option<Verdict>,
}

impl Point {
    /// A figure without an interval or a verdict.
    pub fn bare(x: f64, y: f64) -> Point {
        Point { x, y, low: None, high: None, verdict: None }
    }
}

impl Lines {
    /// Curves with nothing marked.
    pub fn new(x: Axis, y: Axis, series: Vec<ChartLine>) -> Lines {
        Lines { x, y, series, bands: Vec::new(), marks: Vec::new() }
    }
}

/// A shaded stretch.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Band {
    /// Its name: `L2`; may be empty.
    pub name: String,
    /// Its figure: `3.61 ns`; may be empty.
    pub figure: String,
    /// From this x
    pub from: f64,
    /// to this.
    pub to: f64,
}

impl Band {
    /// Name and figure.
    pub fn label(&self) -> String {
        format!("{} {}", self.name, self.figure).trim().to_owned()
    }
}

/// A mark on x.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Mark {
    /// Its name: `L2 512 KiB`.
    pub name: String,
    /// Where.
    pub x: f64,
}

/// Bars.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Bars {
    /// What the categories are: `length of the gap`.
    pub label: String,
    /// The categories in their order.
    pub categories: Vec<String>,
    /// The length of bars.
    pub value: Axis,
    /// The parts, stacked, each with one value a category.
    pub parts: Vec<BarPart>,
    /// Bars lie, with the names of the categories at the left.
    pub lying: bool,
    /// How many categories at the end have an axis of their own each: they are so
    /// long that the others would not be seen.
    pub apart: usize,
    /// Of what axis the categories are stretches, if they are.
    pub stretches: Option<Stretches>,
}

/// Categories that are stretches of an axis, one after the other.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Stretches {
    /// The axis.
    pub axis: Axis,
    /// Where each begins, and where the last ends.
    pub edges: Vec<f64>,
}

/// A part of all bars.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct BarPart {
    /// Name in the legend.
    pub name: String,
    /// Which of the colours it has in every picture; that of its place, if none.
    #[serde(skip)]
    pub colour: Option<usize>,
    /// One value a category; `None` where it is not known.
    pub values: Vec<Option<f64>>,
}

/// A map.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Heat {
    /// What the columns are.
    pub x_label: String,
    /// Their names.
    pub x: Vec<String>,
    /// What the lines are.
    pub y_label: String,
    /// Their names.
    pub y: Vec<String>,
    /// What the colours are.
    pub value: Axis,
    /// The cells there are; the others were not measured.
    pub cells: Vec<HeatCell>,
    /// Of a map of pairs, each of which stands once: lines and columns are the same CPUs in the order of these
    /// clusters, columns without the last, lines without the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<Clusters>,
}

/// A cell of a map.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct HeatCell {
    /// Column.
    pub x: usize,
    /// Line.
    pub y: usize,
    /// The figure.
    pub value: f64,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// How far to trust it.
    pub verdict: Option<Verdict>,
}

impl HeatCell {
    /// Whether it is not to be relied on.
    pub fn is_doubtful(&self) -> bool {
        self.verdict.is_some_and(|verdict| verdict != Verdict::Ok)
    }
}

/// Figures with intervals, one a line.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Dots {
    /// The common axis.
    pub value: Axis,
    /// The lines from top to bottom.
    pub rows: Vec<Dot>,
    /// What others have is written below each line at its place, in place of a legend; the axis is the whole of a share.
    pub labelled: bool,
}

impl Dots {
    /// Whether its lines are changes with what may be said of each: they are drawn as a forest plot.
    pub fn is_of_change(&self) -> bool {
        self.rows.iter().any(|dot| dot.finding.is_some())
    }

    /// Lines with a legend of what others have.
    pub fn new(value: Axis, rows: Vec<Dot>) -> Dots {
        Dots { value, rows, labelled: false }
    }
}

/// A line with its figure.
#[derive(Serialize, Clone, Debug, Default, PartialEq)]
pub struct Dot {
    /// The row it is of: `memory.latency/L2`.
    pub id: String,
    /// The figure; absent where there is none.
    pub value: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// How far to trust it.
    pub verdict: Option<Verdict>,
    /// Why there is no figure, or the verdict's reason.
    pub reason: String,
    /// What others have there.
    pub others: Vec<Other>,
    /// What may be said of the change, where the figure is a ratio of two sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finding: Option<finding::Verdict>,
}

/// Another's figure.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Other {
    /// Whose: the key of a published table, the name of a run.
    pub name: String,
    /// The figure in the axis's unit.
    pub value: f64,
}

//! A run as a list of figures: a line for each single row, each point of a
//! curve or map, and each row that is not available.

use model::command::Command;
use model::context::Context;
use model::estimate::{Estimate, Verdict};
use model::imported::UNKNOWN;
use model::phrases::several;
use model::repetitions;
use model::run::{Axis, Bound, Cell, Outcome, Row, Run};
use model::stats::Interval;
use model::unit::Unit;
use model::utc;
use std::collections::HashMap;

/// Samples from which a typical figure has a 95 % interval: by order
/// statistics the range of five covers less.
const SAMPLES_FOR_INTERVAL: u32 = 6;

/// One figure, or the reason why there is none.
pub(super) struct ExportLine<'r> {
    pub(super) row: &'r Row,
    /// Where on its axes; empty for a single figure.
    pub(super) at: Vec<AxisPoint>,
    /// The figure, or why the row is not available.
    pub(super) estimate: Result<&'r Estimate, &'r str>,
    /// What its time follows.
    bound: Bound,
    /// Its samples, where the document has them.
    cell: Option<&'r Cell>,
}

pub(super) struct AxisPoint {
    /// `working_set_bytes`, `threads`.
    pub(super) axis: String,
    pub(super) at: u64,
    /// As people write it: `16KiB`.
    pub(super) text: String,
}

/// Every figure of a run, in its order.
pub(super) fn export_lines(run: &Run) -> Vec<ExportLine<'_>> {
    let mut lines = Vec::new();
    for row in &run.rows {
        if let Outcome::Unavailable { reason } = &row.outcome {
            lines.push(ExportLine {
                row,
                at: Vec::new(),
                estimate: Err(reason),
                bound: row.bound,
                cell: None,
            });
        }
        let axes = row.axes();
        // From each CPU to each: two places on one axis.
        let prefixes = match axes[..] {
            [y, x] if y == x => ["y_", "x_"],
            _ => ["", ""],
        };
        lines.extend(row.figures().into_iter().map(|figure| {
            let places = prefixes.into_iter().zip(axes.iter().zip(&figure.at));
            ExportLine {
                row,
                at: places.map(|(prefix, (axis, at))| axis_point(prefix, *axis, *at)).collect(),
                cell: run.cell(&row.id, &figure.at),
                bound: figure.bound,
                estimate: Ok(figure.estimate),
            }
        }));
    }
    lines
}

fn axis_point(prefix: &str, axis: Axis, at: u64) -> AxisPoint {
    // The name that the document has for it.
    let name = serde_json::to_value(axis).ok();
    let name = name.as_ref().and_then(|name| name.as_str());
    AxisPoint { axis: format!("{prefix}{}", name.unwrap_or("at")), at, text: axis.value_text(at) }
}

impl ExportLine<'_> {
    /// The name that no other line of the run has:
    /// `memory.latency/working_set_bytes:16384`.
    pub(super) fn unique_name(&self) -> String {
        let mut name = self.row.id.clone();
        for place in &self.at {
            name.push_str(&format!("/{}:{}", place.axis, place.at));
        }
        name
    }

    /// The verdict as printed, `ok` or another, or `not available`.
    pub(super) fn verdict_text(&self) -> &'static str {
        match self.estimate {
            Ok(estimate) => estimate.verdict.text(),
            Err(_) => "not available",
        }
    }

    /// Whether it can be taken as it stands.
    pub(super) fn is_ok(&self) -> bool {
        self.estimate.is_ok_and(|e| e.verdict == Verdict::Ok)
    }

    /// Why it is not ok, or what it is below; empty where there is nothing to
    /// say.
    pub(super) fn reason(&self) -> String {
        match self.estimate {
            Err(reason) => reason.to_owned(),
            Ok(estimate) => match estimate.below_ns {
                Some(bound) => below(bound, &self.row.unit, &estimate.reason),
                None => estimate.reason.clone(),
            },
        }
    }

    /// The figure to show first, in ns per operation, with its 95 % interval
    /// where it has one. None where it is not available, not known or below
    /// resolution.
    pub(super) fn figure_ns(&self) -> Option<(f64, Option<Interval>)> {
        let estimate = self.estimate.ok()?;
        let ns = estimate.ns().filter(|_| estimate.below_ns.is_none())?;
        Some((ns.value, interval_ns(estimate)))
    }

    /// Why it is not in the file, where the format has no place for what it
    /// is.
    pub(super) fn left_out(&self) -> LeftOut {
        self.left_out_because(match self.estimate {
            Err(reason) => format!("not available here: {reason}"),
            Ok(_) => match self.reason() {
                reason if reason.is_empty() => "no figure".into(),
                reason => format!("no figure: {reason}"),
            },
        })
    }

    pub(super) fn left_out_because(&self, reason: String) -> LeftOut {
        LeftOut { row: self.row.id.clone(), name: self.unique_name(), reason }
    }

    /// Why a format of times has no place for it, if what it counts is no
    /// time: a number of context switches is not that many nanoseconds.
    pub(super) fn must_be_a_time(&self) -> Result<(), LeftOut> {
        let what = match self.row.unit {
            Unit::Count => "a count",
            Unit::Bytes => "a size in bytes",
            Unit::Time | Unit::Bandwidth { .. } | Unit::Frequency => return Ok(()),
        };
        Err(match self.estimate {
            Err(_) => self.left_out(),
            Ok(_) => self.left_out_because(format!("{what}, and this format holds only times")),
        })
    }

    /// The workers' medians, or the samples of a run of one process, ns per
    /// operation; empty where the document has no samples of it. Of quiet
    /// samples only where the figure itself is a quiet one.
    pub(super) fn repetitions_ns(&self, run: &Run) -> Vec<f64> {
        let quiet = self.estimate.is_ok_and(|e| e.quiet.is_some());
        self.of_cell(run, |samples, context| match quiet {
            true => repetitions::of_quiet(samples, context),
            false => repetitions::of_all(samples, context),
        })
    }

    /// The same; the figure itself where the document has no samples of it.
    pub(super) fn repetitions_or(&self, run: &Run, figure_ns: f64) -> Vec<f64> {
        match self.repetitions_ns(run) {
            none if none.is_empty() => vec![figure_ns],
            times_ns => times_ns,
        }
    }

    /// Every ordinary sample, ns per operation.
    pub(super) fn samples_ns(&self, run: &Run) -> Vec<f64> {
        self.of_cell(run, repetitions::each)
    }

    fn of_cell(
        &self,
        run: &Run,
        values: impl Fn(&[model::sample::Sample], &Context) -> Vec<f64>,
    ) -> Vec<f64> {
        // The frequency is that of the canaries, not of its own samples.
        let Some(cell) = self.cell.filter(|_| self.row.unit != Unit::Frequency) else {
            return Vec::new();
        };
        // A document that was read has whole columns.
        let samples = cell.samples.samples().unwrap_or_default();
        values(&samples, &Context::for_cell(run, cell, self.bound))
    }
}

/// The command that a row is of.
pub(super) fn command_of<'r>(run: &'r Run, row: &str) -> Option<&'r Command> {
    let (name, _) = row.strip_prefix("exec.")?.rsplit_once('/')?;
    run.commands.as_ref()?.commands.at_point(name, &[]).next()
}

/// When it was measured: of an imported run as far as its file says.
pub(super) fn started(run: &Run) -> Option<String> {
    match &run.imported {
        Some(imported) => imported.measured_at.clone(),
        None => Some(utc::iso(run.started_unix_ms)),
    }
}

/// What measured: `latlas 0.1.0`, or `hyperfine` where it does not tell which.
pub(super) fn program(run: &Run) -> String {
    match run.program.version.as_str() {
        UNKNOWN => run.program.name.clone(),
        version => format!("{} {version}", run.program.name),
    }
}

/// Why a figure is left out of a format whose times are durations.
pub(super) const BELOW_ZERO: &str = "times below 0 (a difference of loops, or stamps of two \
                                     threads), and in this format times are not";

/// A figure that a format has no place for.
pub(super) struct LeftOut {
    row: String,
    name: String,
    reason: String,
}

/// How many rows of one reason are named.
const NAMED: usize = 3;

/// A line for each reason, with the rows that it is of.
pub(super) fn messages(left_out: Vec<LeftOut>) -> Vec<String> {
    let mut places: HashMap<String, usize> = HashMap::new();
    // Of each reason its rows, each with its points.
    let mut groups: Vec<(String, Vec<(LeftOut, usize)>)> = Vec::new();
    for one in left_out {
        let at = *places.entry(one.reason.clone()).or_insert_with(|| {
            groups.push((one.reason.clone(), Vec::new()));
            groups.len() - 1
        });
        let rows = &mut groups[at].1;
        match rows.last_mut() {
            Some((row, points)) if row.row == one.row => *points += 1,
            _ => rows.push((one, 1)),
        }
    }
    let named = |(one, points): &(LeftOut, usize)| match points {
        1 => one.name.clone(),
        n => format!("{} ({n} points)", one.row),
    };
    let message = |(reason, rows): (String, Vec<(LeftOut, usize)>)| {
        let names: Vec<String> = rows.iter().map(named).collect();
        match &names[..] {
            [only] => format!("{only}: {reason}"),
            all => format!("{} rows: {reason}: {}", all.len(), several(all, NAMED)),
        }
    };
    groups.into_iter().map(message).collect()
}

fn below(bound: f64, unit: &Unit, reason: &str) -> String {
    // The bound of a speed is one of its operation's time.
    let unit = match unit {
        Unit::Time | Unit::Bandwidth { .. } | Unit::Frequency => " ns",
        Unit::Count => "",
        Unit::Bytes => " bytes",
    };
    let below = format!("below resolution: less than {bound}{unit}");
    if reason.is_empty() { below } else { format!("{below}; {reason}") }
}

/// The 95 % interval of the figure to show first. None where the document
/// holds a range instead, or one value.
pub(super) fn interval_ns(estimate: &Estimate) -> Option<Interval> {
    let quiet = estimate.quiet.map(|quiet| quiet.ns);
    quiet.or_else(|| typical_interval_ns(estimate))
}

/// The typical figure's own interval, likewise.
pub(super) fn typical_interval_ns(estimate: &Estimate) -> Option<Interval> {
    let (typical, _) = estimate.headline()?;
    Some(typical.ns).filter(|_| typical.samples >= SAMPLES_FOR_INTERVAL)
}

/// Name of what a row's figures are counted in.
pub(super) fn unit_name(unit: &Unit) -> &'static str {
    match unit {
        Unit::Count => "count",
        other => other.name(),
    }
}

/// A figure with those ends of its interval that there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WithEnds {
    pub(super) value: f64,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

/// An interval of ns per operation in a row's unit. A speed whose time may be 0
/// or less has no upper end, and is a speed all the same.
pub(super) fn in_unit(ns: Interval, unit: &Unit) -> Option<WithEnds> {
    let [low, high] = ends_in_unit([ns.low, ns.high], unit);
    Some(WithEnds { value: value_in_unit(ns.value, unit)?, low, high })
}

/// Two times in ns, the lower first, in a row's unit, the lower first.
pub(super) fn ends_in_unit(ns: [f64; 2], unit: &Unit) -> [Option<f64>; 2] {
    let mut ends = ns.map(|ns| value_in_unit(ns, unit));
    if unit.inverted() {
        ends.reverse();
    }
    ends
}

/// A single value of ns per operation in a row's unit.
pub(super) fn value_in_unit(ns: f64, unit: &Unit) -> Option<f64> {
    let value = unit.of_ns(ns);
    (value.is_finite() && (!unit.inverted() || ns > 0.0)).then_some(value)
}

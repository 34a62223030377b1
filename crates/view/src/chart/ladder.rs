//! The ladder: every single figure on one axis, and the operations that everybody asks for.

use super::curves::of_results;
use super::figure::{PlottedFigure, log};
use super::maker::Maker;
use super::source::{ChartSource, Drawn, Picture};
use super::{Body, Chart, Dot, Dots, Other, Quantity, Section};
use crate::against::Against;
use compare::references::DEFAULT_KEY;
use model::overview;
use model::run::{Outcome, Row};
use model::stats::Interval;
use model::unit::Unit;

/// All of them, in their order.
pub(super) const PICTURES: &[Maker] = &[
    Maker::Own("ladder", draw_times),
    Maker::Own("ladder.bandwidth", speeds),
    Maker::Own("overview", operations),
];

/// Rows that are times.
fn draw_times(source: &ChartSource) -> Drawn {
    let texts = [
        "ladder",
        "The latency ladder",
        "What each operation costs here, with its 95 % interval, and what others have published of \
         the same operation.",
        "time of an operation",
    ];
    rows_of_unit(source, texts, Quantity::Nanoseconds, |unit| *unit == Unit::Time)
}

/// Rows that are speeds.
fn speeds(source: &ChartSource) -> Drawn {
    let texts = [
        "ladder.bandwidth",
        "Speeds",
        "Rows that are bytes a second, each with its 95 % interval. Speeds over a working set or a \
         size have pictures of their own.",
        "bandwidth",
    ];
    let quantity = Quantity::GigabytesPerSecond;
    rows_of_unit(source, texts, quantity, |unit| matches!(unit, Unit::Bandwidth { .. }))
}

/// Rows of a unit; curves and maps have pictures of their own.
fn rows_of_unit(
    source: &ChartSource,
    texts: [&str; 4],
    quantity: Quantity,
    wanted: fn(&Unit) -> bool,
) -> Drawn {
    let tables = source.references.tables.iter().map(Against::Table);
    let against: Vec<Against> = tables.chain(source.drawn_runs()).collect();
    let of_row = |row: &Row| {
        let above = row.estimate().filter(|estimate| estimate.below_ns.is_none());
        let others = others(&against, |one| one.of_row(row));
        dot(row.id.clone(), row, above.and_then(|estimate| estimate.ns()), others)
    };
    let is_single =
        |row: &&Row| !matches!(row.outcome, Outcome::Curve { .. } | Outcome::Map { .. });
    let rows = source.run.rows.iter().filter(|row| wanted(&row.unit)).filter(is_single);
    let dots: Vec<Dot> = rows.map(of_row).collect();
    // What can't be had is no row of a picture of its own.
    if dots.iter().all(|dot| dot.verdict.is_none()) {
        return Err("this run has no such row".into());
    }
    let missing = dots.iter().filter(|dot| dot.verdict.is_none()).count();
    let ids = dots.iter().map(|dot| dot.id.clone()).collect();
    let mut picture = picture(source, texts, quantity, dots, ids);
    if missing > 0 {
        let note =
            format!("{missing} rows are not available here (`latlas show --all` has the reasons).");
        picture.chart.notes.push(note);
    }
    Ok(picture)
}

/// The operations, with the published times of the usual table or of the only one.
fn operations(source: &ChartSource) -> Drawn {
    let lines = overview::ladder(source.run);
    if lines.iter().all(|line| line.ns.is_none()) {
        return Err("this run has none of its operations".into());
    }
    let tables = &source.references.tables;
    let usual = tables.iter().find(|table| table.key == DEFAULT_KEY);
    let table = usual.or_else(|| tables.first().filter(|_| tables.len() == 1));
    let against: Vec<Against> = table.into_iter().map(Against::Table).collect();
    let dots = lines.iter().map(|line| {
        let others = others(&against, |one| one.of_row(line.row));
        dot(line.words(), line.row, line.ns, others)
    });
    let title = format!("What things cost on {}", source.run.machine.name());
    let caption = "One operation each, on a logarithmic axis.";
    let texts = ["overview", &title, caption, "time of an operation"];
    let ids = lines.iter().map(|line| line.row.id.clone()).collect();
    Ok(picture(source, texts, Quantity::Nanoseconds, dots.collect(), ids))
}

fn picture(
    source: &ChartSource,
    [id, title, caption, axis]: [&str; 4],
    quantity: Quantity,
    dots: Vec<Dot>,
    rows: Vec<String>,
) -> Picture {
    let notes = of_results(source.run, dots.iter().filter_map(|dot| dot.verdict));
    let body = Body::Dots(Dots::new(log(axis, quantity), dots));
    let [id, title, caption] = [id, title, caption].map(str::to_owned);
    Picture { chart: Chart { id, title, caption, section: Section::Ladder, body, notes }, rows }
}

/// The values of others on a line.
pub(super) fn others(against: &[Against], value: impl Fn(&Against) -> Option<f64>) -> Vec<Other> {
    let other = |one: &Against| Some(Other { name: one.legend_name().into(), value: value(one)? });
    against.iter().filter_map(other).collect()
}

/// A line with what is known of a row, or why nothing is.
pub(super) fn dot(id: String, row: &Row, ns: Option<Interval>, others: Vec<Other>) -> Dot {
    let reason = match (&row.outcome, row.estimate()) {
        (Outcome::Unavailable { reason }, _) => format!("not available here: {reason}"),
        (_, Some(estimate)) => match estimate.below_ns {
            Some(ns) => format!("below resolution: less than {}", model::figure::time(ns)),
            None => estimate.reason.clone(),
        },
        _ => String::new(),
    };
    let figure = ns.and_then(|ns| PlottedFigure::from_interval(&ns, &row.unit));
    Dot {
        id,
        value: figure.map(|f| f.value),
        low: figure.and_then(|f| f.low),
        high: figure.and_then(|f| f.high),
        verdict: row.estimate().map(|estimate| estimate.verdict),
        reason,
        others,
        finding: None,
    }
}

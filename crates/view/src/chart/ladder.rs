//! Every single figure on one axis: the latency ladder.

use super::curves::of_results;
use super::figure::{Figure, log};
use super::maker::Maker;
use super::source::{Drawn, Picture, Source};
use super::{Body, Chart, Dot, Dots, Other, Quantity, Section};
use compare::references::{Reference, ReferenceRow};
use model::run::{Outcome, Row};
use model::unit::Unit;

/// All of them, in their order.
pub(super) const PICTURES: &[Maker] =
    &[Maker::Own("ladder", times), Maker::Own("ladder.bandwidth", speeds)];

/// Rows that are times.
fn times(source: &Source) -> Drawn {
    draw(
        source,
        |unit| *unit == Unit::Time,
        |row| row.ns,
        Chart {
            id: "ladder".into(),
            title: "The latency ladder".into(),
            caption: "What each operation costs here, with its 95 % interval, and what others \
                      have published of the same operation."
                .into(),
            section: Section::Ladder,
            body: Body::Dots(Dots {
                value: log("time of an operation", Quantity::Nanoseconds),
                rows: Vec::new(),
            }),
            notes: Vec::new(),
        },
    )
}

/// Rows that are speeds.
fn speeds(source: &Source) -> Drawn {
    draw(
        source,
        |unit| matches!(unit, Unit::Bandwidth { .. }),
        |row| row.mb_per_s.map(|mb| mb / 1000.0),
        Chart {
            id: "ladder.bandwidth".into(),
            title: "Speeds".into(),
            caption: "Rows that are bytes a second, each with its 95 % interval. Speeds over a \
                      working set or a size have pictures of their own."
                .into(),
            section: Section::Ladder,
            body: Body::Dots(Dots {
                value: log("bandwidth", Quantity::GigabytesPerSecond),
                rows: Vec::new(),
            }),
            notes: Vec::new(),
        },
    )
}

fn draw(
    source: &Source,
    wanted: fn(&Unit) -> bool,
    published: fn(&ReferenceRow) -> Option<f64>,
    mut chart: Chart,
) -> Drawn {
    let dots: Vec<Dot> = source
        .run
        .rows
        .iter()
        .filter(|row| wanted(&row.unit))
        .filter_map(|row| dot(row, source, published))
        .collect();
    // What can't be had is no row of a picture of its own.
    if dots.iter().all(|dot| dot.verdict.is_none()) {
        return Err("this run has no such row".into());
    }
    let rows = dots.iter().map(|dot| dot.id.clone()).collect();
    let verdicts = dots.iter().filter_map(|dot| dot.verdict);
    chart.notes.extend(of_results(source.run, verdicts));
    let missing = dots.iter().filter(|dot| dot.verdict.is_none()).count();
    if missing > 0 {
        chart.notes.push(format!("{missing} rows are not available here; each says why."));
    }
    if let Body::Dots(body) = &mut chart.body {
        body.rows = dots;
    }
    Ok(Picture { chart, rows })
}

/// A row's line; curves and maps have pictures of their own.
fn dot(row: &Row, source: &Source, published: fn(&ReferenceRow) -> Option<f64>) -> Option<Dot> {
    let published_by = |table: &Reference| {
        let found = table.row(&row.id).filter(|row| row.doubtful.is_none())?;
        Some(Other { name: table.key.clone(), value: published(found)? })
    };
    let of_run = |(name, run): &(String, &model::run::Run)| {
        let other = run.row(&row.id)?;
        let figure = Figure::first(other.estimate()?, &other.unit)?;
        Some(Other { name: name.clone(), value: figure.value })
    };
    let tables = source.references.tables.iter().filter_map(published_by);
    let others: Vec<Other> = tables.chain(source.others.iter().filter_map(of_run)).collect();
    let without = |verdict, reason| Dot {
        id: row.id.clone(),
        verdict,
        reason,
        others: others.clone(),
        ..Dot::default()
    };
    match &row.outcome {
        Outcome::Unavailable { reason } => {
            Some(without(None, format!("not available here: {reason}")))
        }
        Outcome::Figure(estimate) | Outcome::Level { estimate, .. } => {
            if let Some(below) = estimate.below_ns {
                let reason = format!("below resolution: less than {}", model::figure::time(below));
                return Some(without(Some(estimate.verdict), reason));
            }
            Some(Figure::dot(&row.id, estimate, &row.unit, others))
        }
        Outcome::Curve { .. } | Outcome::Map { .. } => None,
    }
}

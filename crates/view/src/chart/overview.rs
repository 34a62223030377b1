//! The operations that everybody asks for, in plain words, on one axis.

use super::curves::of_results;
use super::figure::log;
use super::maker::Maker;
use super::source::{Drawn, Picture, Source};
use super::{Body, Chart, Dot, Dots, Other, Quantity, Section};
use crate::render::short_title;
use compare::references::DEFAULT_KEY;
use model::overview::{Line, lines};
use model::run::Outcome;

/// The picture.
pub(super) const PICTURES: &[Maker] = &[Maker::Own("overview", draw)];

fn draw(source: &Source) -> Drawn {
    let mut lines = lines(source.run);
    if lines.iter().all(|line| line.ns.is_none()) {
        return Err("this run has none of its operations".into());
    }
    let cost = |line: &Line| line.ns.map_or(f64::INFINITY, |ns| ns.value);
    lines.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    let dots: Vec<Dot> = lines.iter().map(|line| dot(line, source)).collect();
    let verdicts = lines.iter().filter_map(|line| line.verdict);
    let chart = Chart {
        id: "overview".into(),
        title: format!("What things cost on {}", source.run.machine.name()),
        caption: "One operation each, on a logarithmic axis.".into(),
        section: Section::Ladder,
        notes: of_results(source.run, verdicts),
        body: Body::Dots(Dots {
            value: log("time of an operation", Quantity::Nanoseconds),
            rows: dots,
        }),
    };
    let rows = lines.iter().map(|line| line.row.id.clone()).collect();
    Ok(Picture { chart, rows })
}

/// An operation's line, with the published figure of the usual table or of the
/// only one.
fn dot(line: &Line, source: &Source) -> Dot {
    let tables = &source.references.tables;
    let usual = tables.iter().find(|table| table.key == DEFAULT_KEY);
    let table = usual.or_else(|| tables.first().filter(|_| tables.len() == 1));
    let published = table.and_then(|table| {
        Some(Other {
            name: short_title(&table.key).to_owned(),
            value: table.comparable_ns(&line.row.id)?,
        })
    });
    let reason = match &line.row.outcome {
        Outcome::Unavailable { reason } => format!("not available here: {reason}"),
        _ => line.row.estimate().map_or(String::new(), |e| e.reason.clone()),
    };
    Dot {
        id: line.words(),
        value: line.ns.map(|ns| ns.value),
        low: line.ns.map(|ns| ns.low),
        high: line.ns.map(|ns| ns.high),
        verdict: line.verdict,
        reason,
        others: published.into_iter().collect(),
    }
}

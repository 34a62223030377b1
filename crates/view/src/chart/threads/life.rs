//! One thread's life, part by part.

use super::super::curves::hollow;
use super::super::figure::{linear, log};
use super::super::ladder::{dot, others};
use super::super::source::{ChartSource, Drawn, Picture, why_not};
use super::super::{BarPart, Bars, Body, Chart, Dot, Dots, Quantity, Section};
use crate::against::Against;
use model::estimate::Estimate;
use model::run::Run;
use model::share::percent;
use model::story::lifecycle::{PHASES, PROBE, conclusions};

/// A mode whose lives take so many times those of all is drawn apart: beside it
/// these would not be seen.
const LONG: f64 = 3.0;

fn part_id(part: &str) -> String {
    format!("{PROBE}/{part}")
}

fn estimate<'r>(run: &'r Run, part: &str) -> Option<&'r Estimate> {
    run.row(&part_id(part))?.estimate()
}

/// The parts that there are a figure of, or why there is none.
fn known(source: &ChartSource) -> Result<Vec<(&'static str, f64)>, String> {
    let known: Vec<(&str, f64)> = PHASES
        .iter()
        .filter_map(|part| Some((*part, estimate(source.run, part)?.ns()?.value)))
        .collect();
    match known.len() == PHASES.len() {
        true => Ok(known),
        false => Err(why_not(source.run, &PHASES.map(part_id).each_ref().map(String::as_str))),
    }
}

/// A life to scale: the parts after each other, of all lives, of each way in
/// which they ran, and of other runs.
pub(super) fn life(source: &ChartSource) -> Drawn {
    let known = known(source)?;
    let all_ns: f64 = known.iter().map(|(_, ns)| ns).sum();
    let mut columns: Vec<(String, Vec<Option<f64>>)> =
        vec![("all lives".into(), known.iter().map(|(_, ns)| Some(*ns)).collect())];
    let mut apart = Vec::new();
    for name in modes(source.run) {
        let of = |part: &&str| {
            let modes = &estimate(source.run, part)?.modes;
            modes.iter().find(|mode| mode.name == name)
        };
        let share = PHASES.iter().find_map(of).map_or(0.0, |mode| mode.share);
        let values = PHASES.iter().map(|part| Some(of(part)?.typical.ns.value));
        let values: Vec<Option<f64>> = values.collect();
        let is_long = values.iter().flatten().sum::<f64>() > LONG * all_ns;
        let to = if is_long { &mut apart } else { &mut columns };
        to.push((format!("{name} ({})", percent(share)), values));
    }
    for (name, run) in &source.others {
        let of = |part: &&str| Some(estimate(run, part)?.ns()?.value);
        let values: Vec<Option<f64>> = PHASES.iter().map(of).collect();
        if values.iter().any(Option::is_some) {
            columns.push((name.clone(), values));
        }
    }
    let mut published = Vec::new();
    for table in &source.references.tables {
        let of = |part: &&str| table.comparable_ns(&part_id(part));
        let values: Vec<Option<f64>> = PHASES.iter().map(of).collect();
        if values.iter().any(Option::is_some) {
            let none = PHASES.iter().zip(&values).filter(|(_, ns)| ns.is_none());
            let none: Vec<&str> = none.map(|(part, _)| *part).collect();
            published.push(format!("{}: no published figure of {}.", table.title, none.join(", ")));
            columns.push((table.title.clone(), values));
        }
    }
    let own_axis = apart.len();
    columns.extend(apart);
    let parts = PHASES.iter().enumerate().map(|(at, part)| BarPart {
        name: (*part).into(),
        colour: None,
        values: columns.iter().map(|(_, values)| values[at]).collect(),
    });
    let body = Body::Bars(Bars {
        label: "lives".into(),
        categories: columns.iter().map(|(name, _)| name.clone()).collect(),
        value: linear("time from median to median", Quantity::Nanoseconds),
        parts: parts.collect(),
        lying: true,
        apart: own_axis,
        stretches: None,
    });
    let mut notes = conclusions(source.run);
    let apart = &columns[columns.len() - own_axis..];
    notes.extend(
        apart.iter().map(|(name, _)| format!("{name}: drawn apart, on an axis of its own.")),
    );
    notes.extend(published);
    notes.push(
        "Median of each phase, end to end. 'procedure' is the thread's own work, not overhead."
            .into(),
    );
    Ok(Picture {
        chart: Chart {
            id: "thread.lifecycle".into(),
            title: "The life of a thread".into(),
            caption: "From the call that creates a thread to the return of the one that joins it: \
                      creating it, its start, its procedure, its end, and the join."
                .into(),
            section: Section::Threads,
            body,
            notes,
        },
        rows: phase_rows(),
    })
}

fn phase_rows() -> Vec<String> {
    PHASES.iter().map(|part| part_id(part)).collect()
}

/// Names of the modes of any part, in order of their first mention.
fn modes(run: &Run) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in PHASES {
        let modes = estimate(run, part).map_or(&[][..], |e| &e.modes);
        for mode in modes {
            if !names.contains(&mode.name) {
                names.push(mode.name.clone());
            }
        }
    }
    // One mode alone is all lives.
    if names.len() < 2 { Vec::new() } else { names }
}

/// The parts with their intervals.
pub(super) fn parts(source: &ChartSource) -> Drawn {
    known(source)?;
    let all = PHASES.iter().copied().chain(["parts", "overhead"]);
    let tables = source.references.tables.iter().map(Against::Table);
    let against: Vec<Against> = tables.chain(source.drawn_runs()).collect();
    let mut dots = Vec::new();
    for part in all {
        let row = source.run.row(&part_id(part));
        let Some((row, estimate)) = row.and_then(|row| Some((row, row.estimate()?))) else {
            continue;
        };
        let others = others(&against, |one| one.of_row(row));
        dots.push(dot(row.id.clone(), row, estimate.ns(), others));
    }
    let notes = hollow(dots.iter().filter_map(|dot| dot.verdict));
    Ok(Picture {
        chart: Chart {
            id: "thread.lifecycle.parts".into(),
            title: "Phases of a thread".into(),
            caption: "Median of each part with its 95 % interval; parts: create, start, end and \
                      join of each life added up; overhead: the whole without the procedure run \
                      inline."
                .into(),
            section: Section::Threads,
            body: Body::Dots(Dots::new(axis(&dots), dots)),
            notes: notes.into_iter().collect(),
        },
        rows: phase_rows(),
    })
}

/// Logarithmic, but where a start lies before the return of the create call.
fn axis(dots: &[Dot]) -> super::super::Axis {
    let below = dots.iter().filter_map(|dot| dot.value).any(|ns| ns <= 0.0);
    match below {
        true => linear("time", Quantity::Nanoseconds),
        false => log("time", Quantity::Nanoseconds),
    }
}

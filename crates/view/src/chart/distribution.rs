//! The samples of one row, for rows that no other picture draws.

use super::bins::{BINS, bin_names, own_cell};
use super::figure::{linear, log};
use super::source::{Picture, why_not};
use super::{Axis, BarPart, Bars, Body, Chart, Quantity, Section, Stretches};
use crate::grouped::grouped;
use model::figure::value_text;
use model::run::{Cell, Regime, Run};
use model::sample::{Sample, flag};
use model::story::histogram::{Bins, values};
use model::unit::Unit;

/// How the samples of a row of a single figure are spread: by mode where its
/// operations ran in several, else by whether the machine was quiet.
///
/// # Errors
/// Why there is nothing to draw, ready to stand behind the row's name.
pub fn of_row(run: &Run, id: &str) -> Result<Picture, String> {
    let Some(cell) = own_cell(run, id) else {
        return Err(match run.row(id) {
            Some(_) => "it has no samples of its own in the document".into(),
            None => why_not(run, &[id]),
        });
    };
    let unit = run.row(id).map_or(Unit::Time, |row| row.unit);
    let ns = values(cell, run.clock.ns_per_tick).map_err(|damage| damage.to_string())?;
    let bins = Bins::over(ns.iter().copied(), BINS).ok_or("no sample is above 0")?;
    let samples = cell.samples.samples().map_err(|damage| damage.to_string())?;
    let quiet = run.gate.quiet(&samples);
    let named = samples.iter().zip(quiet).zip(&ns);
    let parts = grouped(named.map(|((sample, quiet), &ns)| (group(cell, sample, quiet), ns)));
    let mut notes = vec![format!("{} samples.", ns.len())];
    let below = bins.count_values(&ns).not_above_zero;
    if below > 0 {
        notes.push(format!("{below} samples of 0 or less have no place in bins of equal factors."));
    }
    if let Some(estimate) = run.row(id).and_then(|row| row.estimate()) {
        let figure = estimate.ns().map(|ns| value_text(&unit, unit.of_ns(ns.value)));
        let figure = figure.unwrap_or("none".into());
        let reason = match estimate.reason.as_str() {
            "" => String::new(),
            reason => format!(" ({reason})"),
        };
        let verdict = estimate.verdict.text();
        notes.push(format!("The row's figure is {figure}: {verdict}{reason}."));
    }
    let parts = parts.into_iter().map(|(name, ns)| {
        let counts = bins.count_values(&ns).bins;
        BarPart { name, colour: None, values: counts.into_iter().map(|n| Some(n as f64)).collect() }
    });
    Ok(Picture {
        chart: Chart {
            id: id.replace('/', "."),
            title: format!("Samples of {id}"),
            caption: match unit.is_time() {
                true => "How many samples took how long, in bins of equal factors.",
                false => "How many samples were how much, in bins of equal factors.",
            }
            .into(),
            section: Section::Ladder,
            body: Body::Bars(Bars {
                label: match unit {
                    Unit::Bytes => "bytes, from",
                    Unit::Count => "count, from",
                    _ => "time of an operation, from",
                }
                .into(),
                categories: bin_names(&bins, &unit),
                value: linear("samples", Quantity::Count),
                parts: parts.collect(),
                lying: false,
                apart: 0,
                stretches: Some(Stretches {
                    axis: of_samples(&unit),
                    edges: (0..=bins.bin_count()).map(|bin| bins.bin_start(bin)).collect(),
                }),
            }),
            notes,
        },
        rows: vec![id.into()],
    })
}

/// The axis of a row's samples: of a speed still times.
fn of_samples(unit: &Unit) -> Axis {
    match unit {
        Unit::Bytes => log("bytes", Quantity::Bytes),
        Unit::Count => log("count", Quantity::Count),
        Unit::Time | Unit::Bandwidth { .. } | Unit::Frequency => {
            log("time of an operation", Quantity::Nanoseconds)
        }
    }
}

/// What a sample is drawn as.
fn group(cell: &Cell, sample: &Sample, quiet: bool) -> String {
    if let Some(mode) = cell.modes.get(usize::from(sample.evidence.mode)) {
        return mode.clone();
    }
    match cell.regime {
        Regime::Gated if quiet && sample.has(flag::WAITED_FOR_QUIET) => "quiet, waited for",
        Regime::Gated if quiet => "quiet",
        Regime::Gated => "not quiet",
        Regime::Distribution | Regime::Stamped => "samples",
    }
    .into()
}

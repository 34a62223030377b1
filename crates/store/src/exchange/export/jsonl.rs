//! JSON lines: one object a figure, each whole in itself.

use super::line::{
    Line, WithEnds, ends_in_unit, in_unit, program, started, typical_interval_ns, unit_name,
    value_in_unit,
};
use model::estimate::{Estimate, Mode, Tail};
use model::run::Run;
use model::stats::Interval;
use model::unit::Unit;
use serde::Serialize;
use std::collections::BTreeMap;

/// A figure with all that is known of it.
#[derive(Serialize)]
pub(super) struct Object<'r> {
    row: &'r str,
    point: BTreeMap<&'r str, u64>,
    unit: &'static str,
    quiet: Option<WithEnds>,
    typical: Option<Typical<'r>>,
    cycles: Option<Interval>,
    minimum_ns: Option<f64>,
    below_ns: Option<f64>,
    quiet_share: Option<f64>,
    quiet_samples: Option<u32>,
    workers: Option<u32>,
    tail: Option<Tail>,
    modes: &'r [Mode],
    verdict: &'static str,
    reason: String,
    notes: &'r [String],
    run: &'r str,
    started: Option<String>,
    program: String,
    machine: Option<&'r str>,
    partial: Option<&'r str>,
}

#[derive(Serialize)]
struct Typical<'r> {
    mode: Option<&'r str>,
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    p10: Option<f64>,
    p90: Option<f64>,
    samples: u32,
}

pub(super) fn text(run: &Run, lines: &[Line]) -> serde_json::Result<String> {
    let mut text = String::new();
    for line in lines {
        text.push_str(&serde_json::to_string(&object(run, line))?);
        text.push('\n');
    }
    Ok(text)
}

pub(super) fn object<'r>(run: &'r Run, line: &'r Line) -> Object<'r> {
    let unit = &line.row.unit;
    let estimate = line.estimate.ok();
    let shown = estimate.filter(|e| e.below_ns.is_none());
    let quiet = shown.and_then(|e| e.quiet);
    Object {
        row: &line.row.id,
        point: line.at.iter().map(|place| (place.axis.as_str(), place.at)).collect(),
        unit: unit_name(unit),
        quiet: shown.and_then(|e| in_unit(e.quiet?.ns, unit)),
        typical: shown.and_then(|e| typical(e, unit)),
        cycles: quiet.and_then(|q| q.cycles),
        minimum_ns: quiet.map(|q| q.minimum_ns),
        below_ns: estimate.and_then(|e| e.below_ns),
        quiet_share: estimate.and_then(|e| e.quiet_share),
        quiet_samples: estimate.and_then(|e| e.quiet).map(|q| q.samples),
        workers: estimate.and_then(|e| e.quiet).map(|q| q.workers),
        tail: estimate.and_then(|e| e.tail),
        modes: estimate.map_or(&[], |e| &e.modes),
        verdict: line.verdict(),
        reason: line.reason(),
        notes: &line.row.notes,
        run: &run.id,
        started: started(run),
        program: program(run),
        machine: run.machine.cpu_model.get().map(String::as_str),
        partial: run.partial.as_deref(),
    }
}

fn typical<'r>(estimate: &'r Estimate, unit: &Unit) -> Option<Typical<'r>> {
    let (t, mode) = estimate.headline()?;
    let ends = typical_interval_ns(estimate).and_then(|ns| in_unit(ns, unit));
    let quantiles = match t.samples > 1 {
        true => ends_in_unit([t.p10_ns, t.p90_ns], unit),
        false => [None, None],
    };
    Some(Typical {
        mode,
        value: value_in_unit(t.ns.value, unit),
        low: ends.and_then(|i| i.low),
        high: ends.and_then(|i| i.high),
        p10: quantiles[0],
        p90: quantiles[1],
        samples: t.samples,
    })
}

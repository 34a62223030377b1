//! Judges kept runs anew: learns the gate from the samples of each document and
//! sets the quiet figures that come of it beside those it holds.
//!
//! `cargo run -p latlas-model --example rejudge -- RUN.json...` (uncompressed
//! documents, as `latlas run --out RUN.json` writes them).

use model::context::Context;
use model::estimator::estimate;
use model::machine_readings::MachineReadings;
use model::run::{Bound, Outcome, Regime, Run};
use model::sample::Sample;
use model::stats;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let run: Run = serde_json::from_slice(&std::fs::read(&path)?)?;
        println!("{path}: schema {}", run.schema);
        judge(&run)?;
    }
    Ok(())
}

fn judge(run: &Run) -> Result<(), String> {
    let mut cells = Vec::new();
    for cell in &run.cells {
        cells.push((cell, cell.samples.samples()?));
    }
    let all: Vec<Sample> = cells.iter().flat_map(|(_, s)| s.iter().copied()).collect();
    let gate = MachineReadings::of(&all).gate(None);
    let clock = MachineReadings::of(&all).core_clock();
    println!("  {gate:?}");
    let (mut changes, mut gone, mut gained) = (Vec::new(), 0, 0);
    for (cell, samples) in &cells {
        let Some((bound, held)) = held(run, &cell.row, &cell.at) else {
            continue;
        };
        if cell.regime != Regime::Gated {
            continue;
        }
        let context = Context {
            contradiction: None,
            gate: &gate,
            core_clock: clock.as_ref(),
            ns_per_tick: run.clock.ns_per_tick,
            resolution_ns: run.clock.resolution_ns.unwrap_or(0.0),
            ops_per_turn: cell.ops_per_turn,
            bound,
            regime: cell.regime,
            workers: run.plan.workers,
            modes: &cell.modes,
        };
        let anew = estimate(samples, &context).quiet.map(|q| q.ns.value);
        match (held, anew) {
            (Some(held), Some(anew)) => changes.push((anew / held - 1.0, &cell.row, &cell.at)),
            (Some(_), None) => gone += 1,
            (None, Some(_)) => gained += 1,
            (None, None) => {}
        }
    }
    let off = stats::sorted(changes.iter().map(|(change, ..)| change.abs()));
    let quantile = |q| stats::quantile_sorted(&off, q).unwrap_or(f64::NAN) * 100.0;
    println!(
        "  {} quiet figures of both; changed by {:.3} % (median), {:.2} % (90 %); without one now {gone}, with one now {gained}",
        off.len(),
        quantile(0.5),
        quantile(0.9)
    );
    changes.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    for (change, row, at) in changes.iter().take(5) {
        println!("  {:+.2} %  {row} {at:?}", change * 100.0);
    }
    Ok(())
}

/// What a row's time follows, and the quiet figure that the document holds, ns.
fn held(run: &Run, row: &str, at: &[u64]) -> Option<(Bound, Option<f64>)> {
    let row = run.row(row)?;
    let estimate = match &row.outcome {
        Outcome::Figure(estimate) | Outcome::Level { estimate, .. } => estimate,
        Outcome::Curve { points, .. } => &points.iter().find(|p| at == [p.x])?.estimate,
        Outcome::Map { points, .. } => &points.iter().find(|p| at == [p.y, p.x])?.estimate,
        Outcome::Unavailable { .. } => return None,
    };
    Some((row.bound_at(at), estimate.quiet.map(|q| q.ns.value)))
}

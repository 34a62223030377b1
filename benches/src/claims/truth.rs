//! Cycles of the cpu rows against a published table of this family, and three
//! checks that need no table.

use crate::bars::Bars;
use crate::ours::{self, EMPTY, MeasureTask};
use crate::table::{TextTable, three_digits};
use anyhow::{Context, bail};
use model::run::{Row, Run};
use serde::Deserialize;
use std::collections::BTreeMap;

const DATA: &str = include_str!("../../data/zen3.toml");

#[derive(clap::Args)]
pub struct Arguments {
    /// Budget of the measuring, s
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
    /// The CPU to measure on; chosen if absent
    #[arg(long)]
    cpu: Option<u32>,
    /// Also on another family than the table's
    #[arg(long)]
    any_family: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    family: String,
    microarchitecture: String,
    source: BTreeMap<String, PublishedSource>,
    row: Vec<TruthEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedSource {
    title: String,
    note: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TruthEntry {
    id: String,
    form: String,
    quantity: String,
    operands: String,
    /// Source by source: one figure, or the range that the source gives for
    /// the operands in question.
    cycles: BTreeMap<String, Vec<f64>>,
    /// Why a figure outside the table is right all the same.
    explained: Option<String>,
}

/// Which published figure counts: the first source that has the form, in
/// order of trust.
const TRUST: [&str; 3] = ["instlatx64", "osaca", "llvm"];

pub fn check_truth(arguments: &Arguments) -> anyhow::Result<Bars> {
    let published: Published = toml::from_str(DATA).context("data/zen3.toml")?;
    let run = ours::measure_in_child(&MeasureTask {
        budget_s: Some(arguments.seconds),
        pin: arguments.cpu,
        ..MeasureTask::for_rows(&["cpu.*", EMPTY])
    })?;
    let here = run.machine.microarchitecture.get().cloned();
    let same = here.as_deref() == Some(published.microarchitecture.as_str());
    if !same && !arguments.any_family {
        bail!(
            "the table is of {}, this machine is {}; --any-family compares all the same",
            published.family,
            here.as_deref().unwrap_or("unknown")
        );
    }
    let latency = ours::measure_in_child(&MeasureTask {
        budget_s: Some(arguments.seconds),
        pin: arguments.cpu,
        ..MeasureTask::for_rows(&["memory.latency"])
    })?;

    let mut bars = Bars::new();
    truth_table(&run, &published, &mut bars);
    checks(&run, &latency, &mut bars);
    Ok(bars)
}

fn cycles(row: &Row) -> Option<f64> {
    Some(row.estimate()?.quiet?.cycles?.value)
}

fn truth_table(run: &Run, published: &Published, bars: &mut Bars) {
    let mut table = TextTable::new(&[
        "row", "cycles", "table", "ratio", "judged", "verdict", "source", "quantity", "form",
    ]);
    let mut notes = Vec::new();
    for row in run.rows.iter().filter(|row| row.id != EMPTY) {
        let Some(entry) = published.row.iter().find(|entry| entry.id == row.id) else {
            println!("{}: in no table, not judged", row.id);
            continue;
        };
        let found = TRUST.iter().find_map(|source| Some((*source, entry.cycles.get(*source)?)));
        let Some((source, range)) = found else {
            continue;
        };
        let low = range.iter().copied().fold(f64::INFINITY, f64::min);
        let high = range.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let measured = cycles(row);
        // To the nearest figure of the range.
        let ratio = measured.map(|c| c / c.clamp(low, high));
        let inside = ratio.is_some_and(|r| (0.9..=1.1).contains(&r));
        let judged = match (inside, &entry.explained) {
            (true, _) => "inside",
            (false, Some(_)) => "explained",
            (false, None) => "OUTSIDE",
        };
        if !inside {
            let why = entry.explained.as_deref().unwrap_or("no explanation");
            notes.push(format!("{}: {why}", row.id));
        }
        bars.hold(
            judged != "OUTSIDE",
            format!(
                "{}: {} cycles, {source} {}",
                row.id,
                three_digits(measured),
                range_text(low, high)
            ),
        );
        let verdict = row.estimate().map_or("-", |e| e.verdict.text());
        table.add_line(vec![
            row.id.clone(),
            three_digits(measured),
            range_text(low, high),
            ratio.map_or_else(|| "-".into(), |r| format!("{r:.3}")),
            judged.into(),
            verdict.into(),
            source.into(),
            entry.quantity.clone(),
            entry.form.clone(),
        ]);
    }
    table.print(&format!("Compared with published tables of {}", published.family));
    for (key, source) in &published.source {
        println!("{key}: {}. {}", source.title, source.note);
    }
    println!("\nOperands:");
    for entry in &published.row {
        println!("{}: {}", entry.id, entry.operands);
    }
    println!("\nNot inside the table:");
    for note in notes {
        println!("{note}");
    }
}

fn range_text(low: f64, high: f64) -> String {
    if low == high { format!("{low}") } else { format!("{low} to {high}") }
}

fn checks(run: &Run, latency: &Run, bars: &mut Bars) {
    let of = |id: &str| run.row(id).and_then(cycles);
    match run.row(EMPTY).and_then(Row::estimate) {
        Some(estimate) if estimate.quiet.is_some() => {
            let nothing = estimate.below_ns.is_some();
            let words = if nothing { "below resolution" } else { "distinguishable from 0" };
            bars.hold(nothing, format!("empty body: {} cycles, {words}", three_digits(of(EMPTY))));
        }
        _ => bars.hold(false, "empty body: no figure"),
    }
    let adds = of("cpu.mul_i64").zip(of("cpu.add_i64")).map(|(mul, add)| mul / add);
    bars.within("multiply in adds", adds, 2.97, 3.03);
    let l1 = latency.row("memory.latency/L1").and_then(cycles);
    bars.within("L1 load in cycles", l1, 3.92, 4.08);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_is_of_rows_that_exist() {
        let published: Published = toml::from_str(DATA).expect("readable");
        let known: BTreeSet<String> =
            ours::catalogue().iter().flat_map(meter::probe::Probe::row_ids).collect();
        let mut seen = BTreeSet::new();
        for entry in &published.row {
            assert!(known.contains(&entry.id), "{}", entry.id);
            assert!(seen.insert(&entry.id), "{} stands twice", entry.id);
            for (source, range) in &entry.cycles {
                assert!(published.source.contains_key(source), "{source}");
                assert!(TRUST.contains(&source.as_str()), "{source}");
                assert!(matches!(range.len(), 1 | 2), "{}", entry.id);
            }
            assert!(!entry.cycles.is_empty(), "{}", entry.id);
        }
    }
}

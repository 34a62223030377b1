//! Judges stored runs again by today's rules, from their samples, and prints
//! what the figures of the documents and those of today are worth: how often
//! an interval holds the other runs' median, how many rows are flagged, how
//! many keep their verdict from run to run, how far runs spread.

use anyhow::Context;
use bench::rejudge::{Figures, Judged, Summary};
use bench::table::{Table, percent};
use clap::Parser;
use model::run::Run;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;

/// Judges stored runs (FILE.json of `latlas run --out`) by today's rules
#[derive(Parser)]
struct Arguments {
    /// Print each row: its figures run by run, and its verdicts
    #[arg(long)]
    rows: bool,
    /// Documents, in the order in which they were made
    #[arg(required = true)]
    documents: Vec<PathBuf>,
}

fn main() -> ExitCode {
    match judge(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("rejudge: {e:#}");
            ExitCode::FAILURE
        }
    }
}

fn judge(arguments: &Arguments) -> anyhow::Result<()> {
    let catalogue = probes::catalogue();
    let (mut before, mut today) = (Vec::new(), Vec::new());
    for path in &arguments.documents {
        let run: Run = atlas::store::read(path)?;
        let rows = meter::assemble::again(&catalogue, &run)
            .map_err(anyhow::Error::msg)
            .with_context(|| path.display().to_string())?;
        let again = Judged::of(&rows, None);
        before.push(Judged::of(&run.rows, Some(&again)));
        today.push(again);
    }
    for (name, runs) in [("as stored", &before), ("judged again", &today)] {
        print(name, &bench::rejudge::by_family(runs));
    }
    if arguments.rows {
        print_rows(&before, &today);
    }
    Ok(())
}

fn print(name: &str, families: &BTreeMap<String, Summary>) {
    let mut table = Table::new(&[
        "family",
        "rows",
        "held",
        "held, typical",
        "held, p99",
        "half width",
        "flagged",
        "two states",
        "can't tell",
        "same verdict",
        "spread",
        "spread, ns",
        "spread, cycles",
        "ok and > 5 % off",
    ]);
    for (family, summary) in families {
        table.line(vec![
            family.clone(),
            summary.rows.to_string(),
            percent(summary.held.share()),
            percent(summary.typical.share()),
            percent(summary.p99.share()),
            percent(summary.half_width()),
            percent(summary.flagged.share()),
            percent(summary.two_states.share()),
            percent(summary.cannot_tell.share()),
            percent(summary.same_verdict.share()),
            percent(summary.spread()),
            percent(summary.spread_ns()),
            percent(summary.spread_cycles()),
            summary.ok_and_off.hits.to_string(),
        ]);
    }
    table.print(name);
}

fn print_rows(before: &[Judged], today: &[Judged]) {
    let mut table = Table::new(&[
        "row",
        "as stored",
        "judged again",
        "figures, cycles or ns",
        "ns",
        "cycles",
    ]);
    for id in today
        .iter()
        .flat_map(|run| run.0.keys())
        .collect::<BTreeSet<_>>()
    {
        let of = |runs: &[Judged], text: fn(&Figures) -> String| {
            let texts: Vec<String> = runs
                .iter()
                .map(|run| run.0.get(id).map_or("-".into(), text))
                .collect();
            texts.join(" ")
        };
        table.line(vec![
            id.clone(),
            of(before, |f| f.verdict.text().into()),
            of(today, |f| f.verdict.text().into()),
            of(today, Figures::text),
            of(today, |f| {
                f.ns.map_or("-".into(), |ns| format!("{:.4}", ns.value))
            }),
            of(today, |f| {
                f.cycles.map_or("-".into(), |c| format!("{:.4}", c.value))
            }),
        ]);
    }
    table.print("rows");
}

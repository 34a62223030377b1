//! How far five process runs of the same eleven operations lie apart: latlas,
//! criterion and divan, interleaved, in the same wall time.

use crate::bars::Bars;
use crate::operations::NAMES;
use crate::process::{on_cpu, output};
use crate::spread;
use crate::table::{TextTable, percent, three_digits};
use anyhow::Context;
use model::run::Run;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// Process runs of each tool
    #[arg(long, default_value_t = 5)]
    runs: u32,
    /// Wall time of one process run, s
    #[arg(long, default_value_t = 15.0)]
    seconds: f64,
    /// Budget of latlas's runs, s, if another
    #[arg(long)]
    our_seconds: Option<f64>,
    /// Pin all three to this CPU (left alone, latlas chooses one and the peers
    /// wander as they always do)
    #[arg(long)]
    cpu: Option<u32>,
}

/// Below this many ns an operation is nothing: its ratio means nothing.
const NOTHING_NS: f64 = 0.05;
/// The operation that is nothing by definition.
const EMPTY: &str = "empty";
/// The peers' stand-in for cycles.
const ADD: &str = "add";

/// Figures of one kind: by operation, one a run.
#[derive(Default)]
struct Series(BTreeMap<&'static str, Vec<f64>>);

impl Series {
    fn push(&mut self, name: &'static str, value: Option<f64>) {
        self.0.entry(name).or_default().extend(value);
    }

    fn named(&self, name: &str) -> &[f64] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    fn spread(&self, name: &str) -> Option<f64> {
        let values = self.named(name);
        let counts = name != EMPTY && spread::median(values)?.abs() >= NOTHING_NS;
        counts.then(|| spread::relative(values)).flatten()
    }

    fn median_and_worst(&self) -> (Option<f64>, Option<f64>) {
        let all: Vec<f64> = NAMES.iter().filter_map(|name| self.spread(name)).collect();
        spread::median_and_worst(&all)
    }

    /// Each figure over the same run's figure of `add`.
    fn over_add(&self) -> Series {
        let mut series = Series::default();
        for name in NAMES.iter().filter(|name| **name != ADD) {
            for (value, add) in self.named(name).iter().zip(self.named(ADD)) {
                series.push(name, Some(value / add));
            }
        }
        series
    }
}

#[derive(Default)]
struct Tool {
    series: Vec<(&'static str, Series)>,
    wall_s: Vec<f64>,
}

impl Tool {
    fn new(kinds: &[&'static str]) -> Tool {
        Tool {
            series: kinds.iter().map(|kind| (*kind, Series::default())).collect(),
            wall_s: Vec::new(),
        }
    }

    fn push(&mut self, name: &'static str, values: &[Option<f64>]) {
        for ((_, series), value) in self.series.iter_mut().zip(values) {
            series.push(name, *value);
        }
    }
}

pub fn check_repeatability(arguments: &Arguments) -> anyhow::Result<Bars> {
    let mut ours = Tool::new(&["quiet ns", "quiet cycles", "typical ns"]);
    let mut criterion = Tool::new(&["criterion median", "criterion mean", "criterion slope"]);
    let mut divan = Tool::new(&["divan median", "divan fastest"]);
    let mut measuring_ms = Vec::new();
    let mut flagged = Vec::new();
    for run in 0..arguments.runs {
        eprintln!("run {} of {}", run + 1, arguments.runs);
        let document = run_ours(arguments, run, &mut ours)?;
        for name in NAMES {
            measuring_ms.push(crate::ours::measuring_ms(&document, name));
        }
        for row in &document.rows {
            if let Some(e) = row.estimate()
                && e.verdict != model::estimate::Verdict::Ok
            {
                flagged.push(format!(
                    "run {}: {} {} ({})",
                    run + 1,
                    row.id,
                    e.verdict.text(),
                    e.reason
                ));
            }
        }
        run_criterion(arguments, &mut criterion)?;
        run_divan(arguments, &mut divan)?;
    }
    let peers: Vec<(&str, &Series)> = criterion
        .series
        .iter()
        .chain(&divan.series)
        .map(|(kind, series)| (*kind, series))
        .collect();
    print_tables(&ours, &peers);
    for line in &flagged {
        println!("flagged: {line}");
    }
    for (name, tool) in [("latlas", &ours), ("criterion", &criterion), ("divan", &divan)] {
        println!("wall time of a run, {name}: {} s", three_digits(spread::median(&tool.wall_s)));
    }
    Ok(judge_series(&ours, &peers, &measuring_ms))
}

fn run_ours(arguments: &Arguments, run: u32, tool: &mut Tool) -> anyhow::Result<Run> {
    let seconds = arguments.our_seconds.unwrap_or(arguments.seconds);
    // Not under taskset: the conducting process belongs on another CPU.
    let mut command = on_cpu(&std::env::current_exe()?, None);
    command.arg("__latlas");
    command.arg(format!("--seconds={seconds}"));
    command.arg(format!("--seed={}", run + 1));
    if let Some(cpu) = arguments.cpu {
        command.arg(format!("--cpu={cpu}"));
    }
    let (text, _, wall) = output(&mut command)?;
    let document: Run = serde_json::from_str(&text).context("latlas printed no Run document")?;
    for name in NAMES {
        let estimate = document.row(name).and_then(|row| row.estimate());
        let quiet = estimate.and_then(|e| e.quiet);
        tool.push(
            name,
            &[
                quiet.map(|q| q.ns.value),
                quiet.and_then(|q| Some(q.cycles?.value)),
                estimate.and_then(|e| Some(e.typical?.ns.value)),
            ],
        );
    }
    tool.wall_s.push(wall.as_secs_f64());
    Ok(document)
}

fn run_criterion(arguments: &Arguments, tool: &mut Tool) -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    let mut command = on_cpu(&std::env::current_exe()?, arguments.cpu);
    command.arg("__criterion");
    command.arg(format!("--seconds={}", arguments.seconds));
    command.arg("--directory").arg(directory.path());
    let (.., wall) = output(&mut command)?;
    for name in NAMES {
        let path = directory.path().join(name).join("new/estimates.json");
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("criterion left no {}", path.display()))?;
        let estimates: serde_json::Value = serde_json::from_str(&text)?;
        let point = |kind: &str| estimates[kind]["point_estimate"].as_f64();
        tool.push(name, &[point("median"), point("mean"), point("slope")]);
    }
    tool.wall_s.push(wall.as_secs_f64());
    Ok(())
}

fn run_divan(arguments: &Arguments, tool: &mut Tool) -> anyhow::Result<()> {
    let mut command = on_cpu(&std::env::current_exe()?, arguments.cpu);
    command.arg("__divan");
    command.arg(format!("--seconds={}", arguments.seconds));
    let (text, _, wall) = output(&mut command)?;
    for name in NAMES {
        let (fastest, median) =
            divan_line(&text, name).with_context(|| format!("divan printed no line for {name}"))?;
        tool.push(name, &[Some(median), Some(fastest)]);
    }
    tool.wall_s.push(wall.as_secs_f64());
    Ok(())
}

/// Fastest and median of a line of divan's table, which is the only output it
/// has: `├─ add  0.457 ns │ 2.473 µs │ 1.06 ns │ 1.497 ns │ 5148 │ 21086208`.
fn divan_line(text: &str, name: &str) -> Option<(f64, f64)> {
    text.lines().find_map(|line| {
        let cells: Vec<&str> = line.split('│').collect();
        // Branches of the tree may stand before the name.
        let branch = cells.iter().position(|cell| cell.contains(name))?;
        let mut words = cells[branch].split_whitespace();
        words.find(|word| *word == name)?;
        let first: Vec<&str> = words.collect();
        Some((time_ns(&first.join(" "))?, time_ns(cells.get(branch + 2)?)?))
    })
}

fn time_ns(text: &str) -> Option<f64> {
    let (number, unit) = text.trim().split_once(' ')?;
    let factor = match unit.trim() {
        "ps" => 1e-3,
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * factor)
}

fn print_tables(ours: &Tool, peers: &[(&str, &Series)]) {
    let own = ours.series.iter().map(|(kind, series)| (*kind, series));
    let all: Vec<(&str, &Series)> = own.chain(peers.iter().copied()).collect();
    let titles: Vec<&str> =
        std::iter::once("operation").chain(all.iter().map(|(kind, _)| *kind)).collect();

    let mut medians = TextTable::new(&titles);
    let mut spreads = TextTable::new(&titles);
    for name in NAMES {
        let cells = |cell: &dyn Fn(&Series) -> String| {
            std::iter::once(name.to_string())
                .chain(all.iter().map(|(_, series)| cell(series)))
                .collect()
        };
        medians.add_line(cells(&|s| three_digits(spread::median(s.named(name)))));
        spreads.add_line(cells(&|s| match s.spread(name) {
            Some(share) => percent(Some(share)),
            None => format!("abs {}", three_digits(spread::absolute(s.named(name)))),
        }));
    }
    summary(&mut spreads, &all);
    medians.print("Median over the runs, ns (cycles: cycles)");
    spreads.print(
        "(max - min) / median over the runs; \"abs\": max - min, of what is nothing and counts in no ratio",
    );

    let over: Vec<(&str, Series)> =
        peers.iter().map(|(kind, series)| (*kind, series.over_add())).collect();
    let over: Vec<(&str, &Series)> = over.iter().map(|(kind, series)| (*kind, series)).collect();
    let titles: Vec<&str> =
        std::iter::once("operation").chain(over.iter().map(|(kind, _)| *kind)).collect();
    let mut table = TextTable::new(&titles);
    for name in NAMES.iter().filter(|name| **name != ADD && **name != EMPTY) {
        table.add_line(
            std::iter::once(name.to_string())
                .chain(over.iter().map(|(_, s)| percent(s.spread(name))))
                .collect(),
        );
    }
    summary(&mut table, &over);
    table.print(
        "The peers' spread with each figure over the same run's \"add\": what cycles would be",
    );
}

fn summary(table: &mut TextTable, all: &[(&str, &Series)]) {
    let line = |title: &str, pick: fn(&Series) -> Option<f64>| {
        std::iter::once(title.to_string())
            .chain(all.iter().map(|(_, s)| percent(pick(s))))
            .collect()
    };
    table.add_line(line("median", |s| s.median_and_worst().0));
    table.add_line(line("worst", |s| s.median_and_worst().1));
}

fn judge_series(ours: &Tool, peers: &[(&str, &Series)], measuring_ms: &[f64]) -> Bars {
    let mut bars = Bars::new();
    let hundred = |share: Option<f64>| share.map(|s| s * 100.0);
    let own = |index: usize| ours.series[index].1.median_and_worst();
    let (ns, ns_worst) = own(0);
    let (cycles, cycles_worst) = own(1);
    bars.at_most("quiet ns, median spread", hundred(ns), 2.0, " %");
    bars.at_most("quiet ns, worst spread", hundred(ns_worst), 6.0, " %");
    bars.at_most("quiet cycles, median spread", hundred(cycles), 2.0, " %");
    bars.at_most("quiet cycles, worst spread", hundred(cycles_worst), 6.0, " %");
    bars.at_most("typical ns, median spread", hundred(own(2).0), 5.0, " %");
    for (kind, series) in peers {
        let theirs = series.median_and_worst().0;
        bars.hold(
            ns < theirs,
            format!("quiet ns below {kind}: {} against {}", percent(ns), percent(theirs)),
        );
        let theirs = series.over_add().median_and_worst().0;
        bars.hold(
            cycles < theirs,
            format!(
                "quiet cycles below {kind} over its add: {} against {}",
                percent(cycles),
                percent(theirs)
            ),
        );
    }
    let worst_ms = spread::median_and_worst(measuring_ms).1;
    bars.at_most("measuring of a row, most", worst_ms, 150.0, " ms");
    let wall = ours.wall_s.iter().copied().map(Duration::from_secs_f64);
    let wall = wall.max().map(|wall| wall.as_secs_f64());
    bars.at_most("wall time of our runs, longest", wall, 15.5, " s");
    bars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_divan() {
        let text = "divan_ops  fastest │ slowest │ median │ mean │ samples │ iters\n\
            ├─ add         0.457 ns      │ 2.473 µs      │ 1.06 ns       │ 1.497 ns │ 5148 │ 21086208\n\
            ╰─ malloc_16   30.99 ns      │ 1.832 µs      │ 3.5 µs       │ 36.1 ns  │ 31795 │ 4069760\n";
        assert_eq!(divan_line(text, "add"), Some((0.457, 1.06)));
        assert_eq!(divan_line(text, "malloc_16"), Some((30.99, 3500.0)));
        assert_eq!(divan_line(text, "malloc"), None);
        let deeper =
            "├─ claims\n│  ╰─ operations\n│     ├─ add  1.2 ns │ 2 µs │ 1.5 ns │ 1.6 ns │ 5 │ 2\n";
        assert_eq!(divan_line(deeper, "add"), Some((1.2, 1.5)));
    }
}

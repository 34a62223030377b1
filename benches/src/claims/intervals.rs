//! Whether a run's 95 % interval means what it says: over many runs, how often
//! it holds the median of all of them.

use crate::bars::Bars;
use crate::ours::{self, Task};
use crate::spread::median;
use crate::table::{Table, percent};
use model::estimate::Verdict;
use model::stats::Interval;
use std::collections::BTreeMap;

#[derive(clap::Args)]
pub struct Arguments {
    /// Runs
    #[arg(long, default_value_t = 20)]
    runs: u32,
    /// Budget of a run, s; what latlas itself takes if absent
    #[arg(long)]
    seconds: Option<f64>,
    /// The CPU to measure on; chosen anew by each run if absent
    #[arg(long)]
    cpu: Option<u32>,
    /// Each point of the curves too, not only figures and levels
    #[arg(long)]
    points: bool,
    /// Rows: ids, or patterns that end in *
    #[arg(default_values_t = ["cpu.*".to_string(), "memory.latency".to_string()])]
    rows: Vec<String>,
}

#[derive(Default)]
struct Row {
    ns: Vec<Interval>,
    cycles: Vec<Interval>,
    flagged: u32,
}

/// Of one row or of all: intervals that hold the across-run median, intervals,
/// relative half widths.
#[derive(Default, Clone)]
struct Coverage {
    held: usize,
    all: usize,
    widths: Vec<f64>,
}

impl Coverage {
    fn of(intervals: &[Interval]) -> Coverage {
        let values: Vec<f64> = intervals.iter().map(|i| i.value).collect();
        let Some(middle) = median(&values) else {
            return Coverage::default();
        };
        Coverage {
            held: intervals
                .iter()
                .filter(|i| (i.low..=i.high).contains(&middle))
                .count(),
            all: intervals.len(),
            widths: intervals
                .iter()
                .map(Interval::relative_half_width)
                .collect(),
        }
    }

    fn add(&mut self, other: &Coverage) {
        self.held += other.held;
        self.all += other.all;
        self.widths.extend(&other.widths);
    }

    fn share(&self) -> Option<f64> {
        (self.all > 0).then(|| self.held as f64 / self.all as f64)
    }
}

pub fn claim(arguments: &Arguments) -> anyhow::Result<Bars> {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for number in 0..arguments.runs {
        eprintln!("run {} of {}", number + 1, arguments.runs);
        let run = ours::measure(&Task {
            rows: arguments.rows.clone(),
            budget_s: arguments.seconds,
            seed: u64::from(number) + 1,
            pin: arguments.cpu,
            ..Task::of(&[])
        })?;
        for (name, _, estimate) in ours::estimates(&run) {
            if !arguments.points && name.contains('@') {
                continue;
            }
            // What is below resolution claims a bound, not a value.
            let Some(quiet) = estimate.quiet.filter(|_| estimate.below_ns.is_none()) else {
                continue;
            };
            let row = rows.entry(name).or_default();
            row.ns.push(quiet.ns);
            row.cycles.extend(quiet.cycles);
            row.flagged += u32::from(estimate.verdict != Verdict::Ok);
        }
    }

    let mut table = Table::new(&[
        "row",
        "runs",
        "flagged",
        "held, ns",
        "half width, ns",
        "held, cycles",
        "half width, cycles",
    ]);
    let (mut ns, mut cycles) = (Coverage::default(), Coverage::default());
    for (name, row) in &rows {
        let (in_ns, in_cycles) = (Coverage::of(&row.ns), Coverage::of(&row.cycles));
        ns.add(&in_ns);
        cycles.add(&in_cycles);
        table.line(vec![
            name.clone(),
            row.ns.len().to_string(),
            row.flagged.to_string(),
            percent(in_ns.share()),
            percent(median(&in_ns.widths)),
            percent(in_cycles.share()),
            percent(median(&in_cycles.widths)),
        ]);
    }
    table.line(vec![
        "all".into(),
        ns.all.to_string(),
        rows.values().map(|r| r.flagged).sum::<u32>().to_string(),
        percent(ns.share()),
        percent(median(&ns.widths)),
        percent(cycles.share()),
        percent(median(&cycles.widths)),
    ]);
    table.print(
        "Share of runs whose 95 % interval of the quiet figure holds the median of all runs",
    );

    let mut bars = Bars::new();
    let hundred = |share: Option<f64>| share.map(|s| s * 100.0);
    for (unit, coverage) in [("ns", &ns), ("cycles", &cycles)] {
        bars.within(
            &format!("coverage in {unit}, %"),
            hundred(coverage.share()),
            90.0,
            99.0,
        );
        bars.at_most(
            &format!("median half width in {unit}"),
            hundred(median(&coverage.widths)),
            2.0,
            " %",
        );
    }
    Ok(bars)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_counts() {
        let interval = |value: f64| Interval {
            value,
            low: value - 1.0,
            high: value + 1.0,
        };
        let coverage = Coverage::of(&[interval(10.0), interval(10.5), interval(14.0)]);
        assert_eq!((coverage.held, coverage.all), (2, 3));
    }
}

//! Every row of several whole runs: how far its figures lie apart.

use crate::bars::Bars;
use crate::ours::{self, EMPTY, Task};
use crate::spread::{median, relative};
use crate::table::{Table, figure, percent};
use model::estimate::{Estimate, Verdict};
use model::run::{Bound, Run, Scale};
use std::collections::BTreeMap;

#[derive(clap::Args)]
pub struct Arguments {
    /// Runs
    #[arg(long, default_value_t = 5)]
    runs: u64,
    /// Only these rows: ids, or patterns that end in *
    #[arg(value_name = "ROW")]
    rows: Vec<String>,
    /// Few points and rounds
    #[arg(long)]
    quick: bool,
    /// The CPU; each run chooses the quieter one if absent
    #[arg(long)]
    cpu: Option<u32>,
    /// Spread above which a row is named
    #[arg(long, default_value_t = 0.05)]
    above: f64,
}

/// What the runs said of one row or point.
#[derive(Default)]
struct Seen {
    core: bool,
    quiet_ns: Vec<f64>,
    cycles: Vec<f64>,
    typical_ns: Vec<f64>,
    verdicts: Vec<Verdict>,
    reasons: Vec<String>,
    wall_ms: Vec<f64>,
}

impl Seen {
    fn add(&mut self, bound: Bound, estimate: &Estimate) {
        self.core = bound == Bound::Core;
        if let Some(quiet) = &estimate.quiet {
            self.quiet_ns.push(quiet.ns.value);
            self.cycles.extend(quiet.cycles.map(|c| c.value));
        }
        self.typical_ns.extend(estimate.typical.map(|t| t.ns.value));
        self.verdicts.push(estimate.verdict);
        if !estimate.reason.is_empty() {
            self.reasons.push(estimate.reason.clone());
        }
    }

    /// The spread of the figure that the row is answerable for: cycles where
    /// the core sets the pace, else quiet ns, else typical ns.
    fn own(&self) -> (&'static str, Option<f64>) {
        if self.core && self.cycles.len() >= 2 {
            ("cycles", relative(&self.cycles))
        } else if self.quiet_ns.len() >= 2 {
            ("quiet ns", relative(&self.quiet_ns))
        } else {
            ("typical ns", relative(&self.typical_ns))
        }
    }

    /// How often the runs themselves said that the row is not to be trusted.
    fn flagged(&self) -> usize {
        self.verdicts.iter().filter(|v| **v != Verdict::Ok).count()
    }
}

pub fn claim(arguments: &Arguments) -> anyhow::Result<Bars> {
    let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    for run in 1..=arguments.runs {
        eprintln!("run {run} of {}", arguments.runs);
        let scale = match arguments.quick {
            true => Scale::Quick,
            false => Scale::Default,
        };
        let run = ours::measure(&Task {
            rows: arguments.rows.clone(),
            scale,
            seed: run,
            pin: arguments.cpu,
            ..Task::of(&[])
        })?;
        println!(
            "{:.1} s, core clock {}",
            run.wall_ms as f64 / 1e3,
            run.core_clock.as_ref().map_or("unknown".into(), |c| {
                format!("{:.3} GHz", 1.0 / c.cycle_ns.value)
            })
        );
        take(&run, &mut seen, &mut order);
    }
    let mut table = Table::new(&[
        "row",
        "median ns",
        "quiet ns",
        "cycles",
        "typical ns",
        "flagged",
        "wall ms",
        "reason",
    ]);
    let (mut within, mut unflagged) = (0, Vec::new());
    for name in &order {
        let one = &seen[name];
        let (unit, own) = one.own();
        let wide = own.is_none_or(|spread| spread > arguments.above);
        within += u32::from(!wide);
        if wide && one.flagged() == 0 {
            unflagged.push(format!("{name} {} ({unit})", percent(own)));
        }
        table.line(vec![
            format!("{}{name}", if wide { "* " } else { "  " }),
            figure(median(if one.quiet_ns.is_empty() {
                &one.typical_ns
            } else {
                &one.quiet_ns
            })),
            percent(relative(&one.quiet_ns)),
            percent(relative(&one.cycles)),
            percent(relative(&one.typical_ns)),
            format!("{}/{}", one.flagged(), one.verdicts.len()),
            figure(median(&one.wall_ms)),
            match wide {
                true => one.reasons.first().cloned().unwrap_or_default(),
                false => String::new(),
            },
        ]);
    }
    table.print(&format!(
        "Spread over {} runs; * above {} in its own unit",
        arguments.runs,
        percent(Some(arguments.above))
    ));
    let mut bars = Bars::new();
    bars.hold(
        unflagged.is_empty(),
        format!(
            "rows and points above {} that no run flagged: {} ({} of {} are within) {}",
            percent(Some(arguments.above)),
            unflagged.len(),
            within,
            order.len(),
            unflagged.join(", ")
        ),
    );
    Ok(bars)
}

fn take(run: &Run, seen: &mut BTreeMap<String, Seen>, order: &mut Vec<String>) {
    for (name, bound, estimate) in ours::estimates(run) {
        if name == EMPTY {
            continue;
        }
        if !seen.contains_key(&name) {
            order.push(name.clone());
        }
        seen.entry(name).or_default().add(bound, &estimate);
    }
    for cell in &run.cells {
        if let Some(seen) = seen.get_mut(&ours::cell_name(cell)) {
            seen.wall_ms.push(cell.wall_ms);
        }
    }
}

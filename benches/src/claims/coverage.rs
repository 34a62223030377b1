//! How often a rerun's quiet figure in ns lies inside the interval of an earlier run, up to an
//! hour before: of rows that are counted in cycles, whose ns move with the core's clock. Documents
//! that don't state the clock's movement are widened by what the runs listed before them say.

use crate::bars::Bars;
use crate::ours;
use crate::table::{TextTable, percent};
use anyhow::{Context, bail};
use model::core_clock::ClockMovement;
use model::estimate::{Estimate, Quiet};
use model::movement::{NEIGHBOURS_MS, StoredFigure};
use model::run::Run;
use model::stats::Interval;
use model::summary::MachineKey;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// Run documents of one machine
    #[arg(required = true, num_args = 2..)]
    documents: Vec<PathBuf>,
}

/// Of all reruns, at least this share is inside.
const LEAST: f64 = 0.85;

/// A run's figures marked `*`, by row and point.
struct Marked {
    name: String,
    started_unix_ms: u64,
    cycle_ns: f64,
    movement: Option<ClockMovement>,
    figures: BTreeMap<String, Quiet>,
}

/// Later figures that lie inside the earlier interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Inside {
    /// With the clock's movement.
    widened: usize,
    /// Of the earlier run alone.
    of_run: usize,
    all: usize,
}

pub fn check_coverage(arguments: &Arguments) -> anyhow::Result<Bars> {
    let mut runs = Vec::new();
    let mut machine = None;
    for path in &arguments.documents {
        let run: Run = store::read_run(path)?;
        let key = MachineKey::from_run(&run);
        if machine.get_or_insert_with(|| key.clone()) != &key {
            bail!("{}: a run of another machine", path.display());
        }
        let name = path.file_stem().context("a file")?.to_string_lossy();
        let marked = Marked::find_in(&run, name.into_owned());
        runs.push(marked.with_context(|| format!("{}: no core clock", path.display()))?);
    }
    runs.sort_by_key(|run| run.started_unix_ms);
    let clocks: Vec<StoredFigure> = runs.iter().map(Marked::clock).collect();
    let titles = "run|rerun|minutes|clock moved|widened by|figures|inside|not widened";
    let mut table = TextTable::new(&titles.split('|').collect::<Vec<_>>());
    let mut total = Inside::default();
    for (at, first) in runs.iter().enumerate() {
        let movement = first.movement.unwrap_or_else(|| ClockMovement::from_clocks(&clocks[..at]));
        for later in &runs[at + 1..] {
            let after_ms = later.started_unix_ms - first.started_unix_ms;
            if after_ms > NEIGHBOURS_MS {
                continue;
            }
            let inside = first.inside(later, movement.relative);
            total.widened += inside.widened;
            total.of_run += inside.of_run;
            total.all += inside.all;
            let minutes = format!("{:.0}", after_ms as f64 / 60_000.0);
            let mut line = vec![first.name.clone(), later.name.clone(), minutes];
            line.push(percent(Some((later.cycle_ns / first.cycle_ns).ln())));
            line.push(movement.to_string());
            line.push(inside.all.to_string());
            line.extend(inside.shares());
            table.add_line(line);
        }
    }
    table.print("Reruns within an hour whose quiet figure in ns lies inside the earlier interval");
    let [widened, of_run] = total.shares();
    let all = total.all;
    println!("all {all} figures: {widened} inside, not widened {of_run}");
    let mut bars = Bars::new();
    bars.within("share inside", total.share(total.widened), LEAST, 1.0);
    Ok(bars)
}

impl Inside {
    fn share(&self, inside: usize) -> Option<f64> {
        (self.all > 0).then(|| inside as f64 / self.all as f64)
    }

    fn shares(&self) -> [String; 2] {
        [self.widened, self.of_run].map(|inside| percent(self.share(inside)))
    }
}

impl Marked {
    fn find_in(run: &Run, name: String) -> Option<Marked> {
        let clock = run.core_clock.as_ref()?;
        let shown = |estimate: &Estimate| {
            let known = estimate.verdict.is_usable() && estimate.below_ns.is_none();
            estimate.quiet.filter(|quiet| quiet.at_run_clock && known)
        };
        let figures = run.rows.iter().flat_map(|row| {
            let of_row = row.figures().into_iter();
            of_row.filter_map(|f| Some((ours::figure_name(&row.id, &f.at), shown(f.estimate)?)))
        });
        Some(Marked {
            name,
            started_unix_ms: run.started_unix_ms,
            cycle_ns: clock.cycle_ns.value,
            movement: clock.between_runs,
            figures: figures.collect(),
        })
    }

    fn clock(&self) -> StoredFigure {
        StoredFigure { started_unix_ms: self.started_unix_ms, ns: self.cycle_ns }
    }

    /// How many of the later figures lie inside.
    fn inside(&self, later: &Marked, movement: f64) -> Inside {
        let mut inside = Inside::default();
        for (id, quiet) in &self.figures {
            if let Some(rerun) = later.figures.get(id) {
                let ns = rerun.ns.value;
                let holds = |interval: Interval| (interval.low..=interval.high).contains(&ns);
                let of_run = quiet.ns_of_run();
                inside.all += 1;
                inside.widened += usize::from(holds(of_run.widened(movement)));
                inside.of_run += usize::from(holds(of_run));
            }
        }
        inside
    }
}

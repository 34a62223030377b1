//! What latlas says while others use the machine: no row may be both unflagged
//! and wrong, and an idle machine must not be cried over.

mod page;
mod states;

use crate::bars::Bars;
use crate::busy::{Busy, Load};
use crate::ours::{self, MeasureTask};
use anyhow::{Context, bail};
use model::run::{Run, Scale};
use states::{SeenRows, references, seen};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// Idle runs, and busy ones of each load
    #[arg(long, default_value_t = 5)]
    runs: u32,
    /// What else the machine does
    #[arg(long, default_value = "loops")]
    load: Vec<Load>,
    /// Off by more than this share is wrong
    #[arg(long, default_value_t = 0.05)]
    off: f64,
    /// Budget of a run, s; what latlas itself takes if absent
    #[arg(long)]
    seconds: Option<f64>,
    /// The quick scale
    #[arg(long)]
    quick: bool,
    /// The CPU to measure on; chosen anew by each run if absent
    #[arg(long)]
    cpu: Option<u32>,
    /// Keep the runs in this directory; those that are there already are judged as they are
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Rows: ids, or patterns that end in *; the default set if none
    rows: Vec<String>,
}

pub fn check_honesty(arguments: &Arguments) -> anyhow::Result<Bars> {
    let cpus = sys::affinity::allowed_cpus()?;
    let (mut idle, mut busy) = (Vec::new(), Vec::new());
    for number in 1..=arguments.runs {
        let of_load = |load: Option<Load>| -> anyhow::Result<SeenRows> {
            let name = load.map_or("idle".into(), |load| format!("{load:?}").to_lowercase());
            Ok(seen(&kept_or_measured(arguments, number, &name, || {
                let _load = load.map(|load| Busy::on(&cpus, load)).transpose()?;
                ours::measure_in_child(&task(arguments, number))
            })?))
        };
        idle.push(of_load(None)?);
        for &load in &arguments.load {
            busy.push((load, number, of_load(Some(load))?));
        }
    }
    let references = references(&idle);
    if references.is_empty() {
        bail!("the machine was never idle enough for a reference");
    }
    page::print_rows(&references, &busy);
    Ok(page::judge_honesty(&references, &idle, &busy, arguments.off))
}

fn task(arguments: &Arguments, number: u32) -> MeasureTask {
    MeasureTask {
        rows: arguments.rows.clone(),
        scale: if arguments.quick { Scale::Quick } else { Scale::Default },
        budget_s: arguments.seconds,
        seed: u64::from(number),
        pin: arguments.cpu,
        ..MeasureTask::for_rows(&[])
    }
}

/// The run of this name that is kept, else a new one, which is kept then.
fn kept_or_measured(
    arguments: &Arguments,
    number: u32,
    name: &str,
    measure: impl FnOnce() -> anyhow::Result<Run>,
) -> anyhow::Result<Run> {
    let Some(directory) = &arguments.keep else {
        eprintln!("{name} run {number} of {}", arguments.runs);
        return measure();
    };
    let path = directory.join(format!("{name}.{number}.json"));
    if let Ok(text) = std::fs::read_to_string(&path) {
        return serde_json::from_str(&text).with_context(|| format!("{}", path.display()));
    }
    eprintln!("{name} run {number} of {}", arguments.runs);
    let run = measure()?;
    std::fs::create_dir_all(directory)?;
    std::fs::write(&path, serde_json::to_string(&run)?)?;
    Ok(run)
}

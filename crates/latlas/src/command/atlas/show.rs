//! `latlas atlas show`: what is kept of one run.

use super::kept;
use crate::arguments::atlas::ShowOptions;
use crate::output;
use anyhow::Context;
use atlas::index::{Index, KeptRun};
use atlas::render::{self, Tally};
use serde::Serialize;
use std::process::ExitCode;

#[derive(Serialize)]
struct Shown {
    run: KeptRun,
    bytes: u64,
    tally: Tally,
}

/// Prints what the atlas knows of a run.
pub(super) fn show(index: &Index, options: &ShowOptions) -> anyhow::Result<ExitCode> {
    let run = kept(index, &options.run)?;
    let bytes = std::fs::metadata(&run.path)
        .with_context(|| format!("can't read {}", run.path.display()))?
        .len();
    let tally = Tally::of_kept(&index.results_of(&run.id)?);
    let text = match options.json {
        false => render::kept_run(&run, bytes, &tally),
        true => serde_json::to_string_pretty(&Shown { run, bytes, tally })? + "\n",
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

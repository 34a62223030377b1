//! `latlas atlas show`: a stored run's metadata.

use super::kept_run;
use crate::arguments::Color;
use crate::arguments::atlas::ShowOptions;
use crate::output;
use model::summary::KeptRun;
use model::tally::Tally;
use serde::Serialize;
use std::process::ExitCode;
use store::index::Index;
use view::render;

#[derive(Serialize)]
struct ShownRun {
    run: KeptRun,
    bytes: u64,
    tally: Tally,
}

pub(super) fn show(index: &Index, options: &ShowOptions) -> anyhow::Result<ExitCode> {
    let mut run = kept_run(index, &options.run)?;
    let bytes = index.store().bytes(&run.path)?.len() as u64;
    run.path = index.store().display_path(&run.path).into();
    let tally = Tally::of_kept(&index.results_of(&run.id)?);
    let shown = ShownRun { run, bytes, tally };
    output::show_json_or(options.json, &shown, Color::Never, || {
        render::kept_run(&shown.run, bytes, &shown.tally)
    })?;
    Ok(ExitCode::SUCCESS)
}

//! `latlas explain ROW`: what it is, how it is measured, what was published.

use crate::{catalogue, output, selection};
use atlas::references::References;
use meter::probe::Probe;
use std::process::ExitCode;

/// Explains a row.
pub(crate) fn explain(catalogue: &[Probe], row: &str) -> anyhow::Result<ExitCode> {
    let probes = catalogue::texts(catalogue);
    let probe = selection::probe(&probes, row)?;
    let references = References::embedded()?;
    output::print(&atlas::render::explain(probe, row, &references))?;
    Ok(ExitCode::SUCCESS)
}

//! `latlas explain`: a row's operation, method and published values; or the rows of a group.

use crate::arguments::Color;
use crate::{catalogue, output, selection};
use compare::references::References;
use meter::probe::Probe;
use std::process::ExitCode;

/// Explains a row.
pub(crate) fn explain(catalogue: &[Probe], row: &str, json: bool) -> anyhow::Result<ExitCode> {
    let probes = catalogue::texts(catalogue);
    if let Some(rows) = selection::group(&probes, row) {
        let listed = serde_json::json!({ "name": row, "rows": rows });
        output::show_json_or(json, &listed, Color::Never, || {
            view::render::group(row, &rows)
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let probe = selection::probe(&probes, row)?;
    let references = References::embedded()?;
    let explained = view::render::explained(probe, row, &references);
    output::show_json_or(json, &explained, Color::Never, || {
        view::render::explain(probe, row, &references)
    })?;
    Ok(ExitCode::SUCCESS)
}

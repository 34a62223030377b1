//! `latlas explain ROW`: what it is, how it is measured, what was published;
//! or the rows of a group or level.

use crate::{catalogue, output, selection};
use atlas::references::References;
use meter::probe::Probe;
use std::process::ExitCode;

/// Explains a row.
pub(crate) fn explain(catalogue: &[Probe], row: &str, json: bool) -> anyhow::Result<ExitCode> {
    let probes = catalogue::texts(catalogue);
    if let Some(rows) = selection::group(&probes, row) {
        let text = match json {
            true => {
                let listed = serde_json::json!({ "name": row, "rows": rows });
                serde_json::to_string_pretty(&listed)? + "\n"
            }
            false => atlas::render::group(row, &rows),
        };
        output::print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let probe = selection::probe(&probes, row)?;
    let references = References::embedded()?;
    let text = match json {
        true => {
            let explained = atlas::render::explained(probe, row, &references);
            serde_json::to_string_pretty(&explained)? + "\n"
        }
        false => atlas::render::explain(probe, row, &references),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

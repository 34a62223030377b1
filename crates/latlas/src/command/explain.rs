//! `latlas explain`: a row's operation, method and published values; or the rows of a
//! group, or those that contain a word.

use crate::arguments::Color;
use crate::{catalogue, output, selection};
use compare::references::References;
use meter::probe::Probe;
use std::process::ExitCode;

pub(crate) fn explain(catalogue: &[Probe], name: &str, json: bool) -> anyhow::Result<ExitCode> {
    let probes = catalogue::texts(catalogue);
    let found = match selection::group(&probes, name) {
        Some(rows) => Err(rows),
        None => match selection::probe(&probes, selection::operation(name)) {
            Ok(probe) => Ok((probe, selection::operation(name).to_owned())),
            Err(unknown) => {
                let rows = selection::containing(&probes, name);
                let Some(first) = rows.first() else {
                    return Err(unknown);
                };
                let probe = selection::probe(&probes, &first.row)?;
                match rows.iter().all(|row| probe.rows.contains(&row.row)) {
                    true => Ok((probe, first.row.clone())),
                    false => Err(rows),
                }
            }
        },
    };
    let (probe, row) = match found {
        Ok(found) => found,
        Err(rows) => {
            let listed = serde_json::json!({ "name": name, "rows": rows });
            output::show_json_or(json, &listed, Color::Never, || view::render::group(name, &rows))?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let references = References::embedded()?;
    let explained = view::render::explained(probe, &row, &references);
    output::show_json_or(json, &explained, Color::Never, || {
        view::render::explain(probe, &row, &references)
    })?;
    Ok(ExitCode::SUCCESS)
}

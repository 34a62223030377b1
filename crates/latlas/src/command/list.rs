//! `latlas list`: all rows, or those that match.

use crate::arguments::Color;
use crate::{catalogue, output, selection};
use meter::probe::Probe;
use model::run::Scale;
use std::process::ExitCode;

pub(crate) fn list(
    catalogue: &[Probe],
    pattern: Option<&str>,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let mut probes = catalogue::texts(catalogue);
    if let Some(pattern) = pattern {
        let named = selection::rows(&probes, &[pattern.to_owned()], Scale::Full);
        let rows = match (named, selection::containing(&probes, pattern)) {
            (Err(unknown), found) if found.is_empty() => return Err(unknown),
            (Err(_), found) => found.into_iter().map(|row| row.row).collect(),
            (Ok(rows), _) => rows,
        };
        for probe in &mut probes {
            probe.rows.retain(|row| rows.contains(row));
        }
        probes.retain(|probe| !probe.rows.is_empty());
    }
    output::show_json_or(json, &probes, Color::Never, || view::render::list(&probes))?;
    Ok(ExitCode::SUCCESS)
}

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
        let named = selection::selected_rows(&probes, &[pattern.to_owned()], Scale::Full);
        let mut found = selection::meant_by(&probes, pattern);
        if found.is_empty() {
            found = selection::containing(&probes, pattern);
        }
        let rows = match (named, found) {
            (Err(unknown), found) if found.is_empty() => return Err(unknown),
            (Err(_), found) => found.into_iter().map(|row| row.row).collect(),
            (Ok(rows), _) => rows,
        };
        for probe in &mut probes {
            // A level is of its curve.
            let levels = probe.levels;
            let has = |row: &String| {
                rows.contains(row)
                    || levels && rows.iter().any(|of| of.starts_with(&format!("{row}/")))
            };
            probe.rows.retain(has);
        }
        probes.retain(|probe| !probe.rows.is_empty());
    }
    output::show_json_or(json, &probes, Color::Never, || view::render::probe_list(&probes))?;
    Ok(ExitCode::SUCCESS)
}

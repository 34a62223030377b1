//! `latlas history`: a row over time, with its changes; with `--cpus`, what each CPU
//! does over time.

use crate::arguments::history::HistoryOptions;
use crate::{UNRELIABLE, catalogue, output};
use anyhow::bail;
use compare::history::{FollowedFigure, History};
use meter::probe::Probe;
use std::process::ExitCode;
use store::history::{HistoryQuery, find_history, machine_of};
use store::index::Index;
use view::render;

/// Prints a row (or a point of it) in the stored runs of a machine.
pub(crate) fn history(catalogue: &[Probe], options: &HistoryOptions) -> anyhow::Result<ExitCode> {
    let Some(row) = &options.row else {
        return super::cpu_history::cpu_history(options);
    };
    if options.at.len() > 2 {
        bail!("--at takes one coordinate, or two for a map: --at X or --at Y,X");
    }
    let index = super::atlas::open_index()?;
    let shown = show_history(&index, catalogue, row, options);
    // The index may have been repaired even if nothing was found.
    super::atlas::print_messages(&index.messages());
    shown
}

fn show_history(
    index: &Index,
    catalogue: &[Probe],
    row: &str,
    options: &HistoryOptions,
) -> anyhow::Result<ExitCode> {
    let machine = match &options.machine {
        Some(name) => machine_of(index, name)?.key,
        None => super::this_machine(),
    };
    let asked = HistoryQuery {
        machine: &machine,
        row,
        at: &options.at,
        figure: match (options.cycles, options.ns) {
            (true, _) => FollowedFigure::Cycles,
            (_, true) => FollowedFigure::Ns,
            _ => FollowedFigure::Best,
        },
        since_unix_ms: options.since,
        last: options.last.map(|last| last as usize),
    };
    let history = find_history(index, &asked, &all_rows(catalogue))?;
    output::show_json_or(options.json, &history, options.color, || {
        render::history(&history, options.wide)
    })?;
    Ok(exit_code(&history))
}

/// All rows, with levels and points of curves.
fn all_rows(catalogue: &[Probe]) -> Vec<String> {
    let texts = catalogue::texts(catalogue);
    texts.iter().flat_map(crate::selection::ids).collect()
}

fn exit_code(history: &History) -> ExitCode {
    match history.runs.iter().any(|run| run.figure.is_some()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(UNRELIABLE),
    }
}

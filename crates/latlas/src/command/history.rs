//! `latlas history`: a row over time, and where it changed.

use crate::arguments::history::HistoryOptions;
use crate::{UNRELIABLE, catalogue, output};
use anyhow::bail;
use atlas::history::{Asked, Figure, History, find, machine_of};
use atlas::index::{Index, MachineKey};
use atlas::render;
use meter::probe::Probe;
use std::path::Path;
use std::process::ExitCode;

/// Shows a row (or one point of it) over the kept runs of a machine.
pub(crate) fn history(catalogue: &[Probe], options: &HistoryOptions) -> anyhow::Result<ExitCode> {
    if options.at.len() > 2 {
        bail!("a point has one coordinate, or two on a map: --at X or --at Y,X");
    }
    let index = super::atlas::open()?;
    let shown = shown(&index, catalogue, options);
    // Asking may have mended the index, whatever came of it.
    super::atlas::tell(&index.told());
    shown
}

fn shown(index: &Index, catalogue: &[Probe], options: &HistoryOptions) -> anyhow::Result<ExitCode> {
    let machine = match &options.machine {
        Some(name) => machine_of(index, name)?.key,
        None => this_machine(),
    };
    let asked = Asked {
        machine: &machine,
        row: &options.row,
        at: &options.at,
        figure: match (options.cycles, options.ns) {
            (true, _) => Figure::Cycles,
            (_, true) => Figure::Ns,
            _ => Figure::Best,
        },
        since_unix_ms: options.since,
        last: options.last.map(|last| last as usize),
    };
    let history = find(index, &asked, &rows(catalogue))?;
    output::print(&match options.json {
        true => serde_json::to_string_pretty(&history)? + "\n",
        false => render::history(&history, options.wide, output::colored(options.color)),
    })?;
    Ok(exit_code(&history))
}

/// This machine's key, as a run made now would have it.
fn this_machine() -> MachineKey {
    let machine = sys::machine(Path::new("/"));
    let emulator = machine.emulated.get().and_then(|by| by.name());
    MachineKey::of_machine(&machine, emulator)
}

/// Every row that can be measured, with those that follow from curves.
fn rows(catalogue: &[Probe]) -> Vec<String> {
    let texts = catalogue::texts(catalogue);
    texts.iter().flat_map(crate::selection::ids).collect()
}

fn exit_code(history: &History) -> ExitCode {
    match history.runs.iter().any(|run| run.figure.is_some()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(UNRELIABLE),
    }
}

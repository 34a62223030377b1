//! `latlas atlas list`.

use crate::arguments::atlas::ListOptions;
use crate::output;
use anyhow::bail;
use atlas::index::{Index, KeptRun, Machine};
use atlas::render;
use std::process::ExitCode;

/// Prints the kept runs.
pub(super) fn list(index: &Index, options: &ListOptions) -> anyhow::Result<ExitCode> {
    let mut runs = index.runs()?;
    if runs.is_empty() && !options.json {
        output::tell(&format!(
            "latlas: no run is kept in {} yet: `latlas run` makes one\n",
            index.store().runs_dir().display()
        ));
    }
    if let Some(name) = &options.machine {
        let machines = index.machines()?;
        let own = called(name, &machines)?;
        runs.retain(|run| own.iter().any(|m| m.key == run.machine));
    }
    if options.tag {
        runs.retain(|run| !run.tags.is_empty());
    }
    if let Some(limit) = options.limit {
        runs.truncate(limit as usize);
    }
    output::print(&text(&runs, options.json)?)?;
    Ok(ExitCode::SUCCESS)
}

fn text(runs: &[KeptRun], json: bool) -> anyhow::Result<String> {
    Ok(match json {
        true => serde_json::to_string_pretty(runs)? + "\n",
        false => render::kept_runs(runs),
    })
}

/// The machines that a name means: one at least.
pub(super) fn called<'a>(name: &str, machines: &'a [Machine]) -> anyhow::Result<Vec<&'a Machine>> {
    let own: Vec<&Machine> = machines.iter().filter(|m| m.is_called(name)).collect();
    if own.is_empty() {
        bail!("{}", unknown(name, machines));
    }
    Ok(own)
}

fn unknown(name: &str, machines: &[Machine]) -> String {
    let names = machines.iter().map(Machine::name);
    let suggestion = atlas::suggestion(name, names.clone());
    let names: Vec<&str> = names.collect();
    format!(
        "no kept run is of a machine {name:?}{suggestion} (there are {})",
        output::harmless(&names.join(", "))
    )
}

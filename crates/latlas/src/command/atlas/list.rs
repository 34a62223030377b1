//! `latlas atlas list`.

use crate::arguments::Color;
use crate::arguments::atlas::ListOptions;
use crate::output;
use anyhow::bail;
use model::summary::Machine;
use std::process::ExitCode;
use store::index::Index;
use view::render;

/// Prints the stored runs.
pub(super) fn list(index: &Index, options: &ListOptions) -> anyhow::Result<ExitCode> {
    let mut runs = index.runs()?;
    if runs.is_empty() && !options.json {
        output::message(format_args!(
            "no run in {} yet: run `latlas run`",
            index.store().location().display()
        ));
    }
    if let Some(name) = &options.machine {
        let machines = index.machines()?;
        let own = named(name, &machines)?;
        runs.retain(|run| own.iter().any(|m| m.key == run.machine));
    }
    if options.tag {
        runs.retain(|run| !run.tags.is_empty());
    }
    if let Some(limit) = options.limit {
        runs.truncate(limit as usize);
    }
    output::show_json_or(options.json, &runs, Color::Never, || {
        render::kept_runs(&runs)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The machines with this name or key, at least one.
pub(super) fn named<'a>(name: &str, machines: &'a [Machine]) -> anyhow::Result<Vec<&'a Machine>> {
    let own: Vec<&Machine> = machines.iter().filter(|m| m.is_called(name)).collect();
    if own.is_empty() {
        bail!("{}", unknown(name, machines));
    }
    Ok(own)
}

fn unknown(name: &str, machines: &[Machine]) -> String {
    let names = machines.iter().map(Machine::name);
    let suggestion = model::nearest::suggestion(name, names.clone());
    let names: Vec<&str> = names.collect();
    format!(
        "no stored run of machine {name:?}{suggestion} (machines: {})",
        output::harmless(&names.join(", "))
    )
}

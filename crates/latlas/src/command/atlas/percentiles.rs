//! `latlas atlas percentiles`: a machine among all.

use super::list::called;
use crate::arguments::atlas::PercentilesOptions;
use crate::output;
use anyhow::bail;
use atlas::index::{Index, Machine};
use atlas::render;
use std::process::ExitCode;

/// Prints where a machine stands for every row.
pub(super) fn percentiles(index: &Index, options: &PercentilesOptions) -> anyhow::Result<ExitCode> {
    let machines = index.machines()?;
    let machine: &Machine = match &options.machine {
        Some(name) => match called(name, &machines)?.as_slice() {
            [only] => only,
            several => {
                let keys: Vec<&str> = several.iter().map(|m| m.key.0.as_str()).collect();
                bail!(
                    "{} machines are called {name:?}: give the key of one ({})",
                    several.len(),
                    keys.join(", ")
                );
            }
        },
        // That of the newest run.
        None => match machines.first() {
            Some(machine) => machine,
            None => bail!(
                "no run is kept in {} yet: `latlas run` makes one",
                index.store().runs_dir().display()
            ),
        },
    };
    let all = index.percentiles(&machine.key)?;
    if all.is_empty() && !options.json {
        output::tell(&format!(
            "latlas: no kept run of {} has a figure that counts\n",
            output::harmless(machine.name())
        ));
    }
    let text = match options.json {
        true => serde_json::to_string_pretty(&all)? + "\n",
        false if all.is_empty() => String::new(),
        false => render::percentiles(&all, options.points),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

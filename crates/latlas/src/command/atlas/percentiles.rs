//! `latlas atlas percentiles`: the rank of a machine among all.

use crate::arguments::Color;
use crate::arguments::atlas::PercentilesOptions;
use crate::command::this_machine;
use crate::output;
use model::summary::MachineSummary;
use std::process::ExitCode;
use store::history::{machine_of, this_machine_of};
use store::index::Index;
use view::render;

/// Prints the rank of a machine for each row.
pub(super) fn percentiles(index: &Index, options: &PercentilesOptions) -> anyhow::Result<ExitCode> {
    let machine: MachineSummary = match &options.machine {
        Some(name) => machine_of(index, name)?,
        None => this_machine_of(index, &this_machine())?,
    };
    let all = index.percentiles(&machine.key)?;
    if all.is_empty() && !options.json {
        output::message(format_args!(
            "no stored run of {} has a figure that is ok",
            output::harmless(machine.display_name())
        ));
    }
    output::show_json_or(options.json, &all, Color::Never, || match all.is_empty() {
        true => Vec::new(),
        false => render::percentiles(&all, options.points),
    })?;
    Ok(ExitCode::SUCCESS)
}

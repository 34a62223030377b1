//! `latlas noise`: shows, measures, compares and sets what disturbs measurements, a file for each command.
//! `ab_command.rs` tries the user's own command before `ab` begins, `summary.rs` prints what was set and
//! restored. Controls and their restoring are in `crates/noise`, the measuring of OS noise in
//! `crates/meter/src/osnoise`.

mod ab;
mod ab_command;
mod measure;
mod restore;
mod show;
mod summary;
mod tune;

use crate::arguments::noise::NoiseCommand;
use model::machine::Machine;
use std::path::Path;
use std::process::ExitCode;
use sys::machine::Live;

pub(crate) fn noise(what: &NoiseCommand) -> anyhow::Result<ExitCode> {
    match what {
        NoiseCommand::Show(options) => show::show(options),
        NoiseCommand::Measure(options) => measure::measure(options),
        NoiseCommand::Ab(options) => ab::ab(options),
        NoiseCommand::Tune(options) => tune::tune(options),
        NoiseCommand::Restore(options) => restore::restore(options),
    }
}

/// Facts of the machine that this tree was copied from: what this processor says is not of it.
fn facts_of_tree(root: &Path) -> Machine {
    sys::machine::machine_from(root, &Live { cpuid: None, ..Live::here() })
}

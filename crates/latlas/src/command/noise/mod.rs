//! `latlas noise`: the noise of this machine, and what can be done about it.

mod ab;
mod ab_command;
mod measure;
mod restore;
mod show;
mod summary;
mod tune;

use crate::arguments::noise::NoiseCommand;
use std::process::ExitCode;

pub(crate) fn noise(what: &NoiseCommand) -> anyhow::Result<ExitCode> {
    match what {
        NoiseCommand::Show(options) => show::show(options),
        NoiseCommand::Measure(options) => measure::measure(options),
        NoiseCommand::Ab(options) => ab::ab(options),
        NoiseCommand::Tune(options) => tune::tune(options),
        NoiseCommand::Restore(options) => restore::restore(options),
    }
}

//! `latlas exec`: times commands with the methods of the rows.

mod commands;
mod files;
mod shell;
mod timed;

pub(super) use commands::{NamedCommand, in_shell, split};
pub(super) use files::check_files;
pub(super) use timed::{Setup, check, timed, wake_on_signals};

use super::measured::lock;
use super::recorded::Destination;
use super::shielded;
use crate::UNRELIABLE;
use crate::arguments::exec::ExecOptions;
use commands::named_commands;
use std::process::ExitCode;
use view::render::Options;

/// Runs the commands, prints the results and stores the run.
pub(crate) fn exec(options: &ExecOptions) -> anyhow::Result<ExitCode> {
    let timing = &options.timing;
    let commands = named_commands(options)?;
    let input = check_files(timing, options.out.as_deref())?;
    let look = Options { all: options.all, wide: options.wide, ..Options::default() };
    let how = (options.json, options.color, look);
    let destination = Destination::check(options.out.as_slice(), &[], true, how)?;
    check(timing, commands.iter())?;
    // Without the arguments, which may be private.
    let measures = format!("latlas exec {}", options.words[0].to_string_lossy());
    let _lock = lock(&measures, None, timing.wait)?;
    let setup = Setup::choose(timing, input)?;
    let (run, as_before) = shielded::within(timing.controls.shield_cpus(), |groups| {
        timed(timing, &commands, &setup(groups)?, options.margin)
    })?;
    let Some(run) = run else {
        return Ok(ExitCode::from(UNRELIABLE));
    };
    destination.finish(&run, (true, as_before))
}

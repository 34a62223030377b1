//! `latlas exec`: times commands, interleaved, with the methods of the rows. `commands.rs` reads the commands
//! from the command line, `parameters.rs` replaces their parameters, `files.rs` checks their input and output,
//! `setup.rs` what can't be done and where they run, `settings.rs` says how, `rule.rs` when the runs end, `shell.rs`
//! times an empty shell, `timed.rs` runs them all, `so_far.rs` is its line of progress, `exported.rs` writes
//! hyperfine's files. `latlas ci` times its two builds with the same functions; the measuring itself is in
//! `crates/meter/src/commands`.

mod commands;
mod exported;
mod files;
mod parameters;
mod rule;
mod settings;
mod setup;
mod shell;
mod so_far;
mod timed;

pub(super) use commands::{NamedCommand, in_shell, split};
pub(super) use files::check_files;
pub(super) use rule::rule;
pub(super) use setup::{CommandSetup, check_commands};
pub(super) use timed::{timed, wake_on_signals};

use super::measured::lock;
use super::recorded::Destination;
use super::shielded;
use crate::UNRELIABLE;
use crate::arguments::exec::{ExecOptions, Sort};
use commands::named_commands;
use exported::Exports;
use meter::commands::repeat::COMPARED;
use std::process::ExitCode;
use view::render::Options;

/// Runs the commands, prints the results and stores the run.
pub(crate) fn exec(options: &ExecOptions) -> anyhow::Result<ExitCode> {
    let timing = &options.timing;
    let commands = named_commands(options)?;
    let input = check_files(timing, options.out.as_deref())?;
    let as_given = options.sort == Sort::Command;
    let look = Options { all: options.all, wide: options.wide, as_given, ..Options::default() };
    let how = (options.json.form(), options.color, look);
    let destination = Destination::check_outputs(options.out.as_slice(), &[], true, how)?;
    let exports = Exports::check_files(options)?;
    check_commands(timing, commands.iter())?;
    // Without the arguments, which may be private.
    let measures = format!("latlas exec {}", commands[0].words[0].to_string_lossy());
    let _lock = lock(&measures, None, timing.wait)?;
    let setup = CommandSetup::choose(timing, input)?;
    let rule = rule(timing, commands.len(), COMPARED.question);
    let (run, as_before) = shielded::within(timing.controls.shield_cpus(), |groups| {
        timed(timing, &commands, &setup(groups)?, rule, options.margin)
    })?;
    let Some(run) = run else {
        return Ok(ExitCode::from(UNRELIABLE));
    };
    let code = destination.finish(&run, (true, as_before))?;
    exports.write_files(&run)?;
    Ok(code)
}

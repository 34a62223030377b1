//! `latlas exec`: times commands with the methods of the rows.

mod commands;
mod files;
mod shell;
mod timed;

pub(super) use commands::{NamedCommand, in_shell, split};
pub(super) use files::check_files;
pub(super) use timed::{Setup, check, timed, wake_on_signals};

use super::measured::{exit_code, keep, lock, writable_store};
use super::shielded;
use crate::arguments::exec::ExecOptions;
use crate::{UNRELIABLE, ending, output};
use commands::named_commands;
use compare::references::References;
use std::process::ExitCode;
use view::render::{self, Options};

/// Runs the commands, prints the results and stores the run.
pub(crate) fn exec(options: &ExecOptions) -> anyhow::Result<ExitCode> {
    let references = References::embedded()?;
    let timing = &options.timing;
    let commands = named_commands(options)?;
    let input = check_files(timing, options.out.as_deref())?;
    let out = options.out.as_deref().map(ending::run_file).transpose()?;
    let store = writable_store(options.out.is_some() || options.json)?;
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
    let look = Options {
        all: options.all,
        wide: options.wide,
        kept: keep(&run, store.as_ref()),
        ..Options::default()
    };
    let written = out.as_ref().map(|out| out.write_run(&run));
    match options.json {
        true => output::print(&output::document(&run)?)?,
        false => output::show(&render::run(&run, &references, &look), options.color)?,
    }
    written.transpose()?;
    let lost = look.kept.is_none() && options.out.is_none() && !options.json;
    Ok(match as_before {
        true => exit_code(&run, lost),
        false => ExitCode::from(UNRELIABLE),
    })
}

//! The start time of a shell.

use super::commands::in_shell;
use meter::commands::arm::{Arm, CommandSettings, Output};
use meter::commands::input::Input;
use meter::commands::repeat::{ALONE, repeat, walls_ns};
use meter::commands::runner::CommandRunner;
use model::command::Rule;
use model::figure::figure_in_unit;
use model::repeats;
use model::setting::Setting;
use model::unit::Unit;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs of an empty shell, to measure its start time.
const SHELL_RUNS: u32 = 20;

/// The start time of a shell, as a note: it is part of every figure. `None` if interrupted.
pub(super) fn shell_start(
    shell: &OsStr,
    controls: Vec<Setting>,
    settings: &CommandSettings,
    wake: OwnedFd,
    resumed: &Arc<AtomicBool>,
) -> anyhow::Result<Option<String>> {
    let words = in_shell(shell, OsStr::new(":"))?;
    let arm = Arm { words, controls, ..Arm::default() };
    let settings = CommandSettings {
        input: Input::default(),
        output: Output::Null,
        check: None,
        ..settings.clone()
    };
    let rule = Rule { runs: Some(SHELL_RUNS), ..ALONE };
    let mut runner = CommandRunner::new(vec![arm], settings, Some(wake), Arc::clone(resumed))?;
    let repeated = repeat(&mut runner, 1, 1, &rule, 0, |_| ())?;
    let estimate = repeats::estimate(&walls_ns(&repeated.runs[0]), &Unit::Time, 0.0);
    Ok(estimate.typical.map(|t| {
        let f = figure_in_unit(&t.ns, &Unit::Time);
        format!(
            "run in a shell: `{} -c :` alone takes {} {} ±{} ({} runs), included in the figures",
            shell.to_string_lossy(),
            f.value,
            f.unit,
            f.half_width,
            t.samples
        )
    }))
}

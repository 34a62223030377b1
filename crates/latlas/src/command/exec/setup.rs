//! Where commands run and under which controls, and what is refused before anything is measured.

use super::commands::{NamedCommand, split};
use super::files::output_file;
use crate::arguments::exec::{Pin, TimingOptions};
use crate::command::shielded;
use anyhow::bail;
use meter::commands::arm;
use meter::commands::error::CommandError;
use meter::commands::input::Input;
use meter::commands::placement::Placement;
use meter::controls;
use model::machine::Machine;
use model::noise::applied::Applied;
use std::io;
use std::path::{Path, PathBuf};

/// Where commands run, and under which controls.
pub(in crate::command) struct CommandSetup {
    pub(super) machine: Machine,
    pub(super) placement: Placement,
    pub(super) controls: controls::RequestedControls,
    pub(super) applied: Applied,
    pub(super) input: Input,
}

impl CommandSetup {
    /// Chooses the CPU; what it returns adds the controls, in the control groups of a shield. The
    /// commands get this input.
    ///
    /// # Errors
    /// What the system refuses, before anything runs.
    pub(in crate::command) fn choose(
        options: &TimingOptions,
        input: Input,
    ) -> anyhow::Result<impl FnOnce(Vec<PathBuf>) -> anyhow::Result<CommandSetup>> {
        let pin = pin(options)?;
        let machine = sys::machine_facts(Path::new("/"));
        let placement = Placement::choose(pin, &machine)?;
        Ok(move |groups| {
            let controls = controls_of(options, &placement, groups);
            let applied = controls.try_out()?;
            Ok(CommandSetup { machine, placement, controls, applied, input })
        })
    }
}

/// Refuses what can't be done, as far as that can be known without measuring: before the measuring
/// lock, for which others may be waited for.
///
/// # Errors
/// What can't be done.
pub(in crate::command) fn check_commands<'c>(
    options: &TimingOptions,
    commands: impl Iterator<Item = &'c NamedCommand>,
) -> anyhow::Result<()> {
    let check = options.check.as_deref().map(split).transpose()?;
    for words in commands.map(|one| &one.words).chain(&check) {
        arm::check_program(words)?;
    }
    for path in &options.cold_files {
        let shown = path.display();
        match std::fs::metadata(path) {
            Ok(found) if found.is_file() && found.len() == 0 => {
                bail!("{shown} is empty: there is nothing to drop from the page cache")
            }
            Ok(_) => {}
            Err(error) => bail!(CommandError::ColdFile { path: shown.to_string(), error }),
        }
    }
    if let Some(path) = output_file(options) {
        may_be_written(&path).map_err(|error| CommandError::Stream {
            action: "write",
            path: path.display().to_string(),
            error,
        })?;
    }
    if options.cold {
        sys::page_cache::may_drop_all().map_err(CommandError::Cold)?;
    }
    let shield = options.controls.shield_cpus();
    shielded::check_privilege(shield)?;
    if let (Some(Some(cpu)), []) = (pin(options)?, shield) {
        Placement::check_cpu(cpu)?;
    }
    let controls = options.controls.requested(options.own_session);
    Ok(controls.may_be_had()?)
}

/// Without opening it: that would empty it.
fn may_be_written(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => Ok(()),
        Err(_) => {
            let above = path.parent().filter(|above| *above != Path::new(""));
            sys::filesystem::may_write(above.unwrap_or(Path::new(".")))
        }
    }
}

/// On which CPU the command is wanted; within a shield one of its own.
#[allow(clippy::option_option, reason = "absent, given, given with a number")]
fn pin(options: &TimingOptions) -> anyhow::Result<Option<Option<u32>>> {
    let wanted = options.pin.map(|pin| match pin {
        Pin::Quietest => None,
        Pin::Cpu(cpu) => Some(cpu),
    });
    match (wanted, options.controls.shield_cpus()) {
        (Some(Some(cpu)), shield @ [_, ..]) if !shield.contains(&cpu) => {
            bail!("--pin {cpu} lies outside the CPUs of --shield")
        }
        // This process itself is not in the shield, and can't look for the
        // quietest.
        (Some(None), [first, ..]) => Ok(Some(Some(*first))),
        (pin, _) => Ok(pin),
    }
}

/// What is set for the commands.
fn controls_of(
    options: &TimingOptions,
    placement: &Placement,
    groups: Vec<PathBuf>,
) -> controls::RequestedControls {
    let mut requested = options.controls.requested(options.own_session);
    requested.settings.cpus = placement.cpu().into_iter().collect();
    requested.groups = groups;
    requested
}

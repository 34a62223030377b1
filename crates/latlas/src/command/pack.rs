//! `latlas pack`: `new.rs` creates the project of a probe pack from a template, `check.rs` tries each probe
//! of a pack in a child process. The search for packs and the child that loads them are in `packs.rs`.

mod check;
mod new;

use crate::arguments::pack::PackCommand;
use std::process::ExitCode;

pub(crate) fn pack(what: &PackCommand) -> anyhow::Result<ExitCode> {
    match what {
        PackCommand::New { language, name } => new::new(*language, name),
        PackCommand::Check { file, json } => check::check_pack(file, *json),
    }
}

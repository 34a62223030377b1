//! `latlas pack`: probe packs created and checked.

mod check;
mod new;

use crate::arguments::pack::PackCommand;
use std::process::ExitCode;

pub(crate) fn pack(what: &PackCommand) -> anyhow::Result<ExitCode> {
    match what {
        PackCommand::New { language, name } => new::new(*language, name),
        PackCommand::Check { file, json } => check::check(file, *json),
    }
}

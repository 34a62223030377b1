//! `latlas machine`: this machine's hardware, kernel and settings.

use crate::arguments::Color;
use crate::output;
use model::filesystem::Filesystem;
use model::machine::{Fact, Machine};
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// The machine, and the file system of file rows.
#[derive(Serialize)]
struct Facts {
    #[serde(flatten)]
    machine: Machine,
    files_on: Fact<Filesystem>,
}

/// Prints the facts, or why they are unknown.
pub(crate) fn machine(json: bool) -> anyhow::Result<ExitCode> {
    let facts = Facts {
        machine: sys::machine(Path::new("/")),
        files_on: match meter::scratch::by_default() {
            Ok(scratch) => Fact::known(scratch.filesystem),
            Err(why) => Fact::unknown(why.to_string()),
        },
    };
    output::show_json_or(json, &facts, Color::Never, || {
        view::render::machine(&facts.machine, &facts.files_on)
    })?;
    Ok(ExitCode::SUCCESS)
}

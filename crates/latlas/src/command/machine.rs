//! `latlas machine`: what is known of this machine, and why the rest is not.

use crate::output;
use model::filesystem::Filesystem;
use model::machine::{Fact, Machine};
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// The machine, and where rows of files would put theirs.
#[derive(Serialize)]
struct Facts {
    #[serde(flatten)]
    machine: Machine,
    files_on: Fact<Filesystem>,
}

/// Prints the machine's facts.
pub(crate) fn machine(json: bool) -> anyhow::Result<ExitCode> {
    let facts = Facts {
        machine: sys::machine(Path::new("/")),
        files_on: match meter::scratch::by_default() {
            Ok(place) => Fact::known(place.filesystem),
            Err(why) => Fact::unknown(why),
        },
    };
    let text = if json {
        serde_json::to_string_pretty(&facts)? + "\n"
    } else {
        atlas::render::machine(&facts.machine, &facts.files_on)
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

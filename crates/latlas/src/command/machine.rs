//! `latlas machine`: what is known of this machine, and why the rest is not.

use crate::output;
use std::path::Path;
use std::process::ExitCode;

/// Prints the machine's facts.
pub(crate) fn machine(json: bool) -> anyhow::Result<ExitCode> {
    let machine = sys::machine(Path::new("/"));
    let text = if json {
        serde_json::to_string_pretty(&machine)? + "\n"
    } else {
        atlas::render::machine(&machine)
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

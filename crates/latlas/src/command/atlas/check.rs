//! `latlas atlas rebuild` and `latlas atlas verify`.

use crate::{UNRELIABLE, output};
use atlas::index::Index;
use atlas::render;
use std::process::ExitCode;

/// Makes the index anew.
pub(super) fn rebuild(index: &Index, json: bool) -> anyhow::Result<ExitCode> {
    let rebuilt = index.rebuild()?;
    let text = match json {
        true => serde_json::to_string_pretty(&rebuilt)? + "\n",
        false => render::rebuilt(&rebuilt, &index.path()),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Looks at everything, and says what is damaged.
pub(super) fn verify(index: &Index, json: bool) -> anyhow::Result<ExitCode> {
    let verified = index.verify()?;
    let text = match json {
        true => serde_json::to_string_pretty(&verified)? + "\n",
        false => render::verified(&verified),
    };
    output::print(&text)?;
    Ok(match verified.is_whole() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(UNRELIABLE),
    })
}

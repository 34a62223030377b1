//! `latlas atlas rebuild` and `latlas atlas verify`.

use crate::arguments::Color;
use crate::{UNRELIABLE, output};
use std::process::ExitCode;
use store::index::Index;
use view::render;

pub(super) fn rebuild(index: &Index, json: bool) -> anyhow::Result<ExitCode> {
    let rebuilt = index.rebuild()?;
    output::show_json_or(json, &rebuilt, Color::Never, || {
        render::rebuilt(&rebuilt, &index.path())
    })?;
    Ok(match rebuilt.not_read {
        None => ExitCode::SUCCESS,
        Some(_) => ExitCode::from(UNRELIABLE),
    })
}

/// Checks everything and prints the damage.
pub(super) fn verify(index: &Index, json: bool) -> anyhow::Result<ExitCode> {
    let verified = index.verify()?;
    output::show_json_or(json, &verified, Color::Never, || render::verified(&verified))?;
    Ok(if verified.is_whole() { ExitCode::SUCCESS } else { ExitCode::from(UNRELIABLE) })
}

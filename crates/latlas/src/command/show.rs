//! `latlas show`: a kept run again, without measuring.

use super::drawing;
use crate::arguments::Look;
use crate::output;
use atlas::references::References;
use atlas::store::{self, Store};
use std::process::ExitCode;

/// Draws a kept run.
pub(crate) fn show(name: &str, json: bool, look: &Look) -> anyhow::Result<ExitCode> {
    let references = References::embedded()?;
    let mut options = drawing(&references, look)?;
    let path = store::named(name, &Store::of_user())?;
    let run = store::read(&path)?;
    let text = if json {
        output::document(&run)?
    } else {
        options.kept = Some(path.display().to_string());
        atlas::render::run(&run, &references, &options)
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

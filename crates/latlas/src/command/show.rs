//! `latlas show`: a kept run again, without measuring.

use super::{drawing, named};
use crate::arguments::Look;
use crate::output;
use atlas::references::References;
use atlas::store::{self, Store};
use std::process::ExitCode;

/// Draws a kept run.
pub(crate) fn show(name: &str, json: bool, look: &Look) -> anyhow::Result<ExitCode> {
    let references = References::embedded()?;
    let mut options = drawing(&references, look)?;
    let path = named(name, &Store::of_user())?;
    let text = if json {
        output::document(&store::read_as_it_is(&path)?)?
    } else {
        options.kept = Some(path.display().to_string());
        atlas::render::run(&store::read(&path)?, &references, &options)
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

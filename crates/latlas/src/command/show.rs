//! `latlas show`: a kept run again, without measuring.

use super::drawing;
use crate::arguments::Look;
use crate::output;
use atlas::references::References;
use atlas::store::{self, Store};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Draws a kept run.
pub(crate) fn show(name: &str, json: bool, look: &Look) -> anyhow::Result<ExitCode> {
    let references = References::embedded()?;
    let mut options = drawing(&references, look)?;
    let path = find(name)?;
    let run = store::read(&path)?;
    let text = if json {
        String::from_utf8(store::to_json(&run)?)? + "\n"
    } else {
        options.kept = Some(path.display().to_string());
        atlas::render::run(&run, &references, &options)
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// A file where there is one of that name, else the last run or the one whose
/// id begins so.
pub(crate) fn find(name: &str) -> anyhow::Result<PathBuf> {
    let looks_like_id = name.chars().all(|c| c == '-' || c.is_ascii_hexdigit());
    let path = Path::new(name);
    Ok(if path.is_file() {
        path.to_owned()
    } else if name == "last" {
        Store::of_user()?.last()?
    } else if looks_like_id && !name.is_empty() {
        Store::of_user()?.find(&name.to_ascii_lowercase())?
    } else {
        path.to_owned()
    })
}

//! `latlas noise restore`: what a tune left set is put back.

use super::summary;
use super::tune::{needs_root, tree_and_state};
use crate::arguments::noise::restore::RestoreOptions;
use crate::{REFUSED, UNRELIABLE, output};
use anyhow::Context;
use std::process::ExitCode;

/// Puts back what the journal says, and tells what became of each value.
pub(super) fn restore(options: &RestoreOptions) -> anyhow::Result<ExitCode> {
    needs_root(options.root.as_deref(), "restore")?;
    let (tree, state) = tree_and_state(options.root.as_deref());
    let _held = sys::attached::hold().context("can't hold signals back")?;
    let restored = noise::tune::restore(&tree, &state)?;
    let text = match options.json {
        true => serde_json::to_string(&restored)? + "\n",
        false if !restored.found => "nothing to restore\n".into(),
        false => summary::restored(&restored),
    };
    output::print(&text)?;
    Ok(if !restored.complete() {
        ExitCode::from(REFUSED)
    } else if !restored.as_before() {
        ExitCode::from(UNRELIABLE)
    } else {
        ExitCode::SUCCESS
    })
}

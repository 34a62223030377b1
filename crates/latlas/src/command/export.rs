//! `latlas export`: a kept run in another tool's format.

use super::named;
use crate::arguments::export::ExportOptions;
use crate::output;
use atlas::exchange::export;
use atlas::store::{self, Store};
use std::process::ExitCode;

/// Writes the run, and says on stderr what the format has no place for.
pub(crate) fn export(options: &ExportOptions) -> anyhow::Result<ExitCode> {
    let run = store::read(&named(&options.run, &Store::of_user())?)?;
    let exported = export::export(&run, options.format.into(), &options.rows)?;
    match &options.out {
        Some(path) => store::write_bytes(exported.text.as_bytes(), path)?,
        None => output::print(&exported.text)?,
    }
    for line in &exported.left_out {
        eprintln!("latlas: left out: {}", output::harmless(line));
    }
    Ok(ExitCode::SUCCESS)
}

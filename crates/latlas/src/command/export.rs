//! `latlas export`: a stored run in another tool's format.

use super::named;
use crate::arguments::export::ExportOptions;
use crate::output;
use std::process::ExitCode;
use store::exchange::export;
use store::{self, Store};

/// Writes the run, and prints on stderr what the format can't represent.
pub(crate) fn export(options: &ExportOptions) -> anyhow::Result<ExitCode> {
    let run = store::read(&named(&options.run, &Store::of_user())?)?;
    let exported = export::export(&run, options.format, &options.rows)?;
    match &options.out {
        Some(path) => store::write_bytes(exported.text.as_bytes(), path)?,
        None => output::print(&exported.text)?,
    }
    for line in &exported.left_out {
        output::message(format_args!("omitted: {}", output::harmless(line)));
    }
    Ok(ExitCode::SUCCESS)
}

//! `latlas export`: a stored run in another tool's format.

use super::named;
use crate::arguments::export::ExportOptions;
use crate::ending::{self, Ending};
use crate::output;
use std::process::ExitCode;
use store::exchange::export::{self, Format};
use store::{self, Store};

/// Writes the run, and prints on stderr what the format can't represent.
pub(crate) fn export(options: &ExportOptions) -> anyhow::Result<ExitCode> {
    let out = options.out.as_deref().filter(|path| !ending::is_stdout(path));
    if let Some(path) = out {
        let ending = match options.format {
            Format::GoogleBenchmark | Format::Hyperfine | Format::Bencher => Ending::Json,
            Format::Markdown | Format::Csv | Format::JsonLines => {
                Ending::Exported(options.format.name())
            }
        };
        ending::check_format(path, options.format.name(), &[ending])?;
    }
    let run = store::read(&named(&options.run, &Store::of_user())?)?;
    let exported = export::export(&run, options.format, &options.rows)?;
    match out {
        Some(path) => store::write_bytes(exported.text.as_bytes(), path)?,
        None => output::print(&exported.text)?,
    }
    for line in &exported.left_out {
        output::message(format_args!("omitted: {}", output::harmless(line)));
    }
    Ok(ExitCode::SUCCESS)
}

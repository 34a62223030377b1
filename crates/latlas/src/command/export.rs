//! `latlas export`: a stored run in another tool's format.

use super::run_path_named;
use crate::arguments::Color;
use crate::arguments::export::ExportOptions;
use crate::ending::{self, Ending};
use crate::output;
use model::machine::Fact;
use model::run::Run;
use serde_json::Map;
use std::process::ExitCode;
use store::exchange::export::{self, ExportFormat, KnownBeside, PersonalNames};
use store::{self, LastOf, Store};

/// Writes the run, and prints on stderr what the format can't represent.
pub(crate) fn export(options: &ExportOptions) -> anyhow::Result<ExitCode> {
    let out = options.out.as_deref().filter(|path| !ending::is_stdout(path));
    if let Some(path) = out {
        let ending = match options.format {
            ExportFormat::GoogleBenchmark
            | ExportFormat::Hyperfine
            | ExportFormat::Bencher
            | ExportFormat::BenchmarkAction
            | ExportFormat::Reference => Ending::Json,
            text => Ending::Exported(text.option_name()),
        };
        ending::check_format(path, options.format.option_name(), &[ending])?;
    }
    let run = store::read_run(&run_path_named(&options.run, &Store::of_user(), LastOf::All)?)?;
    let published = match options.format {
        ExportFormat::JsonLines => Some(output::published_members(&run)),
        _ => None,
    };
    let more = |id: &str| published.as_ref().map_or_else(Map::new, |members| members(id));
    let known = KnownBeside { names: personal_names(), more: &more };
    let exported = export::export_with(&run, options.format, &options.rows, &known)?;
    if options.format == ExportFormat::Reference && out.is_some() {
        print_record(&store::from_bytes(exported.text.as_bytes())?)?;
    }
    match out {
        Some(path) => store::write_bytes(exported.text.as_bytes(), path)?,
        None => output::print(&exported.text)?,
    }
    for line in &exported.left_out {
        output::message(format_args!("omitted: {}", output::harmless(line)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Names by which this environment knows its user.
pub(super) fn personal_names() -> PersonalNames {
    let variables = ["USER", "LOGNAME", "SUDO_USER", "HOME", "USERPROFILE"];
    PersonalNames::new(variables.into_iter().filter_map(|name| std::env::var(name).ok()))
}

/// What a record says, before it is written.
fn print_record(record: &Run) -> anyhow::Result<()> {
    output::show_json_or(false, record, Color::Never, || {
        let files_on = match &record.files_on {
            Some(files) => Fact::known(files.clone()),
            None => Fact::unknown("no row of the run needed a file"),
        };
        view::render::machine_page(&record.machine, &files_on)
    })?;
    output::print(&format!("rows\n  {} (`latlas show FILE` prints them)\n", record.rows.len()))
}

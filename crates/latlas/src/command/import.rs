//! `latlas import`: stores another tool's results as a run.

use crate::arguments::import::ImportOptions;
use crate::output;
use anyhow::bail;
use model::phrases::{counted, short_id};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::Store;
use store::exchange::import::{self, InputFormat, Origin, files};
use store::index;

/// Reads all files, then stores one run of them, or nothing.
pub(crate) fn import(options: &ImportOptions) -> anyhow::Result<ExitCode> {
    let from_stdin = options.files.iter().filter(|f| *f == Path::new("-"));
    if from_stdin.count() > 1 {
        bail!("standard input can be read only once: give - once");
    }
    if let [folder] = &options.files[..]
        && folder.is_dir()
        && options.format.0.is_none_or(|format| format == InputFormat::Run)
    {
        let records = files::records_in(folder)?;
        if !records.is_empty() {
            return import_records(&records, options);
        }
    }
    let inputs =
        options.files.iter().map(|path| files::read_input(path)).collect::<Result<Vec<_>, _>>()?;
    let run =
        import::import(&inputs, options.format.0, origin(options.name.clone(), options.here))?;
    let store = Store::of_user()?;
    let (path, messages) = index::keep(&store, &run)?;
    super::atlas::print_messages(&messages);
    let text = if options.document { output::document(&run)? } else { format!("{}\n", run.id) };
    let rows = match run.rows.len() {
        1 => "1 row".to_owned(),
        n => format!("{n} rows"),
    };
    output::message(format_args!(
        "stored {rows} of {} as {}; print them with `latlas show {}`",
        output::harmless(&run.program.name),
        store.display_path(&path),
        short_id(&run.id)
    ));
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads all records of a folder, then stores each that is not stored yet.
fn import_records(records: &[PathBuf], options: &ImportOptions) -> anyhow::Result<ExitCode> {
    let mut runs = Vec::new();
    for record in records {
        let input = files::read_input(record)?;
        runs.push(import::import(
            &[input],
            Some(InputFormat::Run),
            origin(options.name.clone(), options.here),
        )?);
    }
    let store = Store::of_user()?;
    let (mut text, mut known) = (String::new(), 0);
    for run in &runs {
        match index::keep(&store, run) {
            Ok((_, messages)) => super::atlas::print_messages(&messages),
            Err(error) if error.is_kept_already() => known += 1,
            Err(error) => return Err(error.into()),
        }
        text += &if options.document { output::document(run)? } else { format!("{}\n", run.id) };
    }
    output::message(format_args!(
        "stored {}; {known} were stored already; compare with one by its id: `latlas compare ID last`",
        counted(runs.len() - known, "record")
    ));
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// A new run of another tool's results; `here`: of this machine.
pub(super) fn origin(name: Option<String>, here: bool) -> Origin {
    Origin {
        id: uuid::Uuid::new_v4().to_string(),
        now_unix_ms: sys::clock::realtime_unix_ms(),
        by: format!("latlas {}", env!("CARGO_PKG_VERSION")),
        name,
        machine: here.then(|| sys::machine_facts(Path::new("/"))),
    }
}

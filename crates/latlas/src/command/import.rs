//! `latlas import`: stores another tool's results as a run.

use crate::arguments::import::ImportOptions;
use crate::output;
use anyhow::bail;
use model::text::short_id;
use std::path::Path;
use std::process::ExitCode;
use store::Store;
use store::exchange::import::{self, Origin, files};
use store::index;

/// Reads all files, then stores one run of them, or nothing.
pub(crate) fn import(options: &ImportOptions) -> anyhow::Result<ExitCode> {
    let from_stdin = options.files.iter().filter(|f| *f == Path::new("-"));
    if from_stdin.count() > 1 {
        bail!("standard input can be read only once: give - once");
    }
    let inputs =
        options.files.iter().map(|path| files::read(path)).collect::<Result<Vec<_>, _>>()?;
    let run = import::import(&inputs, options.format.0, origin(options))?;
    let store = Store::of_user()?;
    let (path, messages) = index::keep(&store, &run)?;
    super::atlas::print_messages(&messages);
    let text = if options.json { output::document(&run)? } else { format!("{}\n", run.id) };
    let rows = match run.rows.len() {
        1 => "1 row".to_owned(),
        n => format!("{n} rows"),
    };
    output::message(format_args!(
        "stored {rows} of {} as {}; print them with `latlas show {}`",
        output::harmless(&run.program.name),
        store.shown(&path),
        short_id(&run.id)
    ));
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn origin(options: &ImportOptions) -> Origin {
    Origin {
        id: uuid::Uuid::new_v4().to_string(),
        now_unix_ms: sys::clock::realtime_unix_ms(),
        by: format!("latlas {}", env!("CARGO_PKG_VERSION")),
        name: options.name.clone(),
        machine: options.here.then(|| sys::machine(Path::new("/"))),
    }
}

//! `latlas table`: a published table with this machine's figures in it.

use super::{run, suggestion};
use crate::arguments::{RunOptions, TableOptions};
use crate::{UNRELIABLE, catalogue, output, program, selection};
use anyhow::bail;
use atlas::references::{Published, References};
use atlas::render::{self, ProbeText, PublishedOptions};
use atlas::store::{self, Store};
use atlas::tables::{self, Table};
use meter::probe::Probe;
use model::run::Run;
use std::path::Path;
use std::process::ExitCode;

/// Kept runs that are looked through for a table's rows, newest first.
const LOOKED_THROUGH: usize = 20;

/// Prints a table, or which there are.
pub(crate) fn table(catalogue: &[Probe], options: &TableOptions) -> anyhow::Result<ExitCode> {
    let references = References::embedded()?;
    let Some(key) = &options.table else {
        output::print(&list(&references, options.json)?)?;
        return Ok(ExitCode::SUCCESS);
    };
    let layout = layout(&references, key)?;
    if options.earlier && layout.earlier.is_empty() {
        bail!("the table {key} recalls no figures of 2008; latlas table ash --2008 does");
    }
    let probes = catalogue::texts(catalogue);
    let ids = tables::row_ids(layout, &references);
    let measurable: Vec<String> = ids
        .iter()
        .filter(|id| selection::probe(&probes, id).is_ok())
        .cloned()
        .collect();
    let run = match (&options.run, options.measure) {
        (_, true) => Some(measure(catalogue, &probes, &measurable, options)?),
        (Some(name), _) => Some(store::read(&store::named(name, &Store::of_user())?)?),
        (None, _) => of_store(&ids)?,
    };
    let table = tables::fill_in(layout, &references, run.as_ref(), options.earlier);
    let text = if options.json {
        serde_json::to_string_pretty(&table)? + "\n"
    } else {
        let look = PublishedOptions {
            wide: options.wide,
            color: output::colored(options.color),
            measurable: Some(&measurable),
        };
        render::published(&table, run.as_ref(), &look)
    };
    output::print(&text)?;
    Ok(exit_code(&table, run.as_ref()))
}

fn layout<'a>(references: &'a References, key: &str) -> anyhow::Result<&'a Published> {
    let keys = || references.layouts.iter().map(|table| table.key.as_str());
    match references.layout(key) {
        Some(layout) => Ok(layout),
        None => bail!(
            "no published table {key:?}{} (there are {})",
            suggestion(key, keys()),
            keys().collect::<Vec<_>>().join(", ")
        ),
    }
}

/// The tables that there are.
fn list(references: &References, json: bool) -> anyhow::Result<String> {
    if json {
        let all = references.layouts.iter();
        let all: Vec<_> = all
            .map(|table| serde_json::json!({"key": table.key, "title": table.title}))
            .collect();
        return Ok(serde_json::to_string_pretty(&all)? + "\n");
    }
    let lines = references.layouts.iter();
    Ok(lines
        .map(|table| format!("{:<8}{}\n", table.key, table.title))
        .collect())
}

/// Measures the rows that a table needs, and keeps the run.
fn measure(
    catalogue: &[Probe],
    probes: &[ProbeText],
    ids: &[String],
    options: &TableOptions,
) -> anyhow::Result<Run> {
    let options = RunOptions {
        quick: options.quick,
        dir: options.dir.clone(),
        ..RunOptions::default()
    };
    let (request, machine) = run::request(probes, ids, &options)?;
    let plan = meter::plan::plan(catalogue, &request, &machine)?;
    let run = run::measure(catalogue, &plan, machine)?;
    run::keep(&run);
    Ok(run)
}

/// Of the last kept runs those of this machine, and of them the one that holds
/// most of the rows; none where no such run is kept, or none of them holds any.
/// A run that can't be read is said and passed over.
fn of_store(ids: &[String]) -> anyhow::Result<Option<Run>> {
    let paths = Store::of_user()?.paths()?;
    if paths.is_empty() {
        return Ok(None);
    }
    let machine = sys::machine(Path::new("/"));
    let program = program::program(&machine);
    let newest = paths.iter().rev().take(LOOKED_THROUGH);
    let readable = newest.filter_map(|path| match store::read(path) {
        Ok(run) => Some(run),
        Err(error) => {
            eprintln!("latlas: passed over: {error}");
            None
        }
    });
    let own = readable.filter(|run| tables::is_of(run, &machine, program.emulated.as_deref()));
    Ok(tables::fullest(own, ids))
}

/// Not to be relied on: without any figure of this machine that is ok, or from
/// an interrupted run.
fn exit_code(table: &Table, run: Option<&Run>) -> ExitCode {
    let whole = run.is_some_and(|run| run.partial.is_none());
    match table.any_ok() && whole {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(UNRELIABLE),
    }
}

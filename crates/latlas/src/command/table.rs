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
    let mut lost = false;
    let run = match (&options.run, options.measure) {
        (_, true) => {
            let (run, kept) = measure(catalogue, &probes, &measurable, options)?;
            lost = kept.is_none();
            Some(run)
        }
        (Some(name), _) => Some(store::read(&super::named(name, &Store::of_user())?)?),
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
    Ok(match !lost && is_reliable(&table, run.as_ref()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(UNRELIABLE),
    })
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

/// Measures the rows that a table needs, and keeps the run; where it is kept.
fn measure(
    catalogue: &[Probe],
    probes: &[ProbeText],
    ids: &[String],
    options: &TableOptions,
) -> anyhow::Result<(Run, Option<String>)> {
    let options = RunOptions {
        quick: options.quick,
        dir: options.dir.clone(),
        ..RunOptions::default()
    };
    let (request, machine) = run::request(probes, ids, &options)?;
    let plan = meter::plan::plan(catalogue, &request, &machine)?;
    // The table is what was asked for: it is printed also where no run is kept.
    let place = run::where_to_keep(true)?;
    let run = run::measure(catalogue, &plan, machine)?;
    let kept = run::keep(&run, place.as_ref());
    Ok((run, kept))
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

/// A figure of this machine is ok, and its run was not interrupted.
fn is_reliable(table: &Table, run: Option<&Run>) -> bool {
    table.any_ok() && run.is_some_and(|run| run.partial.is_none())
}

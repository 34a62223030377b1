//! `latlas table`: a published table with this machine's figures.

use super::ReferenceOrRun;
use super::measured::{self, keep, writable_store};
use super::run;
use crate::arguments::wait::WaitOptions;
use crate::arguments::{RunOptions, TableOptions};
use crate::{UNRELIABLE, catalogue, output, program, selection};
use anyhow::{Context, bail};
use compare::references::{Form, Published, Reference, References};
use compare::tables::{self, PublishedTable};
use meter::probe::Probe;
use model::nearest::suggestion;
use model::recording::Recording;
use model::run::Run;
use std::path::Path;
use std::process::ExitCode;
use store::{self, LastOf, Store};
use view::render::{self, ProbeText, PublishedOptions};

/// Newest stored runs that are searched for a table's rows.
const LOOKED_THROUGH: usize = 20;

/// Prints a table, or the list of tables.
pub(crate) fn table(catalogue: &[Probe], options: &TableOptions) -> anyhow::Result<ExitCode> {
    let references = References::embedded()?;
    let Some(key) = &options.table else {
        list_tables(&references, options.json)?;
        return Ok(ExitCode::SUCCESS);
    };
    let layout = layout(&references, key)?;
    if layout.form == Form::Qos {
        return oakley(&references, options);
    }
    if options.earlier && layout.earlier.is_empty() {
        bail!("table {key} has no values of 2008: use `latlas table ash --2008`");
    }
    let probes = catalogue::texts(catalogue);
    let ids = tables::row_ids(layout, &references);
    let measurable: Vec<String> =
        ids.iter().filter(|id| selection::probe_named(&probes, id).is_ok()).cloned().collect();
    let claims = tables::claim_ids(layout);
    // Before a measurement, if there is one.
    let named = |name: &String| {
        let path = super::run_path_named(name, &Store::of_user(), LastOf::Rows)?;
        anyhow::Ok(store::read_run(&path)?)
    };
    let other = |name: &String| other_column(name, &references, &ids);
    let others: Vec<Reference> = options.others.iter().map(other).collect::<anyhow::Result<_>>()?;
    let mut lost = false;
    let run = match (&options.run, options.measure) {
        (_, true) => {
            let of_claims = claims.iter().filter_map(|id| selection::row_with_point(&probes, id));
            let rows: Vec<String> = measurable.iter().cloned().chain(of_claims).collect();
            let (run, kept) = measure_table(catalogue, &probes, &rows, key, options)?;
            lost = kept.is_none();
            Some(run)
        }
        (Some(name), _) => Some(named(name)?),
        (None, _) => of_store(&[&ids[..], &claims].concat())?,
    };
    let table = tables::fill_in_beside(layout, &references, run.as_ref(), options.earlier, &others);
    output::show_json_or(options.json, &table, options.color, || {
        let look = PublishedOptions {
            wide: options.wide,
            columns: output::columns(),
            measurable: Some(&measurable),
        };
        render::published(&table, run.as_ref(), &look)
    })?;
    Ok(match !lost && is_reliable(&table, run.as_ref()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(UNRELIABLE),
    })
}

/// The column of a name: a run's figures of these rows, or a reference.
fn other_column(name: &str, references: &References, ids: &[String]) -> anyhow::Result<Reference> {
    match super::reference_or_run(name, references, &Store::of_user(), LastOf::Rows)? {
        ReferenceOrRun::Reference(table) => Ok(table),
        ReferenceOrRun::Run(path) => Ok(Reference::of_run(&store::read_run(&path)?, ids)),
    }
}

fn layout<'a>(references: &'a References, key: &str) -> anyhow::Result<&'a Published> {
    let keys = || references.layouts.iter().map(|table| table.key.as_str());
    match references.layout(key) {
        Some(layout) => Ok(layout),
        None => bail!(
            "no published table {key:?}{} (tables: {})",
            suggestion(key, keys()),
            keys().collect::<Vec<_>>().join(", ")
        ),
    }
}

/// Oakley's table, with a result of `latlas qos`.
fn oakley(references: &References, options: &TableOptions) -> anyhow::Result<ExitCode> {
    if options.measure || options.earlier || !options.others.is_empty() {
        bail!("table oakley is filled in by a result of `latlas qos --out FILE`: give the run");
    }
    let Some(reference) = references.qos.first() else {
        bail!("no published figures of quality of service");
    };
    let run = options.run.as_ref().map(|name| {
        let path = super::run_path_named(name, &Store::of_user(), LastOf::All)?;
        anyhow::Ok(store::read_run(&path)?)
    });
    let run = run.transpose()?;
    let of = run.as_ref().map(|run| {
        let mut recordings = run.recordings.iter();
        let qos = recordings.find_map(|of| match of {
            Recording::Qos(qos) => Some(qos),
            _ => None,
        });
        qos.map(|qos| (run, qos)).context("the run is not a result of latlas qos")
    });
    let table = tables::oakley(reference, of.transpose()?);
    output::show_json_or(options.json, &table, options.color, || render::oakley(&table))?;
    Ok(match run.is_some_and(|run| run.partial.is_none()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(UNRELIABLE),
    })
}

fn list_tables(references: &References, json: bool) -> anyhow::Result<()> {
    let tables = references.layouts.iter();
    let all: Vec<_> = tables
        .clone()
        .map(|table| serde_json::json!({"key": table.key, "title": table.title}))
        .collect();
    output::print_json_or(json, &all, || {
        let lines = tables.map(|table| format!("{:<8}{}\n", table.key, table.title));
        lines.collect()
    })
}

/// Measures the rows of a table and stores the run; its path.
fn measure_table(
    catalogue: &[Probe],
    probes: &[ProbeText],
    ids: &[String],
    key: &str,
    options: &TableOptions,
) -> anyhow::Result<(Run, Option<String>)> {
    let wait = WaitOptions { no_wait: options.no_wait };
    let options =
        RunOptions { quick: options.quick, dir: options.dir.clone(), ..RunOptions::default() };
    let (request, mut machine) = run::request(probes, ids, &options)?;
    let mut plan = meter::plan::plan(catalogue, &request, &machine)?;
    // The table is printed even if the run can't be stored.
    let store = writable_store(true)?;
    let measures = format!("latlas table {key} --measure");
    let lock = measured::lock(&measures, Some(plan.total()), wait)?;
    if lock.waited() {
        machine = sys::machine_facts(Path::new("/"));
        plan = meter::plan::plan(catalogue, &request, &machine)?;
    }
    let run = measured::measure(catalogue, &plan, machine)?;
    let kept = keep(&run, store.as_ref());
    Ok((run, kept))
}

/// Of this machine's last stored runs, the one with most of the rows; `None` if there is none
/// with any. Unreadable runs are skipped with a message.
fn of_store(ids: &[String]) -> anyhow::Result<Option<Run>> {
    let paths = Store::of_user()?.paths()?;
    if paths.is_empty() {
        return Ok(None);
    }
    let machine = sys::machine_facts(Path::new("/"));
    let program = program::program(&machine);
    let newest = paths.iter().rev().take(LOOKED_THROUGH);
    let readable = newest.filter_map(|path| match store::read_run(path) {
        Ok(run) => Some(run),
        Err(error) => {
            output::message(format_args!("skipped: {error}"));
            None
        }
    });
    let own = readable.filter(|run| tables::is_of(run, &machine, program.emulated.as_deref()));
    Ok(tables::fullest(own, ids))
}

/// Whether a figure of this machine is ok, and its run was not interrupted.
fn is_reliable(table: &PublishedTable, run: Option<&Run>) -> bool {
    table.any_ok() && run.is_some_and(|run| run.partial.is_none())
}

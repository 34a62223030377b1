//! `latlas run`: measures, stores, prints.

mod dry_run;

use super::{drawing, gate, shielded};
use crate::arguments::{CoreKind, RunOptions};
use crate::progress::Bar;
use crate::{UNRELIABLE, catalogue, output, program, selection};
use anyhow::{Context, bail};
use compare::references::References;
use dry_run::{plan_json, plan_text, short_budget};
use meter::conduct::conduct;
use meter::controls::WorkerControls;
use meter::core_kind::CoreKindChoice;
use meter::plan::{Plan, Request, plan};
use meter::probe::Probe;
use model::machine::Machine;
use model::run::{Run, Scale};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use store::index;
use store::{self, Store};
use view::render::{self, ProbeText};

/// Measures the rows that match the patterns; without any, the default rows.
pub(crate) fn run(
    catalogue: &[Probe],
    patterns: &[String],
    options: &RunOptions,
) -> anyhow::Result<ExitCode> {
    // Errors in the request are reported before measuring.
    let references = References::embedded()?;
    let mut look = drawing(&references, &options.look)?;
    let texts = catalogue::texts(catalogue);
    let (request, machine) = request(&texts, patterns, options)?;
    let mut plan = plan(catalogue, &request, &machine)?;
    if options.dry_run {
        output::print_json_or(options.json, &plan_json(&plan), || plan_text(&plan))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = &options.out {
        store::check_writable(path)?;
    }
    let store = writable_store(options.out.is_some() || options.json)?;
    let prepared = gate::prepared(options, &references, &plan)?;
    if let Some(short) = short_budget(&plan) {
        output::message(format_args!("{short}"));
    }

    let (run, as_before) = shielded::within(options.controls.shield_cpus(), |groups| {
        plan.controls.asked.groups = groups;
        measure(catalogue, &plan, machine)
    })?;
    look.kept = keep(&run, store.as_ref());
    look.full_adds = full_adds(&texts, &request);
    // The table comes before an error about the file.
    let written = options.out.as_ref().map(|path| store::write(&run, path));
    match (options.json, &prepared) {
        (false, _) => output::print(&render::run(&run, &references, &look))?,
        (true, None) => output::print(&output::document(&run)?)?,
        (true, Some(_)) => {}
    }
    // A run that is only printed can't be shown again or be a baseline.
    let lost = look.kept.is_none() && options.out.is_none() && !options.json;
    let of_run = match as_before {
        true => exit_code(&run, lost),
        false => ExitCode::from(UNRELIABLE),
    };
    let Some(prepared) = prepared else {
        written.transpose()?;
        return Ok(of_run);
    };
    let judged = prepared.judge(&run, catalogue, &texts, &request, options);
    output::print(&match options.json {
        true => gate::document(&run, judged.as_ref())?,
        false => gate::page(judged.as_ref(), look.color),
    })?;
    written.transpose()?;
    Ok(gate::exit_code(judged.as_ref(), of_run))
}

/// The request, and this machine.
pub(super) fn request(
    texts: &[ProbeText],
    patterns: &[String],
    options: &RunOptions,
) -> anyhow::Result<(Request, Machine)> {
    // This process is not in the shield, so it can't look for the quietest CPU there.
    let first_shielded = options.controls.shield_cpus().first().copied();
    let machine = sys::machine(Path::new("/"));
    let request = Request {
        scale: scale(options),
        rows: selection::rows(texts, patterns, scale(options))?,
        asked: patterns.to_vec(),
        seed: options.seed.unwrap_or_else(|| fastrand::u64(..1 << 32)),
        budget: options.budget,
        pin: options.pin.or(first_shielded),
        peer: options.peer.clone(),
        core_kind: options.core_kind.map(|kind| match kind {
            CoreKind::Performance => CoreKindChoice::Performance,
            CoreKind::Efficiency => CoreKindChoice::Efficiency,
        }),
        dir: options.dir.clone(),
        controls: controls(options),
        kept_quiet_ratio: kept_quiet_ratio(&machine),
    };
    Ok((request, machine))
}

/// The quiet ratio learned from stored runs of this machine.
fn kept_quiet_ratio(machine: &Machine) -> Option<f64> {
    let store = Store::of_user().ok()?;
    let emulated = program::program(machine).emulated;
    index::kept_quiet_ratio(&store, machine, emulated.as_deref())
}

/// The controls of the workers.
fn controls(options: &RunOptions) -> WorkerControls {
    let pinned = !options.no_controls;
    WorkerControls {
        pinned,
        asked: options.controls.requested(pinned),
        drop_page_cache: options.cold,
    }
}

/// Measures with a bar on stderr, until it is done or Ctrl-C.
pub(super) fn measure(catalogue: &[Probe], plan: &Plan, machine: Machine) -> anyhow::Result<Run> {
    let stop = stop_on_signals()?;
    let mut bar = Bar::on_stderr();
    let program = program::program(&machine);
    let measured = conduct(catalogue, plan, machine, program, &mut bar, stop);
    bar.clear();
    Ok(measured?)
}

fn scale(options: &RunOptions) -> Scale {
    match (options.quick, options.full) {
        (true, _) => Scale::Quick,
        (_, true) => Scale::Full,
        _ => Scale::Default,
    }
}

/// The first Ctrl-C (or SIGTERM, or SIGHUP) stops measuring and keeps the samples; a second one,
/// more than a second later, kills latlas. The flag is global: it stops later measurements of
/// this process too.
pub(super) fn stop_on_signals() -> anyhow::Result<&'static AtomicBool> {
    sys::stop::on_request().context("can't install a signal handler")
}

/// The store of a run, checked before measuring; `None` where it can't be stored but is also
/// written `elsewhere`.
///
/// # Errors
/// If the run would be lost.
pub(super) fn writable_store(elsewhere: bool) -> anyhow::Result<Option<Store>> {
    let usable = |store: Store| store.check_keepable().map(|()| store);
    match Store::of_user().and_then(usable) {
        Ok(store) => Ok(Some(store)),
        Err(error) if elsewhere => {
            output::message(format_args!("the run will not be stored: {error}"));
            Ok(None)
        }
        Err(error) => bail!(
            "can't store the run: {error} (set LATLAS_DATA_DIR to a writable directory, or add \
             --out FILE)"
        ),
    }
}

/// Stores the run; its path. An error since the check is printed, so that the table is not lost.
pub(super) fn keep(run: &Run, store: Option<&Store>) -> Option<String> {
    match index::keep(store?, run) {
        Ok((path, messages)) => {
            super::atlas::print_messages(&messages);
            Some(path.display().to_string())
        }
        Err(error) => {
            output::message(format_args!("the run was not stored: {error}"));
            None
        }
    }
}

/// What `--full` would add.
fn full_adds(texts: &[ProbeText], request: &Request) -> Option<String> {
    if request.scale == Scale::Full || !request.rows.is_empty() {
        return None;
    }
    let mut ids: Vec<&str> = texts
        .iter()
        .filter(|probe| probe.since == Scale::Full)
        .map(|probe| probe.id.as_str())
        .collect();
    ids.dedup();
    ids.push("more points of the curves");
    Some(ids.join(", "))
}

/// The exit code of a run, and of whether it was stored nowhere.
pub(super) fn exit_code(run: &Run, lost: bool) -> ExitCode {
    match render::reliable(run) && !lost {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(UNRELIABLE),
    }
}

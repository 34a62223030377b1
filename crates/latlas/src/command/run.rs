//! `latlas run`: measure, keep, print.

use super::{drawing, gate, shielded};
use crate::arguments::{CoreKind, RunOptions};
use crate::progress::Bar;
use crate::{UNRELIABLE, catalogue, output, program, selection};
use anyhow::{Context, bail};
use atlas::index;
use atlas::references::References;
use atlas::render::{self, ProbeText};
use atlas::store::{self, Store};
use meter::conduct::conduct;
use meter::controls::WorkerControls;
use meter::core_kind::CoreKindAsked;
use meter::plan::{Plan, Request, plan};
use meter::probe::Probe;
use model::machine::Machine;
use model::run::{Run, Scale};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

/// Measures the rows that the patterns name; none for the default set.
pub(crate) fn run(
    catalogue: &[Probe],
    patterns: &[String],
    options: &RunOptions,
) -> anyhow::Result<ExitCode> {
    // Whatever can be wrong with the request is found before the measuring.
    let references = References::embedded()?;
    let mut look = drawing(&references, &options.look)?;
    let texts = catalogue::texts(catalogue);
    let (request, machine) = request(&texts, patterns, options)?;
    let mut plan = plan(catalogue, &request, &machine)?;
    if options.dry_run {
        output::print(&match options.json {
            true => serde_json::to_string_pretty(&planned(&plan))? + "\n",
            false => dry_run(&plan),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = &options.out {
        store::check_writable(path)?;
    }
    let place = where_to_keep(options.out.is_some() || options.json)?;
    let prepared = gate::prepared(options, &references, &plan)?;
    if let Some(short) = short_budget(&plan) {
        output::tell(&format!("latlas: {short}\n"));
    }

    let (run, as_before) = shielded::within(options.controls.shield_cpus(), |groups| {
        plan.controls.asked.groups = groups;
        measure(catalogue, &plan, machine)
    })?;
    look.kept = keep(&run, place.as_ref());
    look.full_adds = full_adds(&texts, &request);
    // The table comes before any complaint about the file: it is what was
    // waited for.
    let written = options.out.as_ref().map(|path| store::write(&run, path));
    match (options.json, &prepared) {
        (false, _) => output::print(&render::run(&run, &references, &look))?,
        (true, None) => output::print(&output::document(&run)?)?,
        (true, Some(_)) => {}
    }
    // A table alone can't be looked at again, nor be a baseline.
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

/// What is asked for, and of which machine.
pub(super) fn request(
    texts: &[ProbeText],
    patterns: &[String],
    options: &RunOptions,
) -> anyhow::Result<(Request, Machine)> {
    // This process itself is not in the shield, and can't look for the quietest.
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
            CoreKind::Performance => CoreKindAsked::Performance,
            CoreKind::Efficiency => CoreKindAsked::Efficiency,
        }),
        dir: options.dir.clone(),
        controls: controls(options),
        kept_quiet_ratio: kept_quiet_ratio(&machine),
    };
    Ok((request, machine))
}

/// What kept runs of this machine say; nothing where none can be read.
fn kept_quiet_ratio(machine: &Machine) -> Option<f64> {
    let store = Store::of_user().ok()?;
    let emulated = program::program(machine).emulated;
    index::kept_quiet_ratio(&store, machine, emulated.as_deref())
}

/// What is set for the workers.
fn controls(options: &RunOptions) -> WorkerControls {
    let pinned = !options.no_controls;
    WorkerControls {
        pinned,
        asked: options.controls.asked(pinned),
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

/// The first Ctrl-C (or SIGTERM, or a closed terminal) stops the measuring and
/// keeps what there is; one that comes more than a second later kills at once.
/// There is one such flag, however often something is measured: a user who stops
/// one measurement wants no further one.
pub(super) fn stop_on_signals() -> anyhow::Result<&'static AtomicBool> {
    sys::stop::on_request().context("can't listen for Ctrl-C")
}

/// Where a run will be kept, known before anything is measured: nowhere only if
/// it goes `elsewhere` as well.
///
/// # Errors
/// If it would be lost, with what to do.
pub(super) fn where_to_keep(elsewhere: bool) -> anyhow::Result<Option<Store>> {
    let usable = |store: Store| store.check_keepable().map(|()| store);
    match Store::of_user().and_then(usable) {
        Ok(store) => Ok(Some(store)),
        Err(error) if elsewhere => {
            output::tell(&format!("latlas: the run will not be kept: {error}\n"));
            Ok(None)
        }
        Err(error) => bail!(
            "the run could not be kept: {error} (give --out FILE, or set LATLAS_DATA_DIR to a \
             directory that can be written)"
        ),
    }
}

/// Keeps the run in the store and says where. A disk that broke or filled up
/// since it was checked is no reason to lose the table.
pub(super) fn keep(run: &Run, store: Option<&Store>) -> Option<String> {
    match index::keep(store?, run) {
        Ok((path, told)) => {
            super::atlas::tell(&told);
            Some(path.display().to_string())
        }
        Err(error) => {
            output::tell(&format!("latlas: the run is not kept: {error}\n"));
            None
        }
    }
}

/// What `--full` would have measured beside.
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

/// Of a run, and whether it is kept nowhere.
pub(super) fn exit_code(run: &Run, lost: bool) -> ExitCode {
    match render::reliable(run) && !lost {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(UNRELIABLE),
    }
}

/// Each row of a plan with its points and the time they would take.
fn rows_of(plan: &Plan) -> Vec<(&str, usize, f64)> {
    let mut rows: Vec<(&str, usize, f64)> = Vec::new();
    for cell in &plan.cells {
        let seconds = cell.allotment.as_secs_f64();
        match rows.last_mut() {
            Some((row, points, sum)) if *row == cell.row => {
                *points += 1;
                *sum += seconds;
            }
            _ => rows.push((&cell.row, 1, seconds)),
        }
    }
    rows
}

/// The plan for programs.
fn planned(plan: &Plan) -> serde_json::Value {
    let rows = rows_of(plan).into_iter();
    let rows: Vec<_> = rows
        .map(|(row, points, s)| serde_json::json!({"row": row, "points": points, "seconds": s}))
        .collect();
    let unavailable = plan.unavailable.iter();
    let unavailable: Vec<_> = unavailable
        .map(|(row, .., reason)| serde_json::json!({"row": row, "reason": reason}))
        .collect();
    serde_json::json!({
        "rows": rows,
        "unavailable": unavailable,
        "extra_visits_seconds": plan.time.extra.as_secs_f64(),
        "overhead_seconds": (plan.time.start + plan.time.end).as_secs_f64(),
        "seconds": plan.total().as_secs_f64(),
    })
}

/// What a run takes beside its planned visits, and what for.
fn beside_visits(plan: &Plan) -> [(&'static str, f64, &'static str); 2] {
    [
        (
            "extra",
            plan.time.extra.as_secs_f64(),
            "visits where intervals are widest",
        ),
        (
            "overhead",
            (plan.time.start + plan.time.end).as_secs_f64(),
            "workers, memory, clock, gaps before and after",
        ),
    ]
}

/// Each row with the time it would take, and the sum.
fn dry_run(plan: &Plan) -> String {
    let rows = rows_of(plan);
    let widest = rows.iter().map(|(row, ..)| row.len()).max().unwrap_or(0);
    let widest = widest.max("overhead".len());
    let mut text = String::new();
    for (row, points, seconds) in rows {
        let points = match points {
            1 => String::new(),
            n => format!("  {n} points"),
        };
        text.push_str(&format!("{row:<widest$}  {seconds:8.3} s{points}\n"));
    }
    for (row, .., reason) in &plan.unavailable {
        text.push_str(&format!("{row:<widest$}  not available here: {reason}\n"));
    }
    for (what, seconds, for_what) in beside_visits(plan) {
        text.push_str(&format!("{what:<widest$}  {seconds:8.3} s  {for_what}\n"));
    }
    let total = plan.total().as_secs_f64();
    text.push_str(&format!("{:<widest$}  {total:8.3} s\n", "sum"));
    if let Some(short) = short_budget(plan) {
        text.push_str(&format!("{short}\n"));
    }
    text
}

/// What a budget that is much too short for the rows comes to.
fn short_budget(plan: &Plan) -> Option<String> {
    let needed = plan.time.start + plan.time.needed + plan.time.end;
    (needed > plan.limit.mul_f64(SHORT_BY)).then(|| {
        format!(
            "these rows need {:.0} s at least, and the budget is {:.0} s: many will have too few \
             samples, or none (name fewer rows, or give more time)",
            needed.as_secs_f64(),
            plan.limit.as_secs_f64()
        )
    })
}

/// A budget that this many of would be needed is said to be short.
const SHORT_BY: f64 = 1.5;

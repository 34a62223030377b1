//! `latlas run`: measure, keep, print.

use super::{drawing, gate, shielded};
use crate::arguments::{CoreKind, RunOptions};
use crate::progress::Bar;
use crate::{UNRELIABLE, catalogue, output, program, selection};
use anyhow::Context;
use atlas::index;
use atlas::references::References;
use atlas::render::{self, ProbeText};
use atlas::store::{self, Store};
use meter::conduct::conduct;
use meter::controls::WorkerControls;
use meter::core_kind::CoreKindAsked;
use meter::gaps::around::SHORT;
use meter::plan::{Plan, Request, plan};
use meter::probe::Probe;
use model::machine::Machine;
use model::run::{Run, Scale};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

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
    let prepared = gate::prepared(options, &references, &plan)?;
    if let Some(short) = short_budget(&plan) {
        output::tell(&format!("latlas: {short}\n"));
    }

    let (run, as_before) = shielded::within(options.controls.shield_cpus(), |groups| {
        plan.controls.asked.groups = groups;
        measure(catalogue, &plan, machine)
    })?;
    look.kept = keep(&run);
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
    let of_run = match as_before && !lost {
        true => exit_code(&run),
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
    let request = Request {
        scale: scale(options),
        rows: selection::rows(texts, patterns)?,
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
    };
    Ok((request, sys::machine(Path::new("/"))))
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
    let measured = conduct(catalogue, plan, machine, program, &mut bar, &stop);
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
/// keeps what there is; the second kills at once. There is one such flag, however
/// often something is measured: who stops one measurement wants no further one.
pub(super) fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(stop) = STOP.get() {
        return Ok(Arc::clone(stop));
    }
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the first signal finds the flag not yet set.
        flag::register_conditional_default(signal, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .context("can't listen for Ctrl-C")?;
    }
    Ok(Arc::clone(STOP.get_or_init(|| stop)))
}

/// Keeps the run in the store and says where. A home that can't be written is
/// no reason to lose the table.
pub(super) fn keep(run: &Run) -> Option<String> {
    match Store::of_user().and_then(|store| index::keep(&store, run)) {
        Ok((path, told)) => {
            super::atlas::tell(&told);
            Some(path.display().to_string())
        }
        Err(error) => {
            eprintln!(
                "latlas: the run is not kept: {error} (set LATLAS_DATA_DIR to keep it elsewhere)"
            );
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

pub(super) fn exit_code(run: &Run) -> ExitCode {
    match render::reliable(run) {
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
        "looks_at_gaps_seconds": looks().as_secs_f64(),
        "seconds": (plan.total() + looks()).as_secs_f64(),
    })
}

/// What the looks at gaps are called in a plan.
const LOOKS: &str = "gaps";

/// What the looks at gaps before and after take.
fn looks() -> Duration {
    2 * SHORT
}

/// Each row with the time it would take, and the sum.
fn dry_run(plan: &Plan) -> String {
    let rows = rows_of(plan);
    let widest = rows.iter().map(|(row, ..)| row.len()).max().unwrap_or(0);
    let widest = widest.max(LOOKS.len());
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
    let seconds = looks().as_secs_f64();
    text.push_str(&format!(
        "{LOOKS:<widest$}  {seconds:8.3} s  before and after\n"
    ));
    let total = (plan.total() + looks()).as_secs_f64();
    text.push_str(&format!("{:<widest$}  {total:8.3} s\n", "sum"));
    if let Some(short) = short_budget(plan) {
        text.push_str(&format!("{short}\n"));
    }
    text
}

/// What a budget that is much too short for the rows comes to.
fn short_budget(plan: &Plan) -> Option<String> {
    (plan.total() > plan.limit.mul_f64(SHORT_BY)).then(|| {
        format!(
            "these rows need {:.0} s at least, and the budget is {:.0} s: many will have too few \
             samples, or none (name fewer rows, or give more time)",
            plan.total().as_secs_f64(),
            plan.limit.as_secs_f64()
        )
    })
}

/// A budget that this many of would be needed is said to be short.
const SHORT_BY: f64 = 1.5;

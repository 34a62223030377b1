//! `latlas run`: measure, keep, print.

use super::drawing;
use crate::arguments::{CoreKind, RunOptions};
use crate::progress::Bar;
use crate::{UNRELIABLE, catalogue, output, program, selection};
use anyhow::Context;
use atlas::references::References;
use atlas::render::{self, ProbeText};
use atlas::store::{self, Store};
use meter::conduct::conduct;
use meter::core_kind::CoreKindAsked;
use meter::plan::{Plan, Request, plan};
use meter::probe::Probe;
use model::machine::Machine;
use model::run::{Run, Scale};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
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
    let plan = plan(catalogue, &request, &machine)?;
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

    let run = measure(catalogue, &plan, machine)?;
    look.kept = keep(&run);
    look.full_adds = full_adds(&texts, &request);
    // The table comes before any complaint about the file: it is what was
    // waited for.
    let written = options.out.as_ref().map(|path| store::write(&run, path));
    let text = if options.json {
        output::document(&run)?
    } else {
        render::run(&run, &references, &look)
    };
    output::print(&text)?;
    written.transpose()?;
    Ok(exit_code(&run))
}

/// What is asked for, and of which machine.
pub(super) fn request(
    texts: &[ProbeText],
    patterns: &[String],
    options: &RunOptions,
) -> anyhow::Result<(Request, Machine)> {
    let request = Request {
        scale: scale(options),
        rows: selection::rows(texts, patterns)?,
        asked: patterns.to_vec(),
        seed: options.seed.unwrap_or_else(|| fastrand::u64(..1 << 32)),
        budget: options.budget,
        pin: options.pin,
        peer: options.peer.clone(),
        core_kind: options.core_kind.map(|kind| match kind {
            CoreKind::Performance => CoreKindAsked::Performance,
            CoreKind::Efficiency => CoreKindAsked::Efficiency,
        }),
        dir: options.dir.clone(),
    };
    Ok((request, sys::machine(Path::new("/"))))
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
/// keeps what there is; the second kills at once.
pub(super) fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the first signal finds the flag not yet set.
        flag::register_conditional_default(signal, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .context("can't listen for Ctrl-C")?;
    }
    Ok(stop)
}

/// Keeps the run in the store and says where. A home that can't be written is
/// no reason to lose the table.
pub(super) fn keep(run: &Run) -> Option<String> {
    match Store::of_user().and_then(|store| store.save(run)) {
        Ok(path) => Some(path.display().to_string()),
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
        "seconds": plan.total().as_secs_f64(),
    })
}

/// Each row with the time it would take, and the sum.
fn dry_run(plan: &Plan) -> String {
    let rows = rows_of(plan);
    let widest = rows.iter().map(|(row, ..)| row.len()).max().unwrap_or(0);
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
    let total = plan.total().as_secs_f64();
    text.push_str(&format!("{:<widest$}  {total:8.3} s\n", "sum"));
    text
}

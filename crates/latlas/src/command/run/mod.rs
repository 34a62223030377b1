//! `latlas run` and `latlas` alone: choose rows, measure, store, print. `dry_run.rs` prints the plan instead,
//! `tails.rs` traces rows after the run. Measuring is in `crates/meter`; `--baseline` is in `gate.rs` next to
//! this folder.

mod dry_run;
mod tails;

use super::measured::{Lock, exit_code, keep, lock, measure, writable_store};
use super::{drawing, gate, shielded};
use crate::arguments::{CoreKind, RunOptions};
use crate::{UNRELIABLE, catalogue, ending, output, program, selection};
use compare::references::References;
use dry_run::{plan_json, plan_text, short_budget};
use meter::controls::WorkerControls;
use meter::core_kind::CoreKindChoice;
use meter::plan::{Plan, Request, plan};
use meter::probe::Probe;
use model::core_clock::ClockMovement;
use model::machine::Machine;
use model::overview::OVERVIEW;
use model::run::{Run, Scale};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use store::Store;
use store::index::{self, Earlier};
use view::render::{self, ProbeText};

/// What a run of the overview takes, with what comes before and after.
const OVERVIEW_TAKES: Duration = Duration::from_millis(13_500);

/// `latlas` alone: measures the operations of the overview; with a scale, all rows of that.
pub fn first_screen(catalogue: &[Probe], options: &RunOptions) -> anyhow::Result<ExitCode> {
    let rows: &[String] = match options.quick || options.full {
        true => &[],
        false => &[OVERVIEW.to_owned()],
    };
    run(catalogue, rows, options)
}

/// Measures the rows that match the patterns; without any, the default rows.
pub fn run(
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
        output::print_json_or(options.json.json, &plan_json(&plan), || plan_text(&plan))?;
        return Ok(ExitCode::SUCCESS);
    }
    let out = options.out.as_deref().map(ending::run_file).transpose()?;
    let form = options.json.form();
    let store = writable_store(options.out.is_some() || form.is_some())?;
    let prepared = gate::prepared(options, &references, &plan)?;
    if let Some(short) = short_budget(&plan) {
        output::message(format_args!("{short}"));
    }
    let (_lock, run, as_before) =
        measure_under_lock(catalogue, &request, (&mut plan, machine), options)?;
    look.kept = keep(&run, store.as_ref());
    look.full_adds = full_adds(&texts, &request);
    // The table comes before an error about the file.
    let written = out.as_ref().map(|out| out.write_run(&run));
    match (form, &prepared) {
        (None, _) => {
            output::show_paged(&render::render_run(&run, &references, &look), &options.look)?
        }
        (Some(form), None) => output::print(&output::run_json(&run, form)?)?,
        (Some(_), Some(_)) => {}
    }
    let traced = match options.trace_tails {
        true => tails::show_tails(catalogue, (&request, &plan), &run, options.look.color)?,
        false => true,
    };
    // A run that is only printed can't be shown again or be a baseline.
    let lost = look.kept.is_none() && options.out.is_none() && form.is_none();
    let of_run = match as_before && traced {
        true => exit_code(&run, lost),
        false => ExitCode::from(UNRELIABLE),
    };
    let Some(prepared) = prepared else {
        written.transpose()?;
        return Ok(of_run);
    };
    let judged = prepared.judge_run(&run, catalogue, &texts, &request, options);
    match form {
        Some(form) => output::print(&gate::gate_json(&run, judged.as_ref(), form)?)?,
        None => gate::show_gate(judged.as_ref(), options.look.color)?,
    }
    written.transpose()?;
    Ok(gate::exit_code(judged.as_ref(), of_run))
}

/// Measures under the measuring lock, which is returned, and on reserved CPUs if they are asked for; with whether
/// these were restored.
pub fn measure_under_lock(
    catalogue: &[Probe],
    request: &Request,
    (plan, machine): (&mut Plan, Machine),
    options: &RunOptions,
) -> anyhow::Result<(Lock, Run, bool)> {
    shielded::check_privilege(options.controls.shield_cpus())?;
    plan.controls.may_be_had()?;
    let measures = format!("latlas run {}", request.asked.join(" "));
    let lock = lock(measures.trim_end(), Some(plan.total()), options.wait)?;
    let (run, as_before) = measured_under(&lock, catalogue, request, (plan, machine), options)?;
    Ok((lock, run, as_before))
}

/// The same under a lock that the caller has taken.
pub fn measured_under(
    lock: &Lock,
    catalogue: &[Probe],
    request: &Request,
    (plan, mut machine): (&mut Plan, Machine),
    options: &RunOptions,
) -> anyhow::Result<(Run, bool)> {
    if lock.waited() {
        // The other one may have had reserved CPUs, or have changed settings.
        machine = sys::machine_facts(Path::new("/"));
        *plan = meter::plan::plan(catalogue, request, &machine)?;
    }
    shielded::within(options.controls.shield_cpus(), |groups| {
        plan.controls.asked.groups = groups;
        measure(catalogue, plan, machine)
    })
}

/// The request, with what stored runs say of this machine, and this machine.
pub fn request(
    texts: &[ProbeText],
    patterns: &[String],
    options: &RunOptions,
) -> anyhow::Result<(Request, Machine)> {
    let (request, machine) = request_alone(texts, patterns, options)?;
    // Of rows that are not measured no history is read.
    let is_asked = |row: &&String| request.rows.is_empty() || request.rows.contains(row);
    let moving = texts.iter().filter(|text| text.by_shared_part).flat_map(|text| &text.rows);
    let moving: Vec<String> = moving.filter(is_asked).cloned().collect();
    let stored = stored(&machine, &moving);
    Ok((
        Request {
            kept_quiet_ratio: stored.quiet_ratio,
            clock_movement: stored.clock_movement,
            movement: stored.movement,
            ..request
        },
        machine,
    ))
}

/// The request without stored runs, and this machine.
pub fn request_alone(
    texts: &[ProbeText],
    patterns: &[String],
    options: &RunOptions,
) -> anyhow::Result<(Request, Machine)> {
    // This process is not in the shield, so it can't look for the quietest CPU there.
    let first_shielded = options.controls.shield_cpus().first().copied();
    let machine = sys::machine_facts(Path::new("/"));
    let request = Request {
        scale: scale(options),
        rows: selection::selected_rows(texts, patterns, scale(options))?,
        asked: patterns.to_vec(),
        seed: options.seed.unwrap_or_else(|| fastrand::u64(..1 << 32)),
        budget: options.budget.or(usual_budget(patterns)),
        pin: options.pin.or(first_shielded),
        peer: options.peer.clone(),
        core_kind: options.core_kind.map(|kind| match kind {
            CoreKind::Performance => CoreKindChoice::Performance,
            CoreKind::Efficiency => CoreKindChoice::Efficiency,
        }),
        dir: options.dir.clone(),
        in_process: options.in_process,
        controls: controls(options),
        kept_quiet_ratio: None,
        clock_movement: ClockMovement::FLOOR,
        movement: BTreeMap::new(),
    };
    Ok((request, machine))
}

/// The time of a run that has one without being asked.
fn usual_budget(patterns: &[String]) -> Option<Duration> {
    (patterns == [OVERVIEW]).then_some(OVERVIEW_TAKES)
}

/// What stored runs of this machine say of it.
fn stored(machine: &Machine, rows: &[String]) -> Earlier {
    let emulated = program::program(machine).emulated;
    let store = Store::of_user().ok();
    let found = store.map(|store| index::earlier(&store, machine, emulated.as_deref(), rows));
    found.unwrap_or_default()
}

fn controls(options: &RunOptions) -> WorkerControls {
    let pinned = !options.no_controls;
    WorkerControls {
        pinned,
        asked: options.controls.requested(pinned),
        drop_page_cache: options.cold,
    }
}

fn scale(options: &RunOptions) -> Scale {
    match (options.quick, options.full) {
        (true, _) => Scale::Quick,
        (_, true) => Scale::Full,
        _ => Scale::Default,
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

//! `latlas noise ab`: what each control is worth on this machine.

use super::ab_command::{self, Tried};
use crate::arguments::noise::ab::AbOptions;
use crate::command::exec::wake_on_signals;
use crate::command::measured::lock;
use crate::command::recorded::{Destination, about};
use crate::progress::Bar;
use crate::{UNRELIABLE, output};
use anyhow::{Context as _, bail};
use meter::commands::placement::Placement;
use meter::machine_shape::MachineShape;
use model::machine::Machine;
use model::nearest::suggestion;
use model::noise::effect::{Control, How, Work, Workload};
use model::recording::Recording;
use noise::ab::available::{NoPin, Unavailable, try_out};
use noise::ab::calibrate;
use noise::ab::conduct::{AbProgress, Conducted, conduct};
use noise::ab::control::{self, Mechanism, Spec};
use noise::ab::document::{DocumentContext, SHORT_MS, ab_document};
use noise::ab::plan::plan;
use noise::ab::planned::{AbPlan, AbRequest, Length};
use noise::ab::stage::RealStage;
use noise::ab::system;
use noise::ab::toggle::{Toggles, rehearse};
use noise::tune::StateDir;
use signal_hook::consts::SIGCONT;
use signal_hook::flag;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use sys::files::Tree;

/// Lays the experiment out, makes it, and says what came of it.
pub(super) fn ab(options: &AbOptions) -> anyhow::Result<ExitCode> {
    let mut machine = sys::machine_facts(Path::new("/"));
    let tree = Tree::new(Path::new("/"));
    let mut request = self::request(options, &machine)?;
    if !options.command.is_empty() {
        ab_command::check_program(&options.command)?;
    }
    let may_change = options.apply || !options.command.is_empty();
    let (mut plan, mut toggles) = laid_out(&request, &machine, &tree, may_change);
    if options.dry_run {
        let text = match options.run.json.json {
            true => model::json::to_indented_json(&plan)? + "\n",
            false => plan_text(&plan, options.command.is_empty()),
        };
        output::print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    refuse_what_is_not_here(&plan, &request)?;
    let destination = Destination::from_options(&options.run, &[], options.wide)?;
    let lock = lock("latlas noise ab", options.time, options.run.wait)?;
    let began = Instant::now();
    if lock.waited() {
        machine = sys::machine_facts(Path::new("/"));
        request = self::request(options, &machine)?;
        (plan, toggles) = laid_out(&request, &machine, &tree, may_change);
    }
    let wake = wake_on_signals()?;
    let resumed = Arc::new(AtomicBool::new(false));
    flag::register(SIGCONT, Arc::clone(&resumed)).context("can't listen for SIGCONT")?;
    let mut tried = None;
    if !options.command.is_empty() {
        tried = ab_command::try_out(&options.command, wake.try_clone()?, &resumed)?;
        let Some(Tried { takes, .. }) = tried else {
            output::message("interrupted before the first measurement");
            return Ok(ExitCode::from(UNRELIABLE));
        };
        request.job = takes;
    }
    // Switched on and off once, before anything is measured.
    let rehearsed = rehearse(&mut toggles)?;
    request.switch_ms = rehearsed.took_ms;
    // What trying took is part of the time asked for.
    let used = began.elapsed();
    if let Length::Time(time) = &mut request.length {
        *time = time.saturating_sub(used);
    }
    plan.leave_out(&rehearsed.refused, &request);
    refuse_what_is_not_here(&plan, &request)?;
    ab_command::check_time(request.length, used, &plan)?;
    output::message(expected(&plan));

    let (started_unix_ms, began_ns) = (sys::realtime_unix_ms(), sys::monotonic_raw_ns());
    let work = job_work(&plan, &request, &machine)?;
    let last_level_bytes =
        MachineShape::from_machine(&machine, request.cpus.clone(), None).last_level_bytes;
    let mut stage = RealStage::new(&request.cpus, wake, resumed)?;
    stage.prepare(&work, plan.busy)?;
    let short_run_ms = tried.as_ref().map(|tried| tried.takes.as_secs_f64() * 1e3);
    if let Some(tried) = tried {
        stage.set_command(tried.command);
    }
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    let bar = Bar::on_stderr();
    let conducted = conduct(&plan, &mut stage, &mut toggles, seed, |progress| {
        bar.message(&so_far(progress, &plan));
    });
    bar.clear();
    if conducted.blocks.is_empty() {
        output::message(format_args!("{}: nothing to show", why(&conducted)));
        return Ok(ExitCode::from(UNRELIABLE));
    }
    let context = DocumentContext {
        about: about(machine, started_unix_ms, began_ns),
        how: How {
            rounds: plan.rounds,
            most_ms: plan.most_ms,
            seed,
            cpus: request.cpus.clone(),
            pinned_to: request.pin.as_ref().ok().copied(),
            busy: plan.busy,
            job_ns: request.job.as_nanos() as u64,
            command: ab_command::words_text(&options.command),
            work,
            not_counted: stage.not_counted(),
        },
        last_level_bytes,
        no_autogroups: sys::controls::autogroups().err().map(|why| why.to_string()),
        short_run_ms: short_run_ms.filter(|&ms| ms < SHORT_MS),
        seen: seen(&stage, &toggles),
    };
    let run = ab_document(&plan, conducted, context);
    let is_known = run.recordings.iter().any(is_known);
    destination.finish(&run, (true, is_known))
}

/// Whether any effect could have been shown.
fn is_known(recording: &Recording) -> bool {
    let Recording::Effects(of) = recording else { return false };
    let effects = of.effects();
    let mut changes = effects.iter().flat_map(|effect| [&effect.time, &effect.spread]);
    changes.any(|change| change.found.ratio.is_some())
}

/// The experiment, and the switches of the system's controls in it: only if these may be changed.
fn laid_out<'t>(
    request: &AbRequest,
    machine: &Machine,
    tree: &'t Tree,
    may_change: bool,
) -> (AbPlan, Toggles<'t>) {
    let mut toggles = Toggles::new();
    let plan = plan(request, |spec, asked| match spec.kind {
        Mechanism::System => {
            let cpus: Vec<u32> = request.pin.iter().copied().collect();
            let state = StateDir::system();
            let here = system::add_toggle(&mut toggles, spec, tree, machine, &state, &cpus)?;
            // By name only, or not ours to set: it is not even tried.
            let unnamed = request.controls.is_empty() && spec.only_by_name();
            if unnamed || sys::filesystem::user() != 0 || !may_change {
                toggles.remove(spec.name);
            }
            match sys::filesystem::user() {
                0 if may_change => Ok(here),
                0 => Err(Unavailable::NeedsApply),
                _ => Err(Unavailable::NeedsRoot),
            }
        }
        Mechanism::Cache => match try_out(spec, asked, tree)? {
            here if may_change => Ok(here),
            _ => Err(Unavailable::NeedsApply),
        },
        Mechanism::Process => try_out(spec, asked, tree),
    });
    (plan, toggles)
}

/// What a reader must know of how it went.
fn seen(stage: &RealStage, toggles: &Toggles) -> Vec<String> {
    let mut all: Vec<String> = toggles.values().flat_map(|t| t.remarks()).collect();
    match stage.repeated() {
        0 => {}
        n => all.push(format!("{n} runs were repeated: latlas was stopped during them")),
    }
    all
}

fn request(options: &AbOptions, machine: &Machine) -> anyhow::Result<AbRequest> {
    let controls: anyhow::Result<Vec<&'static Spec>> =
        options.controls.iter().map(|name| control_named(name)).collect();
    if options.busy.is_some() && options.loads() == [model::noise::effect::Load::None] {
        bail!("--busy needs a load: add --load other-session, say");
    }
    let (cpus, pin) = match &options.cpus {
        Some(cpus) => {
            let last = cpus.0.last().copied();
            let pin = Placement::choose(Some(last), machine)?.cpu();
            for &cpu in &cpus.0 {
                Placement::check_cpu(cpu)?;
            }
            (cpus.0.clone(), pin.ok_or(NoPin::NoCpu))
        }
        None => {
            let chosen = Placement::choose(Some(None), machine);
            let pin = chosen.map(|placement| placement.cpu());
            let pin = pin.map_err(|error| NoPin::Placement(error.to_string()));
            let allowed = sys::allowed_cpus().unwrap_or_default();
            (allowed, pin.and_then(|cpu| cpu.ok_or(NoPin::NoCpu)))
        }
    };
    Ok(AbRequest {
        controls: controls?,
        loads: options.loads(),
        workloads: match options.command.is_empty() {
            true => options.workload.workloads(),
            false => vec![Workload::Command],
        },
        length: match (options.time, options.rounds) {
            (Some(time), _) => Length::Time(time),
            (None, Some(rounds)) => Length::Rounds(rounds),
            (None, None) => Length::Usual,
        },
        // What the command takes is known once it was tried.
        job: if options.command.is_empty() { options.job() } else { Duration::ZERO },
        busy_per_cpu: options.busy.unwrap_or(1),
        cpus,
        pin,
        switch_ms: BTreeMap::new(),
    })
}

fn control_named(name: &str) -> anyhow::Result<&'static Spec> {
    let names = control::ALL.iter().map(|spec| spec.name);
    control::control_named(name).ok_or_else(|| {
        let suggestion = suggestion(name, names.clone());
        let all: Vec<&str> = names.collect();
        anyhow::anyhow!("no control {name:?}{suggestion} (there are {})", all.join(", "))
    })
}

/// What each job is to do. Found before there is a load.
fn job_work(plan: &AbPlan, request: &AbRequest, machine: &Machine) -> anyhow::Result<Vec<Work>> {
    let last_level =
        MachineShape::from_machine(machine, request.cpus.clone(), None).last_level_bytes;
    let usable = sys::available_memory().usable_bytes();
    let mut workloads: Vec<Workload> = plan.blocks.iter().map(|b| b.workload).collect();
    workloads.dedup();
    workloads.retain(|&workload| workload != Workload::Command);
    let work = workloads.into_iter().map(|workload| {
        let found = calibrate::calibrated_work(workload, request.job, last_level, usable);
        found.map_err(|e| anyhow::anyhow!("can't prepare the {} job: {e}", workload.name()))
    });
    work.collect()
}

/// What was asked for by its name is compared, or nothing is; without names, what there is.
fn refuse_what_is_not_here(plan: &AbPlan, request: &AbRequest) -> anyhow::Result<()> {
    if plan.blocks.is_empty() {
        bail!("{}", nothing_to_do(plan));
    }
    if request.controls.is_empty() {
        return Ok(());
    }
    let why = |control: &'_ Control| Some((control.name.clone(), control.unavailable.clone()?));
    if let Some((name, why)) = plan.controls.iter().find_map(why) {
        bail!("can't compare {name} here: {why}; nothing was measured: leave {name} out");
    }
    Ok(())
}

fn nothing_to_do(plan: &AbPlan) -> String {
    let reasons: Vec<String> = plan
        .controls
        .iter()
        .map(|c| {
            let why = c.unavailable.as_deref();
            format!("{}: {}", c.name, why.unwrap_or("no job for it"))
        })
        .collect();
    format!("nothing can be compared here: {}", reasons.join("; "))
}

fn expected(plan: &AbPlan) -> String {
    format!(
        "takes {} {:.0} s ({} runs); press Ctrl-C to stop and print results so far",
        match plan.most_ms {
            Some(_) => "at most",
            None => "about",
        },
        plan.most_ms.unwrap_or(plan.expected_ms) as f64 / 1e3,
        plan.run_count()
    )
}

/// What would be done. How long the user's command takes is not known.
fn plan_text(plan: &AbPlan, timed: bool) -> String {
    let mut lines = Vec::new();
    for control in &plan.controls {
        let what = match &control.unavailable {
            None => format!("{}; compared with: {}", control.on, control.off),
            Some(why) => format!("not available here: {why}"),
        };
        let needs = control.needs.as_ref();
        let needs = needs.map(|needs| format!(" (needs {needs})"));
        let needs = needs.unwrap_or_default();
        lines.push(format!("{:18}  {what}{needs}", control.name));
    }
    lines.push(String::new());
    for block in &plan.blocks {
        let states = format!(
            "{} {}: {} states interleaved",
            block.workload.name(),
            block.load.in_words(),
            block.arms.len()
        );
        lines.push(match timed {
            true => format!("{states}, {:.1} s a round", block.round_ms / 1e3),
            false => states,
        });
    }
    if !timed {
        lines.push("\nrounds and time: known once the command has run".into());
        return lines.join("\n") + "\n";
    }
    lines.push(format!(
        "\n{} rounds of each, {} runs, {} busy processes in a load: about {:.0} s",
        plan.rounds,
        plan.run_count(),
        plan.busy,
        plan.expected_ms as f64 / 1e3
    ));
    lines.join("\n") + "\n"
}

fn so_far(progress: &AbProgress, plan: &AbPlan) -> String {
    format!(
        "{} {}: round {} of {} (block {} of {}), {:.0} s of about {:.0}",
        progress.planned.workload.name(),
        progress.planned.load.in_words(),
        progress.rounds,
        plan.rounds,
        progress.block,
        progress.blocks,
        progress.elapsed_ms as f64 / 1e3,
        plan.expected_ms as f64 / 1e3
    )
}

fn why(conducted: &Conducted) -> &str {
    let reasons = [&conducted.partial, &conducted.cut].into_iter().flatten();
    reasons.map(String::as_str).next().unwrap_or("no run ended")
}

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
use model::noise::effect::{How, Work, Workload};
use model::recording::Recording;
use noise::ab::available::{NoPin, Unavailable, try_out};
use noise::ab::calibrate;
use noise::ab::conduct::{Conducted, Progress, conduct};
use noise::ab::control::{self, Kind, Spec};
use noise::ab::document::{Context, SHORT_MS, document};
use noise::ab::plan::plan;
use noise::ab::planned::{Length, Plan, Request};
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
    let mut machine = sys::machine(Path::new("/"));
    let tree = Tree::new(Path::new("/"));
    let mut request = self::request(options, &machine)?;
    if !options.command.is_empty() {
        ab_command::check(&options.command)?;
    }
    let (mut plan, mut toggles) = laid_out(&request, &machine, &tree);
    if options.dry_run {
        let text = match options.run.json {
            true => serde_json::to_string_pretty(&plan)? + "\n",
            false => in_words(&plan, options.command.is_empty()),
        };
        output::print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    if plan.blocks.is_empty() {
        bail!("{}", nothing_to_do(&plan));
    }
    let destination = Destination::of(&options.run, &[], options.wide)?;
    let lock = lock("latlas noise ab", options.time, options.run.wait)?;
    let began = Instant::now();
    if lock.waited() {
        machine = sys::machine(Path::new("/"));
        request = self::request(options, &machine)?;
        (plan, toggles) = laid_out(&request, &machine, &tree);
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
    let Some(_) = plan.blocks.first() else {
        bail!("{}", nothing_to_do(&plan));
    };
    ab_command::check_time(request.length, used, &plan)?;
    output::message(expected(&plan));

    let (started_unix_ms, began_ns) = (sys::realtime_unix_ms(), sys::monotonic_raw_ns());
    let work = work(&plan, &request, &machine)?;
    let last_level_bytes = MachineShape::of(&machine, request.cpus.clone(), None).last_level_bytes;
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
    let context = Context {
        about: about(machine, started_unix_ms, began_ns),
        how: How {
            rounds: plan.rounds,
            most_ms: plan.most_ms,
            seed,
            cpus: request.cpus.clone(),
            pinned_to: request.pin.as_ref().ok().copied(),
            busy: plan.busy,
            job_ns: request.job.as_nanos() as u64,
            command: ab_command::text(&options.command),
            work,
            not_counted: stage.not_counted(),
        },
        last_level_bytes,
        no_autogroups: sys::controls::autogroups().err().map(|why| why.to_string()),
        short_run_ms: short_run_ms.filter(|&ms| ms < SHORT_MS),
        seen: seen(&stage, &toggles),
    };
    let run = document(&plan, conducted, context);
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

/// The experiment, and the switches of the system's controls in it.
fn laid_out<'t>(request: &Request, machine: &Machine, tree: &'t Tree) -> (Plan, Toggles<'t>) {
    let mut toggles = Toggles::new();
    let plan = plan(request, |spec, asked| match spec.kind {
        Kind::System => {
            let cpus: Vec<u32> = request.pin.iter().copied().collect();
            let state = StateDir::system();
            let here = system::add(&mut toggles, spec, tree, machine, &state, &cpus)?;
            // By name only, or not ours to set: it is not even tried.
            let unnamed = request.controls.is_empty() && spec.only_by_name();
            if unnamed || sys::filesystem::user() != 0 {
                toggles.remove(spec.name);
            }
            match sys::filesystem::user() {
                0 => Ok(here),
                _ => Err(Unavailable::NeedsRoot),
            }
        }
        Kind::Process | Kind::Cache => try_out(spec, asked, tree),
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

fn request(options: &AbOptions, machine: &Machine) -> anyhow::Result<Request> {
    let controls: anyhow::Result<Vec<&'static Spec>> =
        options.controls.iter().map(|name| named(name)).collect();
    if options.busy.is_some() && options.loads() == [model::noise::effect::Load::None] {
        bail!("--busy needs a load: add --load other-session, say");
    }
    let (cpus, pin) = match &options.cpus {
        Some(cpus) => {
            let last = cpus.0.last().copied();
            let pin = Placement::choose(Some(last), machine)?.cpu();
            for &cpu in &cpus.0 {
                Placement::check(cpu)?;
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
    Ok(Request {
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

fn named(name: &str) -> anyhow::Result<&'static Spec> {
    let names = control::ALL.iter().map(|spec| spec.name);
    control::find(name).ok_or_else(|| {
        let suggestion = suggestion(name, names.clone());
        let all: Vec<&str> = names.collect();
        anyhow::anyhow!("no control {name:?}{suggestion} (there are {})", all.join(", "))
    })
}

/// What each job is to do. Found before there is a load.
fn work(plan: &Plan, request: &Request, machine: &Machine) -> anyhow::Result<Vec<Work>> {
    let last_level = MachineShape::of(machine, request.cpus.clone(), None).last_level_bytes;
    let usable = sys::available_memory().usable_bytes();
    let mut workloads: Vec<Workload> = plan.blocks.iter().map(|b| b.workload).collect();
    workloads.dedup();
    workloads.retain(|&workload| workload != Workload::Command);
    let work = workloads.into_iter().map(|workload| {
        let found = calibrate::work(workload, request.job, last_level, usable);
        found.map_err(|e| anyhow::anyhow!("can't prepare the {} job: {e}", workload.name()))
    });
    work.collect()
}

fn nothing_to_do(plan: &Plan) -> String {
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

fn expected(plan: &Plan) -> String {
    format!(
        "takes {} {:.0} s ({} runs); press Ctrl-C to stop and print results so far",
        match plan.most_ms {
            Some(_) => "at most",
            None => "about",
        },
        plan.most_ms.unwrap_or(plan.expected_ms) as f64 / 1e3,
        plan.runs()
    )
}

/// What would be done. How long the user's command takes is not known.
fn in_words(plan: &Plan, timed: bool) -> String {
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
        plan.runs(),
        plan.busy,
        plan.expected_ms as f64 / 1e3
    ));
    lines.join("\n") + "\n"
}

fn so_far(progress: &Progress, plan: &Plan) -> String {
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

//! `latlas exec`: times commands with the methods of the rows.

mod commands;
mod files;
mod shell;

use super::measured::{exit_code, keep, lock, stop_on_signals, writable_store};
use super::shielded;
use crate::arguments::exec::ExecOptions;
use crate::progress::Bar;
use crate::{UNRELIABLE, output, program};
use anyhow::{Context, bail};
use commands::{NamedCommand, named_commands, split};
use compare::references::References;
use files::{check_files, output_file};
use meter::commands::arm::{Arm, Cold, Output, Settings};
use meter::commands::document::{Began, Parts, document, look};
use meter::commands::placement::Placement;
use meter::commands::repeat::{self, ADAPTIVE, Progress, repeat};
use meter::commands::runner::CommandRunner;
use meter::controls;
use model::command::{Command, Commands, Controls, Ended, PageCache, Rule};
use model::figure::time;
use model::machine::Machine;
use model::noise::applied::Applied;
use model::repeats;
use shell::shell_start;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use store::{self, Store};
use view::render::{self, Options};

/// Runs the commands, prints the results and stores the run.
pub(crate) fn exec(options: &ExecOptions) -> anyhow::Result<ExitCode> {
    let references = References::embedded()?;
    let commands = named_commands(options)?;
    if options.check.is_some() && options.warmup == 0 {
        bail!("--check needs a warm-up run: remove --warmup 0");
    }
    check_files(options)?;
    if let Some(path) = &options.out {
        store::check_writable(path)?;
    }
    let store = writable_store(options.out.is_some() || options.json)?;
    let pin = pin(options)?;
    // Without the arguments, which may be private.
    let measures = format!("latlas exec {}", options.words[0].to_string_lossy());
    let _lock = lock(&measures, None, options.wait)?;
    let machine = sys::machine(Path::new("/"));
    let placement = Placement::choose(pin, &machine)?;
    let (code, as_before) = shielded::within(options.controls.shield_cpus(), |groups| {
        let controls = controls_of(options, &placement, groups);
        // Refuse before anything runs.
        let applied = controls.try_out()?;
        let under = Under {
            placement,
            controls,
            applied,
            store: store.clone(),
        };
        measure(options, commands, under, machine, &references)
    })?;
    Ok(match as_before {
        true => code,
        false => ExitCode::from(UNRELIABLE),
    })
}

/// What the commands run with.
struct Under {
    placement: Placement,
    controls: controls::RequestedControls,
    applied: Applied,
    /// Where the run is stored.
    store: Option<Store>,
}

/// Measures them, prints the results and stores the run.
fn measure(
    options: &ExecOptions,
    named: Vec<NamedCommand>,
    under: Under,
    machine: Machine,
    references: &References,
) -> anyhow::Result<ExitCode> {
    let Under {
        placement,
        controls,
        applied,
        store,
    } = under;
    let settings = settings(options)?;
    let rule = Rule {
        runs: options.runs,
        ..ADAPTIVE
    };
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));

    let wake = wake_on_signals()?;
    let resumed = Arc::new(AtomicBool::new(false));
    flag::register(SIGCONT, Arc::clone(&resumed)).context("can't install a signal handler")?;
    // A signal until then is pending in `wake`, and ends the first run.
    let never = AtomicBool::new(false);
    let look_at = match options.controls.shield_cpus() {
        [only] => Some(*only),
        _ => placement.cpu(),
    };
    let began = Began::now(look_at, &controls, &never);
    placement.step_aside();
    let shell_start = match &options.shell {
        Some(shell) => shell_start(
            shell,
            controls.controls(),
            &settings,
            wake.try_clone()?,
            &resumed,
        )?,
        None => None,
    };
    let arms = named.iter().map(|one| Arm {
        words: one.words.clone(),
        controls: controls.controls(),
        cold: cold(options),
    });
    let mut runner = CommandRunner::new(arms.collect(), settings.clone(), Some(wake), resumed)?;
    let bar = Bar::on_stderr();
    let repeated = repeat(&mut runner, named.len(), options.warmup, &rule, seed, |p| {
        bar.message(&so_far(p, &rule));
    });
    bar.clear();
    let repeated = repeated?;
    if repeated.runs[0].is_empty() {
        output::message(format_args!(
            "interrupted before the first timed run ended: nothing to show"
        ));
        return Ok(ExitCode::from(UNRELIABLE));
    }

    let failures: Vec<u32> = (0..named.len()).map(|k| runner.failures(k)).collect();
    let (page_cache, discarded) = (page_cache(options, &runner), runner.discarded());
    let counted = runner.counted().to_vec();
    let left = runner.end()?;
    let ended = repeated.ended.unwrap_or(Ended::Interrupted);
    let osnoise_after = (ended != Ended::Interrupted).then(|| look(look_at, &controls, &never));
    let commands = named
        .iter()
        .enumerate()
        .map(|(k, one)| Command {
            name: one.name.clone(),
            words: one
                .words
                .iter()
                .map(|w| w.to_string_lossy().into_owned())
                .collect(),
            shell: one.shell.clone(),
            failures: failures[k],
            checked_by: options.check.clone(),
        })
        .collect();
    let program = program::program(&machine);
    let run = document(Parts {
        began,
        program,
        commands: Commands {
            commands,
            page_cache,
            controls: Controls {
                pinned_cpu: placement.cpu(),
                nice: options.controls.nice,
                observer_apart: placement.apart(),
            },
            warmups: options.warmup,
            rule,
            ended,
            margin: options.margin,
            compared: Vec::new(),
            output: match &settings.output {
                Output::Null | Output::Heard => "to /dev/null".into(),
                Output::Show => "to standard error".into(),
                Output::File(path) => format!("to {}", path.display()),
            },
            input: match &options.input {
                None => "/dev/null".into(),
                Some(path) => path.display().to_string(),
            },
        },
        applied,
        repeated: &repeated,
        counted: &counted,
        left: &left,
        tick_ns: sys::command::tick_ns(),
        seed,
        notes: vec![shell_start.into_iter().collect(); named.len()],
        osnoise_after,
        remarks: [
            placement.remarks(),
            (controls.remarks(placement.cpus()).iter())
                .map(ToString::to_string)
                .collect(),
            discarded_runs(discarded),
        ]
        .concat(),
        machine,
    });

    let look = Options {
        all: options.all,
        wide: options.wide,
        kept: keep(&run, store.as_ref()),
        ..Options::default()
    };
    let written = options.out.as_ref().map(|path| store::write(&run, path));
    match options.json {
        true => output::print(&output::document(&run)?)?,
        false => output::show(&render::run(&run, references, &look), options.color)?,
    }
    written.transpose()?;
    let lost = look.kept.is_none() && options.out.is_none() && !options.json;
    Ok(exit_code(&run, lost))
}

/// The remark on discarded runs.
fn discarded_runs(discarded: u32) -> Vec<String> {
    match discarded {
        0 => Vec::new(),
        n => vec![format!(
            "latlas was suspended (SIGCONT) during {n} of the runs, which were discarded and \
             repeated"
        )],
    }
}

/// On which CPU the command is wanted; within a shield one of its own.
#[allow(clippy::option_option, reason = "absent, given, given with a number")]
fn pin(options: &ExecOptions) -> anyhow::Result<Option<Option<u32>>> {
    match (options.pin, options.controls.shield_cpus()) {
        (Some(Some(cpu)), shield @ [_, ..]) if !shield.contains(&cpu) => {
            bail!("--pin {cpu} lies outside the CPUs of --shield")
        }
        // This process itself is not in the shield, and can't look for the
        // quietest.
        (Some(None), [first, ..]) => Ok(Some(Some(*first))),
        (pin, _) => Ok(pin),
    }
}

/// What is set for the commands.
fn controls_of(
    options: &ExecOptions,
    placement: &Placement,
    groups: Vec<PathBuf>,
) -> controls::RequestedControls {
    let mut requested = options.controls.requested(options.own_session);
    requested.settings.cpus = placement.cpu().into_iter().collect();
    requested.groups = groups;
    requested
}

fn cold(options: &ExecOptions) -> Cold {
    match (options.cold, options.cold_files.is_empty()) {
        (true, _) => Cold::All,
        (_, false) => Cold::Files(options.cold_files.clone()),
        _ => Cold::No,
    }
}

fn settings(options: &ExecOptions) -> anyhow::Result<Settings> {
    Ok(Settings {
        input: options.input.clone(),
        output: match output_file(options) {
            Some(file) => Output::File(file),
            None if options.output == "show" => Output::Show,
            None => Output::Null,
        },
        timeout: options.timeout,
        ignore_failure: options.ignore_failure,
        check: options.check.as_deref().map(split).transpose()?,
    })
}

fn page_cache(options: &ExecOptions, runner: &CommandRunner) -> PageCache {
    let texts = |files: &[PathBuf]| files.iter().map(|f| f.display().to_string()).collect();
    match (options.cold, options.cold_files.is_empty()) {
        (true, _) => PageCache::Cold,
        (_, true) => PageCache::Warm,
        _ => PageCache::ColdFiles {
            files: texts(&options.cold_files),
            stayed_pages: runner.stayed_pages(),
            untold: texts(runner.unverified()),
        },
    }
}

/// A socket that becomes readable with the first Ctrl-C (or SIGTERM, or SIGHUP), which ends the
/// wait for a command. A second signal, more than a second later, kills latlas.
pub(super) fn wake_on_signals() -> anyhow::Result<OwnedFd> {
    let _later_kills = stop_on_signals()?;
    let (wake, write) = UnixStream::pair().context("can't create a socket pair")?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let write = write.try_clone().context("can't duplicate a socket")?;
        signal_hook::low_level::pipe::register(signal, write)
            .context("can't install a signal handler")?;
    }
    Ok(wake.into())
}

/// The line of progress.
fn so_far(progress: &Progress, rule: &Rule) -> String {
    let walls: Vec<Vec<f64>> = progress.runs.iter().map(|r| repeat::walls_ns(r)).collect();
    let figures: Vec<String> = walls
        .iter()
        .map(|w| {
            let median = model::stats::median(w.iter().copied()).unwrap_or(0.0);
            match repeats::relative_half_width(w) {
                half if half.is_finite() => format!("{} ±{:.1} %", time(median), half * 100.0),
                _ => time(median),
            }
        })
        .collect();
    let of = rule.runs.map_or(String::new(), |n| format!(" of {n}"));
    format!(
        "{}{of} runs, {:.0} s: {}",
        walls[0].len(),
        progress.measuring_ms as f64 / 1e3,
        figures.join("  ")
    )
}

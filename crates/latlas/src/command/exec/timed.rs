//! Commands timed interleaved, as a Run document.

use super::commands::{NamedCommand, split};
use super::files::output_file;
use super::shell::shell_start;
use crate::arguments::exec::{IgnoreFailure, Pin, TimingOptions};
use crate::command::measured::stop_on_signals;
use crate::command::shielded;
use crate::progress::Bar;
use crate::{output, program};
use anyhow::{Context, bail};
use meter::commands::arm::{self, Arm, Cold, Failures, Output, Settings};
use meter::commands::document::{Began, Parts, document, look};
use meter::commands::error::CommandError;
use meter::commands::input::Input;
use meter::commands::placement::Placement;
use meter::commands::repeat::{self, ADAPTIVE, Progress, repeat};
use meter::commands::runner::CommandRunner;
use meter::controls;
use model::command::{Command, Commands, Controls, Ended, PageCache, Rule};
use model::figure::time;
use model::machine::Machine;
use model::noise::applied::Applied;
use model::repeats;
use model::run::Run;
use model::share;
use signal_hook::consts::SIGCONT;
use signal_hook::flag;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Where commands run, and under which controls.
pub(in crate::command) struct Setup {
    machine: Machine,
    placement: Placement,
    controls: controls::RequestedControls,
    applied: Applied,
    input: Input,
}

impl Setup {
    /// Chooses the CPU; what it returns adds the controls, in the control groups of a shield. The
    /// commands get this input.
    ///
    /// # Errors
    /// What the system refuses, before anything runs.
    pub(in crate::command) fn choose(
        options: &TimingOptions,
        input: Input,
    ) -> anyhow::Result<impl FnOnce(Vec<PathBuf>) -> anyhow::Result<Setup>> {
        let pin = pin(options)?;
        let machine = sys::machine(Path::new("/"));
        let placement = Placement::choose(pin, &machine)?;
        Ok(move |groups| {
            let controls = controls_of(options, &placement, groups);
            let applied = controls.try_out()?;
            Ok(Setup { machine, placement, controls, applied, input })
        })
    }
}

/// Refuses what can't be done, as far as that can be known without measuring: before the measuring
/// lock, for which others may be waited for.
///
/// # Errors
/// What can't be done.
pub(in crate::command) fn check<'c>(
    options: &TimingOptions,
    commands: impl Iterator<Item = &'c NamedCommand>,
) -> anyhow::Result<()> {
    let check = options.check.as_deref().map(split).transpose()?;
    for words in commands.map(|one| &one.words).chain(&check) {
        arm::check(words)?;
    }
    for path in &options.cold_files {
        let shown = path.display();
        match std::fs::metadata(path) {
            Ok(found) if found.is_file() && found.len() == 0 => {
                bail!("{shown} is empty: there is nothing to drop from the page cache")
            }
            Ok(_) => {}
            Err(error) => bail!(CommandError::ColdFile { path: shown.to_string(), error }),
        }
    }
    if let Some(path) = output_file(options) {
        may_be_written(&path).map_err(|error| CommandError::Stream {
            action: "write",
            path: path.display().to_string(),
            error,
        })?;
    }
    if options.cold {
        sys::page_cache::may_drop_all().map_err(CommandError::Cold)?;
    }
    let shield = options.controls.shield_cpus();
    shielded::check(shield)?;
    if let (Some(Some(cpu)), []) = (pin(options)?, shield) {
        Placement::check(cpu)?;
    }
    let controls = options.controls.requested(options.own_session);
    Ok(controls.may_be_had()?)
}

/// Without opening it: that would empty it.
fn may_be_written(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => Ok(()),
        Err(_) => {
            let above = path.parent().filter(|above| *above != Path::new(""));
            sys::filesystem::may_write(above.unwrap_or(Path::new(".")))
        }
    }
}

/// Times the commands interleaved; `None`, after a message, where it was interrupted before the
/// first run ended. `margin` is that of the finding "same within noise".
pub(in crate::command) fn timed(
    options: &TimingOptions,
    named: &[NamedCommand],
    setup: &Setup,
    margin: f64,
) -> anyhow::Result<Option<Run>> {
    let Setup { machine, placement, controls, applied, input } = setup;
    let settings = settings(options, input)?;
    let rule = Rule { runs: options.runs, ..ADAPTIVE };
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
    let began = Began::now(look_at, controls, &never);
    placement.step_aside();
    let shell_start = match &options.shell {
        Some(shell) => shell_start(shell, controls.list(), &settings, wake.try_clone()?, &resumed)?,
        None => None,
    };
    let arms = named.iter().map(|one| Arm {
        words: one.words.clone(),
        controls: controls.list(),
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
        return Ok(None);
    }

    let commands = named.iter().enumerate().map(|(k, one)| {
        let words = one.words.iter().map(|w| w.to_string_lossy().into_owned());
        let command = Command {
            name: one.name.clone(),
            words: words.collect(),
            shell: one.shell.clone(),
            checked_by: options.check.clone(),
            ..Command::default()
        };
        runner.record(k, command)
    });
    let commands = commands.collect();
    let (page_cache, discarded) = (page_cache(options, &runner), runner.discarded());
    let counted = runner.counted().to_vec();
    let left = runner.end()?;
    let ended = repeated.ended.unwrap_or(Ended::Interrupted);
    let osnoise_after = (ended != Ended::Interrupted).then(|| look(look_at, controls, &never));
    let program = program::program(machine);
    Ok(Some(document(Parts {
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
            margin,
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
        applied: applied.clone(),
        repeated: &repeated,
        counted: &counted,
        left: &left,
        tick_ns: sys::command::tick_ns(),
        seed,
        notes: vec![shell_start.into_iter().collect(); named.len()],
        osnoise_after,
        remarks: [
            placement.remarks(),
            (controls.remarks(placement.cpus()).iter()).map(ToString::to_string).collect(),
            discarded_runs(discarded),
        ]
        .concat(),
        machine: machine.clone(),
    })))
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
fn pin(options: &TimingOptions) -> anyhow::Result<Option<Option<u32>>> {
    let wanted = options.pin.map(|pin| match pin {
        Pin::Quietest => None,
        Pin::Cpu(cpu) => Some(cpu),
    });
    match (wanted, options.controls.shield_cpus()) {
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
    options: &TimingOptions,
    placement: &Placement,
    groups: Vec<PathBuf>,
) -> controls::RequestedControls {
    let mut requested = options.controls.requested(options.own_session);
    requested.settings.cpus = placement.cpu().into_iter().collect();
    requested.groups = groups;
    requested
}

fn cold(options: &TimingOptions) -> Cold {
    match (options.cold, options.cold_files.is_empty()) {
        (true, _) => Cold::All,
        (_, false) => Cold::Files(options.cold_files.clone()),
        _ => Cold::No,
    }
}

fn settings(options: &TimingOptions, input: &Input) -> anyhow::Result<Settings> {
    Ok(Settings {
        input: input.clone(),
        output: match output_file(options) {
            Some(file) => Output::File(file),
            None if options.output == "show" => Output::Show,
            None => Output::Null,
        },
        timeout: options.timeout,
        failures: match &options.ignore_failure {
            None => Failures::Stop,
            Some(IgnoreFailure::All) => Failures::Timed,
            Some(IgnoreFailure::Codes(codes)) => Failures::Accepted(codes.clone()),
        },
        check: options.check.as_deref().map(split).transpose()?,
    })
}

fn page_cache(options: &TimingOptions, runner: &CommandRunner) -> PageCache {
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

/// A socket that becomes readable with the first request to end, which ends the
/// wait for a command. A second signal, more than a second later, kills latlas.
pub(in crate::command) fn wake_on_signals() -> anyhow::Result<OwnedFd> {
    let _later_kills = stop_on_signals()?;
    let (wake, write) = UnixStream::pair().context("can't create a socket pair")?;
    for signal in sys::stop::requests() {
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
                half if half.is_finite() => format!("{} {}", time(median), share::half(half)),
                _ => time(median),
            }
        })
        .collect();
    let most_s = rule.most_ms * walls.len() as u64 / 1000;
    let [of_runs, of_time] = match rule.runs {
        Some(runs) => [format!(" of {runs}"), String::new()],
        None => [String::new(), format!(" of at most {most_s}")],
    };
    format!(
        "{}{of_runs} runs, {:.0}{of_time} s: {}",
        walls[0].len(),
        progress.measuring_ms as f64 / 1e3,
        figures.join("  ")
    )
}

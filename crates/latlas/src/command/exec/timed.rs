//! Commands timed interleaved, as a Run document.

use super::commands::NamedCommand;
use super::rule::expected_time;
use super::settings::{cold, page_cache, settings, shell_of};
use super::setup::CommandSetup;
use super::shell::shell_start;
use super::so_far::so_far;
use crate::arguments::exec::TimingOptions;
use crate::command::measured::stop_on_signals;
use crate::progress::Bar;
use crate::{output, program};
use anyhow::Context;
use meter::commands::arm::{Arm, Hook, Output};
use meter::commands::document::{Began, Parts, look, look_span, make_document};
use meter::commands::repeat::{self, Begun, Done, FIRST_RUN_COUNTS, Runner, repeat_from};
use meter::commands::runner::CommandRunner;
use model::command::{Command, Commands, Controls, Ended, Rule};
use model::run::Run;
use signal_hook::consts::SIGCONT;
use signal_hook::flag;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Times the commands interleaved; `None`, after a message, where it was interrupted before the
/// first run ended. `margin` is that of the finding "same within noise".
pub(in crate::command) fn timed(
    options: &TimingOptions,
    named: &[NamedCommand],
    setup: &CommandSetup,
    rule: Rule,
    margin: f64,
) -> anyhow::Result<Option<Run>> {
    let CommandSetup { machine, placement, controls, applied, input } = setup;
    let settings = settings(options, input)?;
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
    let mut began = Began::now();
    placement.step_aside();
    let arms = named.iter().map(|one| Arm {
        words: one.words.clone(),
        controls: controls.in_order(),
        cold: cold(options),
        hooks: one.hooks.clone(),
    });
    let shell_start = match shell_of(options, named) {
        Some(shell) => {
            let (wake, controls) = (wake.try_clone()?, controls.in_order());
            shell_start(&shell, controls, &settings, wake, &resumed)?
        }
        None => None,
    };
    let mut runner = CommandRunner::new(arms.collect(), settings.clone(), Some(wake), resumed)?;
    let is_set_up = runner.run_around(Hook::Setup)? != Done::Interrupted;
    let warming_ms = runner.elapsed_ms();
    let mut warmups = options.warmup.unwrap_or(1);
    let is_ready =
        is_set_up && repeat::warm_up(&mut runner, named.len(), warmups)? != Done::Interrupted;
    let mut runs = vec![Vec::new(); named.len()];
    if options.warmup.is_none() && named.len() == 1 && is_ready {
        runs[0].extend(runner.count_warm_up(0, FIRST_RUN_COUNTS)?);
        warmups -= runs[0].len() as u32;
    }
    // The warm-ups that were asked for are not part of the time that is waited for.
    let since_ms = options.warmup.map_or(warming_ms, |_| runner.elapsed_ms());
    let round = (0..named.len()).map(|k| runner.warm_up_took(k)).sum();
    let span = look_span(expected_time(&rule, named.len(), round));
    let look_for = |span: Option<Duration>| span.map(|span| look(look_at, controls, span, &never));
    began.osnoise = look_for(span);
    let bar = Bar::on_stderr();
    let repeated = is_ready.then(|| {
        repeat_from(&mut runner, Begun { runs, since_ms }, &rule, seed, |p| {
            bar.message_at_times(|| so_far(p, &rule));
        })
    });
    bar.clear();
    let repeated = repeated.transpose()?;
    let is_whole = repeated.as_ref().is_some_and(|r| r.ended != Some(Ended::Interrupted));
    match is_whole.then(|| runner.run_around(Hook::Cleanup)) {
        // What was measured is kept all the same.
        Some(Err(error)) => output::message(output::harmless(&error.to_string())),
        Some(Ok(_)) => {}
        None if named.iter().any(|one| one.hooks[Hook::Cleanup as usize].is_some()) => {
            output::message("interrupted: --cleanup was not run");
        }
        None => {}
    }
    let Some(repeated) = repeated.filter(|repeated| !repeated.runs[0].is_empty()) else {
        output::message(format_args!(
            "interrupted before the first timed run ended: nothing to show"
        ));
        return Ok(None);
    };

    let commands = named.iter().enumerate().map(|(k, one)| {
        let words = one.words.iter().map(|w| w.to_string_lossy().into_owned());
        let command = Command {
            name: one.name.clone(),
            words: words.collect(),
            shell: one.shell.clone(),
            checked_by: options.check.clone(),
            ..Command::default()
        };
        runner.command_record(k, command)
    });
    let commands = commands.collect();
    let (page_cache, discarded) = (page_cache(options, &runner), runner.discarded());
    let counted = runner.counted().to_vec();
    let left = runner.end_commands()?;
    let ended = repeated.ended.unwrap_or(Ended::Interrupted);
    let osnoise_after = look_for(span.filter(|_| ended != Ended::Interrupted));
    let program = program::program(machine);
    Ok(Some(make_document(Parts {
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
            warmups,
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
        notes: named
            .iter()
            .map(|one| shell_start.iter().filter(|_| one.shell.is_some()).cloned().collect())
            .collect(),
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

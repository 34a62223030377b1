//! `latlas noise tune`: values of the whole system set, and put back. It changes nothing without a command or
//! `--apply`.

use super::summary;
use crate::arguments::noise::tune::TuneOptions;
use crate::{REFUSED, UNRELIABLE, output};
use anyhow::{Context, bail};
use noise::control::quiet_by_default;
use noise::tune::{self, Applied, Faults, Restored, SetOutcome, StateDir, Step, Tuned};
use serde::Serialize;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use sys::files::Files;
use sys::files::{Tree, cpu_list};

/// Sets what is asked for; with a command only while it runs. Without either, prints what it would set.
pub(super) fn tune(options: &TuneOptions) -> anyhow::Result<ExitCode> {
    let (tree, state) = tree_and_state(options.root.as_deref());
    let cpus = cpus(options, &tree)?;
    let steps = tune::plan(&tree, &options.only, &cpus)?;
    refuse_what_is_not_here(options, &tree, &cpus, &steps)?;
    if options.dry_run || (options.command.is_empty() && !options.apply) {
        return print_plan(options, &tree, &steps);
    }
    needs_root(
        options.root.as_deref(),
        if options.apply { "tune --apply" } else { "tune -- CMD" },
    )?;
    // From here on a key or a signal waits until tune is done.
    let held = sys::attached::hold().context("can't hold signals back")?;
    let tuned = Tuned::begin(&tree, &state, &steps)?;
    if let Some(aside) = tuned.set_aside() {
        output::print_error(&(summary::of_another_boot(&aside.display().to_string()) + "\n"));
    }
    let applied = tuned.applied().to_vec();
    if options.command.is_empty() {
        tuned.leave().context("can't close the journal")?;
        return finish(options, &applied);
    }
    if !options.json {
        output::print_error(&summary::applied(&applied));
    }
    if let Some(what) = missing_settings(options, &applied) {
        // What could not be taken back at once is tried again.
        let restored = tuned.restore();
        say(options, &applied, &restored)?;
        bail!("{what} could be set: command not run");
    }
    let mut command = Command::new(&options.command[0]);
    command.args(&options.command[1..]);
    let ended = held.run_command(&mut command, &tuned.shield_groups());
    let restored = tuned.restore();
    say(options, &applied, &restored)?;
    let name = options.command[0].to_string_lossy();
    let ended = ended.with_context(|| format!("can't run {name}"))?;
    Ok(code(ended, failed(&applied) == 0 && restored.as_before()))
}

const NOTHING_TO_SET: &str = "nothing to set: all controls are good or not available\n";

/// The tree and the state directory that go together.
pub(super) fn tree_and_state(root: Option<&Path>) -> (Tree, StateDir) {
    let state = StateDir::system().with_faults(Faults::of_the_environment());
    match root {
        Some(root) => (Tree::new(root), state.of_tree(root)),
        None => (Tree::new(Path::new("/")), state),
    }
}

/// Files of a fixture may be anybody's.
pub(super) fn needs_root(root: Option<&Path>, what: &str) -> anyhow::Result<()> {
    if root.is_none() && sys::filesystem::user() != 0 {
        bail!("needs root (nothing was changed): run `sudo latlas noise {what}`");
    }
    Ok(())
}

fn cpus(options: &TuneOptions, tree: &Tree) -> anyhow::Result<Vec<u32>> {
    let Some(text) = &options.cpus else {
        return Ok(quiet_by_default(tree));
    };
    let mut cpus = cpu_list(text)
        .filter(|cpus| !cpus.is_empty())
        .with_context(|| format!("--cpus {text}: not a list of CPUs like 2-3,6"))?;
    cpus.sort_unstable();
    cpus.dedup();
    let online = Files::read(tree, "/sys/devices/system/cpu/online")
        .context("can't tell which CPUs are online (/sys/devices/system/cpu/online)")?;
    let there = cpu_list(&online).unwrap_or_default();
    if let Some(absent) = cpus.iter().find(|cpu| !there.contains(cpu)) {
        bail!("--cpus {text}: CPU {absent} is not online ({online} are)");
    }
    if there.iter().all(|cpu| cpus.contains(cpu)) {
        bail!("--cpus {text}: no CPU would be left for other tasks ({online} are online)");
    }
    Ok(cpus)
}

/// What was asked for by its name is set, or nothing is.
fn refuse_what_is_not_here(
    options: &TuneOptions,
    tree: &Tree,
    cpus: &[u32],
    steps: &[Step],
) -> anyhow::Result<()> {
    if options.only.is_empty() {
        return Ok(());
    }
    let machine = match &options.root {
        Some(root) => super::facts_of_tree(root),
        None => sys::machine_facts(Path::new("/")),
    };
    let Some(missing) = tune::not_settable(tree, &machine, (&options.only, cpus), steps) else {
        return Ok(());
    };
    let not_done = match options.command.is_empty() {
        true => "nothing was changed",
        false => "command not run",
    };
    match options.only.len() {
        1 => bail!("{missing}; {not_done} (latlas noise show prints what can be set)"),
        _ => bail!("{missing}; {not_done}: leave {} out of --only", missing.name),
    }
}

/// A step that is not made.
#[derive(Serialize)]
struct Planned<'a> {
    control: &'a str,
    what: String,
    now: Option<String>,
    wanted: String,
}

/// Prints what would be set, file by file with old and new value, and how to set it.
fn print_plan(options: &TuneOptions, tree: &Tree, steps: &[Step]) -> anyhow::Result<ExitCode> {
    let planned: Vec<Planned> = steps
        .iter()
        .map(|step| match step {
            Step::Set(change) => Planned {
                control: &change.control,
                what: change.path.clone(),
                now: Files::read(tree, &change.path).ok(),
                wanted: change.wanted.clone(),
            },
            Step::Shield { cpus } => Planned {
                control: "shield",
                what: "a cpuset".into(),
                now: None,
                wanted: noise::cpus::cpu_ranges(cpus),
            },
        })
        .collect();
    if options.json {
        output::print(&(serde_json::to_string(&planned)? + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    if planned.is_empty() {
        output::print(NOTHING_TO_SET)?;
        return Ok(ExitCode::SUCCESS);
    }
    let line = |one: &Planned| {
        let now = one.now.as_ref().map_or(String::new(), |now| format!("{now} -> "));
        format!("would set {:<18} {}: {now}{}\n", one.control, one.what, one.wanted)
    };
    output::print(&planned.iter().map(line).collect::<String>())?;
    if !options.dry_run {
        output::message(
            "nothing was changed: add `-- CMD` to set this while a command runs, or --apply to set it until \
             `latlas noise restore`",
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn failed(applied: &[Applied]) -> usize {
    let failed = |one: &&Applied| matches!(one.outcome, SetOutcome::Failed(_));
    applied.iter().filter(failed).count()
}

/// What the command was to run under, and is not there: something that was
/// asked for by its name and failed wholly, a part of the shield or of the CPUs
/// to be taken offline; or all there was to be set.
fn missing_settings(options: &TuneOptions, applied: &[Applied]) -> Option<String> {
    if !applied.is_empty() && failed(applied) == applied.len() {
        return Some("nothing".into());
    }
    let wholly = |control: &str| {
        let mut of_it = applied.iter().filter(|one| one.control == control);
        let count = of_it.clone().count();
        count > 0 && of_it.all(|one| matches!(one.outcome, SetOutcome::Failed(_)))
    };
    let missing = |name: &&String| match name.split_once('=') {
        Some((_, cpu)) => applied.iter().any(|one| {
            cpu.parse().is_ok_and(|cpu| one.what == tune::cpu_online(cpu))
                && matches!(one.outcome, SetOutcome::Failed(_))
        }),
        None => wholly(name),
    };
    let name = options.only.iter().find(missing)?;
    Some(format!("nothing of {name}"))
}

/// The end of a tune whose values stay.
fn finish(options: &TuneOptions, applied: &[Applied]) -> anyhow::Result<ExitCode> {
    if options.json {
        output::print(&(serde_json::to_string(applied)? + "\n"))?;
    } else {
        let mut text = summary::applied(applied);
        if applied.is_empty() {
            text = NOTHING_TO_SET.into();
        } else if applied.iter().any(|one| one.outcome == SetOutcome::Set) {
            text += "restore with: latlas noise restore\n";
        }
        output::print(&text)?;
    }
    Ok(match failed(applied) {
        0 => ExitCode::SUCCESS,
        all if all == applied.len() => ExitCode::from(REFUSED),
        _ => ExitCode::from(UNRELIABLE),
    })
}

/// The end of a tune with a command, whose own output has stdout.
fn say(options: &TuneOptions, applied: &[Applied], restored: &Restored) -> anyhow::Result<()> {
    #[derive(Serialize)]
    struct Whole<'a> {
        applied: &'a [Applied],
        restored: &'a Restored,
        command: Vec<PathBuf>,
    }
    if options.json {
        let command = options.command.iter().map(PathBuf::from).collect();
        let whole = Whole { applied, restored, command };
        output::print_error(&(serde_json::to_string(&whole)? + "\n"));
    } else {
        output::print_error(&summary::restored(restored));
    }
    Ok(())
}

/// As a shell tells it, or that not all was set or is as before.
fn code(ended: ExitStatus, whole: bool) -> ExitCode {
    let code = match (ended.code(), ended.signal()) {
        (Some(code), _) => u8::try_from(code & 0xff).unwrap_or(u8::MAX),
        (None, signal) => u8::try_from(128 + signal.unwrap_or(0)).unwrap_or(u8::MAX),
    };
    match code {
        0 if !whole => ExitCode::from(UNRELIABLE),
        code => ExitCode::from(code),
    }
}

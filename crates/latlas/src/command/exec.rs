//! `latlas exec`: commands timed with the same honesty as the rows.

use super::run::{exit_code, keep, stop_on_signals, where_to_keep};
use super::shielded;
use crate::arguments::exec::ExecOptions;
use crate::progress::Bar;
use crate::{UNRELIABLE, output, program};
use anyhow::{Context, bail};
use atlas::references::References;
use atlas::render::{self, Options};
use atlas::store::{self, Store};
use meter::commands::document::{Began, Parts, document, look};
use meter::commands::placement::Placement;
use meter::commands::repeat::{self, ADAPTIVE, Progress, repeat, walls_ns};
use meter::commands::runner::{Cold, CommandRunner, Output, Settings};
use meter::controls;
use model::command::{Command, Commands, Controls, Ended, PageCache, Rule};
use model::figure::{figure, time};
use model::machine::Machine;
use model::noise::applied::Applied;
use model::repeats;
use model::unit::Unit;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs of the empty shell that tell what a shell costs.
const SHELL_RUNS: u32 = 20;

/// A command as it was asked for.
struct Asked {
    name: String,
    words: Vec<OsString>,
    shell: Option<String>,
}

/// Runs the commands, prints what they cost and keeps it.
pub(crate) fn exec(options: &ExecOptions) -> anyhow::Result<ExitCode> {
    let references = References::embedded()?;
    let asked = asked(options)?;
    if options.check.is_some() && options.warmup == 0 {
        bail!("--check looks at the output of a warm-up run: leave out --warmup 0");
    }
    check_files(options)?;
    if let Some(path) = &options.out {
        store::check_writable(path)?;
    }
    let place = where_to_keep(options.out.is_some() || options.json)?;
    let machine = sys::machine(Path::new("/"));
    let placement = Placement::choose(pin(options)?, &machine)?;
    let (code, as_before) = shielded::within(options.controls.shield_cpus(), |groups| {
        let controls = controls_of(options, &placement, groups);
        // Whatever is refused is refused before anything runs.
        let applied = controls.try_out()?;
        let under = Under {
            placement,
            controls,
            applied,
            place: place.clone(),
        };
        measure(options, asked, under, machine, &references)
    })?;
    Ok(match as_before {
        true => code,
        false => ExitCode::from(UNRELIABLE),
    })
}

/// What the commands run under.
struct Under {
    placement: Placement,
    controls: controls::Asked,
    applied: Applied,
    /// Where what they cost is kept.
    place: Option<Store>,
}

/// Measures them, prints what they cost and keeps it.
fn measure(
    options: &ExecOptions,
    asked: Vec<Asked>,
    under: Under,
    machine: Machine,
    references: &References,
) -> anyhow::Result<ExitCode> {
    let Under {
        placement,
        controls,
        applied,
        place,
    } = under;
    let settings = settings(options, &controls)?;
    let rule = Rule {
        runs: options.runs,
        ..ADAPTIVE
    };
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));

    let wake = wake_on_signals()?;
    let resumed = Arc::new(AtomicBool::new(false));
    flag::register(SIGCONT, Arc::clone(&resumed)).context("can't listen for SIGCONT")?;
    // A signal meanwhile waits in `wake`, and ends the first run.
    let never = AtomicBool::new(false);
    let look_at = match options.controls.shield_cpus() {
        [only] => Some(*only),
        _ => placement.cpu(),
    };
    let began = Began::now(look_at, &controls, &never);
    placement.step_aside();
    let shell_start = match &options.shell {
        Some(shell) => shell_start(shell, &settings, wake.try_clone()?, &resumed)?,
        None => None,
    };
    let words: Vec<Vec<OsString>> = asked.iter().map(|a| a.words.clone()).collect();
    let mut runner = CommandRunner::new(&words, settings.clone(), Some(wake), resumed)?;
    let bar = Bar::on_stderr();
    let repeated = repeat(&mut runner, asked.len(), options.warmup, &rule, seed, |p| {
        bar.say(&so_far(p, &rule));
    });
    bar.clear();
    let repeated = repeated?;
    if repeated.runs[0].is_empty() {
        eprintln!("latlas: interrupted before the first timed run ended: nothing to show");
        return Ok(ExitCode::from(UNRELIABLE));
    }

    let failures: Vec<u32> = (0..asked.len()).map(|k| runner.failures(k)).collect();
    let (page_cache, discarded) = (page_cache(options, &runner), runner.discarded());
    let counted = runner.counted().to_vec();
    let left = runner.end()?;
    let ended = repeated.ended.unwrap_or(Ended::Interrupted);
    let gaps_after = (ended != Ended::Interrupted).then(|| look(look_at, &controls, &never));
    let commands = asked
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
                Output::Null => "to /dev/null".into(),
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
        notes: vec![shell_start.into_iter().collect(); asked.len()],
        gaps_after,
        remarks: [
            placement.remarks(),
            controls.remarks(placement.cpus()),
            made_again(discarded),
        ]
        .concat(),
        machine,
    });

    let look = Options {
        wide: options.wide,
        color: output::colored(options.color),
        kept: keep(&run, place.as_ref()),
        ..Options::default()
    };
    let written = options.out.as_ref().map(|path| store::write(&run, path));
    let text = match options.json {
        true => output::document(&run)?,
        false => render::run(&run, references, &look),
    };
    output::print(&text)?;
    written.transpose()?;
    let lost = look.kept.is_none() && options.out.is_none() && !options.json;
    Ok(exit_code(&run, lost))
}

/// What a reader must know of runs that do not count.
fn made_again(discarded: u32) -> Vec<String> {
    match discarded {
        0 => Vec::new(),
        n => vec![format!(
            "latlas was stopped and went on (SIGCONT) during {n} of the runs: they were discarded \
             and made again"
        )],
    }
}

/// The output must not be what the runs read, nor what is kept of them.
fn check_files(options: &ExecOptions) -> anyhow::Result<()> {
    let Some(output) = output_file(options) else {
        return Ok(());
    };
    for (name, other) in [("--input", &options.input), ("--out", &options.out)] {
        if let Some(other) = other.as_deref().filter(|other| same_file(&output, other)) {
            bail!(
                "--output and {name} are the same file, {}: each run would empty it",
                other.display()
            );
        }
    }
    Ok(())
}

/// The file that the commands' output goes to, if it goes to one.
fn output_file(options: &ExecOptions) -> Option<PathBuf> {
    match options.output.to_str() {
        Some("null" | "show") => None,
        _ => Some(options.output.clone().into()),
    }
}

/// Whether two paths lead to one regular file, or would once it is made.
fn same_file(one: &Path, other: &Path) -> bool {
    match (one.metadata(), other.metadata()) {
        (Ok(a), Ok(b)) => a.is_file() && (a.dev(), a.ino()) == (b.dev(), b.ino()),
        (Err(_), Err(_)) => {
            let place = |path: &Path| {
                let directory = match path.parent() {
                    Some(parent) if parent != Path::new("") => parent,
                    _ => Path::new("."),
                };
                Some((directory.canonicalize().ok()?, path.file_name()?.to_owned()))
            };
            place(one).is_some_and(|one| place(other) == Some(one))
        }
        _ => false,
    }
}

/// The commands in words, with a name each.
fn asked(options: &ExecOptions) -> anyhow::Result<Vec<Asked>> {
    let mut asked = Vec::new();
    let first = match &options.shell {
        None => (options.words.clone(), None),
        Some(shell) => {
            let line = options.words.join(OsStr::new(" "));
            (
                in_shell(shell, &line),
                Some(line.to_string_lossy().into_owned()),
            )
        }
    };
    let others = options.vs.iter().map(|text| match &options.shell {
        None => split(text).map(|words| (words, None)),
        Some(shell) => Ok((in_shell(shell, OsStr::new(text)), Some(text.clone()))),
    });
    let all: Vec<_> = std::iter::once(Ok(first)).chain(others).collect();
    if options.name.len() > all.len() {
        bail!(
            "{} names for {} commands: give --name once for each",
            options.name.len(),
            all.len()
        );
    }
    for (k, command) in all.into_iter().enumerate() {
        let (words, shell) = command?;
        let own = || name_of(shell.as_deref(), &words);
        let wanted = options.name.get(k).cloned().unwrap_or_else(own);
        asked.push(Asked {
            name: unused(wanted, &asked, options.name.get(k).is_some())?,
            words,
            shell,
        });
    }
    Ok(asked)
}

fn in_shell(shell: &OsStr, line: &OsStr) -> Vec<OsString> {
    vec![shell.to_owned(), "-c".into(), line.to_owned()]
}

/// Words as a shell splits them, without anything else that a shell does.
fn split(text: &str) -> anyhow::Result<Vec<OsString>> {
    let words =
        shell_words::split(text).with_context(|| format!("can't split {text:?} into words"))?;
    if words.is_empty() {
        bail!("there is no command in {text:?}");
    }
    Ok(words.into_iter().map(OsString::from).collect())
}

/// A name from the program's file, or from the first word of a shell's line.
fn name_of(shell: Option<&str>, words: &[OsString]) -> String {
    let word = match shell {
        Some(line) => line.split_whitespace().next().unwrap_or("shell").to_owned(),
        None => words
            .first()
            .map_or(String::new(), |w| w.to_string_lossy().into_owned()),
    };
    let file = Path::new(&word)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let name: String = file
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "-_+".contains(c) {
                c
            } else {
                '_'
            }
        })
        .take(64)
        .collect();
    match name.is_empty() {
        true => "command".into(),
        false => name,
    }
}

/// The name, with a number where another command has it already.
fn unused(name: String, asked: &[Asked], given: bool) -> anyhow::Result<String> {
    let taken = |name: &str| asked.iter().any(|a| a.name == name);
    if !taken(&name) {
        return Ok(name);
    }
    if given {
        bail!("two commands are named {name:?}");
    }
    let numbered = (2..).map(|k| format!("{name}-{k}")).find(|n| !taken(n));
    Ok(numbered.unwrap_or(name))
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
) -> controls::Asked {
    let mut asked = options.controls.asked(options.own_session);
    asked.settings.cpus = placement.cpu().into_iter().collect();
    asked.groups = groups;
    asked
}

fn settings(options: &ExecOptions, asked: &controls::Asked) -> anyhow::Result<Settings> {
    Ok(Settings {
        controls: asked.controls(),
        cold: match (options.cold, options.cold_files.is_empty()) {
            (true, _) => Cold::All,
            (_, false) => Cold::Files(options.cold_files.clone()),
            _ => Cold::No,
        },
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
            untold: texts(runner.untold()),
        },
    }
}

/// Something that becomes readable with the first Ctrl-C (or SIGTERM, or a
/// closed terminal), so that waiting for a command ends. One that comes more
/// than a second later kills at once.
pub(super) fn wake_on_signals() -> anyhow::Result<OwnedFd> {
    let _later_kills = stop_on_signals()?;
    let (wake, write) = UnixStream::pair().context("can't make a pair of sockets")?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let write = write.try_clone().context("can't duplicate a socket")?;
        signal_hook::low_level::pipe::register(signal, write).context("can't listen for Ctrl-C")?;
    }
    Ok(wake.into())
}

/// What a shell costs that does nothing: part of every figure, and not taken
/// off. Nothing where it was interrupted.
fn shell_start(
    shell: &OsStr,
    settings: &Settings,
    wake: OwnedFd,
    resumed: &Arc<AtomicBool>,
) -> anyhow::Result<Option<String>> {
    let words = in_shell(shell, OsStr::new(":"));
    let settings = Settings {
        cold: Cold::No,
        input: None,
        output: Output::Null,
        check: None,
        ..settings.clone()
    };
    let rule = Rule {
        runs: Some(SHELL_RUNS),
        ..ADAPTIVE
    };
    let mut runner = CommandRunner::new(&[words], settings, Some(wake), Arc::clone(resumed))?;
    let repeated = repeat(&mut runner, 1, 1, &rule, 0, |_| ())?;
    let estimate = repeats::estimate(&walls_ns(&repeated.runs[0]), &Unit::Time, 0.0);
    Ok(estimate.typical.map(|t| {
        let f = figure(&t.ns, &Unit::Time);
        format!(
            "a shell runs it: `{} -c :` alone takes {} {} ±{} ({} runs), which is not taken off",
            shell.to_string_lossy(),
            f.value,
            f.unit,
            f.half_width,
            t.samples
        )
    }))
}

/// How far it is, in a line.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn names_come_from_the_program() {
        assert_eq!(name_of(None, &words(&["/usr/bin/git", "status"])), "git");
        assert_eq!(name_of(None, &words(&["./a.out"])), "a_out");
        assert_eq!(name_of(Some("zcat f | wc"), &words(&["sh"])), "zcat");
        assert_eq!(name_of(Some("  "), &words(&["sh"])), "shell");
        assert_eq!(name_of(None, &words(&["/"])), "command");
    }

    #[test]
    fn a_second_command_of_the_name_gets_a_number() {
        let one = Asked {
            name: "grep".into(),
            words: Vec::new(),
            shell: None,
        };
        let asked = [one];
        assert_eq!(
            unused("grep".into(), &asked, false).expect("free"),
            "grep-2"
        );
        assert!(unused("grep".into(), &asked, true).is_err());
        assert_eq!(unused("sed".into(), &asked, true).expect("free"), "sed");
    }

    #[test]
    fn one_file_may_have_two_names() {
        let here = std::env::temp_dir().join(format!("latlas-same-{}", std::process::id()));
        std::fs::create_dir_all(here.join("b")).expect("a directory");
        let at = |name: &str| here.join(name);
        std::fs::write(at("a"), "x").expect("a file");
        std::fs::hard_link(at("a"), at("link")).expect("a link");
        assert!(same_file(&at("a"), &at("link")));
        assert!(same_file(&at("new"), &at("b/../new")));
        assert!(!same_file(&at("new"), &at("b/new")));
        assert!(!same_file(&at("a"), &at("new")));
        let null = Path::new("/dev/null");
        assert!(!same_file(null, null), "nothing is lost there");
        std::fs::remove_dir_all(&here).expect("removed");
    }

    #[test]
    fn words_are_split_without_a_shell() {
        let split_of = |text: &str| split(text).map_err(|e| e.to_string());
        assert_eq!(split_of("a 'b c' $D"), Ok(words(&["a", "b c", "$D"])));
        assert!(split_of("a 'b").expect_err("open").contains("can't split"));
        assert!(split_of("  ").expect_err("none").contains("no command"));
    }
}

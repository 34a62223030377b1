//! `latlas ci`: two builds compared by commands run in both.

use super::exec::{NamedCommand, Setup, check, check_files, in_shell, split, timed};
use super::measured::{keep, lock, writable_store};
use super::shielded;
use crate::arguments::ci::CiOptions;
use crate::ending::{self, Ending};
use crate::{GATE_CROSSED, UNRELIABLE, output};
use ::compare::paired::{PairedGate, SIDES};
use anyhow::{Context, bail};
use meter::commands::repeat::ADAPTIVE;
use model::compare::finding::Verdict;
use model::run::Run;
use model::story::Block;
use model::text::counted;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::{Output, Store};
use sys::input;
use view::render;

/// What stands for the directory of the build.
const DIRECTORY: &str = "{}";

/// Largest file of commands.
const MAX_COMMANDS_BYTES: u64 = 1 << 20;

/// Times the commands, judges them together and prints the answer.
pub(crate) fn ci(options: &CiOptions) -> anyhow::Result<ExitCode> {
    let timing = &options.timing;
    let markdown_to_stdout = options.markdown.as_deref().is_some_and(ending::is_stdout);
    if markdown_to_stdout && options.json {
        bail!("--markdown - and --json can't both use standard output: name a file for Markdown");
    }
    let builds = [&options.base, &options.head].map(|path| directory(path));
    let [base, head] = builds;
    let builds = [base?, head?];
    let mut pairs = Vec::new();
    for text in texts(options)? {
        let pair = pair(&text, &builds, timing.shell.as_deref())?;
        pairs.push((text, pair));
    }
    let input = check_files(timing, None)?;
    let markdown = options.markdown.as_deref();
    let markdown = markdown.filter(|_| !markdown_to_stdout).map(|path| {
        ending::check(path, &[Ending::Exported("markdown")])?;
        anyhow::Ok(Output::open(path)?)
    });
    let markdown = markdown.transpose()?;
    let documents = documents(options.out_dir.as_deref(), pairs.len())?;
    let store = writable_store(true)?;
    check(timing, pairs.iter().flat_map(|(_, pair)| pair))?;
    let _lock = lock("latlas ci", None, timing.wait)?;
    if timing.runs.is_none() {
        let commands = pairs.len() as u64;
        let [least, most] =
            [ADAPTIVE.least_ms, ADAPTIVE.most_ms].map(|ms| 2 * commands * ms / 1000);
        output::message(format_args!(
            "takes {least} to {most} s ({} in both builds); press Ctrl-C to stop and print results so far",
            counted(pairs.len(), "command")
        ));
    }
    let setup = Setup::choose(timing, input)?;
    let ((runs, all_written), as_before) =
        shielded::within(timing.controls.shield_cpus(), |groups| {
            measure(options, &pairs, &documents, &setup(groups)?, store.as_ref())
        })?;
    let gate = PairedGate::of(&runs, pairs.len(), options.fail_above);
    let [answer, rows] = [render::paired_answer(&gate), render::paired_rows(&gate)];
    if !markdown_to_stdout {
        output::show_json_or(options.json, &gate, options.color, || {
            [rows.clone(), vec![Block::empty_line()], answer.clone()].concat()
        })?;
    }
    if options.markdown.is_some() {
        let heading = vec![Block::Heading("latlas: head compared with base".into())];
        let text = view::markdown::text(&[heading, answer, rows].concat());
        match &markdown {
            Some(file) => file.write(text.as_bytes())?,
            None => output::print(&text)?,
        }
    }
    Ok(if gate.with(Verdict::Different).next().is_some() {
        ExitCode::from(GATE_CROSSED)
    } else if gate.is_inconclusive() || !as_before || !all_written {
        ExitCode::from(UNRELIABLE)
    } else {
        ExitCode::SUCCESS
    })
}

/// The files for the documents of the pairs, each checked before anything is measured; none without a directory.
fn documents(directory: Option<&Path>, pairs: usize) -> anyhow::Result<Vec<Output>> {
    let Some(directory) = directory else {
        return Ok(Vec::new());
    };
    std::fs::create_dir_all(directory)
        .with_context(|| format!("can't create {}", directory.display()))?;
    let of = |k| Ok(Output::open(&directory.join(format!("{k}.json.zst")))?);
    (1..=pairs).map(of).collect()
}

/// Times one pair after the other, until one is interrupted. Whether all documents were written is beside them.
fn measure(
    options: &CiOptions,
    pairs: &[(String, Vec<NamedCommand>)],
    documents: &[Output],
    setup: &Setup,
    store: Option<&Store>,
) -> anyhow::Result<(Vec<(String, Run)>, bool)> {
    let (mut runs, mut all_written) = (Vec::new(), true);
    for (k, (text, pair)) in pairs.iter().enumerate() {
        if pairs.len() > 1 {
            let text = output::harmless(text);
            output::message(format_args!("{} of {}: {text}", k + 1, pairs.len()));
        }
        let run = timed(&options.timing, pair, setup, options.fail_above)?;
        let Some(run) = run else { break };
        keep(&run, store);
        if let Some(Err(error)) = documents.get(k).map(|file| file.write_run(&run)) {
            output::message(output::harmless(&error.to_string()));
            all_written = false;
        }
        let interrupted = run.partial.is_some();
        runs.push((text.clone(), run));
        if interrupted {
            break;
        }
    }
    Ok((runs, all_written))
}

/// The directory of a build, by a name that holds wherever a command runs.
fn directory(path: &Path) -> anyhow::Result<PathBuf> {
    match std::path::absolute(path) {
        Ok(absolute) if absolute.is_dir() => Ok(absolute),
        _ => bail!("{} is not a directory", path.display()),
    }
}

/// The commands of the command line and of the file.
fn texts(options: &CiOptions) -> anyhow::Result<Vec<String>> {
    let mut texts = options.texts.clone();
    if let Some(path) = &options.commands {
        let read = match path == Path::new("-") {
            true => {
                let mut bytes = Vec::new();
                let stdin = std::io::stdin().lock();
                let read = stdin.take(MAX_COMMANDS_BYTES + 1).read_to_end(&mut bytes);
                read.and_then(|_| input::text(bytes, MAX_COMMANDS_BYTES))
            }
            false => input::read_text(path, MAX_COMMANDS_BYTES),
        };
        let read = read.with_context(|| format!("can't read commands from {}", path.display()))?;
        let lines = read.trim_start_matches('\u{feff}').lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        texts.extend(lines.map(str::to_owned));
    }
    if texts.is_empty() { bail!("no commands to compare") } else { Ok(texts) }
}

/// The command in both builds.
fn pair(
    text: &str,
    builds: &[PathBuf; 2],
    shell: Option<&OsStr>,
) -> anyhow::Result<Vec<NamedCommand>> {
    if !text.contains(DIRECTORY) {
        bail!("{text:?} does not contain {DIRECTORY}: it would run the same program twice");
    }
    let mut pair = Vec::new();
    for (name, build) in SIDES.iter().zip(builds) {
        let build = build.to_str();
        let build = build.context("the path of a build is not valid UTF-8")?;
        let (words, line) = match shell {
            None => {
                let in_build = |word: OsString| match word.to_str() {
                    Some(text) => text.replace(DIRECTORY, build).into(),
                    None => word,
                };
                (split(text)?.into_iter().map(in_build).collect(), None)
            }
            Some(shell) => {
                let quoted = shlex::try_quote(build)?;
                let line = text.replace(DIRECTORY, &quoted);
                (in_shell(shell, OsStr::new(&line))?, Some(line))
            }
        };
        pair.push(NamedCommand { name: (*name).into(), words, shell: line });
    }
    Ok(pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_runs_in_both_directories() {
        let builds = [PathBuf::from("/b a"), PathBuf::from("/h d")];
        let of = |text: &str, shell: Option<&OsStr>| -> Vec<Vec<String>> {
            let pair = pair(text, &builds, shell).expect("a pair");
            let words = |one: &NamedCommand| {
                let words = one.words.iter();
                words.map(|word| word.to_string_lossy().into()).collect()
            };
            pair.iter().map(words).collect()
        };
        assert_eq!(
            of("{}/p 'x y' --in={}/z", None),
            [["/b a/p", "x y", "--in=/b a/z"], ["/h d/p", "x y", "--in=/h d/z"]]
        );
        assert_eq!(of("{}/p | wc", Some(OsStr::new("sh")))[1], ["sh", "-c", "'/h d'/p | wc"]);
        let same = pair("./p", &builds, None).err().expect("refused");
        assert!(same.to_string().contains("same program twice"), "{same}");
    }
}

//! `latlas ci`: two builds compared by commands run in both, or by what criterion measured of both (`criterion.rs`).

mod criterion;
mod written;

use super::build_label::build_label;
use super::exec::{
    CommandSetup, NamedCommand, check_commands, check_files, in_shell, rule, split, timed,
};
use super::measured::{keep, lock, writable_store};
use super::shielded;
use crate::arguments::ci::CiOptions;
use crate::arguments::exec::{ShellChoice, TimingOptions};
use crate::arguments::run_json::RunJson;
use crate::ending::{self, Ending};
use crate::{GATE_CROSSED, UNRELIABLE, output};
use ::compare::paired::{PairedGate, SIDES};
use anyhow::{Context, bail};
use meter::commands::arm::Hooks;
use meter::commands::repeat::{COMPARED, PRECISE};
use model::command::Rule;
use model::compare::finding::Verdict;
use model::phrases::counted;
use model::run::Run;
use model::sequential::Question;
use model::story::Block;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use store::{Output, Store};
use sys::input;
use view::chart::of_paired;
use view::render;
use written::AnswerFile;

/// What stands for the directory of the build.
const DIRECTORY: &str = "{}";

/// Largest file of commands.
const MAX_COMMANDS_BYTES: u64 = 1 << 20;

/// Times the commands, judges them together and prints the answer.
pub(crate) fn ci(options: &CiOptions) -> anyhow::Result<ExitCode> {
    let timing = &options.timing;
    if options.criterion {
        return criterion::judge_results(options);
    }
    let to_stdout = takes_stdout(options)?;
    let builds = [&options.base, &options.head].map(|path| directory(path));
    let [base, head] = builds;
    let builds = [base?, head?];
    let mut pairs = Vec::new();
    for text in texts(options)? {
        let shell = match timing.shell_choice() {
            ShellChoice::In(shell) => Some(shell),
            ShellChoice::IfNeeded | ShellChoice::Never => None,
        };
        let pair = pair(&text, &builds, shell.as_deref())?;
        pairs.push((text, pair));
    }
    let input = check_files(timing, None)?;
    let markdown = markdown_file(options)?;
    let out = AnswerFile::named(options.out.as_deref())?;
    let documents = documents(options.out_dir.as_deref(), pairs.len())?;
    let store = writable_store(true)?;
    check_commands(timing, pairs.iter().flat_map(|(_, pair)| pair))?;
    let _lock = lock("latlas ci", None, timing.wait)?;
    if timing.runs.is_none() {
        let commands = pairs.len() as u64;
        let rule = ci_rule(options, pairs.len(), budget(options, pairs.len()) / pairs.len() as u32);
        let [least, most] = [rule.least_ms, rule.most_ms].map(|ms| 2 * commands * ms / 1000);
        output::message(format_args!(
            "takes {least} to {most} s ({} in both builds); press Ctrl-C to stop and print results so far",
            counted(pairs.len(), "command")
        ));
    }
    let setup = CommandSetup::choose(timing, input)?;
    let ((runs, all_written), as_before) =
        shielded::within(timing.controls.shield_cpus(), |groups| {
            time_pairs(options, &pairs, &documents, &setup(groups)?, store.as_ref())
        })?;
    let gate = PairedGate::from_runs(&runs, pairs.len(), options.fail_above);
    let [answer, rows] = [render::paired_answer(&gate), render::paired_rows(&gate)];
    if !to_stdout {
        match options.json.form() {
            Some(RunJson::Document) => output::print_json_or(true, &gate, String::new)?,
            Some(RunJson::Rows) => output::print_lines(gate.objects())?,
            None => {
                let all = [rows.clone(), vec![Block::empty_line()], answer.clone()];
                output::show(&all.concat(), options.color)?;
            }
        }
    }
    if options.markdown.is_some() || out.is_some() {
        let headline = format!("latlas: {}", render::paired_headline(&gate));
        let builds = [&options.base, &options.head].map(|build| build_label(build));
        let facts = render::paired_facts(&gate, &builds, runs.first().map(|(_, run)| run));
        if let Some(out) = out {
            let chart = of_paired(&gate);
            let drawn: Vec<Block> = chart.iter().cloned().map(Block::chart).collect();
            let blocks = [&answer[..], &drawn, &rows, &facts].concat();
            out.put_down(&headline, &blocks, chart.as_ref())?;
        }
        if options.markdown.is_some() {
            let heading = vec![Block::Heading(headline)];
            write_markdown(markdown.as_ref(), &[heading, answer, rows, facts].concat())?;
        }
    }
    Ok(if gate.rows_with(Verdict::Different).next().is_some() {
        ExitCode::from(GATE_CROSSED)
    } else if gate.is_inconclusive() || !as_before || !all_written {
        ExitCode::from(UNRELIABLE)
    } else {
        ExitCode::SUCCESS
    })
}

/// Whether the Markdown takes the place of what is printed.
fn takes_stdout(options: &CiOptions) -> anyhow::Result<bool> {
    let to_stdout = options.markdown.as_deref().is_some_and(ending::is_stdout);
    if to_stdout && options.json.form().is_some() {
        bail!("--markdown - and --json can't both use standard output: name a file for Markdown");
    }
    Ok(to_stdout)
}

/// The file of the Markdown, checked before anything is measured; none for standard output.
fn markdown_file(options: &CiOptions) -> anyhow::Result<Option<Output>> {
    let path = options.markdown.as_deref().filter(|path| !ending::is_stdout(path));
    let open = |path| {
        ending::check_ending(path, &[Ending::Exported("markdown")])?;
        Ok(Output::open(path)?)
    };
    path.map(open).transpose()
}

fn write_markdown(file: Option<&Output>, blocks: &[Block]) -> anyhow::Result<()> {
    let text = view::markdown::to_markdown(blocks);
    match file {
        Some(file) => Ok(file.write(text.as_bytes())?),
        None => output::print(&text),
    }
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
fn time_pairs(
    options: &CiOptions,
    pairs: &[(String, Vec<NamedCommand>)],
    documents: &[Output],
    setup: &CommandSetup,
    store: Option<&Store>,
) -> anyhow::Result<(Vec<(String, Run)>, bool)> {
    let (mut runs, mut all_written) = (Vec::new(), true);
    let mut left = budget(options, pairs.len());
    for (k, (text, pair)) in pairs.iter().enumerate() {
        if pairs.len() > 1 {
            let text = output::harmless(text);
            output::message(format_args!("{} of {}: {text}", k + 1, pairs.len()));
        }
        let rule = ci_rule(options, pairs.len(), left / (pairs.len() - k) as u32);
        let began = Instant::now();
        let run = timed(&options.timing, pair, setup, rule, options.fail_above)?;
        left = left.saturating_sub(began.elapsed());
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

/// Time for all commands in both builds.
fn budget(options: &CiOptions, pairs: usize) -> Duration {
    let usual = if options.timing.precise { PRECISE } else { COMPARED };
    let builds = (SIDES.len() * pairs) as u64;
    options.timing.budget.unwrap_or(Duration::from_millis(usual.most_ms * builds))
}

/// When the runs of one of so many commands end, which has so much time: once it is known whether it became slower
/// than it may.
fn ci_rule(options: &CiOptions, pairs: usize, budget: Duration) -> Rule {
    // Both times of every command are judged together.
    let rows = (2 * pairs) as u32;
    let question = Question::Regression { above: options.fail_above, rows };
    let timing = TimingOptions { budget: Some(budget), ..options.timing.clone() };
    rule(&timing, SIDES.len(), Some(question))
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
                read.and_then(|_| input::decode_text(bytes, MAX_COMMANDS_BYTES))
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
        let hooks = Hooks::default();
        pair.push(NamedCommand { name: (*name).into(), words, shell: line, hooks });
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

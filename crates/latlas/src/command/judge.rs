//! `latlas judge`: a verdict on two builds of a benchmark suite.

use super::exec::wake_on_signals;
use super::measured::{keep, lock, stop_on_signals, writable_store};
use super::picture::{Paint, painted};
use super::recorded::about;
use super::{report, run_path_named};
use crate::arguments::judge::JudgeOptions;
use crate::ending::{self, Ending};
use crate::progress::Bar;
use crate::{GATE_CROSSED, UNRELIABLE, output};
use ::compare::judged::{JudgedOutcome, Judgment};
use ::compare::references::References;
use ::judge::checkout::{Checkouts, Source};
use ::judge::experiment::{ExperimentPlan, ExperimentProgress, Surroundings, measure};
use ::judge::harness::{Adapter, Explanation, SuiteOptions, Suites};
use ::judge::process::Processes;
use ::judge::slot::Arm;
use anyhow::bail;
use meter::commands::document::Began;
use model::judged::evidence::ChangeEvidence;
use model::judged::{Judged, JudgedBuild};
use model::phrases::{counted, rounded_up};
use model::recording::Recording;
use model::run::Run;
use model::story::Block;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use store::{LastOf, Output, Store};
use view::render;

/// Measures and judges, judges what is stored, or says what would be done.
pub(crate) fn judge(options: &JudgeOptions) -> anyhow::Result<ExitCode> {
    if options.explain {
        return explain(options);
    }
    let files = output_files(&options.out)?;
    let (run, judgment) = match &options.again {
        Some(name) => {
            let path = run_path_named(name, &Store::of_user(), LastOf::All)?;
            let run = store::read_run(&path)?;
            let judgment = Judgment::from_run(&run);
            (run, judgment)
        }
        None => match measured(options, !files.is_empty())? {
            Some(both) => both,
            None => return Ok(ExitCode::from(UNRELIABLE)),
        },
    };
    let judged = run.recordings.iter().find_map(Recording::judged_suite);
    let (Some(judged), Some(judgment)) = (judged, judgment) else {
        bail!("this run was not made by latlas judge: nothing to judge again");
    };
    let page = render::judged_page(&judgment, judged, &run);
    output::show_json_or(options.json, &judgment, options.color, || page.clone())?;
    for (ending, file) in &files {
        write_result(&run, &judgment, &page, *ending, file)?;
    }
    Ok(match judgment.outcome {
        JudgedOutcome::NoRegression => ExitCode::SUCCESS,
        JudgedOutcome::Regression => ExitCode::from(GATE_CROSSED),
        JudgedOutcome::Inconclusive => ExitCode::from(UNRELIABLE),
    })
}

/// What may be written of it, checked before anything is measured.
fn output_files(paths: &[PathBuf]) -> anyhow::Result<Vec<(Ending, Output)>> {
    const WRITTEN: [Ending; 7] = [
        Ending::Exported("markdown"),
        Ending::Html,
        Ending::Svg,
        Ending::Png,
        Ending::Pdf,
        Ending::Json,
        Ending::Zst,
    ];
    let file = |path: &PathBuf| Ok((ending::one_of(path, &WRITTEN)?, Output::open(path)?));
    paths.iter().map(file).collect()
}

fn write_result(
    run: &Run,
    judgment: &Judgment,
    page: &[Block],
    ending: Ending,
    file: &Output,
) -> anyhow::Result<()> {
    if let Some(paint) = Paint::for_ending(ending) {
        let Some(chart) = view::chart::of_judgment(judgment) else {
            bail!("no benchmark has a ratio: there is nothing to draw");
        };
        return Ok(file.write(&painted(&chart, paint)?)?);
    }
    match ending {
        Ending::Html => {
            let references = References::embedded()?;
            Ok(file.write(report::alone(run, &references).as_bytes())?)
        }
        Ending::Exported(_) => {
            let headline = format!("latlas: {}", render::judged_headline(judgment));
            let blocks = [&[Block::Heading(headline)], page].concat();
            Ok(file.write(view::markdown::to_markdown(&blocks).as_bytes())?)
        }
        _ => Ok(file.write_run(run)?),
    }
}

/// The suites of a side and their commands. Nothing runs.
fn explain(options: &JudgeOptions) -> anyhow::Result<ExitCode> {
    let side = options.head.as_ref().or(options.base.as_ref());
    let folder = match side.map(|text| Source::from_text(text)) {
        Some(Source::Directory(directory)) => directory,
        Some(Source::Revision(_)) | None => std::env::current_dir()?,
    };
    let found = Explanation::of_folder(&folder, &suite_options(options)?)?;
    let lines = found.iter().flat_map(Explanation::to_lines).collect();
    output::show(&[Block::Lines(lines)], options.color)?;
    Ok(ExitCode::SUCCESS)
}

fn suite_options(options: &JudgeOptions) -> anyhow::Result<SuiteOptions> {
    if let Some(command) = options.commands.iter().find(|text| !text.contains("{}")) {
        bail!("{command:?} does not contain {{}}: it would run the same program twice");
    }
    Ok(SuiteOptions {
        harness: options.harness.as_deref().map(Adapter::from_file).transpose()?,
        commands: options.commands.clone(),
        build: options.build.clone(),
        exe: options.exe.clone(),
        only: options.patterns.clone(),
        slot_limit: None,
        here: std::env::current_dir()?,
    })
}

/// Builds both sides and measures them; `None`, after a message, where that was interrupted before there was a slot.
fn measured(
    options: &JudgeOptions,
    elsewhere: bool,
) -> anyhow::Result<Option<(Run, Option<Judgment>)>> {
    let [Some(base), Some(head)] = [&options.base, &options.head] else {
        bail!("--base and --head are needed");
    };
    let sources = [base, head].map(|text| Source::from_text(text));
    let suite_options = suite_options(options)?;
    let store = writable_store(elsewhere)?;
    let data_dir = store::data_dir()?;
    let _lock = lock("latlas judge", Some(options.budget), options.wait)?;
    let stop = stop_on_signals()?;
    let began = Began::now();
    let mut processes = Processes::new(Some(wake_on_signals()?))?;
    let bar = Bar::on_stderr();
    bar.message("building both sides");
    let in_place = !options.commands.is_empty();
    let [first, second] = &sources;
    let here = suite_options.here.clone();
    let opened = Checkouts::check_out([first, second], &here, &data_dir, in_place, &mut processes)
        .map_err(anyhow::Error::from)
        .and_then(|checkouts| {
            let builds = checkouts
                .sides
                .each_ref()
                .map(|side| JudgedBuild { label: side.label.clone(), commit: side.commit.clone() });
            Ok((builds, Suites::build(checkouts, suite_options, processes)?))
        });
    let (builds, mut suites) = match opened {
        Err(_) if stop.load(Ordering::Relaxed) => {
            bar.clear();
            output::message("interrupted before anything was measured: nothing to show");
            return Ok(None);
        }
        Err(error) => {
            bar.clear();
            return Err(error);
        }
        Ok(opened) => opened,
    };
    output::message(format_args!(
        "takes up to {}; press Ctrl-C to stop and print results so far",
        rounded_up(options.budget.as_millis() as u64)
    ));
    let machine = sys::machine_facts(Path::new("/"));
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    let mut surroundings = Measuring { began: Instant::now(), stop, bar };
    let measured =
        measure(&mut suites, ExperimentPlan::new(options.budget, seed), &mut surroundings);
    surroundings.bar.clear();
    if !measured.has_slots() && measured.interrupted {
        output::message("interrupted before the first slot ended: nothing to show");
        return Ok(None);
    }
    let judged = Judged {
        fail_above: options.fail_above.unwrap_or(0.0),
        remarks: suites.remarks().to_vec(),
        ..Judged::default()
    };
    let about = about(machine, began.unix_ms, began.at_ns);
    let mut run = measured.to_run(about, builds, judged);
    run.plan.asked = options.patterns.iter().chain(&options.commands).cloned().collect();
    run.conditions.before = began.moment;
    run.conditions.after = Began::now().moment;
    let mut judgment = Judgment::from_run(&run);
    if let (Some(judgment), None) = (&mut judgment, &run.partial) {
        count_findings(&mut run, judgment, &mut suites);
    }
    keep(&run, store.as_ref());
    Ok(Some((run, judgment)))
}

/// Counts the work of what became slower or faster.
fn count_findings(run: &mut Run, judgment: &mut Judgment, suites: &mut Suites) {
    let judged = run.recordings.iter_mut().find_map(|recording| match recording {
        Recording::Judged(judged) => Some(judged),
        _ => None,
    });
    let Some(judged) = judged else { return };
    let changed = judgment.rows.iter_mut().filter(|row| row.evidence == Some(ChangeEvidence::Time));
    for row in changed {
        let mut of = |arm| suites.count(&row.name, arm);
        match of(Arm::Base).and_then(|base| Ok([base, of(Arm::Head)?])) {
            Ok(counts) => {
                row.count_work(&counts);
                let own = judged.benchmarks.iter_mut().find(|one| one.name == row.name);
                own.into_iter().for_each(|benchmark| benchmark.counts = Some(counts));
            }
            Err(error) => {
                let why = error.to_string();
                if !judged.remarks.contains(&why) {
                    judged.remarks.push(why);
                }
            }
        }
    }
}

/// Time, Ctrl-C and the bar.
struct Measuring {
    began: Instant,
    stop: &'static AtomicBool,
    bar: Bar,
}

impl Surroundings for Measuring {
    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn show(&mut self, progress: &ExperimentProgress) {
        self.bar.message_at_times(|| {
            let name = output::harmless(progress.benchmark);
            let [round, rounds] = progress.rounds;
            let what = counted(progress.benchmarks, "benchmark");
            match (rounds, progress.again) {
                (0, _) => format!("trial run of {name}"),
                (_, false) => format!("{what}, round {round} of {rounds}: {name}"),
                (_, true) => format!("measuring {what} again, round {round} of {rounds}: {name}"),
            }
        });
    }
}

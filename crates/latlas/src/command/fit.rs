//! `latlas fit`: is this the machine it should be?

use super::measured::{keep, lock, measure, writable_store};
use super::run_path_named;
use crate::arguments::fit::FitOptions;
use crate::{DIFFERS, UNRELIABLE, catalogue, ending, output, selection};
use ::references::hosts::published_expectation;
use anyhow::{Context, bail};
use compare::operand::Operand;
use compare::references::References;
use meter::plan::{Request, plan};
use meter::probe::Probe;
use model::compare::finding::Verdict;
use model::fit::expectation::{Expectation, SCHEMA, Unusable};
use model::fit::judge::{Judged, judge_host};
use model::fit::learn::learn;
use model::fit::noise::unsteady_memory;
use model::fit::{FIT, Vector};
use model::limits::RUN;
use model::misfit;
use model::phrases::counted;
use model::run::{Run, Scale};
use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use store::{LastOf, Store, operand};
use sys::input;
use view::render;

/// What it takes, with what comes before and after.
const TAKES: Duration = Duration::from_secs(9);

/// An expectation of 10,000 hosts has less.
const MOST_BYTES: u64 = 8 << 20;

/// Measures and judges, judges a stored run, or learns.
pub(crate) fn fit(catalogue: &[Probe], options: &FitOptions) -> anyhow::Result<ExitCode> {
    if let Some(path) = &options.learn {
        return learn_from(&options.runs, path, options);
    }
    let expected = options.expect.as_deref().map(read_expectation).transpose()?;
    let run = match &options.run {
        Some(name) => store::read_run(&run_path_named(name, &Store::of_user(), LastOf::Rows)?)?,
        None => measured(catalogue, options)?,
    };
    let vector = Vector::from_run(&run);
    let expected = match expected {
        Some(expected) => Some(expected),
        None => of_history(&run)?,
    };
    let published = by_published(&run, &vector);
    let judged = match (expected, published) {
        (Some(expected), published) => {
            Judged { published: published.ok().map(Box::new), ..judge_host(&vector, &expected) }
        }
        (None, Ok(published)) => published,
        (None, Err(why)) => return compared_with_nothing(&vector, &why, options),
    };
    match options.drain_reason {
        true => output::print(&(output::harmless(&render::fit_reason(&judged)) + "\n"))?,
        false => {
            output::show_json_or(options.json, &judged, options.color, || render::fit(&judged))?
        }
    }
    Ok(exit_code(&judged))
}

/// What published figures of this CPU say; the error is why there are none.
fn by_published(run: &Run, vector: &Vector) -> Result<Judged, String> {
    let expected = published_expectation(run).map_err(|damaged| damaged.to_string())?;
    let mut vector = vector.clone();
    vector.noise.extend(unsteady_memory(run));
    let judged = judge_host(&vector, &expected);
    let hosts = judged.published_hosts();
    let contradicted = hosts.is_some_and(|hosts| !hosts.contradictions.is_empty());
    match judged.tests.is_empty() && !contradicted {
        true => Err(hosts.and_then(|hosts| hosts.no_memory.clone()).unwrap_or_default()),
        false => Ok(judged),
    }
}

fn compared_with_nothing(
    vector: &Vector,
    nothing_published: &str,
    options: &FitOptions,
) -> anyhow::Result<ExitCode> {
    match options.drain_reason {
        true => output::message("nothing to compare with: give --expect FILE"),
        false => output::show_json_or(options.json, vector, options.color, || {
            render::fit_vector(vector, nothing_published)
        })?,
    }
    Ok(match vector.is_too_little() {
        true => ExitCode::from(UNRELIABLE),
        false => ExitCode::SUCCESS,
    })
}

fn exit_code(judged: &Judged) -> ExitCode {
    match judged.verdict.0 {
        Verdict::SameWithinNoise => ExitCode::SUCCESS,
        Verdict::Different => ExitCode::from(DIFFERS),
        Verdict::CannotTell => ExitCode::from(UNRELIABLE),
    }
}

fn measured(catalogue: &[Probe], options: &FitOptions) -> anyhow::Result<Run> {
    let out = options.out.as_deref().map(ending::run_file).transpose()?;
    // A host that can't store its run is judged all the same.
    let store = writable_store(true)?;
    let texts = catalogue::texts(catalogue);
    let asked = vec![FIT.to_owned()];
    let request = Request {
        rows: selection::selected_rows(&texts, &asked, Scale::Default)?,
        asked,
        seed: fastrand::u64(..1 << 32),
        budget: Some(TAKES),
        dir: options.dir.clone(),
        ..Request::default()
    };
    let mut machine = sys::machine_facts(Path::new("/"));
    let mut planned = plan(catalogue, &request, &machine)?;
    let lock = lock("latlas fit", Some(TAKES), options.wait)?;
    if lock.waited() {
        machine = sys::machine_facts(Path::new("/"));
        planned = plan(catalogue, &request, &machine)?;
    }
    let run = measure(catalogue, &planned, machine)?;
    keep(&run, store.as_ref());
    if let Some(out) = &out {
        out.write_run(&run)?;
    }
    Ok(run)
}

/// What earlier runs of this machine say; `None` without any.
fn of_history(run: &Run) -> anyhow::Result<Option<Expectation>> {
    let Ok(store) = Store::of_user() else {
        return Ok(None);
    };
    let own = Operand::from_run(FIT, run.clone());
    let mut messages = Vec::new();
    let recent = operand::recent_like(&store, &[&own], &mut messages)?;
    super::atlas::print_messages(&messages);
    let earlier = recent.iter().filter(|other| other.id != run.id && other.plan.asked == [FIT]);
    let vectors: Vec<Vector> = earlier.map(Vector::from_run).collect();
    // Only disturbed runs are as good as none.
    Ok(learn(&vectors).ok())
}

fn learn_from(names: &[String], path: &Path, options: &FitOptions) -> anyhow::Result<ExitCode> {
    let out = ending::json_file(path)?;
    let references = References::embedded()?;
    let store = Store::of_user();
    let (mut vectors, mut seen, mut repeated) = (Vec::new(), HashSet::new(), 0);
    let mut messages = Vec::new();
    for name in names {
        let found = operand::find_operand(name, &store, &references, &mut messages)?;
        if found.runs().is_empty() {
            bail!("{name} is a published table: give runs to learn from");
        }
        for run in found.runs() {
            // A run counted twice would look like two that agree.
            match seen.insert(run.id.clone()) {
                true => vectors.push(Vector::from_run(run)),
                false => repeated += 1,
            }
        }
    }
    super::atlas::print_messages(&messages);
    if repeated > 0 {
        let runs = counted(repeated, "run");
        output::message(format!("{runs} given more than once: each counts once"));
    }
    let learned = learn(&vectors)?;
    let text = model::json::to_indented_json(&learned)? + "\n";
    out.write(text.as_bytes())?;
    output::show_json_or(options.json, &learned, options.color, || render::fit_learned(&learned))?;
    Ok(ExitCode::SUCCESS)
}

fn read_expectation(path: &Path) -> anyhow::Result<Expectation> {
    let shown = || format!("can't use {} as an expectation", path.display());
    let text = input::read_text(path, MOST_BYTES).with_context(shown)?;
    if let Some(schema) = misfit::newer_schema(text.as_bytes(), SCHEMA) {
        return Err(Unusable::Version(schema)).with_context(shown);
    }
    let expected: Expectation =
        misfit::read_json_within(text.as_bytes(), &RUN).with_context(shown)?;
    expected.check().with_context(shown)?;
    Ok(expected)
}

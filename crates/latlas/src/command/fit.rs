//! `latlas fit`: is this the machine it should be?

use super::measured::{keep, lock, measure, writable_store};
use super::named;
use crate::arguments::fit::FitOptions;
use crate::{DIFFERS, UNRELIABLE, catalogue, ending, output, selection};
use anyhow::{Context, bail};
use compare::operand::Operand;
use compare::references::References;
use meter::plan::{Request, plan};
use meter::probe::Probe;
use model::compare::finding::Verdict;
use model::fit::expectation::{Expectation, SCHEMA, Unusable};
use model::fit::judge::{Judged, judge};
use model::fit::learn::learn;
use model::fit::{FIT, Vector};
use model::limits::RUN;
use model::misfit;
use model::run::{Run, Scale};
use model::text::counted;
use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use store::{Store, operand};
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
    let expected = options.expect.as_deref().map(read).transpose()?;
    let run = match &options.run {
        Some(name) => store::read(&named(name, &Store::of_user())?)?,
        None => measured(catalogue, options)?,
    };
    let vector = Vector::of(&run);
    let expected = match expected {
        Some(expected) => Some(expected),
        None => of_history(&run)?,
    };
    let Some(expected) = expected else {
        match options.drain_reason {
            true => output::message("nothing to compare with: give --expect FILE"),
            false => output::show_json_or(options.json, &vector, options.color, || {
                render::fit_vector(&vector)
            })?,
        }
        return Ok(match vector.is_too_little() {
            true => ExitCode::from(UNRELIABLE),
            false => ExitCode::SUCCESS,
        });
    };
    let judged = judge(&vector, &expected);
    match options.drain_reason {
        true => output::print(&(output::harmless(&render::fit_reason(&judged)) + "\n"))?,
        false => {
            output::show_json_or(options.json, &judged, options.color, || render::fit(&judged))?
        }
    }
    Ok(exit_code(&judged))
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
        rows: selection::rows(&texts, &asked, Scale::Default)?,
        asked,
        seed: fastrand::u64(..1 << 32),
        budget: Some(TAKES),
        dir: options.dir.clone(),
        ..Request::default()
    };
    let mut machine = sys::machine(Path::new("/"));
    let mut planned = plan(catalogue, &request, &machine)?;
    let lock = lock("latlas fit", Some(TAKES), options.wait)?;
    if lock.waited() {
        machine = sys::machine(Path::new("/"));
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
    let own = Operand::run(FIT, run.clone());
    let mut messages = Vec::new();
    let recent = operand::recent_like(&store, &[&own], &mut messages)?;
    super::atlas::print_messages(&messages);
    let earlier = recent.iter().filter(|other| other.id != run.id && other.plan.asked == [FIT]);
    let vectors: Vec<Vector> = earlier.map(Vector::of).collect();
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
        let found = operand::find(name, &store, &references, &mut messages)?;
        if found.runs().is_empty() {
            bail!("{name} is a published table: give runs to learn from");
        }
        for run in found.runs() {
            // A run counted twice would look like two that agree.
            match seen.insert(run.id.clone()) {
                true => vectors.push(Vector::of(run)),
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
    let text = serde_json::to_string_pretty(&learned)? + "\n";
    out.write(text.as_bytes())?;
    output::show_json_or(options.json, &learned, options.color, || render::fit_learned(&learned))?;
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> anyhow::Result<Expectation> {
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

//! `latlas show`: prints a stored run; of two, what moved.

use super::{drawing, run_path_named};
use crate::arguments::Look;
use crate::arguments::compare::CompareOptions;
use crate::arguments::run_json::RunJson;
use crate::output;
use anyhow::bail;
use compare::references::References;
use model::run::Run;
use std::path::Path;
use std::process::ExitCode;
use store::{self, LastOf, Store, StoreError};
use view::render;

pub(crate) fn show(
    names: &[String],
    json: Option<RunJson>,
    look: &Look,
) -> anyhow::Result<ExitCode> {
    let [name] = names else {
        return moved(names, json, look);
    };
    let references = References::embedded()?;
    let mut options = drawing(&references, look)?;
    let store = Store::of_user();
    let path = run_path_named(name, &store, LastOf::All)?;
    if let Some(form) = json {
        output::print(&output::run_json(&read_for(form, &path)?, form)?)?;
    } else {
        options.kept = Some(match &store {
            Ok(store) => store.display_path(&path),
            Err(_) => path.display().to_string(),
        });
        let run = store::read_run(&path)?;
        output::show_paged(&render::render_run(&run, &references, &options), look)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What moved from one run to the other.
fn moved(names: &[String], json: Option<RunJson>, look: &Look) -> anyhow::Result<ExitCode> {
    let [baseline, other] = names else {
        bail!("give one or two runs");
    };
    if look.all || look.wide || look.human || look.frames || !look.vs.is_empty() {
        bail!(
            "--all, --wide, --human, --frames and --vs are for one run; all that two differ in: \
             latlas compare {baseline} {other} --wide"
        );
    }
    if json == Some(RunJson::Document) {
        bail!("--document is for one run; of two: --json");
    }
    let options = CompareOptions {
        baseline: baseline.clone(),
        others: vec![other.clone()],
        rows: Vec::new(),
        margin: compare::USUAL_MARGIN,
        fail_above: None,
        normalize: None,
        wide: false,
        out: None,
        force: false,
        json: json.is_some(),
        color: look.color,
    };
    let all = super::compare::comparisons(&options)?;
    output::show_json_or(json.is_some(), &all, look.color, || {
        all.iter().flat_map(render::moved).collect()
    })?;
    Ok(ExitCode::SUCCESS)
}

/// A document is printed as it is; other texts have control characters spelled out.
pub(super) fn read_for(form: RunJson, path: &Path) -> Result<Run, StoreError> {
    match form {
        RunJson::Document => store::read_as_it_is(path),
        RunJson::Rows => store::read_run(path),
    }
}

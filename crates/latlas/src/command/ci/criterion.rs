//! `latlas ci --criterion`: two folders of criterion's results, judged as `latlas compare --fail-above` judges two runs.

use super::written::AnswerFile;
use super::{markdown_file, takes_stdout, write_markdown};
use crate::arguments::ci::CiOptions;
use crate::arguments::run_json::RunJson;
use crate::command::build_label::build_label;
use crate::command::compare::{against, exit_code};
use crate::command::import::origin;
use crate::command::measured::{keep, writable_store};
use crate::output;
use compare::operand::Operand;
use compare::{Options, USUAL_MARGIN};
use model::run::Run;
use model::story::Block;
use std::path::Path;
use std::process::ExitCode;
use store::exchange::import::{InputFormat, files, import};
use view::chart::of_comparison;
use view::render;

/// Where criterion writes in a checkout.
const RESULTS: &str = "target/criterion";

/// Reads and keeps both, and prints what became slower. Nothing is run.
pub(super) fn judge_results(options: &CiOptions) -> anyhow::Result<ExitCode> {
    let to_stdout = takes_stdout(options)?;
    let builds = [&options.base, &options.head];
    let [base, head] = builds.map(|build| results(build));
    let runs = [base?, head?];
    let markdown = markdown_file(options)?;
    let out = AnswerFile::named(options.out.as_deref())?;
    let store = writable_store(true)?;
    let [base, head] = &runs;
    let sides = [("base", base), ("head", head)];
    let sides = sides.map(|(name, run)| Operand::from_run(name, run.clone()));
    let how =
        Options { margin: USUAL_MARGIN, fail_above: Some(options.fail_above), normalize: None };
    let [base, head] = &sides;
    let judged = against(store.as_ref(), base, std::slice::from_ref(head), &|_| true, &how)?;
    for run in &runs {
        keep(run, store.as_ref());
    }
    let page: Vec<Block> = judged.iter().flat_map(|one| render::comparison(one, false)).collect();
    if !to_stdout {
        match options.json.form() {
            Some(RunJson::Document) => output::print_json_or(true, &judged[0], String::new)?,
            Some(RunJson::Rows) => output::print_lines(judged[0].rows.iter())?,
            None => output::show(&page, options.color)?,
        }
    }
    let headline = format!("latlas: {}", render::gate_headline(&judged[0]));
    if let Some(out) = out {
        let has_ratio = judged[0].rows.iter().any(|row| row.ratio.is_some());
        let chart = has_ratio.then(|| of_comparison(&judged[0], &judged[0].rows));
        out.put_down(&headline, &render::comparison(&judged[0], true), chart.as_ref())?;
    }
    if options.markdown.is_some() {
        let [base, head] = builds.map(|build| build_label(build));
        let facts = Block::text(format!("base {base}, head {head}; results of criterion"));
        let blocks = [vec![Block::Heading(headline), facts], page].concat();
        write_markdown(markdown.as_ref(), &blocks)?;
    }
    Ok(exit_code(&judged))
}

/// The results below a checkout, or those of a folder of results.
fn results(build: &Path) -> anyhow::Result<Run> {
    let below = build.join(RESULTS);
    let folder = if below.is_dir() { below } else { build.to_owned() };
    let input = files::read_input(&folder)?;
    Ok(import(&[input], Some(InputFormat::Criterion), origin(None, false))?)
}

//! Which benchmarks a program has.

use super::adapter::Adapter;
use super::environment::small_environment;
use super::error::HarnessError;
use super::fill::Filling;
use super::programs::Program;
use super::results::figures;
use crate::checkout::BuildSide;
use crate::process::{Child, Processes};
use std::time::Duration;
use store::exchange::import::FigureFound;
use sys::command::End;

/// All benchmarks of a program, run once, take no longer.
const LIMIT: Duration = Duration::from_secs(600);

/// A benchmark of a program, and its time where the list came from running it.
pub(super) type Listed = (String, Option<f64>);

/// Lists the benchmarks of a program, each name once, and why some may be missing.
pub(super) fn list(
    program: &Program,
    adapter: &Adapter,
    side: &BuildSide,
    filling: &Filling,
    processes: &mut Processes,
) -> Result<(Vec<Listed>, Option<String>), HarnessError> {
    let Some(listing) = &adapter.list else { return Ok((Vec::new(), None)) };
    let words = filling.filled(&listing.run);
    let of_harness = adapter.env.iter().map(|(name, value)| (name.clone(), filling.text(value)));
    let variables = small_environment(of_harness);
    let failed = |said: String| HarnessError::NotListed {
        side: side.label.clone(),
        program: words.join(" "),
        said,
    };
    empty(side)?;
    let child =
        Child { words: &words, variables: &variables, directory: &program.directory, limit: LIMIT };
    let ended = processes.run(&child)?;
    if ended.end == End::TimedOut {
        return Err(failed(format!("it took more than {} minutes", LIMIT.as_secs() / 60)));
    }
    let mut found: Vec<Listed> = match (&listing.line, &adapter.results) {
        (Some(line), _) => {
            let text = ended.out_text();
            let names = text.lines().filter_map(|text| line.values(text)?.get("name").copied());
            names.map(|name| (name.trim().to_owned(), None)).collect()
        }
        (None, Some(results)) => {
            let found = figures(results, filling, &ended);
            let found = found.map_err(|error| failed(error.to_string()))?;
            found.into_iter().map(|(name, figure)| (name, time_of(&figure))).collect()
        }
        (None, None) => Vec::new(),
    };
    let is_empty = listing.empty_code.is_some_and(|code| ended.end == End::Code(code));
    let failure = (!ended.is_success() && !is_empty).then(|| adapter.failure_of(&ended));
    // Some of the benchmarks may fail, and end it with an error: the others are there.
    let failure = match failure {
        Some(said) if found.is_empty() => return Err(failed(said)),
        others => others,
    };
    let mut names = std::collections::HashSet::new();
    found.retain(|(name, _)| names.insert(name.clone()));
    Ok((found, failure))
}

fn time_of(figure: &FigureFound) -> Option<f64> {
    match figure {
        FigureFound::Samples(samples) => {
            samples.iter().map(|&(turns, ns)| ns / turns as f64).reduce(f64::min)
        }
        FigureFound::Aggregate { ns, range_ns, .. } => Some(range_ns.map_or(*ns, |[fast, _]| fast)),
        FigureFound::Failed(_) => None,
    }
}

/// Empties the folder of a side's runs.
pub(super) fn empty(side: &BuildSide) -> Result<(), HarnessError> {
    let scratch = &side.scratch;
    let _ = std::fs::remove_dir_all(scratch);
    std::fs::create_dir_all(scratch)
        .map_err(|error| HarnessError::File { file: scratch.display().to_string(), error })
}

//! Which of several runs a table is filled in from.

use super::{Here, here};
use model::run::Run;

/// How many of these rows the run has a figure or a reason for.
pub fn rows_held(run: &Run, ids: &[String]) -> usize {
    let known = |id: &&String| !matches!(here(Some(run), id), Here::NotMeasured { .. });
    ids.iter().filter(known).count()
}

/// Of runs that come newest first, the one that holds most of these rows, the
/// newest of several; none where none holds any. Stops at a run that holds all.
pub fn fullest(runs: impl Iterator<Item = Run>, ids: &[String]) -> Option<Run> {
    let mut best: Option<(usize, Run)> = None;
    for run in runs {
        let held = rows_held(&run, ids);
        if held > best.as_ref().map_or(0, |(most, _)| *most) {
            best = Some((held, run));
        }
        if held == ids.len() {
            break;
        }
    }
    best.map(|(_, run)| run)
}

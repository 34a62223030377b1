//! Rows of a run over time, for the report: which of them are worth a picture.

use crate::chart::{LeftOut, Picture, history::chart};
use compare::history::{FollowedFigure, History};
use model::overview::OPERATIONS;
use model::run::Run;
use model::summary::MachineKey;
use std::collections::HashSet;
use std::fmt::Display;
use store::StoreError;
use store::history::{HistoryError, HistoryQuery, find_history};
use store::index::Index;

/// Pictures at most.
const MOST: usize = 6;
/// Runs that a picture goes back: all its figures stand on the page as text,
/// too, which is to stay small.
const LAST: usize = 40;
/// Runs with a figure from which on there is a history to look at.
const FEWEST: usize = 3;
/// Results that are looked through at most: over many kept runs not every row
/// is, so that a report does not take long.
const RESULTS: usize = 20_000;
/// Rows that are looked through however many runs there are: the best known.
const ROWS: usize = OPERATIONS.len();

/// Pictures of rows of this run over the last kept runs of its machine: those whose
/// level changed, the latest change first, then the best known ones. Empty
/// where fewer than three runs are kept.
pub fn histories(index: &Index, run: &Run) -> Result<Vec<Picture>, StoreError> {
    let machine = MachineKey::from_run(run);
    let machines = index.machines()?;
    let kept = machines.iter().find(|known| known.key == machine);
    let runs = kept.map_or(0, |known| known.runs);
    if runs < FEWEST {
        return Ok(Vec::new());
    }
    let looked_at = (RESULTS / runs).max(ROWS);
    let results = index.rows(Some(&machine))?;
    let single = results.iter().filter(|(_, at)| at.is_empty());
    let single: HashSet<&str> = single.map(|(id, _)| id.as_str()).collect();
    let is_kept = |row: &&str| single.contains(row);
    let mut found: Vec<History> = Vec::new();
    for row in single_rows(run).into_iter().filter(is_kept).take(looked_at) {
        let asked = HistoryQuery {
            machine: &machine,
            row,
            at: &[],
            figure: FollowedFigure::Best,
            since_unix_ms: None,
            last: Some(LAST),
        };
        match find_history(index, &asked, &[]) {
            Ok(history) if history.tested() >= FEWEST => found.push(history),
            Ok(_) => {}
            Err(HistoryError::Store(fault)) => return Err(fault),
            Err(_) => {}
        }
    }
    // Stable: those without a change stay in the order of the rows.
    found.sort_by_key(|history| std::cmp::Reverse(last_change(history)));
    found.truncate(MOST);
    let picture = |history: &History| Picture { chart: chart(history), rows: Vec::new() };
    Ok(found.iter().map(picture).collect())
}

/// Sets what [`histories`] found among the pictures of the page, or why there
/// is nothing: without a store, or with one that can't be read, there is the
/// run.
pub fn set_over_time<E: Display>(
    found: Result<Vec<Picture>, E>,
    drawn: &mut Vec<Picture>,
    left_out: &mut Vec<LeftOut>,
) {
    let why = match found {
        Ok(found) if found.is_empty() => "no row has a figure in three or more runs of this \
                                          machine that are kept here, as good as the others"
            .into(),
        Ok(found) => return drawn.extend(found),
        Err(why) => why.to_string(),
    };
    left_out.push(LeftOut { id: "history".into(), why });
}

/// The rows that are single figures, the best known first.
fn single_rows(run: &Run) -> Vec<&str> {
    let known = OPERATIONS.iter().map(|operation| operation.row);
    let known = known.filter(|id| run.row(id).is_some_and(|row| row.estimate().is_some()));
    let figures = run.rows.iter().filter(|row| row.estimate().is_some());
    let mut seen = HashSet::new();
    known.chain(figures.map(|row| row.id.as_str())).filter(|id| seen.insert(*id)).collect()
}

/// When the level changed last, ms since 1970 UTC.
fn last_change(history: &History) -> Option<u64> {
    let last = history.levels.last().filter(|_| history.levels.len() > 1)?;
    Some(history.runs[last.first].run.started_unix_ms)
}

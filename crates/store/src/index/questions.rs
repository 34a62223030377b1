//! The questions, as the tables answer them.

use super::entry::{self, RESULT};
use super::percentiles::{CountedRuns, Percentile, RankedFigure, RowStanding};
use model::summary::MachineKey;
use model::summary::{KeptResult, KeptRun};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;
use std::path::Path;

/// Runs whose figures a percentile counts, the oldest first; before them those
/// that say that they began after ?1: no time can be believed of them.
const COUNTED: &str = "SELECT run, machine FROM run WHERE counted
     ORDER BY started_ms <= ?1, started_ms, run";

/// After this no run can have begun, ms since 1970 UTC. The index has no run
/// whose time is no i64.
fn horizon_ms() -> i64 {
    i64::try_from(crate::horizon_ms()).unwrap_or(i64::MAX)
}

/// Runs by time, the newest first; behind them those of the future.
pub(super) fn runs_by_time(db: &Connection, dir: &Path) -> rusqlite::Result<Vec<KeptRun>> {
    db.prepare_cached("SELECT line FROM run ORDER BY started_ms > ?1, started_ms DESC, file DESC")?
        .query_and_then([horizon_ms()], |row| entry::run_from_line(&row.get::<_, String>(0)?, dir))?
        .collect()
}

/// Whether there may be a document of this id: of a run that is known, or one that can't be read.
pub(super) fn may_know(db: &Connection, id: &str) -> rusqlite::Result<bool> {
    db.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM run WHERE id = ?1)
             OR EXISTS (SELECT 1 FROM unread WHERE instr(file, ?1))",
    )?
    .query_row([id], |row| row.get(0))
}

/// One run by its whole id.
pub(super) fn run_by_id(
    db: &Connection,
    dir: &Path,
    id: &str,
) -> rusqlite::Result<Option<KeptRun>> {
    let line: Option<String> = db
        .prepare_cached("SELECT line FROM run WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    line.map(|line| entry::run_from_line(&line, dir)).transpose()
}

/// Figures of a row on a machine, the oldest first; before them those of runs
/// that say that they began in the future.
pub(super) fn history(
    db: &Connection,
    dir: &Path,
    (machine, row, at): (&MachineKey, &str, &[u64]),
) -> rusqlite::Result<Vec<(KeptRun, KeptResult)>> {
    let Some(quantity) = entry::quantity(db, row, at)? else {
        return Ok(Vec::new());
    };
    // CROSS JOIN: the runs of the machine first, in their order.
    let statement = format!(
        "SELECT line, {RESULT} FROM run
         CROSS JOIN result USING (run) JOIN quantity USING (quantity) JOIN form USING (form)
         WHERE machine = ?1 AND NOT imported AND result.quantity = ?2
         ORDER BY started_ms <= ?3, started_ms, file"
    );
    db.prepare_cached(&statement)?
        .query_and_then(params![machine.0, quantity, horizon_ms()], |row| {
            let kept = entry::run_from_line(&row.get::<_, String>(0)?, dir)?;
            Ok((kept, entry::result(row, 1)?))
        })?
        .collect()
}

/// Points and figures, ns, by the id of their run.
pub(super) type ValuesOfRow = HashMap<String, Vec<(Vec<u64>, f64)>>;

/// The figures of a row in all runs.
pub(super) fn values_of(db: &Connection, row: &str) -> rusqlite::Result<ValuesOfRow> {
    let mut values = ValuesOfRow::new();
    let mut statement = db.prepare_cached(
        "SELECT id, at, value FROM quantity JOIN result USING (quantity) JOIN run USING (run)
         WHERE name = ?1 AND value IS NOT NULL",
    )?;
    let mut rows = statement.query([row])?;
    while let Some(row) = rows.next()? {
        let at = entry::at_of(&row.get::<_, String>(1)?)?;
        values.entry(row.get(0)?).or_default().push((at, row.get(2)?));
    }
    Ok(values)
}

/// All figures of a run, in the order of its document.
pub(super) fn results_of(db: &Connection, id: &str) -> rusqlite::Result<Vec<KeptResult>> {
    let statement = format!(
        "SELECT {RESULT} FROM run
         CROSS JOIN result USING (run) JOIN quantity USING (quantity) JOIN form USING (form)
         WHERE id = ?1 ORDER BY place"
    );
    db.prepare_cached(&statement)?.query_and_then([id], |row| entry::result(row, 0))?.collect()
}

/// The single figures of these runs in one statement, each with the place of its run among `ids`.
pub(super) fn figures_of(
    db: &Connection,
    ids: &[&str],
) -> rusqlite::Result<Vec<(usize, KeptResult)>> {
    let places: HashMap<&str, usize> = ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    let wanted = serde_json::to_string(ids).map_err(entry::conversion)?;
    let statement = format!(
        "SELECT run.id, {RESULT} FROM (SELECT key AS nth, value AS own FROM json_each(?1))
         CROSS JOIN run ON run.id = own
         CROSS JOIN result USING (run) JOIN quantity USING (quantity) JOIN form USING (form)
         WHERE quantity.at = '' ORDER BY nth, place"
    );
    db.prepare_cached(&statement)?
        .query_and_then([wanted], |row| {
            let place = row.get_ref(0)?.as_str().ok().and_then(|id| places.get(id));
            let place = place
                .ok_or_else(|| entry::conversion("a figure of a run that was not asked for"))?;
            Ok((*place, entry::result(row, 1)?))
        })?
        .collect()
}

/// Every row and point that a kept run of the machine has, or of any: those
/// that have a history.
pub(super) fn quantities(
    db: &Connection,
    machine: Option<&MachineKey>,
) -> rusqlite::Result<Vec<(String, Vec<u64>)>> {
    let of = |row: &rusqlite::Row| {
        let at: String = row.get(1)?;
        Ok((row.get(0)?, entry::at_of(&at)?))
    };
    // For each of the few quantities one run is looked for that has it.
    let statement = |whose: &str| {
        format!(
            "SELECT name, at FROM quantity WHERE EXISTS
             (SELECT 1 FROM run CROSS JOIN result USING (run)
              WHERE result.quantity = quantity.quantity AND NOT imported {whose})"
        )
    };
    let found: rusqlite::Result<Vec<(String, Vec<u64>)>> = match machine {
        None => db.prepare_cached(&statement(""))?.query_and_then([], of)?.collect(),
        Some(machine) => db
            .prepare_cached(&statement("AND machine = ?1"))?
            .query_and_then([&machine.0], of)?
            .collect(),
    };
    let mut found = found?;
    found.sort();
    Ok(found)
}

fn counted_runs(db: &Connection) -> rusqlite::Result<CountedRuns> {
    let mut all = CountedRuns::default();
    let mut statement = db.prepare_cached(COUNTED)?;
    let mut rows = statement.query([horizon_ms()])?;
    while let Some(row) = rows.next()? {
        all.add_run(row.get(0)?, row.get(1)?);
    }
    Ok(all)
}

/// Where a machine stands in every row that it has a reliable figure of.
pub(super) fn percentiles(
    db: &Connection,
    machine: &MachineKey,
) -> rusqlite::Result<Vec<Percentile>> {
    let runs = counted_runs(db)?;
    let Some(own) = runs.machine_number(machine) else {
        return Ok(Vec::new());
    };
    let largest = "SELECT coalesce(max(quantity), 0) FROM quantity";
    let largest: i64 = db.query_row(largest, [], |row| row.get(0))?;
    let mut figures: Vec<Vec<RankedFigure>> = vec![Vec::new(); largest as usize + 1];
    let mut statement = db.prepare_cached(
        "SELECT run, quantity, form, reliable FROM result INDEXED BY figure
         WHERE reliable IS NOT NULL ORDER BY run",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let quantity: i64 = row.get(1)?;
        let Some(figures) = figures.get_mut(quantity as usize) else {
            return Err(entry::conversion("a figure of no quantity"));
        };
        figures.extend(runs.figure(row.get(0)?, row.get(2)?, row.get(3)?));
    }
    let mut all = Vec::new();
    let statement = format!(
        "SELECT {RESULT} FROM result JOIN quantity USING (quantity) JOIN form USING (form)
         WHERE run = ?1 AND result.quantity = ?2"
    );
    let mut whole = db.prepare_cached(&statement)?;
    for (quantity, figures) in figures.iter().enumerate() {
        let Some((run, rank)) = runs.rank(figures, own) else {
            continue;
        };
        let result = whole.query_row(params![run, quantity as i64], |row| entry::result(row, 0))?;
        all.push(rank.percentile(result));
    }
    all.sort_by(|a, b| (&a.row, &a.at).cmp(&(&b.row, &b.at)));
    Ok(all)
}

/// The figures of one row over all machines.
pub(super) fn standing(db: &Connection, row: &str, at: &[u64]) -> rusqlite::Result<RowStanding> {
    let runs = counted_runs(db)?;
    let mut figures: Vec<RankedFigure> = Vec::new();
    if let Some(quantity) = entry::quantity(db, row, at)? {
        let mut one = db.prepare_cached(
            "SELECT form, reliable FROM result INDEXED BY figure
             WHERE run = ?1 AND quantity = ?2 AND reliable IS NOT NULL",
        )?;
        for &run in runs.numbers() {
            let figure = one.query_row(params![run, quantity], |row| {
                Ok(runs.figure(run, row.get(0)?, row.get(1)?))
            });
            figures.extend(figure.optional()?.flatten());
        }
    }
    let (mut standing, form) = runs.standing((row, at), &figures);
    let mode = form.map(|form| entry::mode_of(db, form)).transpose()?;
    standing.mode = mode.flatten();
    Ok(standing)
}

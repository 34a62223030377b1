//! The questions, as the tables answer them.

use super::fill::{self, RESULT};
use super::standing::{
    Figure, MachineStanding, Percentile, RowStanding, latest, of_form, percentile, quantiles,
    usual_form,
};
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
pub(super) fn runs(db: &Connection, dir: &Path) -> rusqlite::Result<Vec<KeptRun>> {
    db.prepare_cached("SELECT line FROM run ORDER BY started_ms > ?1, started_ms DESC, file DESC")?
        .query_and_then([horizon_ms()], |row| {
            fill::kept(&row.get::<_, String>(0)?, dir)
        })?
        .collect()
}

/// One run by its whole id.
pub(super) fn run(db: &Connection, dir: &Path, id: &str) -> rusqlite::Result<Option<KeptRun>> {
    let line: Option<String> = db
        .prepare_cached("SELECT line FROM run WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    line.map(|line| fill::kept(&line, dir)).transpose()
}

/// Figures of a row on a machine, the oldest first; before them those of runs
/// that say that they began in the future.
pub(super) fn history(
    db: &Connection,
    dir: &Path,
    (machine, row, at): (&MachineKey, &str, &[u64]),
) -> rusqlite::Result<Vec<(KeptRun, KeptResult)>> {
    let Some(quantity) = fill::quantity(db, row, at)? else {
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
            let kept = fill::kept(&row.get::<_, String>(0)?, dir)?;
            Ok((kept, fill::result(row, 1)?))
        })?
        .collect()
}

/// All figures of a run, in the order of its document.
pub(super) fn results_of(db: &Connection, id: &str) -> rusqlite::Result<Vec<KeptResult>> {
    let statement = format!(
        "SELECT {RESULT} FROM run
         CROSS JOIN result USING (run) JOIN quantity USING (quantity) JOIN form USING (form)
         WHERE id = ?1 ORDER BY place"
    );
    db.prepare_cached(&statement)?
        .query_and_then([id], |row| fill::result(row, 0))?
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
        Ok((row.get(0)?, fill::at_of(&at)?))
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
        None => db
            .prepare_cached(&statement(""))?
            .query_and_then([], of)?
            .collect(),
        Some(machine) => db
            .prepare_cached(&statement("AND machine = ?1"))?
            .query_and_then([&machine.0], of)?
            .collect(),
    };
    let mut found = found?;
    found.sort();
    Ok(found)
}

/// The counted runs by their numbers: number of the machine, place in time.
struct CountedRuns {
    runs: HashMap<i64, (u32, u32)>,
    /// The numbers by place in time.
    by_time: Vec<i64>,
    machines: Vec<MachineKey>,
}

impl CountedRuns {
    fn of(db: &Connection) -> rusqlite::Result<CountedRuns> {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut all = CountedRuns {
            runs: HashMap::new(),
            by_time: Vec::new(),
            machines: Vec::new(),
        };
        let mut statement = db.prepare_cached(COUNTED)?;
        let mut rows = statement.query([horizon_ms()])?;
        while let Some(row) = rows.next()? {
            let key: String = row.get(1)?;
            let number = *numbers.entry(key).or_insert_with_key(|key| {
                all.machines.push(MachineKey(key.clone()));
                all.machines.len() as u32 - 1
            });
            let place = all.runs.len() as u32;
            all.by_time.push(row.get(0)?);
            all.runs.insert(row.get(0)?, (number, place));
        }
        Ok(all)
    }

    fn number(&self, machine: &MachineKey) -> Option<u32> {
        let place = self.machines.iter().position(|key| key == machine);
        place.map(|place| place as u32)
    }
}

/// Where a machine stands in every row that it has a reliable figure of.
pub(super) fn percentiles(
    db: &Connection,
    machine: &MachineKey,
) -> rusqlite::Result<Vec<Percentile>> {
    let runs = CountedRuns::of(db)?;
    let Some(own) = runs.number(machine) else {
        return Ok(Vec::new());
    };
    let largest = "SELECT coalesce(max(quantity), 0) FROM quantity";
    let largest: i64 = db.query_row(largest, [], |row| row.get(0))?;
    let mut figures: Vec<Vec<Figure>> = vec![Vec::new(); largest as usize + 1];
    let mut statement = db.prepare_cached(
        "SELECT run, quantity, form, reliable FROM result INDEXED BY figure
         WHERE reliable IS NOT NULL ORDER BY run",
    )?;
    let mut rows = statement.query([])?;
    let mut current = (i64::MIN, None);
    while let Some(row) = rows.next()? {
        let run: i64 = row.get(0)?;
        if run != current.0 {
            current = (run, runs.runs.get(&run));
        }
        let Some(&(machine, when)) = current.1 else {
            continue;
        };
        let quantity: i64 = row.get(1)?;
        let Some(figures) = figures.get_mut(quantity as usize) else {
            return Err(fill::conversion("a figure of no quantity"));
        };
        figures.push(Figure {
            machine,
            when,
            form: row.get(2)?,
            value: row.get(3)?,
        });
    }
    let mut all = Vec::new();
    let statement = format!(
        "SELECT {RESULT} FROM result JOIN quantity USING (quantity) JOIN form USING (form)
         WHERE run = ?1 AND result.quantity = ?2"
    );
    let mut whole = db.prepare_cached(&statement)?;
    for (quantity, figures) in figures.iter().enumerate() {
        let of_own = figures.iter().filter(|figure| figure.machine == own);
        let Some(&Figure {
            value, when, form, ..
        }) = of_own.max_by_key(|figure| figure.when)
        else {
            continue;
        };
        let figures = of_form(figures, form);
        let latest = latest(&figures);
        let of_run = params![runs.by_time[when as usize], quantity as i64];
        let result = whole.query_row(of_run, |row| fill::result(row, 0))?;
        all.push(Percentile {
            row: result.row,
            at: result.at,
            mode: result.mode,
            unit: result.unit,
            value_ns: value,
            percentile: percentile(&latest, value),
            results: figures.len() as u64,
            machines: latest.len() as u64,
        });
    }
    all.sort_by(|a, b| (&a.row, &a.at).cmp(&(&b.row, &b.at)));
    Ok(all)
}

/// The figures of one row over all machines.
pub(super) fn standing(db: &Connection, row: &str, at: &[u64]) -> rusqlite::Result<RowStanding> {
    let runs = CountedRuns::of(db)?;
    let mut figures = Vec::new();
    if let Some(quantity) = fill::quantity(db, row, at)? {
        let mut one = db.prepare_cached(
            "SELECT form, reliable FROM result INDEXED BY figure
             WHERE run = ?1 AND quantity = ?2 AND reliable IS NOT NULL",
        )?;
        for (run, &(machine, when)) in &runs.runs {
            let figure = |row: &rusqlite::Row| {
                Ok(Figure {
                    machine,
                    when,
                    form: row.get(0)?,
                    value: row.get(1)?,
                })
            };
            figures.extend(one.query_row(params![run, quantity], figure).optional()?);
        }
    }
    let form = usual_form(&figures);
    let figures = form.map_or_else(Vec::new, |form| of_form(&figures, form));
    let mode = form
        .map(|form| fill::mode_of(db, form))
        .transpose()?
        .flatten();
    let latest = latest(&figures);
    let standing = |own: &Figure| {
        let of_machine = |figure: &&Figure| figure.machine == own.machine;
        MachineStanding {
            machine: runs.machines[own.machine as usize].clone(),
            value_ns: own.value,
            percentile: percentile(&latest, own.value),
            results: figures.iter().filter(of_machine).count() as u64,
        }
    };
    let mut all: Vec<MachineStanding> = latest.iter().map(standing).collect();
    all.sort_by(|a, b| (a.value_ns.total_cmp(&b.value_ns)).then(a.machine.cmp(&b.machine)));
    Ok(RowStanding {
        row: row.to_owned(),
        at: at.to_vec(),
        mode,
        results: figures.len() as u64,
        quantiles: quantiles(&latest),
        machines: all,
    })
}

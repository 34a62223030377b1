//! The questions, as the tables answer them.

use super::documents::Database;
use super::server::{Fault, Session, damaged};
use super::{rebuild, verify};
use crate::index::answers::{Answers, Quantities};
use crate::index::columns::{Columns, at_of, at_text, kept, mode_of};
use crate::index::standing::{CountedRuns, Figure, Percentile, RowStanding};
use crate::index::{Rebuilt, Verified};
use crate::{StoreError, write};
use model::run::Run;
use model::summary::{KeptResult, KeptRun, MachineKey};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_postgres::Row;

/// Columns of a [`KeptResult`], with `quantity` and `form` joined.
const RESULT: &str = "quantity.name, quantity.at, form.text, verdict, value, low, high, \
     cycles, cycles_low, cycles_high, below, reason";

/// After this no run can have begun, ms since 1970 UTC.
fn horizon_ms() -> i64 {
    i64::try_from(crate::horizon_ms()).unwrap_or(i64::MAX)
}

/// A result from [`RESULT`], which begin at a column.
fn result(row: &Row, first: usize) -> Result<KeptResult, Fault> {
    let number = |n: usize| row.try_get::<_, Option<f64>>(first + n);
    let columns = Columns {
        row: row.try_get(first)?,
        at: row.try_get(first + 1)?,
        form: row.try_get(first + 2)?,
        verdict: row.try_get(first + 3)?,
        value: [number(4)?, number(5)?, number(6)?],
        cycles: [number(7)?, number(8)?, number(9)?],
        below_ns: number(10)?,
        reason: row.try_get(first + 11)?,
    };
    columns.result().map_err(damaged)
}

/// A run from its line.
pub(super) fn run_of(row: &Row, dir: &Path) -> Result<KeptRun, Fault> {
    kept(row.try_get(0)?, dir).map_err(damaged)
}

fn quantity(session: &mut Session, row: &str, at: &[u64]) -> Result<Option<i32>, Fault> {
    // PostgreSQL refuses such a text.
    if row.contains('\0') {
        return Ok(None);
    }
    let sql = "SELECT quantity FROM quantity WHERE name = $1 AND at = $2";
    let found = session.client.query_opt(sql, &[&row, &at_text(at)])?;
    Ok(found.map(|row| row.try_get(0)).transpose()?)
}

/// Runs whose figures a percentile counts, the oldest first; before them those of the future.
fn counted_runs(session: &mut Session) -> Result<CountedRuns, Fault> {
    let sql =
        "SELECT run, machine FROM run WHERE counted ORDER BY started_ms <= $1, started_ms, run";
    let mut all = CountedRuns::default();
    for row in session.client.query(sql, &[&horizon_ms()])? {
        all.add(row.try_get(0)?, row.try_get(1)?);
    }
    Ok(all)
}

pub(super) fn results_of(session: &mut Session, id: &str) -> Result<Vec<KeptResult>, Fault> {
    let sql = format!(
        "SELECT {RESULT} FROM run JOIN result USING (run) JOIN quantity USING (quantity)
         JOIN form USING (form) WHERE id = $1 ORDER BY place"
    );
    let rows = session.client.query(&sql, &[&id])?;
    rows.iter().map(|row| result(row, 0)).collect()
}

fn percentiles(session: &mut Session, machine: &MachineKey) -> Result<Vec<Percentile>, Fault> {
    let runs = counted_runs(session)?;
    let Some(own) = runs.machine(machine) else {
        return Ok(Vec::new());
    };
    // A row of the answer for each run, not for each figure: fewer bytes and fewer messages.
    let sql = "SELECT run, array_agg(quantity), array_agg(form), array_agg(reliable) FROM result
         WHERE reliable IS NOT NULL GROUP BY run";
    let mut figures: HashMap<i32, Vec<Figure>> = HashMap::new();
    for row in session.client.query(sql, &[])? {
        let run: i64 = row.try_get(0)?;
        let quantities: Vec<i32> = row.try_get(1)?;
        let (forms, values): (Vec<i32>, Vec<f64>) = (row.try_get(2)?, row.try_get(3)?);
        for ((quantity, form), value) in quantities.into_iter().zip(forms).zip(values) {
            let figure = runs.figure(run, form.into(), value);
            figures.entry(quantity).or_default().extend(figure);
        }
    }
    let (mut numbers, mut quantities, mut ranks) = (Vec::new(), Vec::new(), HashMap::new());
    for (&quantity, figures) in &figures {
        if let Some((run, rank)) = runs.rank(figures, own) {
            numbers.push(run);
            quantities.push(quantity);
            ranks.insert(quantity, rank);
        }
    }
    let sql = format!(
        "SELECT result.quantity, {RESULT} FROM unnest($1::int8[], $2::int4[]) AS own (run, quantity)
         JOIN result USING (run, quantity) JOIN quantity USING (quantity) JOIN form USING (form)"
    );
    let mut all = Vec::new();
    for row in session.client.query(&sql, &[&numbers, &quantities])? {
        if let Some(rank) = ranks.remove(&row.try_get::<_, i32>(0)?) {
            all.push(rank.of(result(&row, 1)?));
        }
    }
    all.sort_by(|a, b| (&a.row, &a.at).cmp(&(&b.row, &b.at)));
    Ok(all)
}

fn standing(session: &mut Session, row: &str, at: &[u64]) -> Result<RowStanding, Fault> {
    let runs = counted_runs(session)?;
    let mut figures = Vec::new();
    if let Some(quantity) = quantity(session, row, at)? {
        let sql =
            "SELECT run, form, reliable FROM result WHERE quantity = $1 AND reliable IS NOT NULL";
        for row in session.client.query(sql, &[&quantity])? {
            let form: i32 = row.try_get(1)?;
            figures.extend(runs.figure(row.try_get(0)?, form.into(), row.try_get(2)?));
        }
    }
    let (mut standing, form) = runs.standing((row, at), &figures);
    if let Some(form) = form {
        let form = i32::try_from(form).map_err(damaged)?;
        let row = session.client.query_one("SELECT text FROM form WHERE form = $1", &[&form])?;
        standing.mode = mode_of(row.try_get(0)?).map_err(damaged)?;
    }
    Ok(standing)
}

impl Answers for Arc<Database> {
    fn runs(&self) -> Result<Vec<KeptRun>, StoreError> {
        self.server.with(|session, _| {
            let sql = "SELECT line FROM run ORDER BY started_ms > $1, started_ms DESC, file DESC";
            let rows = session.client.query(sql, &[&horizon_ms()])?;
            rows.iter().map(|row| run_of(row, &self.runs)).collect()
        })
    }

    fn run(&self, id: &str) -> Result<Option<KeptRun>, StoreError> {
        self.server.with(|session, _| {
            let sql = "SELECT line FROM run WHERE id = $1";
            let row = session.client.query_opt(sql, &[&id])?;
            row.map(|row| run_of(&row, &self.runs)).transpose()
        })
    }

    fn history(
        &self,
        machine: &MachineKey,
        row: &str,
        at: &[u64],
    ) -> Result<Vec<(KeptRun, KeptResult)>, StoreError> {
        self.server.with(|session, _| {
            let Some(quantity) = quantity(session, row, at)? else {
                return Ok(Vec::new());
            };
            let sql = format!(
                "SELECT line, {RESULT} FROM run JOIN result USING (run)
                 JOIN quantity USING (quantity) JOIN form USING (form)
                 WHERE machine = $1 AND NOT imported AND result.quantity = $2
                 ORDER BY started_ms <= $3, started_ms, file"
            );
            let rows = session.client.query(&sql, &[&machine.0, &quantity, &horizon_ms()])?;
            let of = |row: &Row| Ok((run_of(row, &self.runs)?, result(row, 1)?));
            rows.iter().map(of).collect()
        })
    }

    fn results_of(&self, id: &str) -> Result<Vec<KeptResult>, StoreError> {
        self.server.with(|session, _| results_of(session, id))
    }

    fn figures_of(&self, ids: &[&str]) -> Result<Vec<(usize, KeptResult)>, StoreError> {
        self.server.with(|session, _| {
            let sql = format!(
                "SELECT own.nth, {RESULT} FROM unnest($1::text[]) WITH ORDINALITY AS own (id, nth)
                 JOIN run USING (id) JOIN result USING (run) JOIN quantity USING (quantity)
                 JOIN form USING (form) WHERE quantity.at = '' ORDER BY nth, place"
            );
            let rows = session.client.query(&sql, &[&ids])?;
            let of = |row: &Row| Ok((row.try_get::<_, i64>(0)? as usize - 1, result(row, 1)?));
            rows.iter().map(of).collect()
        })
    }

    fn quantities(&self, machine: Option<&MachineKey>) -> Result<Quantities, StoreError> {
        // For each of the few quantities one run is looked for that has it.
        let mut found: Quantities = self.server.with(|session, _| {
            let sql = "SELECT name, at FROM quantity WHERE EXISTS
                 (SELECT FROM run JOIN result USING (run) WHERE result.quantity = quantity.quantity
                  AND NOT imported AND ($1::text IS NULL OR machine = $1))";
            let machine = machine.map(|machine| &machine.0);
            let rows = session.client.query(sql, &[&machine])?;
            let of = |row: &Row| Ok((row.try_get(0)?, at_of(row.try_get(1)?).map_err(damaged)?));
            rows.iter().map(of).collect()
        })?;
        found.sort();
        Ok(found)
    }

    fn percentiles(&self, machine: &MachineKey) -> Result<Vec<Percentile>, StoreError> {
        self.server.with(|session, _| percentiles(session, machine))
    }

    fn standing(&self, row: &str, at: &[u64]) -> Result<RowStanding, StoreError> {
        self.server.with(|session, _| standing(session, row, at))
    }

    fn keep(&self, run: &Run) -> Result<PathBuf, StoreError> {
        self.keep_run(run, &write::packed(run)?)
    }

    fn forget(&self) {}

    fn refresh(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn rebuild(&self) -> Result<Rebuilt, StoreError> {
        rebuild::rebuild(self)
    }

    fn verify(&self) -> Result<Verified, StoreError> {
        verify::verify(self)
    }

    fn path(&self) -> PathBuf {
        self.server.place().into()
    }

    fn in_memory(&self) -> bool {
        false
    }

    fn messages(&self) -> Vec<String> {
        Vec::new()
    }
}

//! A run into the database: document and results in one transaction.

use super::cache::digest;
use super::client::Client;
use super::documents::Database;
use super::server::{Fault, Session, damaged};
use crate::index::columns::{at_text, form, form_text, number_of};
use crate::index::fill::{Entry, check};
use crate::{StoreError, file_of, kept_already, shown};
use model::run::Run;
use model::stats::Interval;
use model::summary::KeptResult;
use std::collections::BTreeSet;
use std::path::PathBuf;

const RUN: &str = "
INSERT INTO run (id, file, started_ms, machine, host, imported, counted, line)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING RETURNING run";

const DOCUMENT: &str = "INSERT INTO document (run, digest, bytes) VALUES ($1, $2, $3)";

const RESULTS: &str = "
INSERT INTO result (run, quantity, place, form, verdict, reliable, value, low, high,
    cycles, cycles_low, cycles_high, below, reason)
SELECT $1, * FROM unnest($2::int4[], $3::int4[], $4::int4[], $5::int2[], $6::float8[], $7::float8[],
    $8::float8[], $9::float8[], $10::float8[], $11::float8[], $12::float8[], $13::float8[], $14::text[])";

impl Database {
    /// Keeps a run: durable when this returns. A run of the same id is kept already, and stays; if
    /// it is this very one, kept by an attempt whose answer was lost, that was this.
    pub(super) fn keep_run(&self, run: &Run, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let file = file_of(run)?;
        check(run, &run.id).map_err(|why| StoreError::Unwritable(why.to_string()))?;
        let entry = Entry::of(&shown(run), &file);
        let kept = self.server.with(|session, again| match insert(session, &entry, bytes)? {
            true => Ok(true),
            false if again => holds(session, &run.id, bytes),
            false => Ok(false),
        })?;
        match kept {
            true => Ok(self.runs.join(file)),
            false => {
                let path = format!("{}: {file}", self.server.place());
                Err(kept_already(path.as_ref()))
            }
        }
    }
}

/// Whether the database holds this very document.
fn holds(session: &mut Session, id: &str, bytes: &[u8]) -> Result<bool, Fault> {
    let sql = "SELECT digest FROM run JOIN document USING (run) WHERE id = $1";
    let row = session.client.query_opt(sql, &[&id])?;
    let held = row.map(|row| row.try_get::<_, Vec<u8>>(0)).transpose()?;
    Ok(held.is_some_and(|held| held == digest(bytes)))
}

/// Inserts a run, unless its id is taken.
fn insert(session: &mut Session, entry: &Entry, bytes: &[u8]) -> Result<bool, Fault> {
    let columns = Columns::of(session, &entry.results)?;
    let kept = &entry.kept;
    let line = serde_json::to_string(kept).map_err(damaged)?;
    let started = i64::try_from(kept.started_unix_ms).map_err(damaged)?;
    let change = session.client.transaction()?;
    let inserted = change.query_opt(
        RUN,
        &[
            &kept.id,
            &&*entry.file(),
            &started,
            &kept.machine.0,
            &kept.host,
            &kept.imported,
            &entry.counted,
            &line,
        ],
    )?;
    let Some(inserted) = inserted else {
        return Ok(false);
    };
    let number: i64 = inserted.try_get(0)?;
    change.execute(DOCUMENT, &[&number, &digest(bytes), &bytes])?;
    columns.insert(&change, number)?;
    change.commit()?;
    Ok(true)
}

/// Results, a column each.
#[derive(Default)]
pub(super) struct Columns<'a> {
    quantities: Vec<i32>,
    places: Vec<i32>,
    forms: Vec<i32>,
    verdicts: Vec<Option<i16>>,
    reliable: Vec<Option<f64>>,
    values: [Vec<Option<f64>>; 3],
    cycles: [Vec<Option<f64>>; 3],
    below: Vec<Option<f64>>,
    reasons: Vec<Option<&'a str>>,
}

impl Columns<'_> {
    /// Of results, whose quantities and forms get their numbers.
    pub(super) fn of<'a>(
        session: &mut Session,
        results: &'a [KeptResult],
    ) -> Result<Columns<'a>, Fault> {
        session.number_quantities(results)?;
        session.number_forms(results)?;
        let mut all = Columns::default();
        let ends = |interval: Option<Interval>| {
            interval.map_or([None; 3], |v| [Some(v.value), Some(v.low), Some(v.high)])
        };
        for (place, result) in results.iter().enumerate() {
            let quantity = session.quantities.get(&result.row).and_then(|at| at.get(&result.at));
            all.quantities.push(*quantity.ok_or_else(|| damaged("no such quantity"))?);
            let own = form_text(&form(result)).map_err(damaged)?;
            let number = session.forms.get(&own);
            all.forms.push(*number.ok_or_else(|| damaged("no such form"))?);
            all.places.push(place as i32);
            all.verdicts.push(result.verdict.map(number_of));
            all.reliable.push(result.reliable());
            for (n, end) in ends(result.value_ns).into_iter().enumerate() {
                all.values[n].push(end);
            }
            for (n, end) in ends(result.cycles).into_iter().enumerate() {
                all.cycles[n].push(end);
            }
            all.below.push(result.below_ns);
            all.reasons.push(Some(result.reason.as_str()).filter(|reason| !reason.is_empty()));
        }
        Ok(all)
    }

    pub(super) fn insert(&self, change: &Client, run: i64) -> Result<(), Fault> {
        let [value, low, high] = &self.values;
        let [cycles, cycles_low, cycles_high] = &self.cycles;
        change.execute(
            RESULTS,
            &[
                &run,
                &self.quantities,
                &self.places,
                &self.forms,
                &self.verdicts,
                &self.reliable,
                value,
                low,
                high,
                cycles,
                cycles_low,
                cycles_high,
                &self.below,
                &self.reasons,
            ],
        )?;
        Ok(())
    }
}

/// Quantities and forms get their numbers outside the transaction of a run: they are not undone
/// with it, and two writers that want the same don't wait for each other's runs.
impl Session {
    fn number_quantities(&mut self, results: &[KeptResult]) -> Result<(), Fault> {
        let known = |r: &&KeptResult| {
            let points = self.quantities.get(&r.row);
            points.is_some_and(|points| points.contains_key(&r.at))
        };
        // In one order everywhere, so that two writers can't wait for each other.
        let new: BTreeSet<(&str, String)> = results
            .iter()
            .filter(|result| !known(result))
            .map(|result| (result.row.as_str(), at_text(&result.at)))
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        let (names, ats): (Vec<&str>, Vec<String>) = new.into_iter().unzip();
        let find = "SELECT quantity, name, at FROM quantity
                    JOIN unnest($1::text[], $2::text[]) AS new (name, at) USING (name, at)";
        let mut rows = self.client.query(find, &[&names, &ats])?;
        if rows.len() < names.len() {
            self.client.execute(
                "INSERT INTO quantity (name, at) SELECT name, at
                 FROM unnest($1::text[], $2::text[]) AS new (name, at)
                 WHERE NOT EXISTS (SELECT FROM quantity WHERE (quantity.name, quantity.at) = (new.name, new.at))
                 ORDER BY name COLLATE \"C\", at COLLATE \"C\" ON CONFLICT DO NOTHING",
                &[&names, &ats],
            )?;
            rows = self.client.query(find, &[&names, &ats])?;
        }
        for row in rows {
            let at = crate::index::columns::at_of(row.try_get(2)?).map_err(damaged)?;
            let points = self.quantities.entry(row.try_get(1)?).or_default();
            points.insert(at, row.try_get(0)?);
        }
        Ok(())
    }

    fn number_forms(&mut self, results: &[KeptResult]) -> Result<(), Fault> {
        for result in results {
            let text = form_text(&form(result)).map_err(damaged)?;
            if self.forms.contains_key(&text) {
                continue;
            }
            let find = "SELECT form FROM form WHERE text = $1";
            let number = match self.client.query_opt(find, &[&text])? {
                Some(row) => row.try_get(0)?,
                None => {
                    let insert = "INSERT INTO form (text) VALUES ($1) ON CONFLICT DO NOTHING";
                    self.client.execute(insert, &[&text])?;
                    self.client.query_one(find, &[&text])?.try_get(0)?
                }
            };
            self.forms.insert(text, number);
        }
        Ok(())
    }
}

//! The shapes of the reference files as they are written. Unknown keys are
//! refused: a misspelt `doubtful` would turn a wrong figure into a ratio.

use super::layout::LayoutFile;
use super::qos::QosFile;
use super::tables::{Reference, ReferenceRow};
use super::{QosReference, ReferenceError, References};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    name: Option<String>,
    ns: Option<f64>,
    mb_per_s: Option<f64>,
    article_ns: Option<f64>,
    like: Option<String>,
    doubtful: Option<String>,
    note: Option<String>,
    #[serde(default)]
    reference_only: bool,
    reason: Option<String>,
    iterations: Option<u64>,
    total_s: Option<f64>,
}

/// A file that is one table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OneTable {
    key: String,
    title: String,
    year: Option<u32>,
    source: String,
    method: Option<String>,
    note: Option<String>,
    row: Vec<Row>,
}

/// A file of several machines by one author.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ManyTables {
    source: String,
    method: Option<String>,
    #[serde(alias = "device")]
    machine: Vec<MachineTable>,
    #[serde(default)]
    naive_xor: Vec<NaiveXor>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MachineTable {
    key: String,
    title: String,
    row: Vec<Row>,
}

/// Kurkin's naive loop: time of one repetition, and of one element.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NaiveXor {
    id: String,
    total_ms: f64,
    ns_per_element: f64,
}

/// What single controls of noise did, as one author published it.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct NoiseEffects {
    /// Who published it and where.
    pub source: String,
    /// One entry a control.
    #[serde(rename = "effect")]
    pub effects: Vec<NoiseEffect>,
    /// Advice given beside.
    #[serde(default)]
    pub advice: Vec<Sentence>,
}

/// A sentence worth keeping.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Sentence {
    /// The sentence.
    pub text: String,
}

/// The effect of one control.
#[derive(Deserialize, Clone, Debug, PartialEq)]
pub struct NoiseEffect {
    /// Which control.
    pub control: String,
    /// On what machine, where that is said.
    pub machine: Option<String>,
    /// Repetitions, where that is said.
    pub repeats: Option<u32>,
    /// The states that were compared (`on` and `off`, `with` and `without`),
    /// each with its counters and times.
    #[serde(flatten)]
    pub states: BTreeMap<String, BTreeMap<String, toml::Value>>,
}

/// Parses one file and adds what it holds.
pub(super) fn parse_into(
    all: &mut References,
    name: &str,
    text: &str,
) -> Result<(), ReferenceError> {
    let malformed = |error: toml::de::Error| ReferenceError::Malformed {
        name: name.to_owned(),
        reason: one_line(&error, text),
    };
    // Which shape it is shows in keys that only that shape has.
    let keys: toml::Table = toml::from_str(text).map_err(malformed)?;
    if keys.contains_key("published") {
        let file: LayoutFile = toml::from_str(text).map_err(malformed)?;
        all.layouts.extend(file.published);
    } else if keys.contains_key("effect") {
        all.noise_effects
            .push(toml::from_str(text).map_err(malformed)?);
    } else if keys.contains_key("found") {
        all.found_controls
            .push(toml::from_str(text).map_err(malformed)?);
    } else if keys.contains_key("workload") {
        let file: QosFile = toml::from_str(text).map_err(malformed)?;
        all.qos.push(QosReference::from(file));
    } else if keys.contains_key("key") {
        let file: OneTable = toml::from_str(text).map_err(malformed)?;
        all.tables.push(Reference::from(file));
    } else {
        let file: ManyTables = toml::from_str(text).map_err(malformed)?;
        all.tables.extend(tables(file));
    }
    Ok(())
}

/// TOML's errors are drawings of several lines; ours are one.
fn one_line(error: &toml::de::Error, text: &str) -> String {
    let message = error.message().replace('\n', " ");
    match error.span() {
        Some(span) => {
            let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
            format!("line {line}: {message}")
        }
        None => message,
    }
}

impl From<Row> for ReferenceRow {
    fn from(row: Row) -> Self {
        ReferenceRow {
            id: row.id,
            name: row.name,
            ns: row.ns,
            mb_per_s: row.mb_per_s,
            article_ns: row.article_ns,
            like: row.like,
            doubtful: row.doubtful,
            note: row.note,
            reference_only: row.reference_only,
            reason: row.reason,
            ns_per_element: None,
            iterations: row.iterations,
            total_s: row.total_s,
        }
    }
}

impl From<OneTable> for Reference {
    fn from(file: OneTable) -> Self {
        Reference {
            key: file.key,
            title: file.title,
            year: file.year,
            source: file.source,
            method: file.method,
            note: file.note,
            rows: file.row.into_iter().map(ReferenceRow::from).collect(),
        }
    }
}

fn tables(file: ManyTables) -> Vec<Reference> {
    let mut tables: Vec<Reference> = file
        .machine
        .into_iter()
        .map(|machine| Reference {
            key: machine.key,
            title: machine.title,
            year: None,
            source: file.source.clone(),
            method: file.method.clone(),
            note: None,
            rows: machine.row.into_iter().map(ReferenceRow::from).collect(),
        })
        .collect();
    // Where the article names no device it is the first one, the iPhone 5s.
    if let Some(first) = tables.first_mut() {
        first
            .rows
            .extend(file.naive_xor.into_iter().map(|row| ReferenceRow {
                id: row.id,
                ns: Some(row.total_ms * 1e6),
                ns_per_element: Some(row.ns_per_element),
                note: Some("time of one repetition, presumably on the 5s".into()),
                ..ReferenceRow::default()
            }));
    }
    tables
}

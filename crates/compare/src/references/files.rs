//! The shapes of the reference files as they are written. Unknown keys are
//! refused: a misspelt `doubtful` would turn a wrong figure into a ratio.

use super::layout::LayoutFile;
use super::tables::Reference;
use super::{ReferenceError, References};
use model::misfit::in_words;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A file of several machines by one author.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ManyTables {
    source: String,
    method: Option<String>,
    #[serde(alias = "device")]
    machine: Vec<Reference>,
}

/// What single controls of noise did, as one author published it.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct NoiseEffects {
    /// Author and place of publication.
    pub source: String,
    /// One entry a control.
    #[serde(rename = "effect")]
    pub effects: Vec<NoiseEffect>,
    /// Advice given with it.
    #[serde(default)]
    pub advice: Vec<Sentence>,
}

/// A sentence worth keeping.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Sentence {
    pub text: String,
}

/// The effect of one control.
#[derive(Deserialize, Clone, Debug, PartialEq)]
pub struct NoiseEffect {
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
        all.noise_effects.push(toml::from_str(text).map_err(malformed)?);
    } else if keys.contains_key("found") {
        all.found_controls.push(toml::from_str(text).map_err(malformed)?);
    } else if keys.contains_key("workload") {
        all.qos.push(toml::from_str(text).map_err(malformed)?);
    } else if keys.contains_key("key") {
        all.tables.push(toml::from_str(text).map_err(malformed)?);
    } else {
        let file: ManyTables = toml::from_str(text).map_err(malformed)?;
        all.tables.extend(file.machine.into_iter().map(|table| Reference {
            source: file.source.clone(),
            method: file.method.clone(),
            ..table
        }));
    }
    Ok(())
}

/// TOML's errors are drawings of several lines; ours are one.
fn one_line(error: &toml::de::Error, text: &str) -> String {
    let message = in_words(&error.message().replace('\n', " "));
    match error.span() {
        Some(span) => {
            let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
            format!("line {line}: {message}")
        }
        None => message,
    }
}

//! What single controls of noise did to a program, as a book published it.

use serde::Deserialize;
use std::collections::BTreeMap;

/// What single controls of noise did, as one author published it.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(test, derive(serde::Serialize))]
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
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
pub struct Sentence {
    pub text: String,
}

/// The effect of one control.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct NoiseEffect {
    pub control: String,
    /// On what machine, where that is said.
    pub machine: Option<String>,
    /// Repetitions, where that is said.
    pub repeats: Option<u32>,
    /// The states that were compared (`on` and `off`, `with` and `without`),
    /// each with its counters and times.
    #[serde(flatten)]
    pub states: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
}

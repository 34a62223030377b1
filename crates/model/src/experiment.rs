//! What was set against what: the arms of a run, and how they were interleaved.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Arms that were measured in turn. A plain run has one, and no experiment.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Experiment {
    /// The arms; rows name theirs.
    pub arms: Vec<Arm>,
    /// Rounds that were planned: each has a sample of every arm.
    pub rounds: u32,
    /// How arms follow each other in a round.
    pub order: Order,
    /// Seed of that order.
    pub seed: u64,
}

/// One of the states that are compared.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Arm {
    /// Its name, unique in the run.
    pub id: String,
    /// What was set for it: name and value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Arms that ran at the same time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<String>,
}

/// How arms follow each other in a round.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// At random, by the seed.
    #[default]
    Shuffled,
    /// There and back: A B B A.
    Mirrored,
}

/// How a document's arms contradict each other.
#[derive(thiserror::Error, Clone, Debug, PartialEq, Eq)]
pub enum BadArms {
    /// Two have one name.
    #[error("its experiment has the arm {0:?} twice")]
    Twice(String),
    /// A row or an arm names one that is not there.
    #[error("{0:?} names the arm {1:?}, which its experiment doesn't have")]
    Missing(String, String),
}

impl Arm {
    /// An arm for which nothing is set.
    pub fn named(id: impl Into<String>) -> Arm {
        Arm { id: id.into(), ..Arm::default() }
    }
}

/// A text as the name of an arm and a part of ids: `user-interactive+background`.
pub fn slug(text: &str) -> String {
    let text = text.replace(" + ", "+").replace(", ", "-").replace('µ', "u");
    let kept = |c: char| c.is_ascii_alphanumeric() || "_-.+:".contains(c);
    text.chars().map(|c| if kept(c) { c } else { '-' }).collect()
}

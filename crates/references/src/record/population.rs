//! Percentiles of single tests over machines of unknown makes, kernels, years and load.

use super::{ComparisonRule, Implausible, PublishedRecord, out_of_range};
use crate::source::Source;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// What the percentiles count in.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "units")]
pub enum PopulationUnit {
    #[serde(rename = "ns")]
    Ns,
    #[serde(rename = "GB/s")]
    GigabytesPerSecond,
    #[serde(rename = "cycles")]
    Cycles,
}

/// One test.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct TestPopulation {
    /// Name and version.
    pub test: String,
    /// Which of its results.
    pub what: String,
    /// Our row, in words where it is a part of a curve.
    pub row: String,
    /// Whether it may be compared.
    #[serde(deserialize_with = "first_word")]
    pub rule: ComparisonRule,
    /// Results.
    pub samples: u64,
    /// Month of the first.
    pub first: String,
    /// Month of the last.
    pub last: String,
    /// Of the percentiles.
    pub unit: PopulationUnit,
    /// How it differs.
    pub note: String,
    /// 1st to 100th, ascending.
    pub percentiles: Vec<f64>,
    /// What is doubtful.
    #[serde(default)]
    pub flags: Vec<String>,
}

/// A rule, with or without words behind a comma.
fn first_word<'de, D: Deserializer<'de>>(from: D) -> Result<ComparisonRule, D::Error> {
    let text = std::borrow::Cow::<str>::deserialize(from)?;
    match text.split(',').next() {
        Some("same") => Ok(ComparisonRule::Same),
        Some("factor") => Ok(ComparisonRule::Factor),
        Some("near") => Ok(ComparisonRule::Near),
        Some("not") => Ok(ComparisonRule::Not),
        _ => Err(D::Error::custom(format!("{text:?} is none of same, factor, near, not"))),
    }
}

impl PublishedRecord for TestPopulation {
    const SOURCE: Source = Source::Populations;

    fn unique_name(&self) -> String {
        format!("{} {}", self.test, self.what)
    }

    fn implausible(&self) -> Option<Implausible> {
        if !self.percentiles.is_sorted() {
            return Some(Implausible::NotRising("percentiles"));
        }
        let count = self.percentiles.len() as f64;
        out_of_range("number of percentiles", [count], 90.0, 100.0)
            .or_else(|| out_of_range("percentile", self.percentiles.iter().copied(), 1e-3, 1e12))
    }
}

//! What a fleet's hosts measure, as learned from their runs: the content of an expectation file.

use super::Element;
use super::identity::Identity;
use super::published::Basis;
use serde::{Deserialize, Serialize};

/// Version of the file.
pub const SCHEMA: u32 = 1;

/// With fewer hosts the spread between hosts is mostly assumed.
pub const FEW_HOSTS: usize = 5;

/// What hosts of one kind measure.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// [`SCHEMA`] of the writer.
    pub schema: u32,
    /// The hosts that it was learned from, sorted.
    pub hosts: Vec<String>,
    /// Runs of these hosts.
    pub runs: usize,
    /// Runs that were left out, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// What these machines say they are.
    pub identity: Identity,
    /// The elements that the runs have.
    pub elements: Vec<ExpectedElement>,
    /// Means of several elements.
    pub groups: Vec<ExpectedGroup>,
    /// What the largest score of a host may be: 1, or more where hosts differ more than normal ones.
    pub limit: f64,
    /// Where it comes from; a file is of runs.
    #[serde(skip)]
    pub basis: Basis,
}

/// Runs of a host that don't count.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// The host.
    pub host: String,
    /// Its runs that don't count.
    pub runs: usize,
    /// Why.
    pub why: String,
}

/// How a run on one more host spreads about the median host, in natural logarithms.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "Spread"))]
pub struct ElementSpread {
    /// Standard deviation of one run on one more host about the median: between hosts, from run to run, and of
    /// the median itself.
    pub deviation: f64,
    /// How well that is known.
    pub degrees_of_freedom: f64,
    /// The part from run to run; absent without repeated runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
}

/// An element.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "Expected"))]
pub struct ExpectedElement {
    /// Which.
    pub element: Element,
    /// Median over the hosts, in the element's unit.
    pub median: f64,
    /// The spread.
    pub spread: ElementSpread,
    /// Hosts that have it.
    pub hosts: usize,
}

/// A mean of several elements, which a host that is slow in all of them moves further than each alone.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ExpectedGroup {
    /// Which.
    pub group: ElementGroup,
    /// The spread.
    pub spread: ElementSpread,
}

crate::words! {
    /// Elements that a slow host moves together.
    #[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    #[cfg_attr(feature = "schema", schemars(rename = "Group"))]
    pub enum ElementGroup: text {
        /// Clock, L3, memory and core to core: what is not counted in cycles, the disk apart.
        Machine = "the machine as a whole",
        /// L3 and memory.
        Memory = "L3 and memory together",
    }
}

impl ElementGroup {
    /// Its elements.
    pub fn elements(self) -> &'static [Element] {
        use Element::{Clock, CoreToCore, Dram, L3};
        match self {
            ElementGroup::Machine => &[Clock, L3, Dram, CoreToCore],
            ElementGroup::Memory => &[L3, Dram],
        }
    }
}

/// Why a file is no expectation.
#[derive(thiserror::Error, Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum Unusable {
    #[error("its schema is {0} and this latlas reads {SCHEMA}{hint}", hint = newer(.0))]
    Version(u32),
    #[error("{0} is not a usable number")]
    Number(String),
    #[error("it has no elements")]
    Empty,
    #[error("{0} is there twice")]
    Twice(String),
}

fn newer(schema: &u32) -> &'static str {
    if *schema > SCHEMA { ": use a newer latlas" } else { "" }
}

impl Expectation {
    /// An element.
    pub fn element(&self, element: Element) -> Option<&ExpectedElement> {
        self.elements.iter().find(|own| own.element == element)
    }

    /// Checks what was read from a file.
    ///
    /// # Errors
    /// What of it can't be used.
    pub fn check(&self) -> Result<(), Unusable> {
        if self.schema != SCHEMA {
            return Err(Unusable::Version(self.schema));
        }
        if self.elements.is_empty() || self.hosts.is_empty() {
            return Err(Unusable::Empty);
        }
        let usable = |name: String, number: f64| match number.is_finite() && number > 0.0 {
            true => Ok(()),
            false => Err(Unusable::Number(name)),
        };
        let spread = |name: &str, spread: &ElementSpread| {
            usable(format!("the deviation of {name}"), spread.deviation)?;
            let df = spread.degrees_of_freedom;
            usable(format!("the degrees of freedom of {name}"), df)
        };
        usable("the limit".into(), self.limit)?;
        for (place, own) in self.elements.iter().enumerate() {
            let name = own.element.text();
            usable(format!("the median of {name}"), own.median)?;
            spread(name, &own.spread)?;
            if self.elements[..place].iter().any(|e| e.element == own.element) {
                return Err(Unusable::Twice(name.into()));
            }
        }
        for (place, own) in self.groups.iter().enumerate() {
            let name = own.group.text();
            spread(name, &own.spread)?;
            if self.groups[..place].iter().any(|g| g.group == own.group) {
                return Err(Unusable::Twice(name.into()));
            }
        }
        Ok(())
    }
}

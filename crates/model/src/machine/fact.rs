//! A value that was read, or the reason why there is none.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A value, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fact<T> {
    /// The value, when it could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<T>,
    /// Why there is no value, in words a person understands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// Where the value was read: a file, an instruction, a system call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl<T> Fact<T> {
    /// A value that was read.
    pub fn known(value: T) -> Fact<T> {
        Fact { value: Some(value), unknown: None, source: None }
    }

    /// No value, and why.
    pub fn unknown(why: impl Into<String>) -> Fact<T> {
        Fact { value: None, unknown: Some(why.into()), source: None }
    }

    /// The same fact with the place it was read from.
    pub fn from_source(mut self, source: impl Into<String>) -> Fact<T> {
        self.source = Some(source.into());
        self
    }

    /// `value` if there is one, else unknown for the reason `why`.
    pub fn or_unknown(value: Option<T>, why: impl Into<String>) -> Fact<T> {
        match value {
            Some(value) => Fact::known(value),
            None => Fact::unknown(why),
        }
    }

    /// The value, when there is one.
    pub fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }

    /// The fact about `f(value)`, from the same source.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Fact<U> {
        Fact { value: self.value.map(f), unknown: self.unknown, source: self.source }
    }
}

/// The value as it prints, or `unknown: why`.
impl<T: fmt::Display> fmt::Display for Fact<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.value, &self.unknown) {
            (Some(value), _) => value.fmt(f),
            (None, Some(why)) => write!(f, "unknown: {why}"),
            (None, None) => f.write_str("unknown"),
        }
    }
}

/// Whether something is there, and then by what name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// It was looked for in a way that would have found it, and is not there.
    Absent,
    /// It is there: its name, for example `KVM` or `docker`.
    Present(String),
}

impl Presence {
    /// The name of what is present.
    pub fn present_name(&self) -> Option<&str> {
        match self {
            Presence::Absent => None,
            Presence::Present(name) => Some(name),
        }
    }
}

impl fmt::Display for Presence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.present_name().unwrap_or("none"))
    }
}

/// An upper bound that may not be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Limit<T> {
    /// The place where a limit would be was read, and none is set.
    Unlimited,
    /// The limit.
    At(T),
}

impl<T: Copy> Limit<T> {
    /// The limit, when one is set.
    pub fn as_option(self) -> Option<T> {
        match self {
            Limit::Unlimited => None,
            Limit::At(limit) => Some(limit),
        }
    }
}

impl<T: fmt::Display> fmt::Display for Limit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Unlimited => f.write_str("no limit"),
            Limit::At(limit) => limit.fmt(f),
        }
    }
}

//! The program that wrote a document.

use serde::{Deserialize, Serialize};

/// The program that measured.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Program {
    /// Name, `latlas` or that of the program that uses the meter.
    pub name: String,
    /// Version.
    pub version: String,
    /// Commit it was built from, where known.
    pub commit: Option<String>,
    /// Target triple.
    pub target: String,
    /// `release` or `debug`.
    pub profile: String,
    /// The emulator it ran under, if any: such figures say nothing of
    /// hardware.
    pub emulated: Option<String>,
}

impl Program {
    /// Whether it was built for an Apple system; an app's own runs have `aarch64-ios`.
    pub fn is_for_apple(&self) -> bool {
        ["apple", "ios"].iter().any(|os| self.target.contains(os))
    }
}

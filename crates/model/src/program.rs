//! The program that wrote a document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The program that measured.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
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

//! Where a run came from that another program measured.

use serde::{Deserialize, Serialize};

/// What stands for a text that a document must have and the file does not say:
/// the version of the program, the target it was built for.
pub const UNKNOWN: &str = "unknown";

/// The origin of a run that was read from another program's file.
///
/// Nothing more is known of such a run than that file says: its clock counts
/// the file's own digits, its gate has seen no canary, and of its plan only
/// that there was one process. What the file doesn't say stays absent.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Imported {
    /// Shape of the file: `hyperfine`, `google-benchmark`, `criterion`.
    pub format: String,
    /// The files, or what the user called them.
    pub from: Vec<String>,
    /// When it was measured, as the file says; the run's own beginning is the
    /// time of the import.
    pub measured_at: Option<String>,
    /// The program that imported it: `latlas 0.1.0`.
    pub by: String,
}

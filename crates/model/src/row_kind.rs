//! What a row's time follows, and how it is measured.

use serde::{Deserialize, Serialize};

/// What a row's time follows.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The core's clock: counted in cycles first, and set in ns at the
    /// run's own median clock.
    Core,
    /// Something else (memory, the kernel): measured in ns as it was.
    Memory,
}

/// The ways of measuring.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Regime {
    /// Short samples between canaries: quiet and typical.
    Gated,
    /// Operations longer than 1 ms, or on several CPUs: the distribution
    /// only.
    Distribution,
    /// Single operations, each between two stamps that the work takes itself,
    /// on whatever CPUs its threads are on: the distribution with its tail,
    /// and each mode's share and figure.
    Stamped,
}

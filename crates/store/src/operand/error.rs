//! Why there is no such side.

use crate::StoreError;

/// Why there is no such side.
#[derive(Debug, thiserror::Error)]
pub enum OperandError {
    /// A run that can't be had.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nothing of that name.
    #[error(
        "unknown run, table or machine {name:?}{suggestion}: give a run (a file, last, last~1, or the \
         first digits of an id), a published table ({tables}) or a machine (@HOST)"
    )]
    Unknown {
        /// The name.
        name: String,
        /// What was probably meant.
        suggestion: String,
        /// The tables that there are.
        tables: String,
    },
    /// No run of that machine is kept.
    #[error("no stored run of a machine named {0:?}")]
    NoMachine(String),
}

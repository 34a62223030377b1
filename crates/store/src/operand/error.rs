//! Why there is no such side.

use crate::StoreError;
use references::ReferenceNameError;

/// Why there is no such side.
#[derive(Debug, thiserror::Error)]
pub enum OperandError {
    /// A run that can't be had.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(
        "unknown run, table or machine {name:?}{suggestion}: give a run (a file, last, last~1, or the \
         first digits of an id), a published table ({tables}), a machine of stored runs (@HOST), or a \
         cloud type, board or CPU such as m7i.large"
    )]
    Unknown { name: String, suggestion: String, tables: String },
    /// A name of several machines, or records that can't be read.
    #[error(transparent)]
    Reference(#[from] ReferenceNameError),
    #[error("no stored run of a machine named {0:?}")]
    NoMachine(String),
}

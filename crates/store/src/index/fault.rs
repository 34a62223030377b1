//! Why the index can't answer.

use super::schema;
use crate::StoreError;
use rusqlite::ErrorCode;
use std::path::PathBuf;

/// Why there is no answer from the index's file.
#[derive(Debug, thiserror::Error)]
pub(super) enum IndexFault {
    #[error("{0}")]
    Sql(#[from] rusqlite::Error),
    #[error("{0}")]
    Store(#[from] StoreError),
    #[error("a newer latlas made it (its version is {0}, this latlas knows up to {version})", version = schema::VERSION)]
    Newer(i32),
    #[error("other programs' files have the names of the index")]
    Foreign,
    #[error("{0}")]
    Untrusted(#[source] std::io::Error),
    #[error("it does not hold what the directory of runs does, and can't be written")]
    Stale,
}

impl IndexFault {
    /// Whether the file itself is at fault: damaged, or its tables are not
    /// what its version says.
    pub(super) fn is_broken(&self) -> bool {
        match self {
            IndexFault::Sql(error) => is_broken(error),
            _ => false,
        }
    }
}

/// Whether it is the file's content that SQLite, or this program, stumbled on.
pub(super) fn is_broken(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => matches!(
            failure.code,
            ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::ConstraintViolation
                | ErrorCode::Unknown
        ),
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::Utf8Error(..)
        | rusqlite::Error::QueryReturnedNoRows
        | rusqlite::Error::SqlInputError { .. } => true,
        _ => false,
    }
}

impl From<IndexFault> for StoreError {
    fn from(fault: IndexFault) -> StoreError {
        match fault {
            IndexFault::Store(error) => error,
            other => StoreError::Index { path: PathBuf::new(), cause: other.to_string() },
        }
    }
}

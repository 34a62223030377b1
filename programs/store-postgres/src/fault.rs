//! Why a question to a server has no answer.

use store_protocol::{Failure, FailureKind};
use tokio_postgres::Error;

/// Why a question has no answer.
#[derive(Debug)]
pub(crate) enum Fault {
    Sql(Error),
    Failed(Failure),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Sql(error)
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Fault {
        Fault::Failed(failure)
    }
}

/// A failure of a kind.
pub(crate) fn failed(kind: FailureKind, why: impl Into<String>) -> Fault {
    Fault::Failed(Failure::new(kind, why))
}

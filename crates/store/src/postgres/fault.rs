//! Why a question to a server has no answer.

use crate::{DatabaseFailure, StoreError};
use tokio_postgres::Error;

/// Why a question has no answer.
#[derive(Debug)]
pub(super) enum Fault {
    Sql(Error),
    Failed(DatabaseFailure),
    Store(StoreError),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Fault {
        Fault::Store(error)
    }
}

impl From<DatabaseFailure> for Fault {
    fn from(failure: DatabaseFailure) -> Fault {
        Fault::Failed(failure)
    }
}

/// What the tables hold can't be what this program wrote.
pub(super) fn damaged(why: impl ToString) -> Fault {
    Fault::Failed(DatabaseFailure::Damaged(why.to_string()))
}

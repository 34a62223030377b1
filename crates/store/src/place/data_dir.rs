//! The directory of stored runs.

use crate::StoreError;
use model::user_dir::UserDir;
use std::ffi::OsString;
use std::path::PathBuf;

/// The platform's data directory for latlas. `LATLAS_DATA_DIR` overrides it.
pub fn data_dir() -> Result<PathBuf, StoreError> {
    data_dir_from(|name| std::env::var_os(name))
}

/// Names a data directory.
pub(super) const OWN: &str = "LATLAS_DATA_DIR";

pub(super) fn data_dir_from(
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<PathBuf, StoreError> {
    // An empty variable is as good as none.
    let own = variable(OWN).filter(|value| !value.is_empty());
    own.map(PathBuf::from)
        .or_else(|| UserDir::Data.resolve(variable))
        .ok_or(StoreError::NoDataDirectory)
}

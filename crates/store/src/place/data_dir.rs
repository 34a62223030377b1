//! The directory of stored runs.

use crate::StoreError;
use model::user_dir::UserDir;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Where the user's configuration has runs kept.
static KEPT_BELOW: OnceLock<PathBuf> = OnceLock::new();

/// Has [`data_dir`] answer this, unless the environment names one. Only the
/// first call counts: runs don't move while a program runs.
pub fn keep_below(directory: PathBuf) {
    let _ = KEPT_BELOW.set(directory);
}

/// The platform's data directory for latlas. `LATLAS_DATA_DIR` overrides it,
/// and then [`keep_below`].
pub fn data_dir() -> Result<PathBuf, StoreError> {
    let configured = KEPT_BELOW.get().map(PathBuf::as_path);
    data_dir_from(|name| std::env::var_os(name), configured)
}

/// Names a data directory.
pub(super) const OWN: &str = "LATLAS_DATA_DIR";

/// `configured` is what the configuration says.
pub(super) fn data_dir_from(
    variable: impl Fn(&str) -> Option<OsString>,
    configured: Option<&Path>,
) -> Result<PathBuf, StoreError> {
    // An empty variable is as good as none.
    let own = variable(OWN).filter(|value| !value.is_empty());
    own.map(PathBuf::from)
        .or_else(|| configured.map(Path::to_owned))
        .or_else(|| UserDir::Data.path(variable))
        .ok_or(StoreError::NoDataDirectory)
}
